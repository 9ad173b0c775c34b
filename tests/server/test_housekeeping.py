"""This file proves that what can wait is done in turn, and no wrong clock makes anything be forgotten."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hubbub.errors import DomainError, StorageError
from hubbub.period import DAY, period_at
from hubbub.tally import Tally
from hubbub_server.housekeeping import Housekeeping, SureDay
from hubbub_server.receiving import writer as writing
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.protocol import Store
from hubbub_server.store.sqlite import upkeep as sqlite_steps
from hubbub_server.store.sqlite.upkeep import SqliteUpkeep
from tests.server.changes import ALL, METRIC, add_up, deposit, unsummed
from tests.server.site import Site, batch, fresh_id
from tests.server.waiting import wait_until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_sqlite(tmp_path / "hubbub.sqlite3")
    yield opened
    opened.close()


def days(*numbers: float) -> Callable[[], float]:
    """Return a clock that shows these days, one a reading."""
    return iter([number * DAY for number in numbers]).__next__


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ([(100, 0.0), (100, 0.9), (100, 1.0), (101, 1.5), (102, 2.0)], [0, 0, 100, 0, 100]),
        ([(100, 0.0), (220, 0.1), (100, 0.2), (101, 1.2)], [0, 0, 0, 100]),
        ([(220, 0.0), (100, 0.1), (101, 1.0), (101, 1.1)], [0, 0, 0, 100]),
        ([(100, 0.0), (220, 1.0), (101, 1.1), (102, 2.2)], [0, 100, 0, 101]),
    ],
)
def test_a_day_is_sure_once_the_clock_has_not_gone_back_behind_it_for_a_day(
    store: Store, readings: list[tuple[int, float]], expected: list[int]
) -> None:
    shown, elapsed = zip(*readings, strict=True)
    day = SureDay(store.upkeep, days(*shown), days(*elapsed))

    assert [day.read() for _ in readings] == expected


def test_the_hours_of_several_starts_add_up_to_a_sure_day(store: Store) -> None:
    first = SureDay(store.upkeep, days(100, 100), days(0.0, 0.5))
    assert [first.read(), first.read()] == [0, 0]
    second = SureDay(store.upkeep, days(100, 101), days(7.0, 7.5))

    assert [second.read(), second.read()] == [0, 100]


def test_time_before_a_clock_went_back_does_not_count_after_a_start(store: Store) -> None:
    first = SureDay(store.upkeep, days(220, 220, 100), days(0.0, 0.9, 0.95))
    assert [first.read() for _ in range(3)] == [0, 0, 0]
    second = SureDay(store.upkeep, days(100, 100, 101), days(0.0, 0.5, 1.0))

    assert [second.read() for _ in range(3)] == [0, 0, 100]


def test_ids_are_forgotten_and_raw_reports_deleted_when_their_days_have_passed(store: Store) -> None:
    store.batches.commit([deposit("old", forget_after=99), deposit("new", forget_after=200)])
    clock, steady = days(100, 100, 100), days(0.0, 1.0, 1.0)  # and the period ended on day 60
    keeper = Housekeeping(store.upkeep, add_up, keep_raw_days=39, clock=clock, steady=steady)

    steps = [keeper.step() for _ in range(3)]

    assert steps == [False, True, False]
    assert store.batches.find(deposit("old").id_hash) is None
    assert store.batches.find(deposit("new").id_hash) is not None
    assert list(store.batches.reports(METRIC, ALL)) == []
    assert next(store.batches.tallies(METRIC, ALL))[2].n == 2


def test_all_ids_whose_day_has_passed_are_forgotten_however_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_steps, "ROWS_AT_ONCE", 2)
    names = [str(number) for number in range(5)]
    store.batches.commit([deposit(name, forget_after=99) for name in names])
    clock, steady = days(100, 100), days(0.0, 1.0)
    keeper = Housekeeping(store.upkeep, add_up, keep_raw_days=0, clock=clock, steady=steady)

    steps = [keeper.step() for _ in range(4)]

    assert steps == [False, True, True, False]
    assert [name for name in names if store.batches.find(deposit(name).id_hash)] == []


def test_what_can_not_be_added_up_keeps_no_id_from_being_forgotten(store: Store) -> None:
    def broken(metric: bytes, reports: bytes) -> Tally:
        raise DomainError("no such mechanism")

    store.batches.commit([unsummed("a", forget_after=99)])
    clock, steady = days(100, 100, 101, 102), days(0.0, 1.0, 2.0, 3.0)
    keeper = Housekeeping(store.upkeep, broken, keep_raw_days=39, clock=clock, steady=steady)

    for _ in range(2):
        keeper.step()
    store.batches.commit([unsummed("b", forget_after=100)])
    for _ in range(2):
        keeper.step()

    assert [name for name in "ab" if store.batches.find(deposit(name).id_hash)] == []
    assert len(list(store.batches.reports(METRIC, ALL))) == 2


@pytest.mark.parametrize("keep", [40, 0])
def test_raw_reports_are_kept_as_long_as_was_asked(store: Store, keep: int) -> None:
    store.batches.commit([deposit("a")])
    clock, steady = days(100, 100, 100), days(0.0, 1.0, 1.0)
    keeper = Housekeeping(store.upkeep, add_up, keep_raw_days=keep, clock=clock, steady=steady)

    for _ in range(3):
        keeper.step()

    assert len(list(store.batches.reports(METRIC, ALL))) == 1


@pytest.mark.parametrize("error", [StorageError("no"), DomainError("no"), ZeroDivisionError("s3cret")])
def test_no_trouble_ends_the_thread_that_writes(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def failing(*_: object) -> bool:
        raise error

    monkeypatch.setattr(SqliteUpkeep, "fold", failing)

    assert Housekeeping(store.upkeep, add_up, keep_raw_days=90).step() is False


def test_a_clock_that_jumps_and_comes_back_makes_no_batch_count_twice(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "IDLE", 0.01)
    forgot: list[int] = []
    forget = SqliteUpkeep.forget

    def seen(upkeep: SqliteUpkeep, today: int) -> bool:
        more = forget(upkeep, today)
        forgot.append(today)
        return more

    monkeypatch.setattr(SqliteUpkeep, "forget", seen)
    sent = batch()
    home.post(sent)
    home.clock.now += 120 * DAY
    wait_until(lambda: bool(forgot))
    forgot.clear()
    home.withdraw(fresh_id())
    wait_until(lambda: bool(forgot))
    home.clock.now -= 120 * DAY

    home.post(sent)

    assert home.counted("dark") == 3
    assert period_at(home.clock.now, 7) == sent.columns[0].period
