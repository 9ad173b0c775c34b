"""This file proves the owner's command: it tells the truth about every app, and off is off."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.declaration import boolean
from hubbub.errors import NotReachableError
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Recorded, Skipped
from hubbub_client.moments import day, minute
from hubbub_client.showing.cli import command
from hubbub_client.storage import chain
from hubbub_client.storage.chain import Row
from hubbub_client.storage.device import Device
from hubbub_client.storage.marker import read_mark, write_mark
from hubbub_client.testing import ACCEPTED, WITHDRAWN, RecordingTransport
from tests.client.conftest import DAY, Clock

Make = Callable[..., Client]
SPITEFUL = "fine\x1b[2K\u202e\rlla ffo\x85\n"


def run(*words: str) -> Result:
    return CliRunner().invoke(command, list(words))


@pytest.fixture
def apps(make: Make, home: Path) -> dict[str, Client]:
    """Let two apps of this user have recorded: notepad twice, player once and sent."""
    clients = {name: make(data_dir=home / name, clock=time.time) for name in ("notepad", "player")}
    clients["notepad"].record("dark", True)
    clients["notepad"].record("seconds", 3)
    clients["player"].record("dark", True)
    clients["player"].flush()
    return clients


def code(outcome: Any) -> str:
    return outcome.code if isinstance(outcome, Skipped) else "recorded"


def test_status_lists_every_app_found(apps: dict[str, Client]) -> None:
    result = run("status")

    assert result.exit_code == 0
    assert result.output == (
        "notepad: on, if the app has your consent; reports: 0 sent, 2 waiting, 0 refused, 0 never sent\n"
        "  the next leaves once the app runs\n"
        "player: on, if the app has your consent; reports: 1 sent, 0 waiting, 0 refused, 0 never sent\n"
    )


def test_status_says_that_the_app_withdrew_until_something_is_recorded_again(apps: dict[str, Client]) -> None:
    player = apps["player"]

    player.withdraw()
    withdrawn = run("--app", "player", "status").output
    player.consent("given")
    player.record("seconds", 3)
    again = run("--app", "player", "status").output

    first, second = withdrawn.splitlines()
    assert re.fullmatch("player: withdrawn on ....-..-..; reports: 1 sent, .*", first)
    assert second == "  if you have agreed again in the app since then, it records again"
    assert again.startswith("player: on, if the app has your consent")


def test_status_of_one_app_or_directory_is_about_it_alone(apps: dict[str, Client], home: Path) -> None:
    by_name = run("--app", "player", "status")
    by_directory = run("--data-dir", str(home / "player"), "status")

    assert by_name.output.startswith("player: on")
    assert by_directory.output.startswith(f"{home / 'player'}: on")
    assert len((by_name.output + by_directory.output).splitlines()) == 2


def test_budget_adds_up_to_the_ledger(make: Make, home: Path) -> None:
    client = make(data_dir=home / "notepad", clock=time.time)
    client.record("dark", True)
    client.record("seconds", 3)

    result = run("--app", "notepad", "budget")

    _, caps, *spent = result.output.splitlines()
    rows = [line.split() for line in spent]
    assert "8 per source and 16 in all in 28 days, 64 and 128 for life" in caps
    assert rows == [["dark", "1", "1"], ["seconds", "0.5", "0.5"], ["all", "together", "1.5", "1.5"]]


def test_log_lists_every_report_and_its_cost_and_every_byte_if_asked(apps: dict[str, Client]) -> None:
    apps["player"].withdraw()

    short, whole = (run("--app", "player", "log", *words) for words in ([], ["--bytes"]))

    (entry,) = apps["player"].journal()
    at = minute(entry.at)
    _, heads, report, note = short.output.splitlines()
    assert (short.exit_code, whole.exit_code) == (0, 0)
    assert heads.split()[2:] == ["metric", "period", "epsilon", "what", "became", "of", "it"]
    assert report == f"    1 {at} dark               {day(entry.starts)}       1 sent"
    assert note == f"    2 {at} this device                           note: withdrawn by you"
    assert whole.output.splitlines()[2:] == [report, f"    {entry.body.hex()}", note]


def test_what_was_sent_and_then_deleted_is_not_said_to_have_stayed_here(make: Make, home: Path) -> None:
    client = make(
        data_dir=home / "notepad", clock=time.time, transport=RecordingTransport([ACCEPTED, WITHDRAWN])
    )
    client.record("dark", True)
    client.flush()
    client.record("seconds", 3)

    client.withdraw(ask_collector=True)
    asked = run("status").output
    client.flush()
    deleted, log, page = (run(word).output for word in ("status", "log", "page"))

    assert "reports: 1 sent (1 being asked back), 0 waiting, 0 refused, 1 never sent\n" in asked
    assert "reports: 1 sent (1 deleted since, says the collector), 0 waiting, 0 refused, 1 never" in deleted
    assert [text.count("sent, then deleted, says the collector") for text in (log, page)] == [1, 1]
    assert [text.count("never sent (withdrawn)") for text in (log, page)] == [1, 1]
    assert max(map(len, log.splitlines())) <= 100


def test_what_was_tried_without_an_answer_is_not_said_to_be_never_sent(make: Make, home: Path) -> None:
    trouble = RecordingTransport([NotReachableError("no answer"), ACCEPTED])
    client = make(data_dir=home / "notepad", clock=time.time, transport=trouble)
    client.record("dark", True)
    client.flush()
    client.record("seconds", 3)

    client.withdraw()
    status, log, page = (run(word).output for word in ("status", "log", "page"))

    assert "reports: 0 sent, 0 waiting, 0 refused, 1 never sent, 1 tried, then given up\n" in status
    assert [text.count("never sent (withdrawn)") for text in (log, page)] == [1, 1]
    assert [text.count("tried, then given up (withdrawn)") for text in (log, page)] == [1, 1]
    assert [entry.tried for entry in client.journal()] == [True, False]
    assert client.stats().dropped == {"withdrawn": 2}


def test_off_stops_every_app_and_on_lifts_it(apps: dict[str, Client]) -> None:
    switched_off = run("off")
    off = [code(client.record("system", "mac")) for client in apps.values()]
    told = run("status").output
    unsent = apps["notepad"].flush(now=True)
    switched_on = run("on")
    on = [code(client.record("system", "mac")) for client in apps.values()]

    assert (switched_off.exit_code, switched_on.exit_code) == (0, 0)
    assert (off, on) == (["off"] * 2, ["recorded"] * 2)
    assert told.count("off (the owner switched it off") == 2
    assert (unsent.sent, unsent.waiting) == (0, None)


def test_off_for_one_app_leaves_the_others_alone(apps: dict[str, Client]) -> None:
    run("--app", "notepad", "off")

    codes = [code(client.record("system", "mac")) for client in apps.values()]

    assert codes == ["off", "recorded"]


def test_on_for_all_lifts_what_was_off_one_by_one(apps: dict[str, Client]) -> None:
    run("--app", "notepad", "off")

    run("on")

    assert code(apps["notepad"].record("system", "mac")) == "recorded"


def test_on_for_one_app_says_so_if_all_are_off(apps: dict[str, Client]) -> None:
    run("off")

    result = run("--app", "notepad", "on")

    assert result.exit_code == 1
    assert "Still off: the owner switched it off" in result.stderr


def test_off_covers_an_app_that_has_not_run_yet(make: Make, home: Path) -> None:
    run("off")

    outcome = make(data_dir=home / "later").record("dark", True)

    assert code(outcome) == "off"
    assert not (home / "later").exists()


def test_off_covers_a_device_kept_elsewhere(make: Make, tmp_path: Path) -> None:
    client = make(data_dir=tmp_path / "elsewhere")
    run("off")

    assert code(client.record("dark", True)) == "off"


@pytest.mark.parametrize("word", ["status", "budget", "log"])
def test_a_machine_without_apps_is_no_fault_and_stays_as_it_is(home: Path, word: str) -> None:
    result = run(word)

    assert result.exit_code == 0
    assert not home.exists()


@pytest.mark.parametrize("word", ["status", "budget", "log"])
def test_a_damaged_device_is_named_and_ends_in_1_after_the_others(
    apps: dict[str, Client], home: Path, word: str
) -> None:
    os.truncate(home / "notepad" / "device.sqlite3", 5000)

    result = run(word)

    assert result.exit_code == 1
    assert "notepad: " in result.stderr
    assert "device.sqlite3 can't be used" in result.stderr
    assert "player:" in result.stdout


@pytest.mark.parametrize(
    "words", [["--app", "a", "--data-dir", "b", "status"], ["--app", "../a", "off"], ["reset"], ["--app"]]
)
def test_wrong_words_end_in_2_and_change_nothing(words: list[str], home: Path) -> None:
    assert run(*words).exit_code == 2
    assert not home.exists()


def test_the_installed_command_works(apps: dict[str, Client]) -> None:
    installed = Path(sys.executable).with_name("hubbub-client")

    done = subprocess.run([installed, "status"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("notepad: on")


def test_a_missing_part_ends_in_3_with_the_line_to_run(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['click'] = None; sys.argv[1:] = ['status']\n"
    script = blocked + "from hubbub_client.__main__ import main; main()"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "hubbub-client needs click: pip install . in a clone of hubbub\n"


def test_a_recorded_answer_is_still_there_after_off_and_on(apps: dict[str, Client]) -> None:
    run("off")
    run("on")

    outcomes = [client.record("dark", True) for client in apps.values()]

    assert not any(isinstance(outcome, Recorded) for outcome in outcomes)


def test_what_waits_is_shown_with_the_day_from_which_it_leaves(
    make: Make, home: Path, manifest: Manifest
) -> None:
    metrics = (boolean("dark", epsilon="1", absent=False),)  # leaves after its period, so never today
    client = make(
        data_dir=home / "notepad",
        clock=time.time,
        manifest=replace(manifest, metrics=metrics),
        delivery=Delivery(background=False),
    )
    client.record("dark", True)

    status, log = run("status").output, run("log").output
    run("off")

    (entry,) = client.journal()
    day = datetime.fromtimestamp(entry.due, tz=UTC).date()
    assert f"  the next leaves once the app runs on {day} or later\n" in status
    assert f"       1 waits to be sent, from {day} on\n" in log
    assert "the next leaves" not in run("status").output


def test_switching_off_an_app_that_never_ran_asks_for_the_name(home: Path) -> None:
    switched = run("--app", "jottr", "off")

    assert switched.exit_code == 0
    assert switched.stdout.startswith(
        "Off: nothing is recorded or sent until you run hubbub-client --app=jottr on."
    )
    assert (
        "jottr: no app of that name has kept anything here yet; one that does will be off" in switched.stderr
    )
    assert "jottr: no app of that name has kept anything here; off (" in run("status").stdout
    assert run("--app", "jottr", "status").exit_code == 0


def test_switching_an_app_on_that_never_ran_leaves_no_directory_of_it(
    apps: dict[str, Client], home: Path
) -> None:
    for name in ("jottr", "player"):
        run("--app", name, "off")
        run("--app", name, "on")

    assert sorted(path.name for path in home.iterdir()) == ["notepad", "player"]


def test_switching_on_takes_no_directory_away_that_somebody_chose(home: Path, tmp_path: Path) -> None:
    run("--data-dir", str(tmp_path / "chosen"), "off")
    run("--data-dir", str(tmp_path / "chosen"), "on")

    assert list((tmp_path / "chosen").iterdir()) == []


@pytest.mark.parametrize("word", ["status", "budget", "log"])
def test_a_name_or_directory_where_no_app_is_ends_in_1_and_makes_nothing(
    home: Path, tmp_path: Path, word: str
) -> None:
    missing = tmp_path / "none"

    by_name, by_directory = run("--app", "nosuch", word), run("--data-dir", str(missing), word)

    assert by_name.stderr == "nosuch: no app of that name has kept anything here\n"
    assert by_directory.stderr == f"{missing}: no app has kept anything here\n"
    assert [(one.exit_code, one.stdout) for one in (by_name, by_directory)] == [(1, "")] * 2
    assert not home.exists()
    assert not missing.exists()


@pytest.mark.parametrize("word", ["off", "withdraw"])
def test_a_damaged_app_is_off_like_the_others_before_the_trouble_is_told(
    apps: dict[str, Client], home: Path, word: str
) -> None:
    apps["player"].record("seconds", 3)
    os.truncate(home / "notepad" / "device.sqlite3", 5000)

    result = run(word)

    assert result.exit_code == 1
    assert result.output.startswith("Off: ")
    assert "notepad: " in result.stderr
    assert [code(client.record("system", "mac")) for client in apps.values()] == ["off", "off"]
    assert ("player: 1 report will not leave" in result.stdout) == (word == "withdraw")


def test_withdrawing_reports_about_no_silence_before_it(
    make: Make, home: Path, clock: Clock, manifest: Manifest
) -> None:
    metrics = (boolean("dark", epsilon="1", absent=False),)
    client = make(data_dir=home / "notepad", manifest=replace(manifest, metrics=metrics))
    client.check_in()

    run("withdraw")
    run("on")
    clock.now += 8 * DAY
    client.flush(now=True)

    assert list(client.journal()) == []


def test_a_reset_is_not_begun_before_what_it_does_was_said_and_agreed_to(apps: dict[str, Client]) -> None:
    nameless = run("reset")

    refused = CliRunner().invoke(command, ["--app", "notepad", "reset"], input="n\n")

    assert "hubbub-client --app NAME reset" in nameless.stderr
    assert "record nothing for 28 days; what was spent stays spent" in refused.output
    assert refused.exit_code == 1
    assert all(entry.status != "note" for entry in apps["notepad"].journal(notes=True))


WORDS = ("status", "budget", "log", "page", "off", "on", "withdraw", "reset")
NUMBERS = ("at", "starts", "ends", "cost", "delta", "due", "leased")


def absurd_time(home: Path) -> None:
    """Add a report of a time that no calendar has, chained as it should be, and a marker that knows of it."""
    device = Device(home / "notepad")
    far = Row(at=2**62, metric="far", source="far", starts=2**62, ends=2**62 + 5, due=2**62, batch=b"?")
    device.transact(lambda connection: chain.append(connection, far))
    device.close()


def absurd_marker(home: Path) -> None:
    marker = home / "notepad" / "device.marker"
    mark = read_mark(marker)
    assert mark is not None
    marker.unlink()
    write_mark(marker, replace(mark, generation=2**64 - 1, spent=2**64 - 1, delta=2**64 - 1))


def absurd_type(column: str) -> Callable[[Path], None]:
    def change(home: Path) -> None:
        database = sqlite3.connect(home / "notepad" / "device.sqlite3", isolation_level=None)
        database.execute(f"UPDATE journal SET {column} = 'soon'")  # noqa: S608 - a column of ours
        database.close()

    return change


ABSURD = {
    "time": absurd_time,
    "marker": absurd_marker,
    **{column: absurd_type(column) for column in NUMBERS},
}


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("spoil", ABSURD.values(), ids=ABSURD)
def test_absurd_numbers_in_a_device_s_files_are_shown_or_refused_and_never_a_crash(
    apps: dict[str, Client], home: Path, spoil: Callable[[Path], None], word: str
) -> None:
    apps["notepad"].close()
    spoil(home)

    result = run("--app", "notepad", word, *["--yes"] * (word == "reset"))
    outcome, page = apps["notepad"].record("system", "mac"), apps["notepad"].page()

    assert result.exit_code in {0, 1}
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "What leaves this device" in page
    assert code(outcome) in {"paused", "storage", "off"}
    assert "fault of its own" not in repr(outcome)


AS_NOBODY = """
import io, os, sys, contextlib, platformdirs, shutil  # now: nobody may not read a Python in the home of root
from hubbub_client.showing.cli import run

