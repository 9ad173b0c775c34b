"""This file says in lines for a terminal what is known of an app: whether it is on, its budget, its log."""

import os
import sqlite3
import time
from collections.abc import Iterator

from hubbub.delta import HIGHEST, Delta
from hubbub.epsilon import decimal_text
from hubbub.spending import WINDOW
from hubbub_client import kept_manifests
from hubbub_client.location import home
from hubbub_client.moments import day, minute
from hubbub_client.sending import outbox, withdrawals
from hubbub_client.showing import statement
from hubbub_client.showing.fates import fate, tally
from hubbub_client.showing.owner import App
from hubbub_client.storage import journal, ledger, provenance
from hubbub_client.switch import Switch

Counts = dict[tuple[str, str], int]
Silence = tuple[str, int]
_LINE = "  {:>3} {:<16} {:<18} {:<10} {:>7} {}"  # within 100 columns


def off(app: App) -> str:
    """Say why an app is off, or return "" if it is on."""
    return Switch(os.environ, lambda: (app.directory, home())).reason()


def unknown(app: App) -> str:
    """Say that an app has kept nothing: its name may be misspelt."""
    return f"no app {'' if app.name == str(app.directory) else 'of that name '}has kept anything here"


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
    consent = "on, if the app has your consent" if withdrawn is None else f"withdrawn on {day(withdrawn)}"
    yield f"{app.name}: {f'off ({reason})' if reason else consent}; reports: {tally(counts)}"
    if withdrawn is not None and not reason:
        yield f"  {statement.AGAIN}"
    if due is not None:
        yield f"  the next leaves once the app runs{f' on {day(due)} or later' if due > now else ''}"
    if silence is not None:
        yield f"  records nothing until {day(silence[1])}, since {silence[0]}"
    for line in kept_manifests.load(app.directory).lines():
        yield f"  {line}"


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


def log(app: App, *, with_bytes: bool = False) -> Iterator[str]:
    """List every report that left or will, and the notes among them.

    Raises StorageError or BusyError.
    """
    yield f"{app.name}: every report, drawn at random on this device, so that none can be relied on"
    yield _LINE.format("", "time (UTC)", "metric", "period", "epsilon", "what became of it")
    for entry in journal.entries(app.device, notes=True):
        became = fate(entry)
        if entry.status == "waiting":
            became += f", from {day(entry.due)} on"
        period = day(entry.starts) if entry.ends else ""
        cost = str(entry.cost) if entry.micro else ""
        about = entry.metric or "this device"
        yield _LINE.format(entry.number, minute(entry.at), about, period, cost, became)
        if with_bytes and entry.body:
            yield f"    {entry.body.hex()}"
