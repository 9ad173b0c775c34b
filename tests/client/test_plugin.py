"""This file proves that an app's tests can see that something was recorded, and not what."""

import asyncio
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hubbub.declaration import boolean, number
from hubbub.errors import DomainError, SkippedError
from hubbub.manifest import Manifest
from hubbub_client import Client, Flushed, Policy
from hubbub_client.witness import Seen, Witness

pytest_plugins = ["pytester"]

DARK = boolean("dark", epsilon="1")
SECONDS = number("seconds", low=0, high=10, epsilon="1", period="1d", labels={"version": ["1.0", "other"]})
MANIFEST = Manifest(app="notepad", serial=1, metrics=(DARK, SECONDS))
APP = """
from hubbub.declaration import boolean
from hubbub.manifest import Manifest

MANIFEST = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon="1"),))
WRONG = "zanz" + "ibar"

def start(client, dark):
    client.record("dark", dark)
"""
ALONE = ("-W", "error", "-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:xdist")


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    return Witness(tmp_path)


def test_an_app_s_tests_see_that_something_was_recorded_and_why_it_was_not(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["hubbub_client.pytest_plugin"]')
    pytester.makepyfile(app=APP)
    pytester.makepyfile(
        test_app="""
        import app

        def test_the_theme_is_recorded(hubbub):
            client = hubbub.client(app.MANIFEST)

            app.start(client, True)
            client.flush()

            assert hubbub.recorded("dark").times == 1
            assert len(hubbub.requests) == 1

        def test_each_test_has_a_device_of_its_own(hubbub):
            app.start(hubbub.client(app.MANIFEST), True)

            assert hubbub.recorded("dark").skips == ()

        def test_this_one_fails(hubbub):
            app.start(hubbub.client(app.MANIFEST), app.WRONG)

            assert hubbub.recorded("dark")
        """
    )

    result = pytester.runpytest_subprocess(*ALONE, "--tb=short")

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*Seen(times=0, labels=(), skips=('value',))*"])
    assert "zanzibar" not in result.stdout.str()


OWN_CLIENT = """
import sys
from hubbub.declaration import boolean
from hubbub.manifest import Manifest
from hubbub_client import Client

MANIFEST = Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon="1", absent=False),))
client = Client("https://collector.invalid", MANIFEST, key="hb_ingest_1", consent="unknown")

def start(agreed):
    if agreed:
        client.consent("given")
    client.check_in()
    client.record("dark", True)
"""


def test_a_client_that_the_app_made_itself_is_watched_on_the_test_s_directory(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    pytester.makeconftest('pytest_plugins = ["hubbub_client.pytest_plugin"]')
    pytester.makepyfile(app=OWN_CLIENT)
    pytester.makepyfile(
        test_app="""
        import app
        from hubbub_client.testing import Clock

        def test_it_asks_for_consent(hubbub):
            hubbub.watch(app.client)

            app.start(agreed=False)

            assert hubbub.recorded("dark").skips == ("consent",)

        def test_it_records_again_tomorrow(hubbub):
            clock = Clock()
            client = hubbub.watch(app.client, clock=clock)

            app.start(agreed=True)
            clock.advance(days=7)
            app.start(agreed=True)
            flushed = client.flush()

            assert client is app.client
            assert hubbub.recorded("dark").times == 2
            assert flushed.sent == len(hubbub.requests) == 2
        """
    )

    result = pytester.runpytest_subprocess(*ALONE)

    result.assert_outcomes(passed=2)
    assert not (tmp_path / "home").exists()


def test_what_a_test_did_to_a_client_of_the_app_is_over_with_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["hubbub_client.pytest_plugin"]')
    pytester.makepyfile(app=OWN_CLIENT)
    pytester.makepyfile(
        test_app="""
        import app
        from hubbub_client.testing import Clock, MONDAY

        made = app.client._session

        def test_one_agrees_and_goes_far_into_the_future(hubbub):
            clock = Clock()
            clock.advance(days=1000)
            hubbub.watch(app.client, clock=clock, strict=True)

            app.start(agreed=True)

            assert hubbub.recorded("dark").times == 1

        def test_the_next_has_not_agreed_yet(hubbub):
            hubbub.watch(app.client)

            app.start(agreed=False)

            assert hubbub.recorded("dark").skips == ("consent",)
            assert app.client._session.settings.clock() < MONDAY + 900 * 86_400
            assert app.client.stats().skipped == {"consent": 1}

        def test_a_test_without_the_fixture_has_the_client_of_the_app():
            assert app.client._session is made
        """
    )

    result = pytester.runpytest_subprocess(*ALONE)

    result.assert_outcomes(passed=3)


@pytest.fixture
def own(tmp_path: Path) -> Client:
    return Client("https://collector.invalid", MANIFEST, data_dir=tmp_path / "own", environ={})


def test_a_client_may_be_watched_again_and_by_others_within_and_each_begins_with_it_as_it_was_made(
    witness: Witness, tmp_path: Path, own: Client
) -> None:
    made, inner = own._session, Witness(tmp_path / "inner")
    own.consent("given", ["seconds"])
    witness.watch(own, policy=Policy(report="0.5"))
    witness.watch(own).consent("given")
    inner.watch(own).record("dark", True)

    inner.close()
    own.record("dark", True)
    witness.close()

    assert inner.recorded("dark") == Seen(0, (), ("consent",))
    assert witness.recorded("dark") == Seen(1, ({},), ())
    assert own._session is made
    assert own.consents() == {"dark": "unknown", "seconds": "given"}
    assert not (tmp_path / "own").exists()


def test_a_client_is_watched_with_any_option_that_it_could_be_made_with(
    witness: Witness, tmp_path: Path, own: Client
) -> None:
    witness.watch(own, consent="given", data_dir=str(tmp_path / "there"), strict=True)

    own.record("dark", True)
    with pytest.raises(SkippedError):
        own.record("nowhere", True)

    assert witness.recorded("dark").times == 1
    assert (tmp_path / "there").exists()


def test_a_plugin_that_nobody_asked_for_is_not_loaded() -> None:
    assert [one for one in entry_points(group="pytest11") if "hubbub" in one.value] == []


def test_a_plugin_that_is_loaded_imports_nothing_heavy() -> None:
    script = "import sys, hubbub_client.pytest_plugin; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert {"numpy", "sqlite3", "requests", "hubbub_client.client"} & set(loaded.stdout.split()) == set()


def test_what_was_recorded_is_counted_and_what_was_skipped_is_told_apart(witness: Witness) -> None:
    client = witness.client(MANIFEST)

    client.record("dark", True)
    client.record("dark", False)
    client.record("dark", "yes")

    assert witness.recorded("dark") == Seen(1, ({},), ("already_answered", "value"))


def test_labels_are_seen(witness: Witness) -> None:
    client = witness.client(MANIFEST)

    client.record("seconds", 2.5, {"version": "1.0"})
    client.record("seconds", 2.5, {"version": "1.0", "more": "x"})

    assert witness.recorded("seconds") == Seen(1, ({"version": "1.0"},), ("value",))


def test_what_is_only_skipped_is_not_recorded(witness: Witness) -> None:
    client = witness.client(MANIFEST, consent="refused")

    client.record("dark", True)

    assert not witness.recorded("dark")
    assert witness.recorded("dark").skips == ("consent",)


def test_a_strict_client_raises_and_is_seen(witness: Witness) -> None:
    client = witness.client(MANIFEST, strict=True, policy=Policy(report="0.5"))

    with pytest.raises(SkippedError):
        client.record("dark", True)

    assert witness.recorded("dark").skips == ("policy",)


def test_what_is_timed_or_awaited_is_seen(witness: Witness) -> None:
    client = witness.client(MANIFEST)

    with client.timed("seconds", {"version": "1.0"}):
        pass
    asyncio.run(client.record_async("dark", True))

    assert (witness.recorded("seconds").times, witness.recorded("dark").times) == (1, 1)


def test_what_a_coroutine_handed_over_is_seen_at_once(witness: Witness) -> None:
    client = witness.client(MANIFEST)

    async def run() -> Flushed:
        async with client.timed("seconds", {"version": "1.0"}):
            pass
        waiting = client.record_async("dark", True)
        waiting.send(None)
        waiting.close()
        return await client.flush_async()

    flushed = asyncio.run(run())

    assert (witness.recorded("seconds").times, witness.recorded("dark").times) == (1, 1)
    assert flushed.sent == 2


def test_what_was_decorated_before_its_client_was_watched_is_seen_and_touches_no_device_of_the_app(
    witness: Witness, tmp_path: Path
) -> None:
    client = Client(
        "https://collector.invalid", MANIFEST, data_dir=tmp_path / "own", consent="given", environ={}
    )
    timer = client.timed("seconds", {"version": "1.0"})
    timed = timer(lambda: None)

    async def wait() -> None:
        async with timer:
            pass

    witness.watch(client)
    timed()
    asyncio.run(wait())

    assert len(witness.recorded("seconds").labels + witness.recorded("seconds").skips) == 2
    assert not (tmp_path / "own").exists()


def test_a_metric_that_does_not_exist_proves_nothing(witness: Witness) -> None:
    witness.client(MANIFEST)

    with pytest.raises(DomainError, match="drak"):
        witness.recorded("drak")


def test_clients_of_one_app_are_one_device_and_of_two_apps_two(witness: Witness, tmp_path: Path) -> None:
    other = Manifest(app="browser", serial=1, metrics=(DARK,))

    for manifest in (MANIFEST, MANIFEST, other):
        witness.client(manifest).record("dark", True)

    assert witness.recorded("dark") == Seen(2, ({}, {}), ("already_answered",))
    assert {path.name for path in tmp_path.iterdir()} == {"notepad", "browser"}


def test_nothing_of_a_value_or_a_report_is_seen(witness: Witness) -> None:
    client = witness.client(MANIFEST)

    client.record("seconds", 7.8125377, {"version": "1.0"})

    seen = repr([witness.recorded("seconds"), vars(witness)["_calls"]])
    assert "7.8" not in seen
    assert seen.count("b'") == 0


def test_a_closed_witness_closes_its_clients(witness: Witness) -> None:
    client = witness.client(MANIFEST)
    client.record("dark", True)

    witness.close()

    assert client._session.recorder.device._opened is None
