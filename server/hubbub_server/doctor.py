"""This file looks at all that a collector depends on, and says what needs care and how to mend it."""

import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from hubbub.period import DAY, LENGTHS
from hubbub_server.config import Config
from hubbub_server.keys import KINDS
from hubbub_server.store.protocol import Store
from hubbub_server.store.records import StoredKey

_LONGEST = max(LENGTHS)  # days ahead that a period which has started may end
_QUIET = 60  # days after the newest period from which whoever comes should have brought a newer one


@dataclass(frozen=True, slots=True)
class Remark:
    """What was looked at, and what was found: a sentence, with the way out where it needs care."""

    about: str
    finding: str
    needs_care: bool = False

    @property
    def line(self) -> str:
        """The remark for people."""
        return f"{'CARE' if self.needs_care else 'ok  '}  {self.about}: {self.finding}"


def examine(config: Config, store: Store, *, clock: Callable[[], float] = time.time) -> Iterator[Remark]:
    """Yield a remark on each thing.

    Raises StorageError if the database can't be used at all.
    """
    store.upkeep.probe()
    yield Remark("database", "takes writes")
    yield from _of_files(config.database)
    usage = store.upkeep.usage()
    is_short = usage.free is not None and usage.free < config.least_room
    way_out = f"; make room, {config.least_room:,} are wanted by least_room" if is_short else ""
    free = "an unknown number" if usage.free is None else f"{usage.free:,}"
    yield Remark("disk", f"{usage.taken:,} bytes taken, {free} free{way_out}", is_short)
    today = int(clock() // DAY)
    yield from _of_keys(store.keys.all(), _iso(today))
    yield from _of_metrics(store, today)


def _of_files(database: Path | str) -> Iterator[Remark]:
    if isinstance(database, str) or not database.exists():  # it is elsewhere than in a file
        return
    mode = stat.S_IMODE(database.stat().st_mode)
    is_open = bool(mode & 0o077)
    finding = (
        f"others may read it (mode {mode:04o}); chmod 600 it" if is_open else "only its owner may read it"
    )
    yield Remark("file", finding, is_open)


def _of_keys(keys: Sequence[StoredKey], today: str) -> Iterator[Remark]:
    in_use = [key for key in keys if key.is_in_use(today)]
    for kind in KINDS:
        own = [key for key in in_use if key.kind == kind]
        if not own:
            yield Remark(
                f"{kind} keys", f"there is none in use; hubbub-server keys add {kind}", needs_care=True
            )
            continue
        used = max(key.last_used for key in own)
        if used > today:
            wrong = f"one was last used on {used}, and the clock shows {today}; set the clock right"
            yield Remark("clock", wrong, needs_care=True)
        finding = f"{len(own)} in use, last on {used}" if used else f"{len(own)} in use, never yet"
        yield Remark(f"{kind} keys", finding)


def _of_metrics(store: Store, today: int) -> Iterator[Remark]:
    metrics = store.manifests.metrics()
    if not metrics:
        yield Remark("metrics", "none is published; hubbub-server publish metrics.toml", needs_care=True)
        return
    apps = sorted({metric.app for metric in metrics})
    yield Remark("metrics", f"{len({(metric.app, metric.name) for metric in metrics})} of {', '.join(apps)}")
    latest = store.upkeep.latest_end()
    if latest is None:
        yield Remark("reports", "none has come yet")
    elif latest > today + _LONGEST:
        yield Remark(
            "clock", f"reports are kept of periods that end {latest - today} days ahead", needs_care=True
        )
    elif any(key.kind == "ingest" and key.last_used > _iso(latest + _QUIET) for key in store.keys.all()):
        finding = (
            f"devices come, but the newest period that they brought ended {today - latest} days ago: "
            "the clock is ahead, or all is refused; hubbub_batches_total says why"
        )
        yield Remark("clock", finding, needs_care=True)
    elif latest < today:
        yield Remark("reports", f"the newest period ended {today - latest} days ago, and none came since")
    else:
        yield Remark("reports", f"the newest period ends on {_iso(latest)}")


def _iso(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(day)).isoformat()
