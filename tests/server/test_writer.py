"""This file proves that changes share commits, a bad one harms no other, and trouble passes."""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hubbub.errors import BusyError, StorageError
from hubbub_server.receiving import writer as writing
from hubbub_server.receiving.writer import Writer
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.protocol import Store
from hubbub_server.store.records import Change, Record
from hubbub_server.store.sqlite.batches import SqliteBatches
from tests.server.changes import ALL, METRIC, deposit
from tests.server.waiting import wait_until

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
    made = Writer(gated, most_waiting=50, rest=bool)  # type: ignore[arg-type]
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
        wait_until(lambda: _waiting(writer) == 20)

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
        wait_until(lambda: _waiting(writer) == 3)

        gated.gate.set()

        outcomes = [type(future.exception()) for future in (first, *others)]
    assert outcomes == [type(None), type(None), StorageError, type(None)]
    assert next(store.batches.tallies(METRIC, ALL))[2].n == 3
    assert writer.submit(deposit("after")).state == "kept"


def test_what_was_written_is_not_held_on_to_until_more_comes(store: Store) -> None:
    change, made = deposit("a"), Writer(store.batches, rest=bool)
    before = sys.getrefcount(change)

    made.submit(change)

    wait_until(lambda: sys.getrefcount(change) == before)
    made.close()


def test_what_can_wait_is_done_though_nothing_comes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "IDLE", 0.01)
    rested = threading.Event()
    made = Writer(store.batches, rest=lambda: bool(rested.set()))

    made.start()

    assert rested.wait(30)
    made.close()


@pytest.mark.parametrize("fault", [MemoryError(), StorageError("the disk is gone"), ValueError()])
def test_trouble_before_the_first_commit_ends_no_thread(
    store: Store, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def fail(_: object) -> None:
        raise fault

    monkeypatch.setattr(SqliteBatches, "prepare", fail)
    monkeypatch.setattr(writing, "LONGEST_WAIT", 5.0)
    made = Writer(store.batches, rest=bool)

    record = made.submit(deposit("a"))

    made.close()
    assert record.state == "kept"


def test_more_changes_than_may_wait_are_turned_away(gated: Gated, writer: Writer) -> None:
    with ThreadPoolExecutor(51) as pool:
        pool.submit(writer.submit, deposit("first"))
        gated.entered.wait(30)
        waiting = [pool.submit(writer.submit, deposit(str(number))) for number in range(50)]
        wait_until(lambda: _waiting(writer) == 50)

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
        wait_until(lambda: _waiting(writer) + gated.groups[0] == 5)
        closing = pool.submit(writer.close)

        gated.gate.set()

        closing.result(30)
        assert [future.result(30).state for future in futures] == ["kept"] * 5


def test_a_forked_child_gets_a_writer_of_its_own(store: Store) -> None:
    writer = Writer(store.batches, rest=bool)
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


def test_a_quiet_moment_is_used_for_what_can_wait(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "IDLE", 0.01)
    due = [False, True, True]
    writer = Writer(store.batches, rest=due.pop)
    writer.submit(deposit("a"))

    wait_until(lambda: not due)

    writer.close()


def test_what_can_wait_is_done_even_where_no_moment_is_quiet(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "NEVER_IDLE", 0.0)
    rested: list[int] = []
    writer = Writer(store.batches, rest=lambda: bool(rested.append(1)))

    for number in range(5):
        writer.submit(deposit(str(number)))

    writer.close()
    assert len(rested) >= 5


def test_what_is_left_of_what_can_wait_does_not_wait_long_under_load(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "IDLE", 60.0)
    monkeypatch.setattr(writing, "BEHIND", 0.0)
    monkeypatch.setattr(writing, "NEVER_IDLE", 0.0)
    rested: list[int] = []

    def rest() -> bool:
        monkeypatch.setattr(writing, "NEVER_IDLE", 60.0)
        rested.append(1)
        return len(rested) < 3

    writer = Writer(store.batches, rest=rest)

    for number in range(6):
        writer.submit(deposit(str(number)))

    writer.close()
    assert len(rested) == 3


def _waiting(writer: Writer) -> int:
    return sum(line.queue.qsize() for line in writer._lines.values())
