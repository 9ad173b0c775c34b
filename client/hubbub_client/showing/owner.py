"""This file does what the owner of a device asks: find the apps, switch them off and on, start them anew."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hubbub_client.answering import absence
from hubbub_client.location import holds_device, home, make_private
from hubbub_client.sending import withdrawals
from hubbub_client.storage.device import Device
from hubbub_client.storage.reset import reset as start_anew
from hubbub_client.switch import FLAG

PATIENCE = 5.0  # seconds that a person at a prompt waits for a lock


@dataclass(frozen=True, slots=True)
class App:
    """An app's directory on this machine, whether or not it has a device yet."""

    name: str
    directory: Path

    @property
    def device(self) -> Device:
        """A device to read from."""
        return Device(self.directory, lock_wait=PATIENCE)

    @property
    def is_known(self) -> bool:
        """Whether it has kept anything, or was switched off."""
        return holds_device(self.directory) or (self.directory / FLAG).exists()


def apps() -> Iterator[App]:
    """Yield every app that has kept anything, or was switched off, in order of name."""
    top = home()
    for directory in sorted(top.iterdir()) if top.is_dir() else ():
        if directory.is_dir() and (app := App(directory.name, directory)).is_known:
            yield app


def switch_off(directory: Path) -> None:
    """Leave the flag that every record reads first.

    Raises OSError.
    """
    make_private(directory)
    (directory / FLAG).touch(mode=0o600)


def switch_on(directory: Path) -> None:
    """Take the flag away, and the directory if switching off an app that never ran had made it.

    Raises OSError.
    """
    try:
        (directory / FLAG).unlink()
    except FileNotFoundError:
        return
    if directory.parent == home():
        with suppress(OSError):  # it holds an app's files
            directory.rmdir()


def forget_consent(app: App) -> None:
    """Let no time in which the app was off be reported about, as absent, later.

    Raises StorageError.
    """
    if holds_device(app.directory):
        device = app.device
        device.transact(absence.forget, create=False)
        device.close()


def withdraw(app: App) -> int:
    """Give up every report of an app that waits to be sent, and those about silence; return how many waited.

    Raises StorageError or BusyError.
    """
    if not holds_device(app.directory):
        return 0

    def work(connection: sqlite3.Connection) -> int:
        absence.forget(connection)
        return withdrawals.empty(connection)

    device = app.device
    dropped = device.transact(work, create=False)
    device.close()
    return dropped


def reset(app: App, marker_dir: Path | None) -> Path | None:
    """Start an app's files anew and return where the old database is kept.

    marker_dir: where the marker is, if nothing else tells. Raises StorageError, BusyError or OSError.
    """
    return start_anew(app.directory, now=int(time.time()), marker_dir=marker_dir, patience=PATIENCE)


def write_private(file: Path, text: str) -> None:
    """Write a file that no other user may read.

    Raises OSError.
    """
    with open(file, "w", encoding="utf-8", errors="replace", opener=_open_private) as out:
        out.write(text)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
