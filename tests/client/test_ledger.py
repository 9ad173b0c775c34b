"""This file proves the account: exact sums, caps over time and over names, and nothing depends on a value."""

import itertools
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from hubbub.declaration import boolean, choice, metric_of, number
from hubbub.errors import DomainError, StorageError
from hubbub.manifest import Manifest
from hubbub.spending import Limits
from hubbub_client import Client, Policy, Recorded, Skipped
from hubbub_client.sending.transport import Answer
from hubbub_client.testing import RecordingTransport
from tests.client.conftest import DAY, MONDAY, Clock

Make = Callable[..., Client]


def daily(*names: str, epsilon: str = "1", source: str = "") -> Manifest:
    more = {"source": source} if source else {}
    metrics = tuple(boolean(name, epsilon=epsilon, period="1d", **more) for name in names)
    return Manifest(app="notepad", serial=1, metrics=metrics)


def days_answered(client: Client, clock: Clock, name: str, days: int) -> list[int]:
    """Record every day and return the days on which a report was made."""
    answered = []
    for day in range(days):
        clock.now = MONDAY + day * DAY + 5
        if isinstance(client.record(name, True), Recorded):
            answered.append(day)
    return answered


def test_the_default_policy_is_what_a_forecast_assumes() -> None:
    assert Policy().limits == Limits()


@pytest.mark.parametrize("cap", ["report", "source_window", "window", "source_life", "life"])
@pytest.mark.parametrize("value", [None, 4.0, True, "-1", "nan", "inf", "0.0000001"])
def test_a_cap_that_is_no_exact_number_is_refused(cap: str, value: object) -> None:
    with pytest.raises(DomainError, match=cap):
        Policy(**{cap: value})  # type: ignore[arg-type]


def test_ten_times_a_tenth_spends_exactly_one(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("dark", epsilon="0.1"), policy=Policy(life="1"))

    answered = days_answered(client, clock, "dark", 12)

    assert answered == list(range(10))
    assert client.remaining() == 0
    assert sum(entry.cost for entry in client.journal()) == Decimal(1)


def test_a_tenth_and_nine_tenths_fit_under_one(make: Make) -> None:
    metrics = (boolean("a", epsilon="0.1"), boolean("b", epsilon="0.9"))
    client = make(manifest=Manifest(app="a", serial=1, metrics=metrics), policy=Policy(life="1"))

    outcomes = [client.record("a", True), client.record("b", True)]

    assert all(isinstance(outcome, Recorded) for outcome in outcomes)
    assert client.remaining() == 0


def test_the_smallest_charge_counts_after_the_budget_is_gone(make: Make) -> None:
    metrics = (boolean("a", epsilon="1"), boolean("b", epsilon="0.001"))
    client = make(manifest=Manifest(app="a", serial=1, metrics=metrics), policy=Policy(life="1"))
    client.record("a", True)

    outcome = client.record("b", True)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "budget"


def test_a_source_spends_eight_in_any_28_days_and_the_window_slides(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("dark"))

    answered = days_answered(client, clock, "dark", 60)

    assert answered == [*range(8), *range(28, 36), *range(56, 60)]


def test_a_charge_leaves_the_window_after_28_days_and_not_a_second_earlier(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("dark"))
    client.record("dark", True)

    clock.now += 28 * DAY - 1
    before = client.remaining("dark")
    clock.now += 1
    after = client.remaining("dark")

    assert (before, after) == (7, 8)


def test_all_sources_together_spend_sixteen_in_28_days(make: Make, clock: Clock) -> None:
    names = ("a", "b", "c")
    client = make(manifest=daily(*names))

    answered = dict.fromkeys(names, 0)
    for day, name in itertools.product(range(29), names):
        clock.now = MONDAY + day * DAY
        answered[name] += isinstance(client.record(name, True), Recorded)

    assert answered == {"a": 7, "b": 6, "c": 6}  # on day 28 the first day slides out


def test_a_source_spends_64_in_its_life(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("dark", epsilon="4"))

    answered = days_answered(client, clock, "dark", 600)

    assert len(answered) == 16
    assert client.remaining("dark") == 0
    assert client.remaining() == 16


def test_a_device_spends_128_in_its_life(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("a", "b", "c", epsilon="4"))

    answered = []
    for number_of_window, name in itertools.product(range(20), ("a", "b", "c")):
        clock.now = MONDAY + number_of_window * 30 * DAY
        answered.append(isinstance(client.record(name, True), Recorded))
        clock.now += DAY
        answered.append(isinstance(client.record(name, True), Recorded))

    assert sum(answered) == 32
    assert client.remaining() == 0


def test_metrics_on_one_source_share_its_budget(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("old", "new", source="dark"))

    old = days_answered(client, clock, "old", 9)
    new = client.record("new", True)

    assert len(old) == 8
    assert isinstance(new, Skipped)
    assert new.code == "budget"


def test_a_refusal_says_how_much_is_left_and_when_it_opens(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("dark"), policy=Policy(source_window="1.5"))
    client.record("dark", True)

    clock.now += 3 * DAY
    outcome = client.record("dark", True)

    assert isinstance(outcome, Skipped)
    assert outcome.message == (
        'budget exhausted: "dark" asks epsilon 1, 0.5 of 1.5 is left for "dark" in 28 days; '
        "it opens again in 25 days"
    )


def test_a_refusal_for_life_says_that_it_never_opens(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("dark"), policy=Policy(life="1"))
    client.record("dark", True)

    clock.now += DAY
    outcome = client.record("dark", True)

    assert isinstance(outcome, Skipped)
    assert outcome.message.endswith("0 of 1 is left for this device for life; it never opens again")


