"""This file proves what every store promises, on every database that there is a store for."""

import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hubbub.errors import BusyError, RefusedError, StorageError
from hubbub.tally import Tally
from hubbub_server.store.opening import open_store
from hubbub_server.store.protocol import Store
from hubbub_server.store.records import Change, Deposit, Portion, Record, StoredKey, StoredMetric
from tests.server.changes import ALL, METRIC, add_up, deposit, withdrawal
from tests.server.forks import fork
from tests.server.rows import rows

pytestmark = pytest.mark.filterwarnings(  # Python 3.12 warns of what is proven here to work
    "ignore:.*multi-threaded.*fork:DeprecationWarning"
)


def counted(store: Store) -> list[tuple[int, bytes, Tally]]:
    return list(store.batches.tallies(METRIC, ALL))


def of(n: int) -> list[tuple[int, bytes, Tally]]:
    """What is counted after n ones."""
    return [(7, b"", Tally(n, np.array([0, n])))]


def wide(name: str, *, ends: int = 60, periods: int = 40) -> Deposit:
    """Return a batch of a report in each of many cells."""
    made = deposit(name)
    (portion,) = made.portions
    portions = tuple(
        Portion(METRIC, period, bytes([label]), ends + period, portion.tally, portion.reports)
        for period in range(periods)
        for label in range(3)
    )
    return Deposit(made.id_hash, made.digest, made.forget_after, made.answer, portions)


def test_a_group_is_added_to_the_tallies_once_a_batch(store: Store) -> None:
    changes = [deposit("a", 3), deposit("b", 4), deposit("a", 3)]

    records = store.batches.commit(changes)

    assert [record.state for record in records] == ["kept"] * 3
    assert counted(store) == of(7)


def test_the_first_batch_under_an_id_stays(store: Store) -> None:
    first = store.batches.commit([deposit("a", digest=b"1" * 32), deposit("a", digest=b"2" * 32)])

    second = store.batches.commit([deposit("a", digest=b"3" * 32)])

    assert [record.digest for record in [*first, *second]] == [b"1" * 32] * 3


def test_a_batch_may_be_withdrawn_in_the_group_that_brings_it(store: Store) -> None:
    changes = [
        deposit("a", 3),
        withdrawal("a"),
        deposit("b", 4),
        deposit("a", 3),
        withdrawal("c"),
        deposit("c"),
    ]

    records = store.batches.commit(changes)

    assert [record.state for record in records] == ["kept", "withdrawn", "kept", *["withdrawn"] * 3]
    assert counted(store) == of(4)
    assert list(store.upkeep.check(add_up)) == []


def test_a_group_that_fails_leaves_nothing_behind(store: Store) -> None:
    broken = deposit("b")
    object.__setattr__(broken, "answer", None)  # which the table refuses

    with pytest.raises(StorageError):
        store.batches.commit([deposit("a"), broken])

    assert counted(store) == []
    assert store.batches.find(deposit("a").id_hash) is None
    assert store.batches.commit([deposit("a")])[0].state == "kept"


def test_a_withdrawal_of_all_leaves_no_row_of_reports_cells_or_sums(store: Store, where: Path | str) -> None:
    store.batches.commit([deposit("a", 3), wide("b")])

    store.batches.commit([withdrawal("b"), withdrawal("a")])

    assert counted(store) == []
    assert rows(where, "SELECT count(*) FROM reports UNION ALL SELECT count(*) FROM cell") == [(0,), (0,)]


def test_a_batch_of_many_cells_and_ends_is_kept_and_given_back_whole(store: Store) -> None:
    store.batches.commit([wide("a"), wide("b")])

    found = list(store.batches.tallies(METRIC, range(3, 30)))

    assert [(period, labels) for period, labels, _ in found] == [
        (period, bytes([label])) for period in range(3, 30) for label in range(3)
    ]
    assert {tally.n for _, _, tally in found} == {2}
    assert len(list(store.batches.reports(METRIC, ALL))) == 240
    assert (store.upkeep.oldest_raw(), store.upkeep.latest_end()) == (60, 99)
    assert store.upkeep.skim(60.0) is not False
    assert list(store.upkeep.check(add_up)) == []


def test_reports_are_given_back_cell_by_cell_however_many_pages_they_fill(store: Store) -> None:
    for first in range(0, 2500, 250):
        store.batches.commit([deposit(str(number), 2) for number in range(first, first + 250)])

    found = list(store.batches.reports(METRIC, ALL))

    assert found == [(7, b"", b"\1\1")] * 2500


