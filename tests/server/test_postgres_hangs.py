"""This file proves that a PostgreSQL server that hangs, or is read-only for a while, stops no collector."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress

import psycopg
import pytest

from hubbub.errors import DatabaseAwayError, StorageError
from hubbub_server.store.opening import open_store
from hubbub_server.store.postgres import database
from hubbub_server.store.postgres.database import Database
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.postgres.schema import migrate
from hubbub_server.store.watch import Watch
from tests.postgres import Server, programs, running_server
from tests.server.changes import METRIC, deposit
from tests.server.rows import rows


@contextmanager
def hanging(server: Server) -> Iterator[None]:
    """Stop every process of a server: connections stay, and the system takes new ones."""
    postmaster = (server.directory / "data" / "postmaster.pid").read_text().partition("\n")[0]
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", postmaster], capture_output=True, check=True)
    processes = [int(postmaster), *map(int, found.stdout.split())]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


@pytest.mark.torture
def test_a_server_that_hangs_is_away_for_every_thread_and_back_without_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Connection, "patience", 0.5)
    monkeypatch.setattr(database, "LOOK", 1)
    where = programs()
    assert where
    with running_server(where) as server, closing(open_store(server.fresh())) as store:
        store.batches.commit([deposit("a")])
        assert store.batches.find(b"") is None

        with hanging(server), ThreadPoolExecutor(16) as pool:
            asked = [pool.submit(store.batches.find, b"") for _ in range(15)]
            asked.append(pool.submit(store.batches.commit, [deposit("b")]))
            outcomes = [each.exception() for each in asked]

        assert {type(outcome) for outcome in outcomes} == {DatabaseAwayError}
        while True:
            try:
                assert store.batches.find(b"") is None
                break
            except DatabaseAwayError:
                pass
        assert store.batches.commit([deposit("b")])[0].state == "kept"
        ((_, _, tally),) = store.batches.tallies(METRIC, range(100))
        assert tally.n == 2


def test_while_one_looks_for_a_server_that_is_away_others_are_told_at_once() -> None:
    watch, looking, done = Watch(), threading.Event(), threading.Event()
    with pytest.raises(DatabaseAwayError), watch.passed():
        raise DatabaseAwayError("away")

    def look() -> None:
        with watch.passed():
            looking.set()
            assert done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(look)
        looking.wait(60)
        try:
            with pytest.raises(DatabaseAwayError, match="away"), watch.passed():
                pytest.fail("two look at once")
        finally:
            done.set()
        first.result()

    with watch.passed(), watch.passed():
        pass


def test_a_statement_is_given_up_and_work_that_takes_long_is_not(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection, "patience", 0.3)
    migrate(opened := Database(postgres.fresh()))

    with closing(opened):
        with opened.alone() as connection:
            connection.execute("SELECT pg_sleep(1)")
        with (
            pytest.raises(DatabaseAwayError, match=r"has said nothing for 0\.3 seconds"),
            opened.writing() as connection,
        ):
            connection.execute("SELECT pg_sleep(1)")


def test_a_database_that_was_read_only_for_a_while_is_written_again(postgres: Server) -> None:
    url = postgres.fresh()
    with closing(open_store(url)) as store, psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        for act in (lambda: store.upkeep.note("a", 1), lambda: store.batches.commit([deposit("a")])):
            with pytest.raises(StorageError, match="ReadOnlySqlTransaction"):
                act()
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")

        for _ in range(database.CONNECTIONS):  # some may have been opened meanwhile
            with suppress(StorageError):
                store.upkeep.note("a", 1)
        assert store.upkeep.noted("a") == 1
        assert store.batches.commit([deposit("a")])[0].state == "kept"
    assert rows(url, "SELECT n FROM tally") == [(1,)]
