"""This file proves that processes on one database know how many they are, however each of them ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.errors import StorageError
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.protocol import Store
from hubbub_server.store.sqlite.presence import Presence
from tests.server.forks import fork

JOIN = """
import sys
from pathlib import Path
from hubbub_server.store.opening import open_sqlite
store = open_sqlite(Path(sys.argv[1]))
print(store.upkeep.instances(), flush=True)
sys.stdin.read()
"""
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_sqlite(tmp_path / "hubbub.sqlite3")
    yield opened
    opened.close()


def join(directory: Path) -> "subprocess.Popen[str]":
    """Start a process that serves until its input ends, and wait until it is there."""
    command = [sys.executable, "-c", JOIN, str(directory / "hubbub.sqlite3")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdecimal()
    return process


def test_processes_that_come_end_and_are_killed_are_counted(store: Store, tmp_path: Path) -> None:
    counts = [store.upkeep.instances()]

    first, second = join(tmp_path), join(tmp_path)
    counts.append(store.upkeep.instances())
    first.kill()
    first.communicate()
    counts.append(store.upkeep.instances())
    second.communicate("")
    counts.append(store.upkeep.instances())

    assert counts == [1, 3, 2, 1]


def test_a_forked_child_counts_as_one_more_and_leaves_its_parent_counted(
    store: Store, tmp_path: Path
) -> None:
    store.upkeep.instances()

    def serve() -> None:
        assert store.upkeep.instances() == 2
        store.close()

    _, status = os.waitpid(fork(serve), 0)

    other = join(tmp_path)
    counted = store.upkeep.instances()
    other.communicate("")
    assert (status, counted) == (0, 2)


def test_who_closed_its_store_is_counted_no_more(store: Store, tmp_path: Path) -> None:
    other = join(tmp_path)
    both = store.upkeep.instances()
    other.send_signal(signal.SIGTERM)
    other.communicate()

    store.close()

    assert both == 2
    assert store.upkeep.instances() == 1


def test_the_file_is_its_owners_and_empty_and_made_only_when_asked(store: Store, tmp_path: Path) -> None:
    before = {path.name for path in tmp_path.iterdir()}

    store.upkeep.instances()

    (made,) = {path.name for path in tmp_path.iterdir()} - before
    file = (tmp_path / made).stat()
    assert (made, file.st_size, file.st_mode & 0o777) == ("hubbub.sqlite3-servers", 0, 0o600)


def test_a_file_that_cant_be_made_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="can't be used: No such file or directory"):
        Presence(tmp_path / "no" / "such").count()
