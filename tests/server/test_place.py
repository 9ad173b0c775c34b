"""This file proves that a moved database or log is noticed, however little the directory tells of it."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.errors import StorageError
from hubbub_server.store.sqlite import place
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


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which every directory was last changed long ago."""
    monkeypatch.setattr(place.time, "time_ns", lambda now=time.time_ns: now() + 10 * SETTLED)


@pytest.mark.parametrize("name", ["hubbub.sqlite3", "hubbub.sqlite3-wal", "hubbub.sqlite3-shm"])
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("is_laid_over", [False, True])  # by what sets a directory's time at its end
@pytest.mark.usefixtures("settled")
def test_what_leaves_a_directory_that_long_stood_still_is_missed_at_once(
    tmp_path: Path, database: Database, name: str, replaced: bool, is_laid_over: bool
) -> None:
    data = tmp_path / "data"
    before = data.stat()
    for _ in range(2):
        assert database.select("SELECT 1") == [(1,)]

    (data / name).rename(tmp_path / "away")
    if replaced:
        (data / name).write_bytes((tmp_path / "away").read_bytes())
    if is_laid_over:
        os.utime(data, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(StorageError, match="was moved, deleted or replaced"):
        database.select("SELECT 1")
    (tmp_path / "away").rename(data / name)
    assert database.select("SELECT 1") == [(1,)]


def test_what_leaves_in_the_same_tick_of_the_clock_as_the_last_change_is_missed(
    tmp_path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, stat = tmp_path / "data", os.stat
    before = data.stat()
    assert database.select("SELECT 1") == [(1,)]

    (data / "hubbub.sqlite3-wal").rename(tmp_path / "away")
    monkeypatch.setattr(place.os, "stat", lambda path, **more: before if path == data else stat(path, **more))

    with pytest.raises(StorageError, match="log"):
        database.select("SELECT 1")


@pytest.mark.usefixtures("settled")
def test_a_directory_that_took_the_place_of_another_is_noticed_whatever_its_time(
    tmp_path: Path, database: Database
) -> None:
    data = tmp_path / "data"
    assert database.select("SELECT 1") == [(1,)]
    changed = data.stat().st_mtime_ns

    data.rename(tmp_path / "before")
    data.mkdir()
    os.utime(data, ns=(changed, changed))

    with pytest.raises(StorageError, match="moved"):
        database.select("SELECT 1")


@pytest.mark.usefixtures("settled")
def test_a_link_that_leads_elsewhere_by_now_is_noticed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "database").touch()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "one" / "database")
    found = Place(link)
    found.check()

    link.unlink()
    link.symlink_to(tmp_path / "two" / "database")

    with pytest.raises(StorageError, match="moved"):
        found.check()
