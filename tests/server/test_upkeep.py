"""This file proves that folding, deleting, copying and compacting change no answer, and damage is found."""

import os
import signal
import stat
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from hubbub.errors import StorageError
from hubbub.period import DAY
from hubbub.tally import Tally
from hubbub_server.catalog import MOST_SUMMED
from hubbub_server.publication import publish
from hubbub_server.store.opening import open_sqlite, open_store
from hubbub_server.store.postgres import pages as postgres_pages
from hubbub_server.store.postgres import upkeep as postgres_steps
from hubbub_server.store.sqlite import upkeep as sqlite_steps
from tests.server.changes import ALL, METRIC, add_up, deposit
from tests.server.forks import fork
from tests.server.rows import rows
from tests.server.site import Site, batch, code, dark, seconds, system
from tests.server.words import MECHANISM, WORD, WORDS, asked, column, reports

pytestmark = pytest.mark.filterwarnings(  # Python 3.12 warns of what is proven here to work
    "ignore:.*multi-threaded.*fork:DeprecationWarning"
)


@pytest.fixture
def house(either: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A collector with reports of all kinds, whose large sums are folded as soon as anything waits."""
    monkeypatch.setattr(sqlite_steps, "FOLDED_FROM", 1)
    monkeypatch.setattr(sqlite_steps, "FOLDED_AT_ONCE", 800)
    monkeypatch.setattr(postgres_steps, "FOLDED_FROM", 1)
    monkeypatch.setattr(postgres_pages, "BYTES", 800)
    publish(either.collector.store.manifests, WORDS)
    for seed in range(3):
        either.post(batch(dark([1, 0, 1]), seconds([500, 20], label=1), system([3, 5])))
        either.post(batch(column(reports(seed)), column(reports(seed + 9), label=1)))
    return either


def everything(house: Site) -> list[object]:
    """All that an analyst can be told."""
    return [house.estimates(), asked(house), asked(house, by="label")]


def fold_all(house: Site) -> int:
    done = 0
    while house.collector.store.upkeep.fold(house.collector.catalog.add_up):
        done += 1
    return done


def expire_all(house: Site, before: int) -> int:
    done = 0
    while house.collector.store.upkeep.expire(before, house.collector.catalog.add_up):
        done += 1
    return done


def faults(house: Site) -> list[str]:
    return [fault.fault for fault in house.collector.store.upkeep.check(house.collector.catalog.add_up)]


def test_the_metric_of_words_is_one_whose_sums_are_folded_later() -> None:
    assert MECHANISM.tally(reports(0)).cells.size > MOST_SUMMED


def test_folding_changes_no_answer_at_any_step(house: Site) -> None:
    before, done = everything(house), 0

    while house.collector.store.upkeep.fold(house.collector.catalog.add_up):
        done += 1
        assert everything(house) == before

    assert done
    assert faults(house) == []
    assert fold_all(house) == 0


def test_reports_that_come_after_folding_are_added_to_what_was_folded(house: Site) -> None:
    fold_all(house)
    twin = np.concatenate([reports(seed) for seed in (0, 1, 2, 7)])

    house.post(batch(column(reports(7))))

    pieces = list(house.collector.store.batches.pieces(WORD.id, ALL))
    count = partial(house.collector.catalog.add_up, WORD.id)
    tallies = [
        count(piece) if isinstance(piece, bytes) else piece for _, label, piece in pieces if label == b"\0"
    ]
    assert len(tallies) == 2
    assert tallies[0] + tallies[1] == count(twin.tobytes())


def test_a_folded_batch_can_be_withdrawn(house: Site) -> None:
    before = everything(house)
    sent = batch(column(reports(7)), dark([1]))
    house.post(sent)
    fold_all(house)

    house.withdraw(sent.id)

    assert everything(house) == before
    assert faults(house) == []


def test_raw_reports_go_after_their_days_and_answers_stay(house: Site) -> None:
    before = everything(house)

    expire_all(house, int(house.clock.now // DAY) + 60)

    assert everything(house) == before
    assert rows(house.where, "SELECT (SELECT count(*) FROM reports), (SELECT count(*) FROM cell)") == [(0, 5)]
    assert faults(house) == []


def test_raw_reports_of_periods_that_ended_later_stay(house: Site) -> None:
    today = int(house.clock.now // DAY)

    expire_all(house, today + 1)  # the day of the daily metric is over, the weeks are not

    kept = "FROM reports JOIN cell ON number = key >> 36"
    assert rows(house.where, f"SELECT count(DISTINCT metric) {kept}") == [(3,)]
    assert rows(house.where, "SELECT count(DISTINCT metric) FROM cell") == [(4,)]


def test_a_batch_whose_raw_reports_are_gone_can_not_be_withdrawn(house: Site) -> None:
    sent = batch(dark([1, 1]))
    house.post(sent)
    expire_all(house, int(house.clock.now // DAY) + 60)
    counted = house.counted("dark")

    answer = house.withdraw(sent.id)

    assert code(answer) == "already_folded"
    assert house.counted("dark") == counted


def test_deleting_goes_on_where_a_kill_ended_it(where: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_steps, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(postgres_steps, "ROWS_AT_ONCE", 2)
    with closing(open_store(where)) as store:
        store.batches.commit([deposit(str(number)) for number in range(9)])

    def work() -> None:
        open_store(where).upkeep.expire(61, never)
        os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(fork(work), 0)
    with closing(open_store(where)) as store:
        assert len(list(store.batches.reports(METRIC, ALL))) == 7
        while store.upkeep.expire(61, never):
            pass
        assert list(store.batches.reports(METRIC, ALL)) == []
        assert next(store.batches.tallies(METRIC, ALL))[2].n == 9


@pytest.mark.parametrize("bound", ["ROWS_AT_ONCE", "BYTES_AT_ONCE"])
def test_what_is_deleted_at_once_is_bounded(
    where: Path | str, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(sqlite_steps, bound, 1)
    monkeypatch.setattr(postgres_steps, bound, 1)
    left = []
    with closing(open_store(where)) as store:
        store.batches.commit([deposit(str(number), 9) for number in range(3)])

        while store.upkeep.expire(61, never):
            left.append(len(list(store.batches.reports(METRIC, ALL))))

    assert left == [2, 1, 0]


def first(statement: str) -> str:
    """Return a statement about the cell with the lowest number."""
    return statement.replace("FIRST", "(SELECT min(number) FROM cell)")


ONE_GONE = "DELETE FROM reports WHERE key IN (SELECT key FROM reports WHERE key >> 36 = FIRST LIMIT 1)"
HARM = {
    "the tally counts": (
        "UPDATE cell SET n = n + 1 WHERE number = FIRST",
        "UPDATE tally SET n = n + 1 WHERE cell = FIRST",
    ),
    "not the sum": (
        "UPDATE cell SET sums = zeroblob(length(sums)) WHERE number = FIRST",
        "UPDATE tally SET sums = decode(repeat('00', length(sums)), 'hex') WHERE cell = FIRST",
    ),
    "can't be read": (
        "UPDATE cell SET sums = x'01' WHERE number = FIRST",
        "UPDATE tally SET sums = '\\x01' WHERE cell = FIRST",
    ),
    "are kept": (ONE_GONE, ONE_GONE),
    "are missing": (ONE_GONE, ONE_GONE),
    "belong to no metric": (
        "UPDATE reports SET key = key + (900 << 36) WHERE key >> 36 = FIRST",
        "UPDATE reports SET key = key + (900::bigint << 36) WHERE key >> 36 = FIRST",
    ),
    "wait to be added up": (
        "UPDATE cell SET unfolded = 1 WHERE unfolded",
        "UPDATE tally SET unfolded = 1 WHERE unfolded <> 0",
    ),
    "another batch": (
        "UPDATE batch SET keys = (SELECT keys FROM batch WHERE length(keys) > 8 LIMIT 1)",
        "UPDATE batch SET keys = (SELECT keys FROM batch WHERE cardinality(keys) > 1 LIMIT 1)",
    ),
}


@pytest.mark.parametrize("said", HARM)
def test_damage_is_found(house: Site, said: str) -> None:
    assert faults(house) == []

    rows(house.where, first(HARM[said][isinstance(house.where, str)]))

    assert any(said in fault for fault in faults(house))


def test_what_waits_and_is_not_there_is_told_and_not_waited_for(house: Site) -> None:
    fold_all(house)
    harm = "UPDATE cell SET unfolded = 5 WHERE length(sums) = 0"

    rows(house.where, harm if isinstance(house.where, Path) else harm.replace("cell", "tally"))

    with pytest.raises(StorageError, match="hubbub-server check"):
        house.collector.store.upkeep.fold(house.collector.catalog.add_up)


def test_batches_whose_reports_went_before_an_upgrade_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "hubbub.sqlite3"
    with closing(open_sqlite(path)) as store:
        store.batches.commit([deposit("a"), deposit("b")])
        for statement in (
            "UPDATE batch SET keys = zeroblob(8)",  # as that upgrade leaves it
            "DELETE FROM reports",
            "UPDATE cell SET raw = 'gone'",
        ):
            rows(path, statement)

        assert list(store.upkeep.check(add_up)) == []


def test_a_backup_is_whole_private_and_answers_alike(home: Site, tmp_path: Path) -> None:
    os.umask(0o000)
    path = tmp_path / "copy.sqlite3"
    home.post(batch(dark([1] * 9)))

    home.collector.store.upkeep.backup(path)

    home.post(batch(dark([1])))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    home.collector.store.close()
    path.replace(home.database)
    with pytest.raises(StorageError):
        home.collector.store.keys.all()
    copy = open_sqlite(home.database)
    assert next(copy.batches.tallies(dark([1]).metric, ALL))[2].n == 9
    copy.close()


def test_a_backup_that_is_killed_leaves_nothing_under_its_name(
    home: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_steps, "_sync", lambda _: os._exit(9))  # once it is written

    _, status = os.waitpid(fork(lambda: home.collector.store.upkeep.backup(tmp_path / "copy")), 0)

    assert os.WEXITSTATUS(status) == 9
    assert not (tmp_path / "copy").exists()
    assert [path.suffix for path in tmp_path.glob("copy*")] == [".part"]


def test_a_backup_never_replaces_a_file(home: Site, tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("precious")

    with pytest.raises(StorageError, match="exists"):
        home.collector.store.upkeep.backup(path)

    assert path.read_text() == "precious"


def test_compacting_changes_no_answer_and_gives_room_back(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "hubbub.sqlite3")
    for number in range(20):
        store.batches.commit([deposit(str(number), 50_000)])
    big = store.upkeep.usage().taken
    while store.upkeep.expire(61, never):
        pass

    store.upkeep.compact()

    assert store.upkeep.usage().taken < big - 1_000_000
    assert next(store.batches.tallies(METRIC, ALL))[2].n == 1_000_000
    store.close()


def never(metric: bytes, data: bytes) -> Tally:
    raise AssertionError("there is nothing to add up")
