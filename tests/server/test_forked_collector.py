"""This file proves that a collector made before a fork keeps what it acknowledges."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.errors import BusyError, StorageError
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.sqlite import pool
from hubbub_server.store.sqlite.restoring import put_in_place
from tests.server.changes import METRIC, deposit
from tests.server.forks import fork

COLLECTOR = """
import os, sys
from pathlib import Path
from hubbub_server.app import create_app
from hubbub_server.config import Config
from tests.server.changes import deposit

store = create_app(Config(database=Path(sys.argv[1]))).extensions["hubbub"].store
if sys.argv[2] == "used":
    store.batches.commit([deposit("before")])
if os.fork():
    sys.exit(0)
for line in sys.stdin:
    store.batches.commit([deposit(line)])
    print(os.getpid(), flush=True)
"""
pytestmark = pytest.mark.filterwarnings(  # Python 3.12 warns of what is proven here to work
    "ignore:.*multi-threaded.*fork:DeprecationWarning"
)


def test_a_store_that_was_just_opened_has_no_connection_open_that_a_fork_could_copy(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "hubbub.sqlite3")):
        assert [path.name for path in tmp_path.iterdir()] == ["hubbub.sqlite3"]


@pytest.mark.parametrize(("parent", "kept"), [("idle", 4), ("used", 5)])
def test_what_a_child_acknowledges_outlives_its_parent_another_process_and_a_kill(
    tmp_path: Path, parent: str, kept: int
) -> None:
    database, command = tmp_path / "hubbub.sqlite3", [sys.executable, "-c", COLLECTOR]
    collector = subprocess.Popen(
        [*command, database, parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert collector.stdin and collector.stdout  # noqa: PT018 - for mypy

    def send(names: str) -> int:
        for name in names:
            collector.stdin.write(f"{name}\n")  # type: ignore[union-attr]
            collector.stdin.flush()  # type: ignore[union-attr]
            child = int(collector.stdout.readline())  # type: ignore[union-attr]
        return child

    send("ab")
    collector.wait()
    with closing(open_sqlite(database)) as other:
        other.upkeep.backup(tmp_path / "copy")
    child = send("cd")
    with pytest.raises(BusyError, match="stop it first"):
        put_in_place(tmp_path / "copy", database)
    os.kill(child, signal.SIGKILL)
    assert collector.stdout.read() == ""  # it has ended
    collector.communicate()

    with closing(open_sqlite(database)) as store:
        ((_, _, tally),) = store.batches.tallies(METRIC, range(100))
    assert tally.n == kept


def test_a_fork_waits_for_a_transaction_of_another_thread(tmp_path: Path) -> None:
    with closing(open_sqlite(tmp_path / "hubbub.sqlite3")) as store:
        begun, done = threading.Event(), threading.Event()

        def write() -> None:
            with store.batches._database.writing():  # type: ignore[attr-defined]
                begun.set()
                done.wait(60)

        writing = threading.Thread(target=write)
        writing.start()
        begun.wait(60)
        threading.Timer(0.2, done.set).start()

        _, status = os.waitpid(fork(lambda: store.batches.commit([deposit("a")]) and None), 0)

        writing.join()
        assert (status, done.is_set()) == (0, True)
        assert len(list(store.batches.tallies(METRIC, range(100)))) == 1


def test_a_child_refuses_to_keep_anything_if_a_connection_was_lent_all_the_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "FORK_WAIT", 0.0)

    def refused() -> None:
        with pytest.raises(StorageError, match="was in use while this process was forked"):
            store.batches.commit([deposit("b")])

    with closing(open_sqlite(tmp_path / "hubbub.sqlite3")) as store:
        store.batches.commit([deposit("a")])
        tallies = store.batches.tallies(METRIC, range(100))
        next(tallies)

        _, status = os.waitpid(fork(refused), 0)

        assert (status, list(tallies)) == (0, [])
        store.batches.commit([deposit("c")])
