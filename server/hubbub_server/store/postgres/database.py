"""This file opens one PostgreSQL database: a pool to read from, a seat to commit on, and a lock.

Two kinds of writers take turns by an advisory lock that lasts as long as a transaction. Batches are taken
together, by any number of processes at once. Whatever deletes, moves or adds up is alone.
"""

import logging
import math
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from hubbub.errors import DatabaseAwayError
from hubbub_server.store.postgres.errors import named_errors
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.postgres.seat import LOCKS, Seat
from hubbub_server.store.tables import Execute
from hubbub_server.store.watch import Watch

LOCK_WAIT = 10.0  # seconds
CONNECTIONS = 8  # that one process reads from
FREE_WAIT = 5.0  # seconds for one of them, while the server is there
LOOK_AFTER = 0.5  # seconds, whether it is: threads must not all wait for one that is away
LOOK = 2  # seconds that the look may take, or a connection to show that it still works
SCHEMA = "hubbub"
_WRITING = 0  # the lock between writers, beside the slots, which count from 1
_KEEP_ALIVE = """connect_timeout=5 tcp_user_timeout=30000
    keepalives_idle=30 keepalives_interval=10 keepalives_count=3"""
_SETTINGS = f"""SET search_path = {SCHEMA};
    SET default_transaction_isolation = 'read committed';  -- what is read after a lock is what is there
    SET lock_timeout = '{LOCK_WAIT:.0f}s';
    SET idle_in_transaction_session_timeout = '60s';  -- a process that was stopped holds up nobody
    SET tcp_keepalives_idle = 30;  -- nor does one whose machine is gone
    SET tcp_keepalives_interval = 10;
    SET tcp_keepalives_count = 3;
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local')"""
_TOGETHER = f"BEGIN; SELECT pg_advisory_xact_lock_shared({LOCKS}, {_WRITING})"
_ALONE = f"BEGIN; SELECT pg_advisory_xact_lock({LOCKS}, {_WRITING})"
_MOMENT = """BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    LOCK TABLE reports, waiting, folded, tally, cell, batch IN ACCESS SHARE MODE"""


class Database:
    """A PostgreSQL database; connections never cross a fork: they are kept by process id."""

    __slots__ = ("_lock", "_pools", "_seats", "_watch", "_where")

    def __init__(self, url: str) -> None:
        with named_errors():
            self._where = make_conninfo(_KEEP_ALIVE, **conninfo_to_dict(url))
        self._pools: dict[int, ConnectionPool[Connection]] = {}
        self._seats: dict[int, Seat] = {}
        self._lock, self._watch = threading.Lock(), Watch()

    @contextmanager
    def opening(self) -> Iterator[Connection]:
        """Lend a connection beside the pool, whose trouble shows at once.

        Raises BusyError or StorageError.
        """
        with named_errors(), closing(self._connect()) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection for one or a few SELECTs.

        Raises BusyError or StorageError.
        """
        with named_errors(), ExitStack() as stack:
            with self._watch.passed():
                try:
                    connection = stack.enter_context(self._pool().connection(LOOK_AFTER))
                except PoolTimeout:
                    self._connect(connect_timeout=LOOK).close()
                    connection = stack.enter_context(self._pool().connection())
            yield connection

    @contextmanager
    def moment(self) -> Iterator[Connection]:
        """Lend a connection that sees all as of one moment; tables are locked first: none is emptied since.

        Raises BusyError or StorageError.
        """
        with self.reading() as connection, connection.waiting(math.inf), _transaction(connection, _MOMENT):
            yield connection

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """Lend a connection inside one transaction, while nobody else writes.

        Raises StorageFullError, BusyError or StorageError.
        """
        with self.reading() as connection, alone(connection):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection inside one transaction for what has nothing to do with batches.

        Raises StorageFullError, BusyError or StorageError.
        """
        with self.reading() as connection, _transaction(connection, "BEGIN"):
            yield connection

    def select(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds."""
        with self.reading() as connection:
            return connection.execute(query.replace("?", "%s"), values).fetchall()

    @contextmanager
    def changing(self, *, alone: bool = False) -> Iterator[Execute]:
        """Lend what executes statements in one transaction; alone: while nobody else writes."""
        with self.alone() if alone else self.writing() as connection:
            yield lambda statement, *values: connection.execute(statement.replace("?", "%s"), values)

    @contextmanager
    def committing(self, *, alone: bool = False) -> Iterator[tuple[Connection, int]]:
        """Lend this process's seat and slot inside one transaction; raises what psycopg raises."""
        begin = _ALONE if alone else _TOGETHER
        with self._seat().taken() as (connection, slot), _transaction(connection, begin):
            yield connection, slot

    def take_seat(self) -> None:
        """Take a slot, unless this process has one.

        Raises StorageError.
        """
        with named_errors(), self._seat().taken():
            pass

    @property
    def is_seated(self) -> bool:
        """Whether this process has a slot, and has not lost its connection."""
        return self._seat().stands

    def close(self) -> None:
        """Close the connections of this process."""
        with self._lock:
            pool, seat = self._pools.pop(os.getpid(), None), self._seats.pop(os.getpid(), None)
        if pool:
            pool.close()
        if seat:
            seat.leave()

    def _connect(self, **more: int) -> Connection:
        """Open a connection. more: parameters of it.

        Raises DatabaseAwayError if that can't be done.
        """
        try:
            connection = Connection.connect(self._where, autocommit=True, **more)  # type: ignore[arg-type]
        except psycopg.OperationalError as error:
            host = conninfo_to_dict(self._where).get("host", "localhost")
            reason = str(error).partition("\n")[0].rpartition(" failed: ")[2]
            raise DatabaseAwayError(f"can't reach PostgreSQL at host {host}: {reason}") from None
        _set_up(connection)
        return connection

    def _seat(self) -> Seat:
        with self._lock:
            return self._seats.setdefault(os.getpid(), Seat(self._connect))

    def _pool(self) -> ConnectionPool[Connection]:
        with self._lock:
            if os.getpid() not in self._pools:
                logging.getLogger("psycopg.pool").disabled = True  # who asks is told, in the log's own form
                self._pools[os.getpid()] = ConnectionPool(
                    self._where,
                    connection_class=Connection,
                    kwargs={"autocommit": True},
                    min_size=1,
                    max_size=CONNECTIONS,
                    timeout=FREE_WAIT,
                    reconnect_timeout=FREE_WAIT,
                    configure=_set_up,
                    check=_check,
                    name="hubbub",
                    open=True,
                )
            return self._pools[os.getpid()]


@contextmanager
def alone(connection: Connection) -> Iterator[None]:
    """Make one transaction, while nobody else writes, of any length."""
    with connection.waiting(math.inf), _transaction(connection, _ALONE):
        yield


def _set_up(connection: Connection) -> None:
    connection.execute(_SETTINGS)


def _check(connection: Connection) -> None:
    with connection.waiting(LOOK):
        ConnectionPool.check_connection(connection)


@contextmanager
def _transaction(connection: Connection, begin: str) -> Iterator[None]:
    """Commit at the end; undo if anything was raised."""
    try:
        connection.execute(begin)
        yield
        connection.commit()
    except BaseException as error:
        _undo(connection)
        if isinstance(error, errors.ReadOnlySqlTransaction):
            connection.close()  # which stays so when the database does not
        raise


def _undo(connection: Connection) -> None:
    """Roll back; a connection that can't is closed, which has the same effect."""
    try:
        connection.rollback()
    except psycopg.Error:
        connection.close()
