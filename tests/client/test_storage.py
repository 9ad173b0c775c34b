"""This file proves that files which are damaged, gone, old or read-only release nothing and break no app."""

import os
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hubbub.declaration import boolean
from hubbub.errors import DomainError, StorageError
from hubbub.manifest import Manifest
from hubbub_client import Client, Policy, Recorded, Skipped
from hubbub_client.storage import schema
from hubbub_client.storage.marker import Mark, read_mark, write_mark
from hubbub_client.storage.reset import reset
from hubbub_client.testing import RecordingTransport
from tests.client.conftest import DAY, Clock

Make = Callable[..., Client]
MANY = Manifest(
    app="notepad", serial=1, metrics=tuple(boolean(f"fact_{number}", epsilon="0.001") for number in range(32))
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "device"


def refuses(client: Client, name: str) -> bool:
    """Tell whether a record is refused for its storage, by a client that would send at once."""
    outcome = client.record(name, True)
    return isinstance(outcome, Skipped) and outcome.code == "storage"


def truncate_to_nothing(directory: Path) -> None:
    os.truncate(directory / "device.sqlite3", 0)


def truncate_to_half(directory: Path) -> None:
    database = directory / "device.sqlite3"
    os.truncate(database, database.stat().st_size // 2)


def overwrite_with_noise(directory: Path) -> None:
    database = directory / "device.sqlite3"
    database.write_bytes(os.urandom(database.stat().st_size))


def overwrite_inner_pages(directory: Path) -> None:
    database = directory / "device.sqlite3"
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


def delete_the_database(directory: Path) -> None:
    (directory / "device.sqlite3").unlink()


def put_any_sqlite_file_in_place(directory: Path) -> None:
    delete_the_database(directory)
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("CREATE TABLE notes (text)")
    connection.close()


def change_a_charge(directory: Path) -> None:
    """Let the device think that it spent less."""
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("UPDATE journal SET cost = 1")
    connection.commit()
    connection.close()


def take_out_a_row(directory: Path) -> None:
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("UPDATE journal SET number = 2")
    connection.commit()
    connection.close()


def claim_a_newer_version(directory: Path) -> None:
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def empty_an_index(directory: Path) -> None:
    """Let the index that sums are read from hold nothing, as a damaged page may."""
    connection = sqlite3.connect(directory / "device.sqlite3", isolation_level=None)
    connection.execute("CREATE INDEX hollow ON journal (source, at, cost) WHERE cost < 0")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("""UPDATE sqlite_master SET rootpage =
        (SELECT rootpage FROM sqlite_master WHERE name = 'hollow') + (SELECT rootpage FROM sqlite_master
        WHERE name = 'charges') - rootpage WHERE name IN ('hollow', 'charges')""")
    connection.close()


SPOILERS = [
    truncate_to_nothing,
    truncate_to_half,
    overwrite_with_noise,
    overwrite_inner_pages,
    empty_an_index,
    delete_the_database,
    put_any_sqlite_file_in_place,
    change_a_charge,
    take_out_a_row,
    claim_a_newer_version,
]


CASES = [(spoil, is_running) for spoil in SPOILERS for is_running in (True, False)]
CASES.remove((overwrite_inner_pages, True))  # a running process holds these pages, and writes them back
CASES.remove((empty_an_index, True))  # these, too, are looked for at the start only
CASES.remove((change_a_charge, True))
CASES.remove((take_out_a_row, True))


@pytest.mark.parametrize(("spoil", "is_running"), CASES)
def test_a_spoilt_device_releases_nothing_and_is_kept(
    make: Make,
    directory: Path,
    transport: RecordingTransport,
    spoil: Callable[[Path], None],
    is_running: bool,
) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)
    client.flush()
    spoil(directory)
    before = {file.name: file.read_bytes() for file in directory.iterdir()}

    victim = client if is_running else make(manifest=MANY)
    refused = [refuses(victim, f"fact_{number}") for number in range(1, 4)]
    flushed = victim.flush(now=True)

    assert refused == [True, True, True]
    assert (flushed.sent, len(transport.requests)) == (0, 1)
    assert {file.name: file.read_bytes() for file in directory.iterdir()} == before


def test_an_unspoilt_device_goes_on(make: Make) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)

    refused = refuses(make(manifest=MANY), "fact_1"), refuses(client, "fact_2")

    assert refused == (False, False)