def test_ids_are_forgotten_after_their_day_and_reports_are_not(store: Store) -> None:
    store.batches.commit([deposit("old", forget_after=99), deposit("new", forget_after=100)])

    store.upkeep.forget(100)

    assert store.batches.find(deposit("old").id_hash) is None
    assert store.batches.find(deposit("new").id_hash) is not None
    assert counted(store) == of(2)


def test_a_kill_right_after_a_commit_loses_nothing(where: Path | str) -> None:
    open_store(where).close()

    def work() -> None:
        open_store(where).batches.commit([deposit("a", 5)])
        os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(fork(work), 0)

    with closing(open_store(where)) as store:
        assert counted(store) == of(5)


def test_a_forked_child_and_its_parent_both_write(store: Store) -> None:
    store.batches.commit([deposit("before")])

    def work() -> None:
        store.batches.commit([deposit("child", 3)])
        store.close()

    _, status = os.waitpid(fork(work), 0)

    store.batches.commit([deposit("after")])
    assert status == 0
    assert counted(store) == of(5)


def test_two_stores_on_one_database_count_a_batch_once_whichever_gets_it_first(where: Path | str) -> None:
    stores = [open_store(where) for _ in range(2)]
    start = threading.Barrier(2)

    def send(store: Store) -> list[str]:
        start.wait()
        states = []
        for first in range(0, 300, 10):
            names = [str(number) for number in range(first, first + 10)]
            group = [deposit(name, 2) for name in (names if store is stores[0] else reversed(names))]
            states += [record.state for record in _patient(store, group)]
        return states

    with ThreadPoolExecutor(2) as pool:
        states = list(pool.map(send, stores))

    assert states == [["kept"] * 300] * 2
    assert counted(stores[0]) == of(600)
    assert list(stores[0].upkeep.check(add_up)) == []
    for store in stores:
        store.close()


def test_deposits_and_withdrawals_of_the_same_batches_by_two_stores_end_alike(where: Path | str) -> None:
    stores = [open_store(where) for _ in range(2)]

    def bring() -> None:
        for number in range(60):
            _patient(stores[0], [deposit(str(number), 2), wide(f"wide {number}", periods=3)])

    def take() -> None:
        for number in range(0, 60, 2):
            _patient(stores[1], [withdrawal(f"wide {number}"), withdrawal(str(number))])

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(bring), pool.submit(take)]:
            done.result()

    assert sum(tally.n for _, _, tally in counted(stores[1])) == 30 * (2 + 9)
    assert list(stores[0].upkeep.check(add_up)) == []
    for store in stores:
        store.close()


def test_two_stores_that_withdraw_the_same_batches_at_once_both_have_withdrawn_them(
    where: Path | str,
) -> None:
    stores = [open_store(where) for _ in range(2)]
    names = [str(number) for number in range(100)]
    stores[0].batches.commit([deposit(name, 2) for name in [*names, "stays"]])
    start = threading.Barrier(2)

    def take(store: Store) -> list[str]:
        start.wait()
        return [_patient(store, [withdrawal(name)])[0].state for name in names]

    with ThreadPoolExecutor(2) as pool:
        states = list(pool.map(take, stores))

    assert states == [["withdrawn"] * 100] * 2
    assert counted(stores[0]) == of(2)
    assert list(stores[0].upkeep.check(add_up)) == []
    for store in stores:
        store.close()


def test_noted_numbers_outlast_a_restart(where: Path | str) -> None:
    with closing(open_store(where)) as store:
        store.upkeep.note("day", 19999)
        store.upkeep.note("day", 20000)

    with closing(open_store(where)) as again:
        assert [again.upkeep.noted("day"), again.upkeep.noted("other")] == [20000, 0]


def test_a_probe_writes_something_each_time(store: Store) -> None:
    for _ in range(3):
        store.upkeep.probe()

    assert store.upkeep.noted("probe") == 1


def test_compacting_changes_no_answer(store: Store) -> None:
    store.batches.commit([deposit("a", 5), deposit("b"), wide("c")])
    store.batches.commit([withdrawal("b")])
    before = counted(store), sorted(store.batches.reports(METRIC, ALL))

    store.upkeep.compact()

    assert (counted(store), sorted(store.batches.reports(METRIC, ALL))) == before
    assert list(store.upkeep.check(add_up)) == []
    assert store.batches.commit([deposit("a")])[0].answer == deposit("a").answer


