"""This program is a notepad with a dark mode, a window that asks for consent and one that shows what is sent.

The window is a thin layer: what is known of telemetry is in ``telemetry.py``, which has no window.
"""

import tkinter as tk
from tkinter import ttk

from telemetry import QUESTION, VERSION, Telemetry

PAPER = {False: ("white", "black"), True: ("gray15", "gray90")}


class Notepad:
    """The main window."""

    def __init__(self, root: tk.Tk, telemetry: Telemetry) -> None:
        self.root, self.telemetry = root, telemetry
        self.is_dark = tk.BooleanVar(root, telemetry.settings.get("dark") is True)
        self.text = tk.Text(root, undo=True, width=72, height=24, padx=12, pady=12, relief="flat")
        self.text.pack(fill="both", expand=True)
        bar = tk.Menu(root, name="menu")
        view, privacy = (tk.Menu(bar, name=name, tearoff=False) for name in ("view", "privacy"))
        view.add_checkbutton(label="Dark mode", variable=self.is_dark, command=self.repaint)
        privacy.add_command(label="What is sent", command=self.show_what_is_sent)
        bar.add_cascade(label="View", menu=view)
        bar.add_cascade(label="Privacy", menu=privacy)
        root.config(menu=bar)
        root.title("Notepad")
        self.repaint()

    def repaint(self) -> None:
        """Wear the colours that were chosen, and remember the choice."""
        paper, ink = PAPER[self.is_dark.get()]
        self.text.config(background=paper, foreground=ink, insertbackground=ink)
        self.telemetry.remember(dark=self.is_dark.get())

    def started(self) -> None:
        """Ask, if nobody did yet; and say what this start has to say."""
        if self.telemetry.decision == "unknown":
            self.ask()
        else:
            self.telemetry.tell(dark=self.is_dark.get())

    def ask(self) -> None:
        """Ask whether the makers may be told. Closing the window decides nothing: it asks again next time."""
        window = tk.Toplevel(self.root, name="ask", padx=16, pady=16)
        window.title("May we learn from this notepad?")
        ttk.Label(window, text=QUESTION, wraplength=420).pack(pady=(0, 12))

        def answer(*, agreed: bool) -> None:
            self.telemetry.decide(agreed=agreed)
            self.telemetry.tell(dark=self.is_dark.get())
            window.destroy()

        choices = (
            ("yes", "Yes", lambda: answer(agreed=True)),
            ("no", "No", lambda: answer(agreed=False)),
            ("show", "What is sent?", self.show_what_is_sent),
        )
        for name, label, command in choices:
            ttk.Button(window, name=name, text=label, command=command).pack(side="left", expand=True)

    def show_what_is_sent(self) -> None:
        """Show what may leave, what left, and the switch."""
        window = tk.Toplevel(self.root, name="sent", padx=16, pady=16)
        window.title("What is sent")
        page = tk.Text(window, name="page", wrap="word", width=80, height=20, padx=8, pady=8, relief="flat")
        page.insert("1.0", self.telemetry.report())
        page.config(state="disabled")
        page.pack(fill="both", expand=True)
        is_on = tk.BooleanVar(window, self.telemetry.decision == "given")
        ttk.Checkbutton(
            window,
            name="switch",
            text="Tell the makers, as noisily as above",
            variable=is_on,
            command=lambda: self.telemetry.decide(agreed=is_on.get()),
        ).pack(anchor="w", pady=(12, 0))


def main() -> None:
    """Run until the window is closed."""
    with Telemetry() as telemetry:
        with telemetry.client.timed("startup_seconds", labels={"version": VERSION}):
            root = tk.Tk()
            notepad = Notepad(root, telemetry)
            root.update()
        notepad.started()
        root.mainloop()


if __name__ == "__main__":
    main()