def test_the_marker_never_falls_behind_while_another_client_records(
    make: Make, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = make(manifest=MANY), make(manifest=MANY, lock_wait=0)
    others = iter(["fact_1"])

    def overtaken(marker: Path, mark: Mark) -> None:
        for name in others:
            quick.record(name, True)
        write_mark(marker, mark)

    slow.record("fact_2", True)
    monkeypatch.setattr("hubbub_client.storage.device.write_mark", overtaken)
    slow.record("fact_0", True)

    mark = read_mark(directory / "device.marker")
    assert mark is not None
    assert mark.generation == len(list(slow.journal()))


def test_a_marker_that_was_left_behind_by_a_kill_catches_up(make: Make, directory: Path) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)
    behind = (directory / "device.marker").read_bytes()
    client.record("fact_1", True)
    (directory / "device.marker").write_bytes(behind)

    again = make(manifest=MANY).record("fact_0", True), read_mark(directory / "device.marker")

    assert isinstance(again[0], Skipped)
    assert again[0].code == "already_answered"
    assert again[1] is not None
    assert (again[1].generation, again[1].spent) == (2, 2000)


@pytest.mark.parametrize("name", ["device.marker", "device.marker.new"])
def test_a_pipe_in_the_markers_place_is_refused_at_once(make: Make, directory: Path, name: str) -> None:
    directory.mkdir()
    os.mkfifo(directory / name)
    (directory / "device.sqlite3").touch()

    assert refuses(make(manifest=MANY), "fact_0")


def test_a_database_without_its_identity_is_refused_by_every_call(make: Make, directory: Path) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)
    with sqlite3.connect(directory / "device.sqlite3") as connection:
        connection.execute("DELETE FROM device")
    connection.close()

    flushed = client.flush()

    assert (flushed.sent, flushed.waiting) == (0, None)
    assert refuses(client, "fact_1")
    for call in (client.remaining, client.stats):
        with pytest.raises(StorageError, match="identity"):
            call()


def test_readers_say_that_a_spoilt_device_can_not_be_read(make: Make, directory: Path) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)

    truncate_to_half(directory)

    with pytest.raises(StorageError):
        client.remaining()
    with pytest.raises(StorageError):
        list(client.journal())
    with pytest.raises(StorageError):
        client.stats()


def test_files_are_for_their_owner_alone(make: Make, tmp_path: Path) -> None:
    directory = tmp_path / "not" / "yet" / "there"
    make(data_dir=directory).record("dark", True)

    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (directory, *directory.iterdir())}

    assert modes == {"there": 0o700, "device.sqlite3": 0o600, "device.marker": 0o600}
    assert stat.S_IMODE(directory.parent.stat().st_mode) == 0o700


def test_a_first_start_cut_short_starts_again(make: Make, directory: Path) -> None:
    directory.mkdir()
    (directory / "device.sqlite3").touch()

    assert isinstance(make().record("dark", True), Recorded)


def test_a_first_start_cut_short_before_the_marker_starts_again(make: Make, directory: Path) -> None:
    device = make()._session.recorder.device
    device._held(lambda: device._connection(create=True))

    existing = sorted(file.name for file in directory.iterdir())
    outcome = make().record("dark", True)

    assert existing == ["device.sqlite3"]
    assert isinstance(outcome, Recorded)


