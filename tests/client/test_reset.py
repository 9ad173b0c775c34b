"""This file proves that a reset needs an explicit word, keeps what was, gives nothing back, and waits."""

import multiprocessing
import os
import shlex
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hubbub.declaration import boolean, choice
from hubbub.errors import BusyError, StorageError
from hubbub.manifest import Manifest
from hubbub_client import Client, Policy, Recorded, Skipped
from hubbub_client.showing.cli import command
from hubbub_client.storage.reset import reset
from tests.client.conftest import DAY, Clock

Make = Callable[..., Client]
MANIFEST = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        boolean("dark", epsilon="1"),
        boolean("other", epsilon="2"),
        boolean("fresh", epsilon="1"),
        choice("system", options=["linux", "mac", "other"], epsilon="2", once=True),
        choice(
            "editor",
            options=["vi", "emacs", "other"],
            epsilon="2",
            mechanism="l_grr",
            parameters={"first": "1"},
        ),
    ),
)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "device"


def code(outcome: Recorded | Skipped) -> str:
    return outcome.code if isinstance(outcome, Skipped) else "recorded"


def leave(_: Path) -> None:
    """Damage nothing: a reset may be for a clock that was wrong."""


def truncate(directory: Path) -> None:
    os.truncate(directory / "device.sqlite3", 5000)


def overwrite(directory: Path) -> None:
    (directory / "device.sqlite3").write_bytes(os.urandom(9000))


def delete(directory: Path) -> None:
    (directory / "device.sqlite3").unlink()


def forge(directory: Path) -> None:
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("UPDATE journal SET cost = 1")
    connection.commit()
    connection.close()


DAMAGES = [leave, truncate, overwrite, delete, forge]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_after_a_reset_a_device_is_silent_for_a_window_and_has_spent_what_it_had(
    make: Make, directory: Path, clock: Clock, damage: Callable[[Path], None]
) -> None:
    with make(manifest=MANIFEST) as client:
        for name, value in (("dark", True), ("other", True), ("system", "mac"), ("editor", "vi")):
            client.record(name, value)
    damage(directory)

    reset(directory, now=int(clock.now))
    again = make(manifest=MANIFEST, policy=Policy(life="9"))
    early = again.record("fresh", True)
    clock.now += 28 * DAY
    late = again.record("dark", True), again.record("other", True)

    assert code(early) == "paused"
    assert [code(outcome) for outcome in late] == ["recorded", "budget"]  # of 9 for life 7 were spent
    assert [entry.code for entry in again.journal(notes=True)][-3:] == ["reset", "renewed", ""]


def test_nothing_is_kept_twice_and_the_old_file_is_left_as_it_was(
    make: Make, directory: Path, clock: Clock
) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)
    overwrite(directory)
    (directory / "device.sqlite3-journal").write_bytes(b"old")
    before = (directory / "device.sqlite3").read_bytes()

    kept = reset(directory, now=int(clock.now))

    assert kept is not None
    assert kept.read_bytes() == before
    assert not (directory / "device.sqlite3-journal").exists()  # it would be rolled back into the new one
    assert not (directory / "device.sqlite3.new").exists()


def test_permanent_answers_and_answers_given_once_outlive_a_reset(
    make: Make, directory: Path, clock: Clock
) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("system", "mac")
        client.record("editor", "vi")
    before = memos(directory)

    reset(directory, now=int(clock.now))
    clock.now += 28 * DAY
    again = make(manifest=MANIFEST)
    outcomes = again.record("system", "linux"), again.record("editor", "vi")

    assert len(before) == 1
    assert memos(directory) == before
    assert code(outcomes[0]) == "already_answered"
    assert isinstance(outcomes[1], Recorded)
    assert outcomes[1].spent == 0


def memos(directory: Path) -> list[tuple[bytes, ...]]:
    connection = sqlite3.connect(directory / "device.sqlite3")
    rows = connection.execute("SELECT metric, state, memo FROM memo").fetchall()
    connection.close()
    return rows


def test_the_owner_still_sees_every_report_after_a_reset(make: Make, directory: Path, clock: Clock) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)
        client.flush()
        client.record("other", True)
        before = [(entry.metric, entry.body, entry.status) for entry in client.journal()]

    reset(directory, now=int(clock.now))
    again = make(manifest=MANIFEST)
    after = [(entry.metric, entry.body, entry.status) for entry in again.journal()]

    assert after == before
    assert [status for *_, status in after] == ["sent", "waiting"]
    assert again.flush().sent == 1


