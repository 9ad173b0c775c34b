"""This file runs the desktop example in a real X server, and presses its buttons."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.examples.conftest import EXAMPLES, NOBODY, Asked, Home

pytest.importorskip("tkinter", reason="this Python has no Tk")
SCRIPT = EXAMPLES / "notepad" / "notepad.py"
OPEN_PRIVACY = "menu.privacy What is sent"


@pytest.fixture
def display() -> Iterator[str]:
    """Start an X server that shows nothing to anybody."""
    if not shutil.which("Xvfb"):
        pytest.skip("Xvfb is not installed: apt-get install xvfb")
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout
        yield f":{server.stdout.readline().strip()}"
        server.terminate()


@pytest.fixture
def use(display: str, home: Home) -> Callable[..., str]:
    """Start the notepad, press what is named, wait for something, close it, and return what it printed."""

    def act(
        *presses: str, url: str = NOBODY, key: str = "", until: Callable[[], object] = lambda: True
    ) -> str:
        settings = {"NOTEPAD_COLLECTOR": url, "NOTEPAD_KEY": key, "NOTEPAD_SEND_AT_ONCE": "1"}
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("pressing.py")), str(SCRIPT)],
            env=home.environment(DISPLAY=display, **settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin
        process.stdin.writelines(f"{press}\n" for press in presses)
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while not until() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        printed, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "")
        return printed

    return act


def test_who_says_yes_is_heard_once_and_not_asked_again(
    use: Callable[..., str], serve: Callable[[Path], Asked]
) -> None:
    asked = serve(EXAMPLES / "notepad.toml")
    collector = {"url": asked.url, "key": asked.key}

    first = use("ask.yes", **collector, until=lambda: asked.count("operating_system"))
    second = use(**collector, until=lambda: asked.count("startup_seconds"))

    assert first == second == "left open: !text menu\n"
    assert [asked.count(name) for name in ("uses_dark_mode", "startup_seconds", "operating_system")] == [
        1,
        1,
        1,
    ]


def test_who_says_no_is_not_asked_again_and_keeps_a_clean_disk(use: Callable[..., str], home: Home) -> None:
    first, second = use("ask.no"), use()

    assert first == second == "left open: !text menu\n"
    assert home.files == [".config/notepad/settings.json"]


def test_who_does_not_answer_is_asked_again_and_keeps_a_clean_disk(
    use: Callable[..., str], home: Home
) -> None:
    first, second = use("ask.show"), use("menu.view Dark mode")

    assert first == "left open: !text ask menu sent\n"
    assert second == "left open: !text ask menu\n"
    assert home.files == [".config/notepad/settings.json"]


def test_the_window_shows_what_may_leave_and_what_waits(use: Callable[..., str]) -> None:
    use("ask.yes")

    page = use(OPEN_PRIVACY, "sent.page")

    questions, left = page.split("What left it, or waits:")
    assert '"uses_dark_mode": if your answer is "yes", "yes" is sent with probability 73.1 %' in questions
    waiting = [line.split(":")[0] for line in left.splitlines() if line.endswith(", waiting")]
    assert waiting == ["uses_dark_mode", "operating_system", "startup_seconds"]


def test_who_switches_off_is_not_heard_any_more(
    use: Callable[..., str], serve: Callable[[Path], Asked]
) -> None:
    asked = serve(EXAMPLES / "notepad.toml")
    collector = {"url": asked.url, "key": asked.key}
    use("ask.yes", **collector, until=lambda: asked.count("operating_system"))

    use(OPEN_PRIVACY, "sent.switch", url=NOBODY)
    page = use(OPEN_PRIVACY, "sent.page", **collector)

    assert page.count(", dropped\n") == 1
    assert asked.count("startup_seconds") == 0
