"""This file says in lines for a terminal what is known of an app: whether it is on, its budget, its log."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator

from hubbub.delta import HIGHEST, Delta
from hubbub.epsilon import decimal_text
from hubbub.spending import WINDOW
from hubbub_client import kept_manifests
from hubbub_client.location import home
from hubbub_client.moments import day, moment
from hubbub_client.sending import outbox, withdrawals
from hubbub_client.showing import statement
from hubbub_client.showing.owner import App
from hubbub_client.storage import journal, ledger, provenance
from hubbub_client.switch import Switch

Lines = Callable[[App], Iterator[str]]
Counts = dict[tuple[str, str], int]
Silence = tuple[str, int]


def off(app: App) -> str:
    """Say why an app is off, or return "" if it is on."""
    return Switch(os.environ, lambda: (app.directory, home())).reason()


def unknown(app: App) -> str:
    """Say that an app has kept nothing."""
    of_name = "" if app.name == str(app.directory) else "of that name "
    return f"{app.name}: no app {of_name}has kept anything here"


def _if_kept(show: Lines) -> Lines:
    """Let there be no figures about an app that has kept nothing: its name may be misspelt."""

    def show_or_say(app: App) -> Iterator[str]:
        if app.device.exists:
            yield from show(app)
        else:
            reason = off(app)
            yield f"{unknown(app)}{f'; off ({reason})' if reason else ''}"

    return show_or_say


@_if_kept
def status(app: App) -> Iterator[str]:
    """Say whether an app is on, how many reports were sent or wait, and what holds for it besides.

    Raises StorageError or BusyError.
    """
    reason = off(app)

    def figures(
        connection: sqlite3.Connection | None,
    ) -> tuple[int, Counts, int | None, Silence | None, int | None]:
        now = ledger.latest(connection, time.time())
        due = None if connection is None or reason else outbox.next_due(connection, now, lambda _: True)
        counts, withdrawn = journal.counts(connection), withdrawals.standing(connection)
        return now, counts, due, provenance.silence(connection, now), withdrawn

    now, counts, due, silence, withdrawn = app.device.read(figures)
    by_status = dict.fromkeys(("sent", "waiting", "refused", "dropped"), 0)
    for (name, _), count in counts.items():
        by_status[name] = by_status.get(name, 0) + count
    told = ", ".join(f"{count} {name}" for name, count in by_status.items())
    consent = "on, if the app has your consent"
    if withdrawn is not None:
        consent = f"withdrawn on {day(withdrawn)}, on again if you have agreed in the app since"
    yield f"{app.name}: {f'off ({reason})' if reason else consent}; reports: {told}"
    if due is not None:
        yield f"  the next leaves once the app runs{f' on {day(due)} or later' if due > now else ''}"
    if silence is not None:
        yield f"  records nothing until {day(silence[1])}, since {silence[0]}"
    for line in kept_manifests.load(app.directory).lines():
        yield f"  {line}"


@_if_kept
def budget(app: App) -> Iterator[str]:
    """Say what each source has spent, in the window and in all.

    Raises StorageError or BusyError.
    """

    def figures(connection: sqlite3.Connection | None) -> tuple[list[tuple[str, int, int]], int]:
        now = ledger.latest(connection, time.time())
        if connection is None:
            return [], 0
        return ledger.by_source(connection, now), min(ledger.delta_spent(connection), HIGHEST)

    rows, atto = app.device.read(figures)
    yield f"{app.name}: epsilon spent in {WINDOW} days and in all"
    yield f"  {statement.usual_caps()}"
    total = ("all together", sum(window for _, window, _ in rows), sum(life for *_, life in rows))
    for source, window, life in (*rows, total):
        yield f"  {source or '(every source)':<40} {decimal_text(window):>10} {decimal_text(life):>10}"
    if atto:
        yield f"  and delta {Delta(atto)} in all: the chance that this protects less than stated"


@_if_kept
def log(app: App) -> Iterator[str]:
    """List every report that left or will, and the notes among them.

    Raises StorageError or BusyError.
    """
    yield f"{app.name}: every report, drawn at random on this device, so that none can be relied on"
    yield "  number, time (UTC), metric, period from, epsilon, status, the bytes that leave in hexadecimal"
    for entry in journal.entries(app.device, notes=True):
        became = f"{entry.status} ({entry.code})" if entry.code else entry.status
        if entry.status == "waiting":
            became += f" to leave from {day(entry.due)} on"
        about = [entry.metric or "-", day(entry.starts) if entry.ends else "-", entry.cost, became]
        yield f"  {entry.number} {moment(entry.at)} {' '.join(map(str, about))} {entry.body.hex()}".rstrip()
