"""This file looks at all that a collector depends on, and says what needs care and how to mend it."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path

from hubbub.errors import StorageError
from hubbub.period import DAY, LENGTHS
from hubbub_server.config import Config
from hubbub_server.keys import KINDS
from hubbub_server.owners import troubles
from hubbub_server.store.opening import open_store
from hubbub_server.store.protocol import Manifests, Store, Upkeep
from hubbub_server.store.records import StoredKey, Usage
from hubbub_server.store.sqlite.upkeep import usage_of

_LONGEST = max(LENGTHS)  # days ahead that a period which has started may end
_QUIET = 60  # days after the newest period from which whoever comes should have brought a newer one
_LATE = 7  # days after which what is to be deleted should be
_SKIMMED = 5.0  # seconds that looking for damage may take


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


def examine(config: Config, *, clock: Callable[[], float] = time.time) -> Iterator[Remark]:
    """Yield a remark on each thing; what fails is one, and the others are looked at all the same."""
    database, today = config.database, int(clock() // DAY)
    if isinstance(database, Path):
        yield from _of_files(database)
        yield from _told("disk", partial(_of_room, partial(usage_of, database), config.least_room))
    try:
        store = open_store(database)
    except StorageError as error:
        yield Remark("database", str(error), needs_care=True)
        return
    looks: dict[str, Callable[[], Iterator[Remark]]] = {
        "database": partial(_of_database, store.upkeep),
        "damage": partial(_of_damage, store.upkeep),
        "keys": partial(_of_keys, store.keys.all, _iso(today)),
        "metrics": partial(_of_metrics, store.manifests),
        "reports": partial(_of_reports, store, today),
        "retention": partial(_of_retention, store.upkeep, config.keep_raw_days, today),
    }
    if not isinstance(database, Path):
        looks["disk"] = partial(_of_room, store.upkeep.usage, config.least_room)
    with closing(store):
        for about, look in looks.items():
            yield from _told(about, look)


def _told(about: str, look: Callable[[], Iterator[Remark]]) -> Iterator[Remark]:
    """Yield what a look finds, and what keeps it from looking."""
    try:
        yield from look()
    except StorageError as error:
        yield Remark(about, str(error), needs_care=True)


def _of_files(database: Path) -> Iterator[Remark]:
    found = troubles(database)
    yield from (Remark("file", trouble, needs_care=True) for trouble in found)
    if not found:
        yield Remark("file", "only its owner may read it")


def _of_room(ask: Callable[[], Usage], least: int) -> Iterator[Remark]:
    usage = ask()
    is_short = usage.free is not None and usage.free < least
    way_out = f"; make room, {least:,} are wanted by least_room" if is_short else ""
    free = "an unknown number" if usage.free is None else f"{usage.free:,}"
    yield Remark("disk", f"{usage.taken:,} bytes taken, {free} free{way_out}", is_short)


def _of_database(upkeep: Upkeep) -> Iterator[Remark]:
    upkeep.probe()
    yield Remark("database", "takes writes")


def _of_damage(upkeep: Upkeep) -> Iterator[Remark]:
    """Look for it for some seconds; that the sums are right, only ``check`` can tell."""
    is_whole = upkeep.skim(_SKIMMED)
    if is_whole is None:
        yield Remark("damage", "was not looked for to the end; hubbub-server check reads everything")
    elif is_whole:
        yield Remark("damage", "none found in the file; hubbub-server check compares the sums, too")
    else:
        yield Remark(
            "damage",
            "the file is damaged; stop the collector, and put a backup in its place: hubbub-server restore",
            needs_care=True,
        )


def _of_keys(keys: Callable[[], Sequence[StoredKey]], today: str) -> Iterator[Remark]:
    in_use = [key for key in keys() if key.is_in_use(today)]
    latest = max((key.last_used for key in in_use), default="")
    if latest > today:
        wrong = f"a key was last used on {latest}, and the clock shows {today}; set the clock right"
        yield Remark("clock", wrong, needs_care=True)
    for kind in KINDS:
        own = [key for key in in_use if key.kind == kind]
        if own:
            used = max(key.last_used for key in own)
            yield Remark(f"{kind} keys", f"{len(own)} in use, {f'last on {used}' if used else 'never yet'}")
        else:
            missing = f"there is none in use; hubbub-server keys add {kind}"
            yield Remark(f"{kind} keys", missing, needs_care=True)


def _of_metrics(manifests: Manifests) -> Iterator[Remark]:
    metrics = manifests.metrics()
    if not metrics:
        yield Remark("metrics", "none is published; hubbub-server publish metrics.toml", needs_care=True)
        return
    apps = sorted({metric.app for metric in metrics})
    yield Remark("metrics", f"{len({(metric.app, metric.name) for metric in metrics})} of {', '.join(apps)}")


def _of_reports(store: Store, today: int) -> Iterator[Remark]:
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
    elif latest < today - _QUIET and _is_asked(store.manifests, _iso(today)):
        finding = (
            f"the newest period ended {today - latest} days ago, and none came since, though metrics are in "
            "force that have not expired; do devices reach this collector, and does their app still record?"
        )
        yield Remark("reports", finding, needs_care=True)
    elif latest < today:
        yield Remark("reports", f"the newest period ended {today - latest} days ago, and none came since")
    else:
        yield Remark("reports", f"the newest period ends on {_iso(latest)}")


def _is_asked(manifests: Manifests, today: str) -> bool:
    """Whether the newest manifest of any app has a metric that devices still record."""
    apps = {metric.app for metric in manifests.metrics()}
    documents = [json.loads(latest[1]) for latest in map(manifests.latest, apps) if latest]
    return any(
        today < table.get("expires", "9999") for each in documents for table in each["metrics"].values()
    )


def _of_retention(upkeep: Upkeep, keep: int, today: int) -> Iterator[Remark]:
    if not keep:
        yield Remark("retention", "raw reports are kept for good; keep_raw_days says for how long")
        return
    oldest, ran = upkeep.oldest_raw(), upkeep.noted("retention")
    kept = f"raw reports are kept for {keep} days after their period"
    if oldest is not None and oldest < today - keep - _LATE:
        finding = (
            f"{kept}, and some are there {today - keep - oldest} days longer: they go once a collector has "
            'run for 24 hours; if one has, look for "housekeeping failed" in its log'
        )
        yield Remark("retention", finding, needs_care=True)
    elif ran:
        yield Remark("retention", f"{kept}; those that ended before {_iso(ran - keep)} went on {_iso(ran)}")
    else:
        yield Remark("retention", f"{kept}; the first time is once a collector has run for 24 hours")


def _iso(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(day)).isoformat()