def test_a_directory_that_can_not_be_made_is_no_exception(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    client = make(data_dir=tmp_path / "file" / "device")

    assert refuses(client, "dark")
    assert client.flush().sent == 0


@pytest.mark.parametrize("pages", [0, 1, 2, 4])
def test_a_full_disk_releases_nothing_and_recording_goes_on_when_there_is_room(
    make: Make, pages: int
) -> None:
    client = make(manifest=MANY)
    recorded = [client.record("fact_0", True)]
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (pages * 4096, unlimited[1]))
    try:
        full = [client.record(f"fact_{number}", True) for number in range(1, 4)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    recorded.append(client.record("fact_31", True))

    assert [outcome.code for outcome in full if isinstance(outcome, Skipped)] == ["storage"] * 3
    assert all(isinstance(outcome, Recorded) for outcome in recorded)
    assert len(list(client.journal())) == 2


def test_a_database_that_can_not_grow_refuses_and_keeps_only_what_was_recorded(make: Make) -> None:
    metrics = tuple(boolean(f"fact_{number}", epsilon="0.001") for number in range(80))
    client = make(manifest=Manifest(app="a", serial=1, metrics=metrics), policy=Policy(metrics=200))
    client.record("fact_0", True)
    opened = client._session.recorder.device._opened
    assert opened is not None
    opened.connection.execute("PRAGMA max_page_count = 8")

    outcomes = [client.record(metric.name, True) for metric in metrics[1:]]

    refused = [outcome.code for outcome in outcomes if isinstance(outcome, Skipped)]
    assert refused == ["storage"]  # then it is opened anew, without the limit
    assert len(list(client.journal())) == 1 + len(outcomes) - 1


READ_ONLY = """
import os, sys
from hubbub.manifest import Manifest
from hubbub.declaration import boolean
from hubbub_client import Client
manifest = Manifest(app="a", serial=1, metrics=tuple(boolean(n, epsilon=1) for n in ("one", "two")))
client = Client.for_testing(manifest, data_dir=sys.argv[1])
client.prepare()
if os.getuid() == 0:
    os.setuid(65534)
print(client.record("two", True).code, client.flush().sent)
"""


def test_a_read_only_directory_releases_nothing(make: Make, directory: Path) -> None:
    manifest = Manifest(app="a", serial=1, metrics=tuple(boolean(n, epsilon=1) for n in ("one", "two")))
    with make(manifest=manifest) as client:
        client.record("one", True)
    for path in (*directory.iterdir(), directory):
        path.chmod(path.stat().st_mode & 0o555 | 0o555)
    for parent in directory.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o555)

    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(directory)], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr, done.returncode) == ("storage 0\n", "", 0)
    assert len(list(make(manifest=manifest).journal())) == 1


def test_a_user_without_a_home_is_no_exception(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *_, **__: "~/.local/share/hubbub")
    client = Client("https://collector.invalid", MANY, consent="given", environ={})

    client.prepare()
    refused = refuses(client, "fact_0")
    client.consent("refused")

    assert refused
    assert client.flush().sent == 0
    assert not list(tmp_path.iterdir())


def test_refusing_consent_on_a_spoilt_device_is_no_exception(make: Make, directory: Path) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)
    truncate_to_half(directory)

    client.consent("refused")
    outcome = client.record("fact_1", True)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "consent"


