"""This file runs the command-line example as its users do: at a terminal, in a pipe, without a network."""

import os
import pty
import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from hubbub.period import DAY, period_at, start_of
from tests.examples.conftest import EXAMPLES, NOBODY, Asked, Home, program
from tests.server.waiting import wait_until

SCRIPT = EXAMPLES / "wordcount" / "wordcount.py"
MANIFEST = EXAMPLES / "wordcount" / "metrics.toml"


@pytest.fixture
def asked(serve: Callable[[Path], Asked]) -> Asked:
    return serve(MANIFEST)


def settings_for(url: str, key: str = "", *, at_once: bool = True) -> dict[str, str]:
    at_once_too = {"WORDCOUNT_SEND_AT_ONCE": "1"} if at_once else {}
    return {"WORDCOUNT_COLLECTOR": url, "WORDCOUNT_KEY": key, **at_once_too}


def at_a_terminal(home: Home, answer: str, *arguments: str, settings: dict[str, str]) -> tuple[str, str]:
    """Run it with a keyboard and a screen, and return what it printed and what it asked."""
    keyboard, terminal = pty.openpty()
    os.write(keyboard, f"{answer}\n".encode())  # the terminal shows what is typed
    process = subprocess.Popen(
        [*program(SCRIPT), *arguments],
        env=home.environment(**settings),
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    printed, _ = process.communicate(timeout=60)
    os.close(terminal)
    screen = os.read(keyboard, 65_536).decode()
    os.close(keyboard)
    assert process.returncode == 0, screen
    return printed, screen


def arrive(asked: Asked, *metrics: str, again: Callable[[float], object]) -> None:
    """Run it again where a second at its end was too short for a busy machine, each time some minutes later.

    again: is told how many days later; what another run has in hand is left to it for a minute.
    """
    later = count(step=0.01)
    wait_until(lambda: all(map(asked.count, metrics)) or again(next(later)) is None)


def test_what_a_user_agreed_to_at_a_terminal_is_remembered_and_reaches_the_collector_once(
    home: Home, asked: Asked, tmp_path: Path
) -> None:
    settings = settings_for(asked.url, asked.key)
    text = tmp_path / "text"
    text.write_text("hear the crowd\nnever the person\n")

    printed, screen = at_a_terminal(home, "y", str(text), settings=settings)
    again, second_screen = at_a_terminal(home, "", str(text), settings=settings)
    arrive(
        asked,
        "seconds",
        "input",
        again=lambda later: home.run(SCRIPT, str(text), days=later, settings=settings),
    )

    assert printed == again == f"       6 {text}\n"
    assert "May it? [y/N]" in screen
    assert "May it?" not in second_screen
    assert [asked.count("seconds"), asked.count("input")] == [1, 1]


def test_nothing_is_kept_or_asked_where_there_is_no_terminal(home: Home) -> None:
    done = home.run(SCRIPT, settings=settings_for(NOBODY), text="one two three\n")

    assert (done.returncode, done.stdout) == (0, "       3 -\n")
    assert "May it?" not in done.stderr
    assert home.files == []


def test_a_user_who_declines_is_not_asked_again_and_leaves_nothing_but_that(home: Home) -> None:
    settings = settings_for(NOBODY)

    _, screen = at_a_terminal(home, "n", str(MANIFEST), settings=settings)
    _, second_screen = at_a_terminal(home, "", str(MANIFEST), settings=settings)

    assert "May it?" in screen
    assert "May it?" not in second_screen
    assert home.files == [".config/wordcount/settings.json"]


def test_what_a_run_leaves_behind_a_run_of_the_next_period_sends(home: Home, asked: Asked) -> None:
    now = time.time()
    days = (start_of(period_at(now, 28) + 1, 28) - now) / DAY + 0.1
    settings = settings_for(asked.url, asked.key, at_once=False)
    home.run(SCRIPT, "--telemetry", "on", settings=settings)
    home.run(SCRIPT, settings=settings, text="one\n")
    before = asked.count("seconds")

    arrive(
        asked,
        "seconds",
        again=lambda later: home.run(SCRIPT, days=days + later, settings=settings, text="one\n"),
    )

    assert (before, asked.count("seconds")) == (0, 1)


@pytest.mark.parametrize("arguments", [(str(MANIFEST),), ("missing", str(MANIFEST))], ids=["fine", "failing"])
def test_a_collector_that_is_down_changes_neither_output_nor_exit_code(
    home: Home, asked: Asked, arguments: tuple[str, ...]
) -> None:
    settings = settings_for(asked.url, asked.key)
    home.run(SCRIPT, "--telemetry", "off", settings=settings)
    without = home.run(SCRIPT, *arguments, settings=settings)
    home.run(SCRIPT, "--telemetry", "on", settings=settings)

    up = home.run(SCRIPT, *arguments, settings=settings)
    down = home.run(SCRIPT, *arguments, settings=settings_for(NOBODY))

    results = [(done.returncode, done.stdout, done.stderr) for done in (without, up, down)]
    assert without.returncode == len(arguments) - 1
    assert results[1:] == [results[0]] * 2


def test_the_user_sees_what_leaves_in_true_words_and_bytes(home: Home) -> None:
    settings = settings_for(NOBODY)
    home.run(SCRIPT, "--telemetry", "on", settings=settings)
    home.run(SCRIPT, str(MANIFEST), settings=settings)

    shown = home.run(SCRIPT, "--telemetry", "show", settings=settings).stdout

    assert '"input": ' in shown
    assert [line.split(":")[0] for line in shown.splitlines()[-2:]] == ["seconds", "input"]
    assert shown.splitlines()[-1].endswith("for epsilon 2, waiting")