def test_a_clock_set_back_and_forth_renews_the_window_at_most_once(make: Make, clock: Clock) -> None:
    client = make(manifest=daily("dark"))
    days_answered(client, clock, "dark", 8)

    reports = 0
    for year, day in itertools.product((-10, 100, -10, 0, 100), range(20)):
        clock.now = MONDAY + (year * 365 + day) * DAY
        reports += isinstance(client.record("dark", True), Recorded)

    assert reports == 8


@pytest.mark.parametrize(("days", "code"), [(10, "paused"), (1.01, "paused"), (1, "already_answered")])
def test_a_clock_set_back_does_not_answer_an_old_period_again(
    make: Make, clock: Clock, days: float, code: str
) -> None:
    client = make(manifest=daily("dark"))
    clock.now = MONDAY + 10 * DAY
    client.record("dark", True)

    clock.now -= days * DAY
    outcomes = client.record("dark", True), make(manifest=daily("dark")).record("dark", True)

    assert [outcome.code for outcome in outcomes if isinstance(outcome, Skipped)] == [code, code]
    assert len(list(client.journal())) == 1


def test_a_tighter_policy_counts_what_was_spent_before(make: Make) -> None:
    make().record("dark", True)

    assert make(policy=Policy(life="0.5")).remaining() == 0
    assert make(policy=Policy(life="3")).remaining() == 2


def test_a_refused_report_is_never_refunded(make: Make) -> None:
    client = make(transport=RecordingTransport([Answer(400, b'{"code": "period_closed"}')]))
    client.record("dark", True)

    client.flush()

    assert client.stats().refused == {"period_closed": 1}
    assert client.remaining("dark") == 7


MIXED = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        boolean("dark", epsilon="1", period="1d"),
        number("seconds", low=0, high=10, epsilon="0.7", period="1d"),
        choice("system", options=["linux", "mac", "other"], epsilon="2", once=True),
        choice("many", options=list("abcdefgh"), epsilon="0.5", mechanism="optimized_unary"),
        boolean("loud", epsilon="5"),
    ),
)


def life(
    make: Make, clock: Clock, directory: Path, values: Mapping[str, Sequence[object]]
) -> tuple[object, ...]:
    """Play forty days and return all that an observer sees but the reports and their random times."""
    client = make(manifest=MIXED, data_dir=directory)
    outcomes = []
    for day, (name, choices) in itertools.product(range(40), values.items()):
        clock.now = MONDAY + day * DAY + 60
        outcomes.append(client.record(name, choices[day % len(choices)]))
    connection = sqlite3.connect(directory / "device.sqlite3")
    rows = connection.execute(
        "SELECT number, at, source, metric, starts, ends, cost, length(batch), status, code FROM journal"
    ).fetchall()
    connection.close()
    return outcomes, rows, client.remaining(), client.stats()


def test_two_devices_with_different_values_have_equal_ledgers_answers_and_silences(
    make: Make, clock: Clock, tmp_path: Path
) -> None:
    one: dict[str, list[object]] = {
        "dark": [True],
        "seconds": [0],
        "system": ["mac"],
        "many": ["a"],
        "loud": [True],
    }
    other: dict[str, list[object]] = {
        "dark": [False, True, False],
        "seconds": [10, -5, 3.3, 1e9],
        "system": ["linux", "other"],
        "many": [*"hgfedcb"],
        "loud": [False],
    }

    seen = [life(make, clock, tmp_path / name, values) for name, values in (("one", one), ("other", other))]

    assert seen[0] == seen[1]


@pytest.mark.parametrize("now", [math.nan, math.inf, 1_767_571_200_000.0], ids=["nan", "inf", "milliseconds"])
def test_a_clock_that_shows_no_date_charges_nothing_and_is_named(
    make: Callable[..., Client], clock: Clock, now: float
) -> None:
    client = make()
    clock.now = now

    outcome = client.record("dark", True)

    assert isinstance(outcome, Skipped)
    assert outcome.code == "storage"
    with pytest.raises(StorageError, match="clock"):
        client.remaining()
    assert list(client.journal()) == []


def gradient(**more: object) -> Manifest:
    table = {"kind": "vector", "size": 2, "norm": 1, "mechanism": "gaussian", "delta": "1e-9", "period": "1d"}
    return Manifest(app="notepad", serial=1, metrics=(metric_of("step", {**table, "epsilon": "1", **more}),))


def test_a_device_agrees_to_no_delta_by_default(make: Make) -> None:
    client = make(manifest=gradient())

    outcome = client.record("step", [0.5, 0.5])

    assert isinstance(outcome, Skipped)
    assert outcome.code == "budget"
    assert "fails its epsilon with probability 0.000000001; 0 of 0 is left" in outcome.message
    assert list(client.journal()) == []


def test_delta_is_charged_for_life_over_all_sources_to_exactly_zero(make: Make, clock: Clock) -> None:
    client = make(manifest=gradient(epsilon="0.1"), policy=Policy(delta="3e-9"))

    answered = []
    for day in range(60):
        clock.now = MONDAY + day * DAY + 5
        if isinstance(client.record("step", [1, 0]), Recorded):
            answered.append(day)

    assert answered == [0, 1, 2]
    assert [entry.atto for entry in client.journal()] == [10**9] * 3
    assert sum(entry.cost for entry in client.journal()) == Decimal("0.3")


@pytest.mark.parametrize("delta", [None, 1e-9, True, "-1", "nan", "0.01", "1e-19"])
def test_a_delta_that_is_no_exact_chance_is_refused(delta: object) -> None:
    with pytest.raises(DomainError, match="delta"):
        Policy(delta=delta)  # type: ignore[arg-type]
