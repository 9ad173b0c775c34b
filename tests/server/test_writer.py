"""This file proves that changes share commits, a bad one harms no other, and trouble passes."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hubbub.errors import BusyError, StorageError
from hubbub.period import DAY
from hubbub_server.receiving import writer as writing
from hubbub_server.receiving.writer import SureDay, Writer
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.protocol import Change, Record, Store
from hubbub_server.store.sqlite.batches import SqliteBatches
from tests.server.changes import METRIC, deposit
from tests.server.site import Site, batch, fresh_id

ALL = range(2**31)
pytestmark = pytest.mark.filterwarnings(  # Python 3.12 warns of what is proven here to work
    "ignore:.*multi-threaded.*fork:DeprecationWarning"
)


class Gated:
    """Real batches whose commits wait for a gate, and that remember the groups they got."""

    def __init__(self, batches: SqliteBatches) -> None:
        self._batches = batches
        self.gate, self.entered, self.groups = threading.Event(), threading.Event(), list[int]()

    def __getattr__(self, name: str) -> object:
        return getattr(self._batches, name)

    def commit(self, changes: Sequence[Change]) -> list[Record]:
        self.groups.append(len(changes))
        self.entered.set()
        assert self.gate.wait(30)
        return self._batches.commit(changes)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_sqlite(tmp_path / "hubbub.sqlite3")
    yield opened
    opened.close()


@pytest.fixture
def gated(store: Store) -> Gated:
    return Gated(store.batches)  # type: ignore[arg-type]


@pytest.fixture
def writer(gated: Gated) -> Iterator[Writer]:
    made = Writer(gated, most_waiting=50)  # type: ignore[arg-type]
    yield made
    gated.gate.set()
    made.close()


def test_changes_that_come_during_a_commit_share_the_next_one(
    store: Store, gated: Gated, writer: Writer
) -> None:
    with ThreadPoolExecutor(21) as pool:
        first = pool.submit(writer.submit, deposit("first"))
        gated.entered.wait(30)
        others = [pool.submit(writer.submit, deposit(str(number))) for number in range(20)]
        _wait_until(lambda: _waiting(writer) == 20)

        gated.gate.set()

        states = [future.result().state for future in (first, *others)]
    assert states == ["kept"] * 21
    assert gated.groups == [1, 20]
    assert next(store.batches.tallies(METRIC, ALL))[2].n == 21


def test_one_bad_change_harms_no_other_of_its_group(store: Store, gated: Gated, writer: Writer) -> None:
    broken = deposit("broken")
    object.__setattr__(broken, "answer", None)  # which the table refuses
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(writer.submit, deposit("first"))
        gated.entered.wait(30)
        others = [pool.submit(writer.submit, change) for change in (deposit("a"), broken, deposit("b"))]
        _wait_until(lambda: _waiting(writer) == 3)

        gated.gate.set()

        outcomes = [type(future.exception()) for future in (first, *others)]
    assert outcomes == [type(None), type(None), StorageError, type(None)]
    assert next(store.batches.tallies(METRIC, ALL))[2].n == 3
    assert writer.submit(deposit("after")).state == "kept"


def test_more_changes_than_may_wait_are_turned_away(gated: Gated, writer: Writer) -> None:
    with ThreadPoolExecutor(51) as pool:
        pool.submit(writer.submit, deposit("first"))
        gated.entered.wait(30)
        waiting = [pool.submit(writer.submit, deposit(str(number))) for number in range(50)]
        _wait_until(lambda: _waiting(writer) == 50)

        with pytest.raises(BusyError):
            writer.submit(deposit("one too many"))

        gated.gate.set()
        assert {future.result().state for future in waiting} == {"kept"}


def test_a_disk_that_never_answers_is_given_up_on(
    gated: Gated, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "LONGEST_WAIT", 0.05)

    with pytest.raises(BusyError):
        writer.submit(deposit("a"))

    gated.gate.set()


def test_closing_writes_what_waits(store: Store, gated: Gated, writer: Writer) -> None:
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(writer.submit, deposit(str(number))) for number in range(5)]
        gated.entered.wait(30)
        _wait_until(lambda: _waiting(writer) + gated.groups[0] == 5)
        closing = pool.submit(writer.close)

        gated.gate.set()

        closing.result(30)
        assert [future.result(30).state for future in futures] == ["kept"] * 5


def test_a_forked_child_gets_a_writer_of_its_own(store: Store) -> None:
    writer = Writer(store.batches)
    writer.submit(deposit("parent"))
    child = os.fork()
    if child == 0:
        writer.submit(deposit("child"))
        os._exit(0)

    _, status = os.waitpid(child, 0)

    assert status == 0
    assert writer.submit(deposit("after")).state == "kept"
    writer.close()
    assert next(store.batches.tallies(METRIC, ALL))[2].n == 3


def test_a_quiet_moment_is_used_to_forget_old_ids(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "IDLE", 0.01)
    writer = Writer(store.batches, clock=lambda: 100.0 * DAY, steady=iter([0.0, float(DAY)]).__next__)
    writer.submit(deposit("old", forget_after=99))
    _wait_until(lambda: writer._sure_day._day == 100)

    writer.submit(deposit("new"))

    _wait_until(lambda: store.batches.find(deposit("old").id_hash) is None)
    writer.close()


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
    readings: list[tuple[int, float]], expected: list[int]
) -> None:
    shown, elapsed = zip(*readings, strict=True)
    day = SureDay(
        iter([number * DAY for number in shown]).__next__, iter([part * DAY for part in elapsed]).__next__
    )

    assert [day.read() for _ in readings] == expected


def test_a_clock_that_jumps_and_comes_back_makes_no_batch_count_twice(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "IDLE", 0.01)
    tidied = threading.Event()
    tidy = SqliteBatches.tidy

    def seen(batches: SqliteBatches, today: int) -> None:
        tidy(batches, today)
        tidied.set()

    monkeypatch.setattr(SqliteBatches, "tidy", seen)
    sent = batch()
    home.post(sent)
    home.clock.now += 120 * DAY
    assert tidied.wait(30)
    tidied.clear()
    home.withdraw(fresh_id())
    assert tidied.wait(30)
    home.clock.now -= 120 * DAY

    home.post(sent)

    assert home.counted("dark") == 3


def _waiting(writer: Writer) -> int:
    return sum(line.queue.qsize() for line in writer._lines.values())


def _wait_until(fact: Callable[[], bool]) -> None:
    deadline = threading.Event()
    for _ in range(3000):
        if fact():
            return
        deadline.wait(0.01)
    raise AssertionError("it never came true")
