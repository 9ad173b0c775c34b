"""This file proves that a store starts from anything that is ours, and leaves alone what is not."""

import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.errors import StorageError
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.schema import MIGRATIONS, migrate
from tests.server.changes import ALL, METRIC, deposit
from tests.server.forks import fork

pytestmark = pytest.mark.filterwarnings(  # Python 3.12 warns of what is proven here to work
    "ignore:.*multi-threaded.*fork:DeprecationWarning"
)


def test_starts_at_the_same_time_on_an_empty_file_all_work(tmp_path: Path) -> None:
    path = tmp_path / "hubbub.sqlite3"
    gate, opener = os.pipe()
    children = [fork(lambda number=number: _start(path, gate, opener, number)) for number in range(8)]

    os.close(opener)

    statuses = [os.waitpid(child, 0)[1] for child in children]
    os.close(gate)
    store = open_sqlite(path)
    assert statuses == [0] * 8
    assert next(store.batches.tallies(METRIC, ALL))[2].n == 8
    store.close()


def _start(path: Path, gate: int, opener: int, number: int) -> None:
    os.close(opener)
    os.read(gate, 1)  # which ends when the parent opens the gate
    _commit(path, str(number))


def _commit(path: Path, name: str) -> None:
    with closing(open_sqlite(path)) as store:
        store.batches.commit([deposit(name)])


def test_tables_that_another_process_makes_meanwhile_are_not_taken_for_those_of_a_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, open_one, others = tmp_path / "hubbub.sqlite3", Database._open, ["first"]

    def meanwhile(statement: str) -> None:
        if "sqlite_master" in statement and others:
            _commit(path, others.pop())

    def traced(database: Database, cache: int) -> sqlite3.Connection:
        connection = open_one(database, cache)
        connection.set_trace_callback(meanwhile)
        return connection

    monkeypatch.setattr(Database, "_open", traced)

    _commit(path, "second")

    with closing(open_sqlite(path)) as store:
        assert next(store.batches.tallies(METRIC, ALL))[2].n == 2


SLOW = """INSERT INTO later
    WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) SELECT x FROM c"""
NEXT = (*MIGRATIONS, ("CREATE TABLE later (x)", SLOW, SLOW, SLOW, "CREATE TABLE last (x)"))


@pytest.mark.parametrize("wait", [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12])
def test_a_kill_in_the_middle_of_an_upgrade_leaves_the_version_before(tmp_path: Path, wait: float) -> None:
    path = tmp_path / "hubbub.sqlite3"
    store = open_sqlite(path)
    store.batches.commit([deposit("a")])
    store.close()
    child = fork(lambda: migrate(Database(path), NEXT))
    time.sleep(wait)

    os.kill(child, signal.SIGKILL)

    os.waitpid(child, 0)
    database = Database(path)
    with database.reading() as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert (version, "later" in tables, "last" in tables) in {
        (len(MIGRATIONS), False, False),
        (len(NEXT), True, True),
    }
    migrate(database, NEXT)
    with database.reading() as connection:
        counts = connection.execute("SELECT (SELECT count(*) FROM later), (SELECT count(*) FROM cell)")
        assert counts.fetchone() == (300_000, 1)
    database.close()


def test_a_store_opens_while_another_process_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub_server.store.sqlite.database.LOCK_WAIT", 0.05)
    path = tmp_path / "hubbub.sqlite3"
    open_sqlite(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")

        with closing(open_sqlite(path)) as store:
            assert store.keys.all() == []


def test_a_database_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    database = Database(tmp_path / "hubbub.sqlite3")
    migrate(database, NEXT)
    database.close()

    with pytest.raises(StorageError, match="newer hubbub-server"):
        open_sqlite(database.path)


@pytest.mark.parametrize("content", [b"", b"x" * 5000])
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content or _foreign(tmp_path))
    before = path.read_bytes()

    with pytest.raises(StorageError):
        open_sqlite(path)

    assert path.read_bytes() == before


def _foreign(directory: Path) -> bytes:
    with sqlite3.connect(directory / "other.sqlite3") as connection:
        connection.execute("CREATE TABLE photos (x)")
    connection.close()
    return (directory / "other.sqlite3").read_bytes()
