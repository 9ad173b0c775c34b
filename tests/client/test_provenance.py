"""This file proves that files which were put back, copied or swapped are noticed, and give no budget back."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.declaration import boolean
from hubbub.errors import StorageError
from hubbub.manifest import Manifest
from hubbub_client import Client, Recorded, Skipped
from hubbub_client.storage.marker import Mark, read_mark, write_mark
from tests.client.conftest import DAY, MONDAY, Clock

Make = Callable[..., Client]
MANY = Manifest(
    app="notepad", serial=1, metrics=tuple(boolean(f"fact_{at}", epsilon="0.5") for at in range(9))
)
SPENT = 5  # facts recorded before anything happens


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "device"


def code(outcome: Recorded | Skipped) -> str:
    return outcome.code if isinstance(outcome, Skipped) else "recorded"


def notes(client: Client) -> list[str]:
    return [entry.code for entry in client.journal(notes=True) if entry.status == "note"]


def put_back(directory: Path, backup: Path) -> None:
    """Write the old content into the present files, as some tools do."""
    (directory / "device.sqlite3").write_bytes((backup / "device.sqlite3").read_bytes())


def replace(directory: Path, backup: Path) -> None:
    """Put old files in the place of the present ones, both, so that they agree, as a backup's tool does."""
    for name in ("device.sqlite3", "device.marker"):
        (backup / name).replace(directory / name)


def delete_the_marker(directory: Path, _: Path) -> None:
    (directory / "device.marker").unlink()


def empty_the_marker(directory: Path, _: Path) -> None:
    os.truncate(directory / "device.marker", 0)


def spoil_the_marker(directory: Path, _: Path) -> None:
    (directory / "device.marker").write_bytes(os.urandom(1024))


def copy_the_directory(directory: Path, _: Path) -> None:
    shutil.copytree(directory, directory.with_name("copy"))
    shutil.rmtree(directory)
    directory.with_name("copy").rename(directory)


def put_anothers_database_in_place(directory: Path, _: Path) -> None:
    with Client.for_testing(MANY, clock=lambda: MONDAY) as other:
        for at in range(7):
            other.record(f"fact_{at}", True)
        shutil.copy(other._session.directory / "device.sqlite3", directory / "device.sqlite3")


def empty_the_journal(directory: Path, _: Path) -> None:
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("DELETE FROM journal")
    connection.commit()
    connection.close()


HAPPENINGS: dict[Callable[[Path, Path], None], str] = {
    put_back: "restored",
    replace: "copied",
    delete_the_marker: "unmarked",
    empty_the_marker: "unmarked",
    spoil_the_marker: "unmarked",
    copy_the_directory: "copied",
    put_anothers_database_in_place: "restored",
    empty_the_journal: "restored",
}


@pytest.mark.parametrize("is_running", [True, False], ids=["running", "restarted"])
@pytest.mark.parametrize("happening", HAPPENINGS, ids=lambda happening: happening.__name__)
def test_a_device_that_is_not_what_its_marker_means_is_silent_for_a_window(
    make: Make, directory: Path, clock: Clock, happening: Callable[[Path, Path], None], is_running: bool
) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)
    shutil.copytree(directory, directory.with_name("backup"))
    for at in range(1, SPENT):
        client.record(f"fact_{at}", True)
    if not is_running:
        client.close()
    happening(directory, directory.with_name("backup"))

    victim = client if is_running else make(manifest=MANY)
    first = [victim.record("fact_8", True), victim.record("fact_8", False)]  # a running one may first reopen
    clock.now += 28 * DAY - 1
    last = make(manifest=MANY).record("fact_8", True)
    clock.now += 1
    after = make(manifest=MANY).record("fact_8", True)

    assert {code(outcome) for outcome in first} <= {"paused", "storage"}
    assert code(first[1]) == "paused"
    assert "silent" in first[1].message  # type: ignore[union-attr]
    assert (code(last), code(after)) == ("paused", "recorded")
    assert HAPPENINGS[happening] in notes(victim)


