"""This file runs a Tk program and presses its buttons: ``python pressing.py PROGRAM``.

Each line of standard input names a widget, and after a blank the entry of a menu. A text is printed instead.
At the end of the input the main window's children are printed, and it is closed.
"""

import runpy
import sys
import tkinter as tk
from pathlib import Path


def press_all(root: tk.Tk) -> None:
    """Take the place of the main loop."""
    for line in sys.stdin:
        name, _, entry = line.rstrip("\n").partition(" ")
        root.update()
        widget = root.nametowidget(name)
        if isinstance(widget, tk.Text):
            print(widget.get("1.0", "end"), flush=True)
        else:
            widget.invoke(*filter(None, [entry]))
    root.update()
    print("left open:", *sorted(root.children), flush=True)
    root.destroy()


if __name__ == "__main__":
    program = sys.argv[1]
    tk.Tk.mainloop = press_all  # type: ignore[assignment, method-assign]
    sys.path[0] = str(Path(program).parent)
    runpy.run_path(program, run_name="__main__")