def test_late_reports_of_a_cell_whose_others_are_gone_go_too(store: Store) -> None:
    store.batches.commit([deposit("a")])
    while store.upkeep.expire(61, add_up):
        pass
    store.batches.commit([deposit("b")])
    late = len(list(store.batches.reports(METRIC, ALL)))

    while store.upkeep.expire(61, add_up):
        pass

    assert late == 1
    assert list(store.batches.reports(METRIC, ALL)) == []
    assert counted(store) == of(2)


def test_only_reports_of_periods_that_ended_before_the_day_go(store: Store) -> None:
    store.batches.commit([wide("a", ends=50)])  # which end on the days 50 to 89

    while store.upkeep.expire(81, add_up):
        pass

    assert {period for period, _, _ in store.batches.reports(METRIC, ALL)} == set(range(31, 40))
    assert sum(tally.n for _, _, tally in counted(store)) == 120
    assert list(store.upkeep.check(add_up)) == []


def test_reports_of_a_cell_that_took_the_number_of_another_are_not_taken_for_its_own(store: Store) -> None:
    store.batches.commit([wide("a", periods=1), wide("b", periods=2)])
    reading = store.batches.reports(METRIC, ALL)
    found = [next(reading)]
    store.batches.commit([withdrawal("b")])
    (portion,) = deposit("c").portions
    others = tuple(replace(portion, metric=b"2" * 32, period=period, reports=b"?") for period in range(9))

    store.batches.commit([replace(deposit("c"), portions=others)])

    found += reading
    assert {(period, reports) for period, _, reports in found} == {(0, b"\1")}


def test_cells_that_come_and_go_use_no_numbers_up(store: Store, where: Path | str) -> None:
    for number in range(5):
        store.batches.commit([wide(str(number))])
        store.batches.commit([withdrawal(str(number))])

    store.batches.commit([deposit("stays")])

    assert rows(where, "SELECT number FROM cell") == [(1,)]


def test_a_check_takes_no_cell_that_comes_meanwhile_for_damage(store: Store) -> None:
    store.batches.commit([deposit("a")])
    late = [wide("b")]

    def meanwhile(metric: bytes, reports: bytes) -> Tally:
        store.batches.commit([late.pop()] if late else [])
        return add_up(metric, reports)

    assert list(store.upkeep.check(meanwhile)) == []
    assert late == []
    assert list(store.upkeep.check(add_up)) == []


def test_keys_are_kept_used_and_revoked_once(store: Store) -> None:
    made = [StoredKey("b", "ingest", b"\0" * 32, "für ☂"), StoredKey("a", "admin", b"\1" * 32, "")]
    for key in made:
        store.keys.add(key)

    store.keys.use("b", "2026-11-30")

    assert [store.keys.revoke("a", "2026-11-29"), store.keys.revoke("a", "2026-11-30")] == [True, False]
    assert [key.number for key in store.keys.all()] == ["a", "b"]
    assert store.keys.find("a") == StoredKey("a", "admin", b"\1" * 32, "", revoked="2026-11-29")
    assert store.keys.find("b") == StoredKey("b", "ingest", b"\0" * 32, "für ☂", last_used="2026-11-30")
    assert store.keys.find("c") is None


def test_manifests_follow_each_other_and_one_of_two_at_once_must_try_again(store: Store) -> None:
    def metric(name: str, serial: int = 0) -> StoredMetric:
        return StoredMetric(name.encode(), "app", name, serial, "{}")

    store.manifests.publish("app", 1, "first", [metric("B"), metric("a")], after=0)
    store.manifests.keep_signed("app", 1, b"signed")
    store.manifests.publish("app", 2, "second", [metric("B")], after=1)

    with pytest.raises(RefusedError, match="published meanwhile"):
        store.manifests.publish("app", 3, "third", [], after=1)

    assert store.manifests.latest("app") == (2, "second")
    assert store.manifests.latest("other") is None
    assert store.manifests.signed("app") == b"signed"
    assert store.manifests.signed("other") is None
    assert store.manifests.metrics() == [metric("B", 2), metric("a", 1)]
    assert store.manifests.metric(b"a") == metric("a", 1)
    assert store.manifests.metric(b"x") is None


def _patient(store: Store, group: Sequence[Change]) -> list[Record]:
    """Commit, again if others held the database for too long, as a client would."""
    while True:
        with suppress(BusyError):
            return store.batches.commit(group)