@pytest.mark.parametrize("happening", [put_back, put_anothers_database_in_place, empty_the_journal])
def test_what_the_marker_knows_of_stays_spent_on_every_source(
    make: Make, directory: Path, clock: Clock, happening: Callable[[Path, Path], None]
) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)
    shutil.copytree(directory, directory.with_name("backup"))
    for at in range(1, SPENT):
        client.record(f"fact_{at}", True)
    before = client.remaining()
    happening(directory, directory.with_name("backup"))

    client.record("fact_8", True)
    client.record("fact_8", True)

    spent = sum(entry.cost for entry in client.journal(notes=True))
    mark = read_mark(directory / "device.marker")
    assert spent >= SPENT * 0.5
    assert client.remaining() <= before
    assert mark is not None
    assert mark.spent == spent * 10**6
    if happening is put_back:
        assert client.remaining("fact_8") == 8 - (SPENT - 1) * 0.5


def test_an_old_state_put_back_again_and_again_is_charged_again_and_again(
    make: Make, directory: Path, clock: Clock
) -> None:
    make(manifest=MANY).record("fact_0", True)
    shutil.copytree(directory, directory.with_name("backup"))
    spent = []

    for _ in range(4):
        client = make(manifest=MANY)
        client.record("fact_1", True)
        clock.now += 28 * DAY
        client.record("fact_1", True)
        spent.append(float(sum(entry.cost for entry in client.journal(notes=True))))
        client.close()
        put_back(directory, directory.with_name("backup"))

    assert spent == [1.5, 2.0, 2.5, 3.0]


def test_a_copy_is_noticed_by_the_one_that_was_copied_to_and_not_by_the_other(
    make: Make, directory: Path
) -> None:
    original = make(manifest=MANY)
    original.record("fact_0", True)
    shutil.copytree(directory, directory.with_name("copy"))

    codes = [
        code(client.record("fact_1", True))
        for client in (make(manifest=MANY, data_dir=directory.with_name("copy")), original)
    ]

    assert codes == ["paused", "recorded"]


def test_moving_the_directory_is_no_copy(make: Make, directory: Path) -> None:
    with make(manifest=MANY) as client:
        client.record("fact_0", True)
    moved = directory.rename(directory.with_name("moved"))

    assert code(make(manifest=MANY, data_dir=moved).record("fact_1", True)) == "recorded"


def test_readers_do_not_settle_what_they_find(make: Make, directory: Path) -> None:
    with make(manifest=MANY) as client:
        client.record("fact_0", True)
    copy = directory.with_name("copy")
    shutil.copytree(directory, copy)
    before = {file.name: file.read_bytes() for file in copy.iterdir()}

    reader = make(manifest=MANY, data_dir=copy)
    with pytest.raises(StorageError, match="copied"):
        reader.remaining()

    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before