def test_a_device_whose_lock_is_held_is_busy_and_charges_nothing(make: Make, directory: Path) -> None:
    client = make(lock_wait=0.01)
    client.record("dark", True)
    other = sqlite3.connect(directory / "device.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    busy = client.record("seconds", 3)
    other.execute("ROLLBACK")
    other.close()
    after = client.record("seconds", 3)

    assert isinstance(busy, Skipped)
    assert busy.code == "busy"
    assert isinstance(after, Recorded)


def test_a_record_inside_a_record_is_busy_and_breaks_neither(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make()
    inner: list[object] = []

    def interrupted_clock() -> float:
        if client._session.recorder.device._opened is not None and not inner:
            inner.append(None)
            inner[0] = client.record("seconds", 3)
        return 1_767_571_200.0

    client = make(clock=interrupted_clock)
    outer = client.record("dark", True)

    assert isinstance(outer, Recorded)
    assert isinstance(inner[0], Skipped)
    assert inner[0].code == "busy"
    assert len(list(client.journal())) == 1


def test_a_database_that_another_process_is_just_making_is_not_taken_for_a_foreign_one(
    tmp_path: Path,
) -> None:
    class Late(sqlite3.Connection):
        """Has read one thing when another process makes the tables."""

        def execute(self, *arguments: Any) -> Any:
            row = super().execute(*arguments).fetchone()
            other = sqlite3.connect(tmp_path / "device.sqlite3", isolation_level=None)
            if not other.execute("SELECT 1 FROM sqlite_master").fetchone():
                schema.create(other)
            other.close()
            return SimpleNamespace(fetchone=lambda: row)

    late = sqlite3.connect(tmp_path / "device.sqlite3", factory=Late)

    version = schema.version_of(late)
    late.close()

    assert version == schema.VERSION


STORM = """
import random, signal, sys, threading, time
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client, Policy

def interrupt(*_):
    if is_armed:
        raise KeyboardInterrupt

def is_free(lock):
    freed = []
    def attempt():
        if lock.acquire(timeout=5):
            lock.release()
            freed.append(1)
    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return bool(freed)

metrics = tuple(boolean(f"fact_{at}", epsilon="0.001", period="1d") for at in range(30))
day, is_armed, raised, leaks = 20_000, False, 0, 0
client = Client.for_testing(
    Manifest(app="a", serial=1, metrics=metrics), clock=lambda: day * 86400.0, data_dir=sys.argv[1],
    policy=Policy(life="128"),
)
client.record("fact_0", True)
signal.signal(signal.SIGALRM, interrupt)
kept = None
for turn in range(10**9):
    day += turn % 30 == 0
    try:
        is_armed = True
        signal.setitimer(signal.ITIMER_REAL, random.random() * 0.002 + 1e-5)
        client.record(f"fact_{turn % 30}", True)
    except KeyboardInterrupt as error:
        raised, kept = raised + 1, error  # as a session of Python keeps its last traceback
    is_armed = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    if raised == int(sys.argv[2]):
        break
    leaks += not is_free(client._session.recorder.device.lock)
print(leaks, client._session.recorder.device.read(lambda connection: connection.in_transaction))
"""


@pytest.mark.parametrize(
    "interruptions", [300, pytest.param(20_000, marks=pytest.mark.torture)], ids="{} interruptions".format
)
def test_handlers_that_raise_at_random_in_a_record_leave_the_device_to_other_threads(
    tmp_path: Path, interruptions: int
) -> None:
    command = [sys.executable, "-c", STORM, str(tmp_path / "device"), str(interruptions)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("0 False\n", "")


@contextmanager
def importing(client: Client) -> Iterator[None]:
    """Let another thread import something for a client meanwhile, as if its disk hung."""
    is_held, is_over = threading.Event(), threading.Event()

    def hang() -> None:
        with client._session.importing():
            is_held.set()
            is_over.wait(60)

    thread = threading.Thread(target=hang)
    thread.start()
    is_held.wait(60)
    try:
        yield
    finally:
        is_over.set()
        thread.join(60)


@pytest.mark.parametrize("done", [(), ("fact_0",), ("fact_0", "fact_1")], ids="{0}".format)
def test_a_record_waits_no_longer_for_what_another_thread_imports_than_for_a_lock(
    make: Make, done: tuple[str, ...]
) -> None:
    client = make(manifest=MANY, lock_wait=0.01)
    for name in done:
        client.record(name, True)

    with importing(client):
        busy = client.record("fact_2", True)
    after = client.record("fact_2", True)

    assert isinstance(busy, Skipped)
    assert busy.code == "busy"
    assert "importing" in busy.message
    assert isinstance(after, Recorded)
    assert client.stats().skipped == {"busy": 1}


def test_what_is_ready_is_recorded_while_another_thread_imports(make: Make, clock: Clock) -> None:
    client = make(manifest=MANY, lock_wait=0.01)
    client.record("fact_0", True)
    clock.now += 7 * DAY

    with importing(client):
        outcome = client.record("fact_0", True)

    assert isinstance(outcome, Recorded)


def test_the_switch_for_all_apps_holds_while_another_thread_imports(make: Make, home: Path) -> None:
    home.mkdir(parents=True)
    (home / "_off").touch()
    client = make(lock_wait=0.01)

    with importing(client):
        unknown = client.record("dark", True)
    off = client.record("dark", True)

    assert isinstance(unknown, Skipped)
    assert isinstance(off, Skipped)
    assert (unknown.code, off.code) == ("busy", "off")


@pytest.mark.parametrize("act", ["page", "flush", "check_in", "withdraw", "stats"])
def test_what_is_no_record_waits_until_another_thread_has_imported(make: Make, act: str) -> None:
    client, found = make(lock_wait=0.001), list[object]()
    thread = threading.Thread(target=lambda: found.append(getattr(client, act)()))

    with importing(client):
        thread.start()
        thread.join(0.1)
        waits = thread.is_alive()
    thread.join(60)

    assert waits
    assert "importing" not in repr(found[0])


@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"])
def test_a_pipe_among_the_files_of_the_database_holds_up_nobody(
    make: Make, directory: Path, ending: str
) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)
    place = directory / f"device.sqlite3{ending}"
    place.unlink(missing_ok=True)
    os.mkfifo(place)

    opened, anew = client.record("fact_1", True), make(manifest=MANY).record("fact_1", True)
    reset(directory, now=1_767_571_200)
    after = make(manifest=MANY).record("fact_1", True)

    codes = [one.code for one in (opened, anew, after) if isinstance(one, Skipped)]
    assert codes == ["storage", "storage", "paused"]
    assert "no plain file" in repr(anew)


def test_an_app_that_goes_elsewhere_keeps_its_device_and_its_owner_s_switch(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    client = make(data_dir="device", marker_dir=Path("marker"))

    monkeypatch.chdir(tmp_path / "there")
    first, sent = client.record("dark", True), client.flush().sent
    (tmp_path / "here" / "device" / "_off").touch()
    second = client.record("loud", True)

    assert (isinstance(first, Recorded), sent) == (True, 1)
    assert isinstance(second, Skipped)
    assert second.code == "off"
    assert list((tmp_path / "there").iterdir()) == []


def test_a_relative_directory_in_a_place_that_is_gone_is_refused(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(DomainError, match="give an absolute one"):
        make(data_dir="device")


@pytest.mark.parametrize(
    "script",
    [
        """ALTER TABLE journal RENAME TO other;
        CREATE VIEW journal AS
        WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e)
        SELECT other.* FROM other, e WHERE n < 0""",
        """ALTER TABLE device RENAME TO other;
        CREATE VIEW device AS
        WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e)
        SELECT other.* FROM other, e WHERE n < 0""",
        """PRAGMA user_version = 2; ALTER TABLE device RENAME TO other;
        CREATE VIEW device AS
        WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e)
        SELECT other.* FROM other, e WHERE n < 0""",
        """CREATE TRIGGER more AFTER INSERT ON journal
        BEGIN SELECT count(*) FROM (
            WITH RECURSIVE e(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM e) SELECT n FROM e
        ); END""",
        "CREATE TRIGGER less AFTER INSERT ON seen BEGIN DELETE FROM journal; END",
        "DROP INDEX answers",
    ],
    ids=["journal", "device", "version", "trigger", "deletion", "index"],
)
def test_what_somebody_else_made_in_the_database_is_never_run_and_is_overcome_by_a_reset(
    make: Make, directory: Path, clock: Clock, script: str
) -> None:
    with make() as client:
        client.record("dark", True)
    with closing(sqlite3.connect(directory / "device.sqlite3")) as other:
        other.executescript(script)

    refused = refuses(make(), "loud")
    reset(directory, now=int(clock.now))
    again = make()

    assert refused
    assert again.remaining() == 15
    assert again.record("seconds", 3).code == "paused"  # type: ignore[union-attr]


def test_a_user_without_a_home_is_looked_up_once_and_a_device_elsewhere_records(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def refuse(*_: object, **__: object) -> str:
        asked.append(1)
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("platformdirs.user_data_dir", refuse)
    client = make(manifest=MANY)

    outcomes = [client.record(f"fact_{at}", True) for at in range(3)]
    client.consent("refused")

    assert all(isinstance(outcome, Recorded) for outcome in outcomes)
    assert asked == [1]  # never again: a record would wait for what a fork holds, which waits for the record