if os.getuid() == 0:
    os.setuid(65534)
for words in sys.argv[1:]:
    sys.argv = ["hubbub-client", *words.split()]
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        try:
            run()
        except SystemExit as end:
            code = end.code
    print(code, told.getvalue().count("\\n"))
"""
TELLING = AS_NOBODY.replace('told.getvalue().count("\\n")', "told.getvalue()")


@pytest.mark.parametrize("word", ["off", "withdraw", "--app=notepad off"])
def test_where_nothing_can_be_switched_off_by_a_file_the_variable_is_named(
    apps: dict[str, Client], home: Path, word: str
) -> None:
    for path in (*home.parent.rglob("*"), home.parent):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in home.parent.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o555)

    done = subprocess.run([sys.executable, "-c", TELLING, word], capture_output=True, text=True, check=False)

    assert done.stdout.startswith("1 hubbub-client: ")
    assert "so nothing is off; set HUBBUB_OFF=1" in done.stdout
    assert done.stdout.strip().count("\n") == 0


NO_HOMES = {
    "nowhere": lambda home: home.with_name("nowhere"),
    "read only": lambda home: home,
    "of another user": lambda home: home.with_name("locked"),
    "a file": lambda home: home / "hubbub" / "notepad" / "device.sqlite3",
}


@pytest.mark.parametrize("place", NO_HOMES.values(), ids=NO_HOMES)
def test_without_a_home_that_can_be_used_each_command_ends_in_one_sentence(
    apps: dict[str, Client], home: Path, place: Callable[[Path], Path]
) -> None:
    locked = home.parent.with_name("locked")
    locked.mkdir(mode=0o700)
    for path in (*home.parent.rglob("*"), home.parent):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in home.parent.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o555)
    data = place(home.parent)
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    each = ["status", "budget", "log", "off", "on", "withdraw", "page", "reset --yes"]

    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *each, *(f"--app=notepad {word}" for word in each)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    ends = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert done.stderr == ""
    assert len(ends) == 2 * len(each)
    assert {code for code, _ in ends} <= {0, 1, 2}
    assert all(told for code, told in ends if code)
    assert all(told == 1 for code, told in ends if code == 1)


def test_a_user_without_any_home_is_told_so_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    script = f"import platformdirs; platformdirs.user_data_dir = lambda *_, **__: '~/x'\n{AS_NOBODY}"

    done = subprocess.run(
        [sys.executable, "-c", script, "status", "off", "on", "page", "--app=notepad reset --yes"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("1 1\n" * 5, "")


def test_nothing_that_a_file_or_a_collector_says_moves_the_cursor_of_a_terminal(
    apps: dict[str, Client], home: Path
) -> None:
    database = sqlite3.connect(home / "notepad" / "device.sqlite3", isolation_level=None)
    database.execute("UPDATE journal SET code = ?", (SPITEFUL,))
    database.close()
    trouble = {"documents": [], "trouble": SPITEFUL, "digest": SPITEFUL}
    (home / "notepad" / "manifest.signed").write_text(json.dumps(trouble), encoding="utf-8")
    (home / SPITEFUL).mkdir()
    (home / SPITEFUL / "_off").touch()

    told = [run(word) for word in ("status", "budget", "log", "page", "off", "on", "withdraw")]
    told.append(run("--data-dir", str(home / SPITEFUL), "reset", "--yes"))

    shown = "".join(one.output for one in told)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert "\\x1b[2K\\u202e" in shown
