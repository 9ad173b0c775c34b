"""This file proves that a device's accounts hold through years of restarts, wrong clocks and crashes."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pytest

from hubbub import registry
from hubbub.declaration import boolean
from hubbub.longitudinal import Longitudinal
from hubbub.manifest import Manifest
from hubbub_client import Client
from hubbub_client.storage import chain
from hubbub_client.storage.journal import Entry
from hubbub_client.storage.marker import read_mark
from tests.client.conftest import DAY, MONDAY, Clock
from tests.client.lives import memos, quick_directory
from tests.client.long_life import MANIFEST, Life

Make = Callable[..., Client]
WINDOW = 28 * DAY
REPEATED = ("place", "site", "theme")
FINAL = ("sent", "refused", "dropped", "note")


def broken(life: Life, earlier: Sequence[Entry], given: int) -> Iterator[str]:
    """Yield what does not hold of a device, by its journal as its owner reads it, after another day."""
    entries = list(life.client.journal(notes=True))
    new = entries[len(earlier) :]
    promises = {
        "what was written stays": [fixed(one) for one in entries[: len(earlier)]]
        == [fixed(one) for one in earlier],
        "what is final stays": all(
            was.status == now.status
            for was, now in zip(earlier, entries, strict=False)
            if was.status in FINAL
        ),
        "time never runs backwards": all(one.at <= other.at for one, other in pairwise(entries)),
        "every cap holds": all(is_within_caps(life, entries[: one.number]) for one in new if one.micro),
        "one report a period": all(is_apart(entries, metric.name) for metric in MANIFEST.metrics),
        "one answer to what is asked once": sum(one.metric == "origin" for one in entries) <= 1,
        "a memo is paid for at once": all(is_paid_at_once(entries, name) for name in REPEATED),
        "no memo beyond those paid for": len(memos(life.client)) <= 2 + 1 + 4,
        "no answer given is lost": sum(one.status != "note" for one in new) >= given,
        "nothing left that is not in the journal": life.collector.seen
        <= {one.batch.id for one in entries if one.body},
        "the chain is whole": is_whole(life.client),
        "the marker never overtakes the journal": spent_by_marker(life) <= sum(one.micro for one in entries),
        "the marker keeps up": life.is_cut_short
        or spent_by_marker(life) == sum(one.micro for one in entries),
        "the budget adds up": all(
            life.client.remaining(metric.name) * 10**6 == left(life, entries, metric.source)
            for metric in MANIFEST.metrics
        ),
    }
    yield from (f"day {life.today}: {promise}" for promise, holds in promises.items() if not holds)


def fixed(entry: Entry) -> tuple[object, ...]:
    """Return all of an entry but how far it got."""
    return (
        *(entry.number, entry.at, entry.metric, entry.source, entry.starts, entry.ends),
        *(entry.micro, entry.atto, entry.body),
    )


def is_within_caps(life: Life, entries: Sequence[Entry]) -> bool:
    """Tell whether the last charge kept to the policy that was in force."""
    return left(life, entries, entries[-1].source, now=entries[-1].at, least=-1) >= 0


def left(life: Life, entries: Sequence[Entry], source: str, *, now: int = 0, least: int = 0) -> int:
    """Add up anew what may be spent, in millionths; never less than ``least``."""
    limits = life.policy.limits
    now = now or max([int(life.clock.now), *(one.at for one in entries[-1:])])
    own = [one for one in entries if one.source == source]
    return max(
        least,
        min(
            limits.life - sum(one.micro for one in entries),
            limits.window - sum(one.micro for one in entries if one.at > now - WINDOW),
            limits.source_life - sum(one.micro for one in own),
            limits.source_window - sum(one.micro for one in own if one.at > now - WINDOW),
        ),
    )


def is_apart(entries: Sequence[Entry], name: str) -> bool:
    periods = sorted((one.starts, one.ends) for one in entries if one.metric == name)
    return all(one[1] <= other[0] for one, other in pairwise(periods))


def is_paid_at_once(entries: Sequence[Entry], name: str) -> bool:
    mechanism = registry.build(MANIFEST[name])
    assert isinstance(mechanism, Longitudinal)
    costs = [one.micro for one in entries if one.metric == name]
    return costs[:1] in ([], [mechanism.reservation(MANIFEST[name].changes)]) and not any(costs[1:])


def is_whole(client: Client) -> bool:
    return client._session.recorder.device.read(
        lambda connection: connection is not None and chain.is_whole(connection)
    )


def spent_by_marker(life: Life) -> int:
    mark = read_mark(life.directory / "device.marker")
    return 0 if mark is None else mark.spent


def lived(seed: int, days: int) -> tuple[list[str], list[Entry], Life]:
    """Live a life and return what was broken in it, and its journal."""
    found: list[str] = []
    with quick_directory() as top:
        life = Life(top / "device", random.Random(seed))  # noqa: S311 - a life is no secret
        entries: list[Entry] = []
        while life.today < days and not found:
            given = life.live()
            found += broken(life, entries, given)
            entries = list(life.client.journal(notes=True))
        life.client.close()
    return found, entries, life


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it is forked on purpose
@pytest.mark.parametrize(
    ("seed", "days"), [(1, 60), *[pytest.param(seed, 730, marks=pytest.mark.torture) for seed in (2, 3, 4)]]
)
def test_every_account_holds_on_every_day_of_a_life(seed: int, days: int) -> None:
    found, entries, life = lived(seed, days)

    assert found == []
    assert {one.metric for one in entries} >= {metric.name for metric in MANIFEST.metrics} - {"theme"}
    assert life.collector.seen


def test_a_record_that_fails_at_any_instruction_leaves_all_or_nothing() -> None:
    left_behind = []
    with quick_directory() as top:
        for steps in range(0, 1_200, 9):
            life = Life(top / str(steps), random.Random(steps))  # noqa: S311 - a life is no secret
            life.interrupted_after(steps, lambda client: client.record("theme", "a"))
            charged = [one.micro for one in life.client.journal() if one.metric == "theme"]
            left_behind.append((len(memos(life.client)), charged))
            life.client.close()

    assert [found for found in left_behind if found not in ((0, []), (4, [4_000_000]))] == []
    assert {len(charged) for _, charged in left_behind} == {0, 1}


def test_ten_years_back_and_a_hundred_forward_renew_a_spent_budget_at_most_once(
    make: Make, clock: Clock
) -> None:
    metrics = tuple(boolean(f"fact_{at}", epsilon="4", period="1d") for at in range(8))
    client = make(manifest=Manifest(app="notepad", serial=1, metrics=metrics))

    spent = []
    for years in (0, -10, 90, 89, -10, 0, 90):
        clock.now = MONDAY + years * 365 * DAY + 5.0
        for metric in metrics:
            client.record(metric.name, True)
        spent.append(sum(entry.micro for entry in client.journal()) // 10**6)

    notes = [entry.code for entry in client.journal(notes=True) if entry.status == "note"]
    assert spent == [16, 16, 32, 32, 32, 32, 32]
    assert notes == ["renewed"]
