"""This file is what the notepad knows of telemetry: what was decided, is asked, and left. No window."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Self

import platformdirs

from hubbub.errors import StorageError
from hubbub_client import Client, Delivery
from hubbub_client.consent import State

VERSION = "1.1"
SYSTEMS = {"linux": "linux", "darwin": "mac", "win32": "windows"}
SETTINGS = platformdirs.user_config_path("notepad") / "settings.json"
QUESTION = """\
May this notepad tell its makers whether you use the dark mode, how long it takes to start and which system \
you have?

Each answer is made noisy on this device before it leaves, so that many say a lot about the crowd, and yours \
next to nothing about you. Under Privacy you see all of it, and switch it off."""


class Telemetry:
    """The one client of this program, and the user's settings, which hold their decision."""

    def __init__(self) -> None:
        self.settings = _read()
        self.client = Client(
            os.environ.get("NOTEPAD_COLLECTOR", "https://telemetry.example.org"),
            Path(__file__).parents[1] / "notepad.toml",
            key=os.environ.get("NOTEPAD_KEY"),
            consent=self.decision,
            delivery=Delivery(delay=0) if "NOTEPAD_SEND_AT_ONCE" in os.environ else None,  # to try it out
        )

    @property
    def decision(self) -> State:
        """What the user decided, in this run or an earlier one."""
        agreed = self.settings.get("telemetry")
        return "unknown" if agreed is None else "given" if agreed is True else "refused"

    def decide(self, *, agreed: bool) -> None:
        """Act on what the user decided, and remember it."""
        if agreed:
            self.client.consent("given")
        else:
            self.client.withdraw()  # what waits never leaves
        self.remember(telemetry=agreed)

    def remember(self, **settings: bool) -> None:
        """Keep settings for the next start."""
        self.settings |= settings
        SETTINGS.parent.mkdir(parents=True, exist_ok=True)
        SETTINGS.write_text(json.dumps(self.settings), "utf-8")

    def tell(self, *, dark: bool) -> None:
        """Record what is known at every start; without consent this does nothing."""
        self.client.record("uses_dark_mode", dark)
        self.client.record("operating_system", SYSTEMS.get(sys.platform, "other"))

    def report(self) -> str:
        """Say what may leave this device, and list what has."""
        questions = [
            self.client.explain(name) for name in ("uses_dark_mode", "startup_seconds", "operating_system")
        ]
        try:
            left = [f"{entry.metric}: {entry.body.hex()}, {entry.status}" for entry in self.client.journal()]
        except StorageError as error:
            left = [str(error)]
        return "\n\n".join(
            ["What may leave this device:", *questions, "What left it, or waits:", *(left or ["nothing"])]
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()


def _read() -> dict[str, Any]:
    try:
        settings = json.loads(SETTINGS.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return settings if isinstance(settings, dict) else {}