def test_a_clock_that_was_ahead_is_overcome_by_a_reset(make: Make, directory: Path, clock: Clock) -> None:
    true = clock.now
    clock.now += 3650 * DAY
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)
    clock.now = true

    stuck = code(make(manifest=MANIFEST).record("dark", True))
    reset(directory, now=int(clock.now))
    clock.now += 28 * DAY
    again = make(manifest=MANIFEST)

    assert stuck == "paused"
    assert code(again.record("dark", True)) == "recorded"
    assert again.remaining() == 15
    assert sum(entry.cost for entry in again.journal(notes=True)) == 2


def test_a_device_without_a_marker_can_be_reset(make: Make, directory: Path, clock: Clock) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)
    (directory / "device.marker").unlink()

    reset(directory, now=int(clock.now))

    assert code(make(manifest=MANIFEST).record("fresh", True)) == "paused"


def retype(directory: Path) -> None:
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("UPDATE journal SET at = 'then' WHERE number = 1")
    connection.commit()
    connection.close()


def rename(directory: Path) -> None:
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("UPDATE journal SET source = 'another', metric = 'another' WHERE number = 1")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("marks", [leave, lambda directory: (directory / "device.marker").unlink()])
@pytest.mark.parametrize("damage", [retype, rename, truncate, overwrite], ids=lambda damage: damage.__name__)
def test_what_is_asked_once_counts_as_answered_after_a_reset_that_lost_any_row(
    make: Make,
    directory: Path,
    clock: Clock,
    damage: Callable[[Path], None],
    marks: Callable[[Path], None],
) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("system", "mac")
        client.record("dark", True)
    damage(directory)
    marks(directory)

    reset(directory, now=int(clock.now))
    clock.now += 29 * DAY
    again = make(manifest=MANIFEST)

    assert code(again.record("system", "mac")) == "already_answered"
    assert code(again.record("dark", True)) == "recorded"


def test_what_a_row_that_can_not_be_read_says_of_its_cost_stays_spent(
    make: Make, directory: Path, clock: Clock
) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("system", "mac")
    retype(directory)
    (directory / "device.marker").unlink()

    reset(directory, now=int(clock.now))

    assert make(manifest=MANIFEST).remaining("dark") == 6


def test_what_was_never_asked_may_be_asked_once_after_a_reset_that_lost_nothing(
    make: Make, directory: Path, clock: Clock
) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)

    reset(directory, now=int(clock.now))
    clock.now += 29 * DAY

    assert code(make(manifest=MANIFEST).record("system", "mac")) == "recorded"


def test_resetting_twice_gives_nothing_back(make: Make, directory: Path, clock: Clock) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)
        client.record("other", True)
    truncate(directory)

    kept = {reset(directory, now=int(clock.now) + at) for at in range(3)}
    clock.now += 29 * DAY
    again = make(manifest=MANIFEST, policy=Policy(life="4"))

    assert len(kept) == 3
    assert [code(again.record(name, True)) for name in ("dark", "other")] == ["recorded", "budget"]


def test_a_running_app_goes_on_with_the_new_files(make: Make, directory: Path, clock: Clock) -> None:
    client = make(manifest=MANIFEST)
    client.record("dark", True)

    reset(directory, now=int(clock.now))
    codes = [code(client.record("other", True)) for _ in range(2)]
    clock.now += 28 * DAY
    after = code(client.record("other", True))

    assert codes == ["paused", "paused"]
    assert after == "recorded"


def test_a_running_app_reads_the_new_files_at_once_and_knows_why_it_is_silent(
    make: Make, directory: Path, clock: Clock
) -> None:
    client = make(manifest=MANIFEST)
    client.record("dark", True)

    reset(directory, now=int(clock.now))
    seen = client.stats().waiting, client.obstacle(), [entry.code for entry in client.journal(notes=True)]
    first = client.record("fresh", True)

    assert seen == (1, None, ["", "reset"])
    assert isinstance(first, Skipped)
    assert (first.code, "it was reset" in first.message) == ("paused", True)


def test_a_device_in_the_middle_of_a_record_is_not_reset(make: Make, directory: Path, clock: Clock) -> None:
    client = make(manifest=MANIFEST)
    client.record("dark", True)

    def reset_meanwhile(_: object) -> None:
        with pytest.raises(BusyError, match="close it"):
            reset(directory, now=int(clock.now), patience=0.01)

    client._session.recorder.device.transact(reset_meanwhile)

    assert code(client.record("other", True)) == "recorded"