def test_a_marker_elsewhere_tells_a_whole_directory_that_was_put_back(
    make: Make, directory: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    client = make(manifest=MANY, marker_dir=elsewhere)
    client.record("fact_0", True)
    shutil.copytree(directory, directory.with_name("backup"))
    client.record("fact_1", True)
    client.close()
    put_back(directory, directory.with_name("backup"))

    told = make(manifest=MANY, marker_dir=elsewhere)
    outcome = told.record("fact_2", True)

    assert sorted(path.name for path in directory.iterdir()) == ["device.sqlite3"]
    assert code(outcome) == "paused"
    assert notes(told) == ["lost", "restored"]


def test_a_marker_elsewhere_is_found_by_who_was_not_told_of_it(
    make: Make, directory: Path, tmp_path: Path
) -> None:
    with make(manifest=MANY, marker_dir=tmp_path / "elsewhere") as client:
        client.record("fact_0", True)

    untold = make(manifest=MANY)

    assert untold.remaining() == 15.5
    assert code(untold.record("fact_1", True)) == "recorded"
    assert not (directory / "device.marker").exists()


def test_a_directory_deleted_under_a_marker_elsewhere_is_no_new_device(
    make: Make, directory: Path, tmp_path: Path
) -> None:
    with make(manifest=MANY, marker_dir=tmp_path / "elsewhere") as client:
        client.record("fact_0", True)
    shutil.rmtree(directory)

    again = make(manifest=MANY, marker_dir=tmp_path / "elsewhere")

    assert code(again.record("fact_1", True)) == "storage"
    assert not directory.exists()


def test_a_marker_that_can_not_be_written_lets_no_notes_pile_up(
    make: Make, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make(manifest=MANY) as client:
        client.record("fact_0", True)
    (directory / "device.marker").unlink()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hubbub_client.storage.device.write_mark", fail)
    victim = make(manifest=MANY)
    codes = [code(victim.record("fact_1", True)) for _ in range(5)]
    monkeypatch.undo()

    assert codes == ["paused"] * 5
    assert code(victim.record("fact_1", True)) == "paused"
    assert notes(victim) == ["unmarked"]


@pytest.mark.parametrize("cut", range(0, 1025, 64))
def test_a_marker_cut_short_or_overwritten_in_one_sector_says_one_of_the_last_two_states(
    tmp_path: Path, cut: int
) -> None:
    marker = tmp_path / "device.marker"
    marks = [Mark(at, at * 500_000, 0, 77, bytes([at]) * 32) for at in range(1, 8)]
    for mark in marks:
        write_mark(marker, mark)
    whole = marker.read_bytes()

    sector = slice(0, cut) if cut <= 512 else slice(512, cut)
    spoilt = bytearray(whole)
    spoilt[sector] = os.urandom(len(whole[sector]))
    marker.write_bytes(spoilt)

    assert read_mark(marker) in marks[-2:]


def test_a_marker_counts_down_when_it_must(tmp_path: Path) -> None:
    marker = tmp_path / "device.marker"

    for generation in (9, 10, 3):
        write_mark(marker, Mark(generation, 0, 0, 1, bytes(32)))

    assert read_mark(marker) == Mark(3, 0, 0, 1, bytes(32))
    assert marker.stat().st_size == 1024


def test_what_is_asked_once_is_not_asked_again_where_its_answer_may_be_missing(
    make: Make, directory: Path, clock: Clock
) -> None:
    born = boolean("born", epsilon="0.5", once=True)
    manifest = Manifest(app="notepad", serial=1, metrics=(*MANY.metrics, born))
    client = make(manifest=manifest)
    client.record("fact_0", True)
    shutil.copytree(directory, directory.with_name("backup"))
    client.record("born", True)
    client.close()
    put_back(directory, directory.with_name("backup"))

    make(manifest=manifest).record("fact_1", True)
    clock.now += 28 * DAY
    again = make(manifest=manifest)

    assert code(again.record("born", True)) == "already_answered"
    assert code(again.record("fact_1", True)) == "recorded"


def test_no_period_that_began_before_files_were_put_back_is_reported_about_afterwards(
    make: Make, directory: Path, clock: Clock
) -> None:
    monthly = boolean("dark", epsilon="1", period="28d", absent=False)
    manifest = Manifest(app="notepad", serial=1, metrics=(monthly, *MANY.metrics))
    client = make(manifest=manifest)
    client.record("fact_0", True)
    shutil.copytree(directory, directory.with_name("backup"))
    client.record("dark", True)
    client.close()
    put_back(directory, directory.with_name("backup"))

    make(manifest=manifest).record("fact_1", True)
    clock.now += 28 * DAY
    again = make(manifest=manifest)
    again.record("fact_1", True)

    assert [entry.metric for entry in again.journal()] == ["fact_0", "fact_1"]


def test_a_device_whose_marker_can_not_be_written_makes_one_report_and_no_second(
    make: Make, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make(manifest=MANY)
    client.record("fact_0", True)

    def fail(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("hubbub_client.storage.device.write_mark", fail)
    codes = [code(client.record(f"fact_{at}", True)) for at in range(1, 4)]
    monkeypatch.undo()

    assert codes == ["recorded", "storage", "storage"]
    assert code(client.record("fact_4", True)) == "recorded"
