"""This file proves that the SQLite store keeps all or nothing, by keys and not by reading everything."""

import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.errors import BusyError, StorageError
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.protocol import Store
from hubbub_server.store.sqlite.database import Database, write_rows
from tests.server.changes import METRIC, deposit, withdrawal
from tests.server.site import Site, batch, code

MIB = 2**20
pytestmark = pytest.mark.filterwarnings(  # Python 3.12 warns of what is proven here to work
    "ignore:.*multi-threaded.*fork:DeprecationWarning"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_sqlite(tmp_path / "hubbub.sqlite3")
    yield opened
    opened.close()


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 63, 64, 65, 200])
def test_rows_are_inserted_whatever_their_number(tmp_path: Path, rows: int) -> None:
    database = Database(tmp_path / "rows.sqlite3")
    with database.writing() as connection:
        connection.execute("CREATE TABLE t (a, b)")

        write_rows(connection, "INSERT", "t", [(row, b"x") for row in range(rows)])

        found = connection.execute("SELECT a FROM t ORDER BY a").fetchall()
    database.close()
    assert found == [(row,) for row in range(rows)]


def test_a_large_batch_leaves_the_memory_once_it_is_written(store: Store) -> None:
    small = deposit("small")
    (portion,) = small.portions
    store.batches.commit([small])
    before = _resident()

    large = replace(deposit("large"), portions=(replace(portion, reports=bytes(64 * MIB)),))
    store.batches.commit([large])

    del large
    assert _resident() - before < 40 * MIB


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_no_statement_reads_a_table_from_end_to_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    open_one = Database._open

    def traced(database: Database, cache: int) -> sqlite3.Connection:
        connection = open_one(database, cache)
        connection.set_trace_callback(said.append)
        return connection

    store.close()
    monkeypatch.setattr(Database, "_open", traced)
    store.batches.commit([deposit("a"), withdrawal("a"), withdrawal("b"), deposit("c")])
    store.batches.find(deposit("a").id_hash)
    assert len(list(store.batches.tallies(METRIC, range(5, 9)))) == 1
    assert len(list(store.batches.reports(METRIC, range(5, 9)))) == 1
    store.upkeep.forget(0)
    store.keys.find("00000000")
    store.manifests.metric(METRIC)
    statements = [text for text in said if re.match("SELECT|INSERT|REPLACE|UPDATE|DELETE", text)]

    with store.batches._database.reading() as connection:  # type: ignore[attr-defined]
        plans = [row[3] for text in statements for row in connection.execute(f"EXPLAIN QUERY PLAN {text}")]

    assert len(statements) > 12
    assert [
        plan for plan in plans if re.match(r"SCAN (batch|reports|cell|folded|key|manifest|metric)\b", plan)
    ] == []
    assert any("batch_by_day" in plan for plan in plans)
    assert any("sqlite_autoindex_cell_1 (metric=? AND period>? AND period<?)" in plan for plan in plans)
    assert not any("TEMP B-TREE" in plan for plan in plans)


def test_the_database_is_for_its_owner_only(store: Store, tmp_path: Path) -> None:
    store.batches.prepare()
    store.batches.commit([deposit("a")])

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}

    assert modes == dict.fromkeys(("hubbub.sqlite3", "hubbub.sqlite3-wal", "hubbub.sqlite3-shm"), 0o600)


def test_commits_overwrite_the_log_in_place(
    store: Store, tmp_path: Path, pages_of_log: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hubbub_server.store.sqlite.database.PAGES_OF_LOG", pages_of_log)
    store.batches.prepare()
    grown = (tmp_path / "hubbub.sqlite3-wal").stat().st_size

    for number in range(50):
        store.batches.commit([deposit(str(number))])

    assert grown > 10 * 2**20
    assert (tmp_path / "hubbub.sqlite3-wal").stat().st_size == grown


def test_a_database_held_by_another_process_is_busy_and_not_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hubbub_server.store.sqlite.database.LOCK_WAIT", 0.05)
    store = open_sqlite(tmp_path / "hubbub.sqlite3")
    holder = sqlite3.connect(tmp_path / "hubbub.sqlite3", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(BusyError):
        store.batches.commit([deposit("a")])

    holder.execute("ROLLBACK")
    holder.close()
    assert store.batches.commit([deposit("a")])[0].state == "kept"
    store.close()


def test_a_connection_that_reads_holds_little_memory_whoever_had_it_before(tmp_path: Path) -> None:
    database = Database(tmp_path / "hubbub.sqlite3")
    held = []

    for lend in (database.reading, database.writing, database.reading):
        with lend() as connection:
            held.append(connection.execute("PRAGMA cache_size").fetchone())

    database.close()
    assert held == [(-2048,), (-16_384,), (-2048,)]  # KiB


@pytest.mark.parametrize("replaced", [False, True])
def test_a_batch_is_not_acknowledged_into_a_database_that_is_gone(home: Site, replaced: bool) -> None:
    home.post(batch())
    aside = home.database.parent / "aside"
    aside.mkdir()
    if replaced:
        with home.collector.store.batches._database.reading() as connection:  # type: ignore[attr-defined]
            connection.execute("VACUUM INTO ?", [str(aside / "copy")])
    _move(home.database.parent, aside)
    if replaced:
        (aside / "copy").rename(home.database)

    answers = [home.post(batch()), home.client.get("/v1/metrics", headers=home.bearer("analyst"))]

    assert [(answer.status_code, code(answer)) for answer in answers] == [(503, "storage_failed")] * 2
    _move(aside, home.database.parent)
    assert home.post(batch()).status_code == 200
    assert home.counted("dark") == 6


def test_a_database_that_goes_during_a_commit_is_noticed(tmp_path: Path) -> None:
    database = Database(tmp_path / "hubbub.sqlite3")

    with pytest.raises(StorageError, match="moved"), database.writing():
        database.path.rename(tmp_path / "elsewhere")

    database.close()


def test_a_log_that_went_with_its_last_connection_is_not_missed_by_who_opens_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_sqlite(tmp_path / "hubbub.sqlite3").close()
    database, open_one = Database(tmp_path / "hubbub.sqlite3"), Database._open
    last = database.reading()
    last.__enter__().execute("SELECT 1")

    def meanwhile(database: Database, cache: int) -> sqlite3.Connection:
        last.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
        for number in range(4):
            (tmp_path / str(number)).touch()  # so that the next log gets another number of a file
        return open_one(database, cache)

    monkeypatch.setattr(Database, "_open", meanwhile)

    with database.reading() as other:
        assert other.execute("SELECT count(*) FROM cell").fetchall() == [(0,)]

    assert database.select("SELECT count(*) FROM cell") == [(0,)]
    database.close()


def _move(source: Path, target: Path) -> None:
    for path in source.glob("hubbub.sqlite3*"):
        path.rename(target / path.name)
