"""This file proves that a device with nothing to say reports the absent value, once, with consent."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.declaration import boolean, choice, number
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Policy, Recorded, Skipped
from hubbub_client.consent import State
from hubbub_client.showing.cli import command
from tests.client.conftest import DAY, MONDAY, Clock

Make = Callable[..., Client]
WEEKLY = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        boolean("dark", epsilon="1", absent=False),
        boolean("spoken", epsilon="1"),
    ),
)


def periods(client: Client, name: str) -> list[int]:
    """Return the weeks, counted from the first Monday, that a metric was reported for."""
    return [(entry.starts - MONDAY) // (7 * DAY) for entry in client.journal() if entry.metric == name]


def at_week(clock: Clock, week: float) -> None:
    clock.now = MONDAY + week * 7 * DAY + 60


def test_silence_is_reported_at_the_next_activity_after_the_periods_end(make: Make, clock: Clock) -> None:
    client = make(manifest=WEEKLY)
    client.record("spoken", True)

    before = periods(client, "dark")
    at_week(clock, 1)
    client.record("spoken", True)

    assert before == []
    assert periods(client, "dark") == [0]
    assert client.remaining("dark") == 7


def test_silence_is_reported_by_the_next_process(make: Make, clock: Clock) -> None:
    make(manifest=WEEKLY).record("spoken", True)

    at_week(clock, 1)
    later = make(manifest=WEEKLY)
    outcome = later.record("dark", True)

    assert isinstance(outcome, Recorded)
    assert periods(later, "dark") == [0, 1]


def test_a_period_that_was_answered_is_not_reported_again(make: Make, clock: Clock) -> None:
    client = make(manifest=WEEKLY)
    client.record("dark", True)

    at_week(clock, 1)
    client.record("spoken", True)
    at_week(clock, 2)
    client.record("spoken", True)

    assert periods(client, "dark") == [0, 1]


def test_only_periods_that_a_collector_still_takes_are_reported(make: Make, clock: Clock) -> None:
    make(manifest=WEEKLY).record("spoken", True)

    at_week(clock, 3.1)
    later = make(manifest=WEEKLY)
    later.record("spoken", True)
    at_week(clock, 5.9)
    later.record("spoken", True)

    assert periods(later, "dark") == [3]


def test_a_metric_is_not_reported_for_a_time_before_it_was_known(make: Make, clock: Clock) -> None:
    make(manifest=WEEKLY).record("spoken", True)
    metrics = (*WEEKLY.metrics, boolean("young", epsilon="0.5", absent=False))
    newer = Manifest(app="notepad", serial=2, metrics=metrics)

    at_week(clock, 1)
    client = make(manifest=newer)
    client.record("spoken", True)
    first = periods(client, "young")
    at_week(clock, 2)
    client.record("spoken", True)

    assert first == []
    assert periods(client, "young") == [1]


def test_about_a_period_that_nobody_saw_nothing_is_reported(make: Make, clock: Clock) -> None:
    make(manifest=WEEKLY).record("spoken", True)

    at_week(clock, 2)
    later = make(manifest=WEEKLY)
    later.record("spoken", True)

    assert periods(later, "dark") == [0]


def test_a_flush_reports_silence_and_sees_that_the_device_is_on(make: Make, clock: Clock) -> None:
    client = make(manifest=WEEKLY)
    client.record("spoken", True)

    for week in range(1, 4):
        at_week(clock, week)
        client.flush()

    assert periods(client, "dark") == [0, 1, 2]


def test_the_background_thread_reports_silence_and_stays_for_more(make: Make, clock: Clock) -> None:
    client = make(manifest=WEEKLY, delivery=Delivery(delay=0))
    client.record("spoken", True)
    sender = client._session.recorder.sender
    assert sender._idle() is not None  # nothing waits, but more will come

    at_week(clock, 1)
    sender._idle()

    assert periods(client, "dark") == [0]


ENVIRON: dict[str, str] = {}


def off_by_the_environment(client: Client, act: Callable[[Client], object]) -> None:
    ENVIRON["DO_NOT_TRACK"] = "1"
    act(client)
    ENVIRON.clear()


def off_by_the_owner(client: Client, act: Callable[[Client], object]) -> None:
    CliRunner().invoke(command, ["off"])
    act(client)
    CliRunner().invoke(command, ["on"])


def unknown_again(client: Client, act: Callable[[Client], object]) -> None:
    client.consent("unknown")
    act(client)
    client.consent("given")


@pytest.mark.parametrize("interrupt", [off_by_the_environment, off_by_the_owner, unknown_again])
@pytest.mark.parametrize(
    "act",
    [lambda client: client.record("spoken", True), lambda client: client.flush()],
    ids=["record", "flush"],
)
def test_no_period_up_to_one_in_which_the_device_was_found_off_is_reported(
    make: Make,
    clock: Clock,
    interrupt: Callable[[Client, Callable[[Client], object]], None],
    act: Callable[[Client], object],
) -> None:
    client = make(manifest=WEEKLY, environ=ENVIRON)
    client.record("spoken", True)

    at_week(clock, 1.5)
    interrupt(client, act)
    at_week(clock, 2.5)  # a collector would still take reports about the first week
    client.record("spoken", True)
    at_week(clock, 3)
    client.record("spoken", True)

    assert periods(client, "dark") == [2]


def refuse_by_the_app(client: Client, _: Path) -> None:
    client.consent("refused")
    client.record("spoken", True)
    client.consent("given")


def refuse_at_the_next_start(client: Client, _: Path) -> None:
    again = Client.for_testing(
        WEEKLY, data_dir=client._session.directory, clock=client._session.settings.clock, consent="refused"
    )
    again.record("spoken", True)
    again.close()


def switch_off_and_on(_: Client, directory: Path) -> None:
    for word in ("off", "on"):
        CliRunner().invoke(command, ["--data-dir", str(directory), word])


@pytest.mark.parametrize("interrupt", [refuse_by_the_app, refuse_at_the_next_start, switch_off_and_on])
def test_a_period_in_which_consent_ended_is_not_reported(
    make: Make, clock: Clock, tmp_path: Path, interrupt: Callable[[Client, Path], None]
) -> None:
    client = make(manifest=WEEKLY)
    client.record("spoken", True)
    at_week(clock, 1.5)

    interrupt(client, tmp_path / "device")
    at_week(clock, 1.6)
    client = make(manifest=WEEKLY)
    client.record("spoken", True)
    during = periods(client, "dark")
    at_week(clock, 2)
    client.record("spoken", True)

    assert during == []
    assert periods(client, "dark") == [1]


def test_silence_is_charged_like_any_report_and_bound_by_the_budget(make: Make, clock: Clock) -> None:
    metrics = (boolean("dark", epsilon="4", period="1d", absent=False), boolean("spoken", epsilon="0.1"))
    client = make(manifest=Manifest(app="a", serial=1, metrics=metrics))

    for day in range(8):
        at_week(clock, day / 7)
        client.record("spoken", True)

    assert sum(entry.metric == "dark" for entry in client.journal()) == 2
    assert client.remaining("dark") == 0


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (boolean("m", epsilon="20", absent=True), 1),
        (choice("m", options=["a", "b", "c"], epsilon="20", absent="c"), 2),
        (number("m", low=-1, high=1, epsilon="20", absent=0.5), 768),
    ],
    ids=["boolean", "choice", "number"],
)
def test_the_absent_value_is_what_is_perturbed(make: Make, clock: Clock, metric: Any, value: int) -> None:
    policy = Policy(report="20", source_window="40", window="40")
    spoken = boolean("spoken", epsilon="0.1")
    client = make(manifest=Manifest(app="a", serial=1, metrics=(metric, spoken)), policy=policy)
    client.record("spoken", True)

    at_week(clock, 1)
    client.record("spoken", True)

    (entry,) = (entry for entry in client.journal() if entry.metric == "m")
    layout = registry.build(metric).layout
    report = np.frombuffer(entry.batch.columns[0].reports, layout)[0]
    assert abs(int(report) - value) <= 1500 * (
        metric.domain.kind == "number"
    )  # beyond: below 1e-9 at epsilon 20


@pytest.mark.parametrize(
    ("values", "labels"), [(["a", "other"], [(1,)]), (["a", "b"], [])], ids=["other", "no other"]
)
def test_an_absent_report_bears_the_label_other_or_is_not_made(
    make: Make, clock: Clock, values: list[str], labels: list[tuple[int, ...]]
) -> None:
    metric = boolean("dark", epsilon="1", absent=False, labels={"version": values})
    client = make(manifest=Manifest(app="a", serial=1, metrics=(metric, boolean("spoken", epsilon="1"))))
    client.record("spoken", True)

    at_week(clock, 1)
    client.record("spoken", True)

    found = [entry.batch.columns[0].labels for entry in client.journal() if entry.metric == "dark"]
    assert found == labels


def test_an_app_that_checks_in_reports_silence_though_it_never_recorded(make: Make, clock: Clock) -> None:
    client = make(manifest=WEEKLY)

    client.check_in()
    at_week(clock, 1)
    make(manifest=WEEKLY).check_in()

    assert periods(client, "dark") == [0]


@pytest.mark.parametrize("words", [["given"], ["unknown", "given"]], ids=" then ".join)
def test_an_app_that_begins_by_not_knowing_reports_the_silence_of_its_earlier_starts(
    make: Make, clock: Clock, words: list[State]
) -> None:
    for week in range(3):
        at_week(clock, week)
        client = make(manifest=WEEKLY, consent="unknown")
        for word in words:
            client.consent(word)
        client.check_in()

    assert periods(client, "dark") == [0, 1]


def test_not_to_know_about_single_metrics_at_each_start_silences_none(make: Make, clock: Clock) -> None:
    for week in range(3):
        at_week(clock, week)
        client = make(manifest=WEEKLY, consent="unknown")
        for name in ("spoken", "dark"):
            client.consent("unknown", [name])
        client.consent("given", ["dark"])
        client.check_in()

    assert periods(client, "dark") == [0, 1]


@pytest.mark.parametrize(
    "options", [{"consent": "unknown"}, {"consent": "refused"}, {"environ": {"HUBBUB_OFF": "1"}}]
)
def test_to_check_in_without_permission_leaves_no_trace(
    make: Make, tmp_path: Path, options: dict[str, Any]
) -> None:
    make(manifest=WEEKLY, **options).check_in()

    assert not (tmp_path / "device").exists()


def test_to_check_in_an_app_without_absent_values_begins_no_device(make: Make, tmp_path: Path) -> None:
    make(manifest=Manifest(app="notepad", serial=1, metrics=(boolean("dark", epsilon="1"),))).check_in()

    assert not (tmp_path / "device").exists()


def test_to_check_in_where_the_owner_agrees_to_no_metric_with_an_absent_value_begins_no_device(
    make: Make, tmp_path: Path
) -> None:
    client = make(manifest=WEEKLY)
    client.consent("refused", ["dark"])

    client.check_in()

    assert not (tmp_path / "device").exists()


def test_to_check_in_never_raises(make: Make, tmp_path: Path) -> None:
    (tmp_path / "device").touch()

    make(manifest=WEEKLY).check_in()

    assert (tmp_path / "device").read_bytes() == b""


def test_a_metric_that_expires_within_a_period_reports_neither_values_nor_silence_of_it(
    make: Make, clock: Clock
) -> None:
    metric = boolean(
        "dark", epsilon="1", absent=False, expires=date(2026, 1, 15)
    )  # Thursday of the second week
    options = {
        "manifest": Manifest(app="notepad", serial=1, metrics=(metric, boolean("spoken", epsilon="1")))
    }
    spoken, silent = make(**options), make(**options, data_dir=None)

    first = spoken.record("dark", True), silent.record("spoken", True)
    at_week(clock, 1)
    second = spoken.record("dark", True), silent.record("spoken", True)
    at_week(clock, 2)
    silent.record("spoken", True)

    assert all(isinstance(outcome, Recorded) for outcome in first)
    assert isinstance(second[0], Skipped)
    assert second[0].code == "expired"
    assert periods(spoken, "dark") == periods(silent, "dark") == [0]


def test_a_metric_that_can_not_be_built_silences_no_other(make: Make, clock: Clock) -> None:
    broken = number("seconds", low=0, high=10, epsilon="1.1", mechanism="integer_table", absent=0)
    client = make(
        manifest=Manifest(app="notepad", serial=1, metrics=(broken, boolean("spoken", epsilon="1")))
    )

    first = client.record("spoken", True)
    at_week(clock, 1)
    second = client.record("spoken", True)

    assert isinstance(first, Recorded)
    assert isinstance(second, Recorded)