def test_nothing_is_made_where_no_device_is(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no device"):
        reset(tmp_path / "nowhere", now=0)

    assert list(tmp_path.iterdir()) == []


def _die_at(directory: Path, call: str) -> None:
    for target in ("rename", "replace"):
        if target == call:
            setattr(Path, target, lambda *_: os._exit(9))
    if call == "write_mark":
        import hubbub_client.storage.reset as module  # noqa: PLC0415 - in a child only

        module.write_mark = lambda *_: os._exit(9)  # type: ignore[assignment]
    reset(directory, now=1_767_571_200)


@pytest.mark.parametrize("call", ["rename", "replace", "write_mark"])
def test_a_reset_that_is_killed_gives_nothing_back_and_can_be_run_again(
    make: Make, directory: Path, clock: Clock, call: str
) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)
        client.record("other", True)
    child = multiprocessing.get_context("fork").Process(target=_die_at, args=(directory, call))
    child.start()
    child.join()

    between = code(make(manifest=MANIFEST).record("system", "mac"))
    reset(directory, now=int(clock.now) + 1)
    clock.now += 29 * DAY
    again = make(manifest=MANIFEST, policy=Policy(life="4"))

    assert child.exitcode == 9
    assert between in {"storage", "paused", "recorded"}
    assert (between == "recorded") == (call != "write_mark")
    assert code(again.record("other", True)) == "budget"


def test_the_owner_resets_by_name_and_is_asked_first(make: Make, home: Path, manifest: Manifest) -> None:
    directory = home / "notepad"
    with make(data_dir=directory, manifest=MANIFEST) as client:
        client.record("dark", True)
    shutil.copytree(directory, directory.with_name("before"))

    unnamed = CliRunner().invoke(command, ["reset"])
    declined = CliRunner().invoke(command, ["--app", "notepad", "reset"], input="n\n")
    untouched = (directory / "device.sqlite3").read_bytes()
    done = CliRunner().invoke(command, ["--app", "notepad", "reset", "--yes"])
    told = [
        CliRunner().invoke(command, ["--app", "notepad", word]).output for word in ("status", "log", "budget")
    ]

    assert (unnamed.exit_code, declined.exit_code, done.exit_code) == (2, 1, 0)
    assert untouched == (directory.with_name("before") / "device.sqlite3").read_bytes()
    assert "kept" in done.output
    assert "records nothing until" in told[0]
    assert "note: it was reset" in told[1]
    assert "dark" in told[1]
    assert "dark" in told[2]


def test_a_reset_of_nothing_ends_in_1(home: Path) -> None:
    done = CliRunner().invoke(command, ["--app", "notepad", "reset", "--yes"])

    assert done.exit_code == 1
    assert "no device" in done.output


def test_two_resets_in_one_second_keep_both_old_files(make: Make, directory: Path, clock: Clock) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("dark", True)
    first = (directory / "device.sqlite3").read_bytes()

    kept = [reset(directory, now=int(clock.now)) for _ in range(2)]

    assert kept[0] != kept[1]
    assert kept[0] is not None
    assert kept[0].read_bytes() == first


def test_a_device_that_was_deleted_under_a_marker_elsewhere_is_reset_by_the_command_that_the_error_names(
    make: Make, directory: Path, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "else where"
    with make(manifest=MANIFEST, marker_dir=elsewhere) as client:
        client.record("dark", True)
        client.record("other", True)
    shutil.rmtree(directory)
    monkeypatch.setattr("hubbub_client.showing.owner.time.time", clock)

    refused = make(manifest=MANIFEST, marker_dir=elsewhere).record("fresh", True)
    assert isinstance(refused, Skipped)
    words = shlex.split(refused.message.split("run: hubbub-client ")[1])
    done = CliRunner().invoke(command, [*words, "--yes"])
    clock.now += 29 * DAY
    again = make(manifest=MANIFEST, policy=Policy(life="4"))

    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in directory.iterdir()) == ["device.sqlite3"]
    assert [code(again.record(name, True)) for name in ("dark", "fresh")] == ["recorded", "budget"]


def test_permanent_answers_are_carried_over_all_or_none(make: Make, directory: Path, clock: Clock) -> None:
    with make(manifest=MANIFEST) as client:
        client.record("editor", "vi")
    connection = sqlite3.connect(directory / "device.sqlite3")
    connection.execute("ALTER TABLE memo RENAME TO legible")
    connection.execute(
        """CREATE VIEW memo AS SELECT number, metric, state, memo FROM legible
        UNION ALL SELECT 2, x'01', x'', x'' UNION ALL SELECT abs(-9223372036854775808), x'', x'', x''"""
    )  # it fails after some rows, as a table does of which a page is damaged
    connection.commit()
    connection.close()

    reset(directory, now=int(clock.now))
    clock.now += 28 * DAY
    outcome = make(manifest=MANIFEST).record("editor", "vi")

    assert isinstance(outcome, Recorded)
    assert outcome.spent == 2
