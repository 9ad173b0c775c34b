"""This file proves that a moved database or log is noticed, however little the directory tells of it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.errors import StorageError
from hubbub_server.store.sqlite.database import Database
from hubbub_server.store.sqlite.place import SETTLED, Place


@pytest.fixture(params=["plain", "link"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database with a log, found by its own name or by that of a link."""
    (tmp_path / "data").mkdir()
    real = tmp_path / "data" / "hubbub.sqlite3"
    path = real
    if request.param == "link":
        path = tmp_path / "link"
        path.symlink_to(real)
    first = Database(path)
    first.use_log()
    first.close()
    database = Database(path)
    database.select("SELECT 1")
    yield database
    database.close()


def age(directory: Path, by: float) -> None:
    """Have a directory look as if it was last changed so many nanoseconds ago, by its own time."""
    changed = directory.stat().st_mtime_ns - int(by)
    os.utime(directory, ns=(changed, changed))


@pytest.mark.parametrize("name", ["hubbub.sqlite3", "hubbub.sqlite3-wal", "hubbub.sqlite3-shm"])
@pytest.mark.parametrize("replaced", [False, True])
def test_what_leaves_a_directory_that_long_stood_still_is_missed_at_once(
    tmp_path: Path, database: Database, name: str, replaced: bool
) -> None:
    data = tmp_path / "data"
    age(data, 10 * SETTLED)
    for _ in range(2):
        assert database.select("SELECT 1") == [(1,)]

    (data / name).rename(tmp_path / "away")
    if replaced:
        (data / name).write_bytes((tmp_path / "away").read_bytes())

    with pytest.raises(StorageError, match="was moved, deleted or replaced"):
        database.select("SELECT 1")
    (tmp_path / "away").rename(data / name)
    assert database.select("SELECT 1") == [(1,)]


def test_what_leaves_in_the_same_tick_of_the_clock_as_the_last_change_is_missed(
    tmp_path: Path, database: Database
) -> None:
    data = tmp_path / "data"
    before = data.stat()
    assert database.select("SELECT 1") == [(1,)]

    (data / "hubbub.sqlite3-wal").rename(tmp_path / "away")
    os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(StorageError, match="log"):
        database.select("SELECT 1")


def test_a_directory_that_took_the_place_of_another_is_noticed_whatever_its_time(
    tmp_path: Path, database: Database
) -> None:
    data = tmp_path / "data"
    age(data, 10 * SETTLED)
    assert database.select("SELECT 1") == [(1,)]
    changed = data.stat().st_mtime_ns

    data.rename(tmp_path / "before")
    data.mkdir()
    os.utime(data, ns=(changed, changed))

    with pytest.raises(StorageError, match="moved"):
        database.select("SELECT 1")


def test_a_link_that_leads_elsewhere_by_now_is_noticed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "database").touch()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "one" / "database")
    place = Place(link)
    for directory in (tmp_path, tmp_path / "one"):
        age(directory, 10 * SETTLED)
    place.check()

    link.unlink()
    link.symlink_to(tmp_path / "two" / "database")
    age(tmp_path, 10 * SETTLED)

    with pytest.raises(StorageError, match="moved"):
        place.check()
