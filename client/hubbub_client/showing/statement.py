"""This file gathers what an owner is shown of one app: what it asks, what that cost, what became of it."""

import shlex
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hubbub.epsilon import decimal_text
from hubbub.errors import HubbubError
from hubbub.metric import Metric
from hubbub.spending import WINDOW, Limits
from hubbub_client.consent import State
from hubbub_client.kept_manifests import load
from hubbub_client.location import home
from hubbub_client.policy import Policy
from hubbub_client.sending import withdrawals
from hubbub_client.storage import journal, ledger, provenance
from hubbub_client.storage.device import Device
from hubbub_client.storage.journal import Entry
from hubbub_client.storage.ledger import Cap

if TYPE_CHECKING:
    from hubbub_client.session import Session
    from hubbub_client.showing.owner import App

SHOWN = 200  # entries of the journal, the latest
AGAIN = "if you have agreed again in the app since then, it records again"  # which only the app knows
UNKNOWN = Limits(report=0, source_window=0, window=0, source_life=0, life=0, metrics=0)


@dataclass(frozen=True, slots=True)
class Asked:
    """A metric: whether the owner agreed to it, what leaves, and what for."""

    name: str
    source: str
    consent: State
    sentence: str
    why: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent on a source in the window and for life; "" is all of them together."""

    source: str
    window: Cap
    life: Cap


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an owner is shown of one app.

    command: what an owner types. off: why it is off, or "". collector, asked: empty where only the app knows
    them. spent: on everything, then by source; where only the app knows its caps, they allow nothing.
    changes: what the app's maker asked from afar. silence: why the device records nothing for a while, and
    until when. withdrawn: when everything was, if nothing was recorded since. entries: of the journal, the
    latest first. words: what their reports stand for, by number. earlier: how many came before them. fault:
    why the device's files can't be used, or "".
    """

    app: str
    command: str
    off: str
    collector: str = ""
    asked: tuple[Asked, ...] = ()
    spent: tuple[Spent, ...] = ()
    changes: tuple[str, ...] = ()
    silence: tuple[str, int] | None = None
    withdrawn: int | None = None
    entries: tuple[Entry, ...] = ()
    words: Mapping[int, str] = field(default_factory=dict)
    earlier: int = 0
    fault: str = ""


def command(selection: str) -> str:
    """Return the owner's command about one app.

    >>> command("--data-dir=/data/a b")
    "hubbub-client '--data-dir=/data/a b'"
    """
    return f"hubbub-client {shlex.quote(selection)}"


def command_of(app: "App") -> str:
    """Return the owner's command about an app that is looked at from outside."""
    place = app.directory.absolute()
    return command(f"--app={place.name}" if place.parent == home() else f"--data-dir={place}")


def usual_caps() -> str:
    """Say how much an app may spend, of which only it knows whether it set something else.

    >>> print(usual_caps())
    by default an app may spend 8 per source and 16 in all in 28 days, 64 and 128 for life; it may set others
    """
    caps = Policy().limits
    micros = caps.source_window, caps.window, caps.source_life, caps.life
    source, overall, source_life, life = map(decimal_text, micros)
    return (
        f"by default an app may spend {source} per source and {overall} in all in {WINDOW} days, "
        f"{source_life} and {life} for life; it may set others"
    )


def of_client(session: "Session") -> Statement:
    """Return the statement of an app at work; a device that can't be read is said in it."""
    settings, permission = session.settings, session.permission
    obstacle = session.obstacle(None)  # hears of what another process withdrew
    app, place = settings.manifest.app, settings.data_dir
    told = Statement(
        app=app,
        command=command(f"--app={app}" if place is None else f"--data-dir={place.absolute()}"),
        off=session.unhurried(permission.switch.reason),
        collector=settings.url,
        asked=tuple(
            Asked(
                metric.name,
                metric.source,
                permission.consents.about(metric.name),
                _sentence(session, metric),
                metric.why,
            )
            for metric in settings.manifest.metrics
        ),
        fault=obstacle.message if obstacle and obstacle.code == "storage" else "",
    )
    whole = _with_device(told, lambda: session.recorder.device, settings.clock, settings.policy.limits)
    return replace(whole, words={entry.number: _words(session, entry) for entry in whole.entries})


def _words(session: "Session", entry: Entry) -> str:
    """Say what a report stands for; not of one that only an older app could read, or a damaged one."""
    with suppress(HubbubError, ValueError):
        return session.words(entry.batch.columns[0]) if entry.body else ""
    return ""


def of_app(app: "App", off: str) -> Statement:
    """Return the statement of an app that is looked at from outside; what only it knows is left out."""
    told = Statement(app=app.name, command=command_of(app), off=off)
    return _with_device(told, lambda: app.device, time.time, UNKNOWN)


def _with_device(
    told: Statement, device: Callable[[], Device], clock: Callable[[], float], limits: Limits
) -> Statement:
    try:
        return _with_journal(told, device(), clock, limits)
    except (HubbubError, OSError) as error:
        return replace(told, fault=str(error))


def _with_journal(told: Statement, device: Device, clock: Callable[[], float], limits: Limits) -> Statement:
    def with_account(connection: sqlite3.Connection | None) -> Statement:
        now = ledger.latest(connection, clock())
        return replace(
            told,
            changes=tuple(f"From the app's maker: {line.strip()}" for line in load(device.directory).lines()),
            spent=tuple(_spent(connection, {asked.source for asked in told.asked}, limits, now)),
            silence=provenance.silence(connection, now),
            withdrawn=withdrawals.standing(connection),
        )

    known = device.read(with_account)
    latest: deque[Entry] = deque(maxlen=SHOWN)
    count = 0
    for entry in journal.entries(device, notes=True):
        latest.append(entry)
        count += 1
    return replace(known, entries=tuple(reversed(latest)), earlier=count - len(latest))


def _spent(
    connection: sqlite3.Connection | None, sources: set[str], limits: Limits, now: int
) -> Iterator[Spent]:
    known = [] if connection is None else [source for source, *_ in ledger.by_source(connection, now)]
    for source in ("", *sorted(sources.union(known) - {""})):
        window, life, *_ = ledger.caps(connection, source, limits, now)
        yield Spent(source, window, life)


def _sentence(session: "Session", metric: Metric) -> str:
    try:
        return session.sentence(metric)
    except HubbubError as error:
        return f"nothing is recorded: {error}"
