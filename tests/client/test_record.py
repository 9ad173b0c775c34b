"""This file proves what one record does: in which order it refuses, and that only a whole answer leaves."""

import gc
import logging
import math
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, metric_of, number
from hubbub.errors import DomainError, ManifestError, SkippedError
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Policy, Recorded, Skipped
from hubbub_client.consent import State
from hubbub_client.testing import RecordingTransport
from tests.client.conftest import DAY, Clock

Make = Callable[..., Client]


def code(outcome: Recorded | Skipped) -> str:
    return outcome.code if isinstance(outcome, Skipped) else "recorded"


def test_a_record_says_what_it_spent_and_what_its_source_has_left(make: Make) -> None:
    client = make()

    outcome = client.record("dark", True)

    assert outcome == Recorded(spent=Decimal(1), left=Decimal(7))


def test_what_leaves_is_one_report_that_the_mechanism_can_make(make: Make, manifest: Manifest) -> None:
    client = make()

    client.record("system", "mac")

    (entry,) = client.journal()
    (column,) = entry.batch.columns
    mechanism = registry.build(manifest["system"])
    assert column.metric == manifest["system"].id
    assert len(column.reports) == mechanism.layout.itemsize
    assert mechanism.check(np.frombuffer(column.reports, mechanism.layout)).all()


def test_labels_travel_as_positions_and_an_unlisted_one_as_other(make: Make) -> None:
    metric = boolean("dark", epsilon=1, period="1d", labels={"version": ["1.0", "other"], "os": ["a", "b"]})
    client = make(manifest=Manifest(app="a", serial=1, metrics=(metric,)))

    client.record("dark", True, labels={"version": "0.7", "os": "a"})

    (entry,) = client.journal()
    assert entry.batch.columns[0].labels == (1, 0)


@pytest.mark.parametrize("labels", [None, {"os": "c"}, {"os": "a", "city": "Ghent"}])
def test_wrong_labels_are_refused_and_charge_nothing(make: Make, labels: dict[str, str] | None) -> None:
    metric = boolean("dark", epsilon=1, labels={"os": ["a", "b"]})
    client = make(manifest=Manifest(app="a", serial=1, metrics=(metric,)))

    outcome = client.record("dark", True, labels=labels)

    assert code(outcome) == "value"
    assert client.remaining() == 16


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dark", 1),
        ("dark", "yes"),
        ("dark", None),
        ("system", "windows"),
        ("system", 1),
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        ("seconds", True),
        ("seconds", "3"),
        ("seconds", 10**400),
        ("seconds", Fraction(10**400)),
    ],
)
def test_a_value_outside_the_domain_is_refused_before_anything_is_charged(
    make: Make, tmp_path: Path, name: str, value: object
) -> None:
    client = make()

    outcome = client.record(name, value)

    assert code(outcome) == "value"
    assert not (tmp_path / "device").exists()


class Explosive(float):
    """A number that raises, with its content, when it is read."""

    def __float__(self) -> float:
        raise RuntimeError("SECRET")


def test_a_value_whose_own_methods_raise_is_refused_without_its_text(make: Make) -> None:
    outcome = make().record("seconds", Explosive(3))

    assert code(outcome) == "value"
    assert "SECRET" not in repr(outcome)


def test_an_unknown_metric_is_refused(make: Make) -> None:
    assert code(make().record("colour", True)) == "unknown_metric"
    assert code(make().record([], True)) == "unknown_metric"  # type: ignore[arg-type]


def test_a_metric_is_answered_once_in_a_period_whatever_the_value(make: Make, clock: Clock) -> None:
    client = make()

    outcomes = []
    for day in (0, 0, 1, 6.9, 7, 8):
        clock.now = 1_767_571_200 + day * DAY
        outcomes.append(code(client.record("dark", day > 3)))

    assert outcomes == ["recorded", *["already_answered"] * 3, "recorded", "already_answered"]
    assert client.remaining("dark") == 6


def test_another_process_sees_that_a_metric_was_answered(make: Make) -> None:
    make().record("dark", True)

    assert code(make().record("dark", True)) == "already_answered"


def test_a_once_metric_is_answered_once_ever(make: Make, clock: Clock) -> None:
    client = make()
    client.record("system", "mac")

    clock.now += 400 * DAY

    assert code(client.record("system", "linux")) == "already_answered"
    assert code(make().record("system", "linux")) == "already_answered"


def test_a_once_metric_under_a_new_name_on_its_old_source_gains_nothing(make: Make, clock: Clock) -> None:
    make().record("system", "mac")
    renamed = replace(choice("platform", options=["mac", "other"], epsilon=2, once=True), source="system")

    clock.now += 400 * DAY
    client = make(manifest=Manifest(app="notepad", serial=2, metrics=(renamed,)))

    assert code(client.record("platform", "mac")) == "already_answered"


def test_a_shorter_period_under_the_same_name_gains_no_second_report(make: Make, clock: Clock) -> None:
    make().record("dark", True)
    daily = Manifest(app="notepad", serial=2, metrics=(boolean("dark", epsilon="1", period="1d"),))

    clock.now += 3 * DAY

    assert code(make(manifest=daily).record("dark", True)) == "already_answered"


def test_an_expired_metric_is_refused_from_its_day_on(make: Make, clock: Clock) -> None:
    metric = boolean("dark", epsilon=1, period="1d", expires=date(2026, 1, 6))
    client = make(manifest=Manifest(app="a", serial=1, metrics=(metric,)))

    before = code(client.record("dark", True))
    clock.now = 1_767_571_200 + DAY
    after = code(client.record("dark", True))

    assert (before, after) == ("recorded", "expired")


@pytest.mark.parametrize(
    ("metric", "policy"),
    [
        (boolean("dark", epsilon="4.000001"), Policy()),
        (boolean("dark", epsilon="0.6"), Policy(report="0.5")),
        (boolean("dark", epsilon=1, mechanism="best"), Policy()),
        (boolean("dark", epsilon=1), Policy(metrics=0)),
    ],
    ids=["epsilon", "stricter", "best", "too many"],
)
def test_what_the_policy_forbids_is_never_answered(make: Make, metric: object, policy: Policy) -> None:
    client = make(manifest=Manifest(app="a", serial=1, metrics=(metric,)), policy=policy)  # type: ignore[arg-type]

    outcome = client.record("dark", True)

    assert code(outcome) == "policy"
    assert client.remaining() == 16


def test_a_mechanism_that_is_not_exact_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make()
    monkeypatch.setattr("hubbub.mechanisms.laplace.Laplace.exact", False)

    assert code(client.record("seconds", 3)) == "policy"
    assert code(client.record("dark", True)) == "recorded"


def test_a_device_answers_only_so_many_metrics(make: Make) -> None:
    metrics = tuple(boolean(f"fact_{number}", epsilon="0.1") for number in range(33))
    client = make(manifest=Manifest(app="a", serial=1, metrics=metrics))

    codes = [code(client.record(metric.name, True)) for metric in metrics]

    assert codes == ["recorded"] * 32 + ["policy"]


def test_a_full_outbox_pauses_and_charges_nothing(make: Make) -> None:
    client = make(delivery=Delivery(delay=0, background=False, most_batches=1))
    client.record("dark", True)

    paused = client.record("seconds", 3)
    client.flush()
    resumed = client.record("seconds", 3)

    assert (code(paused), code(resumed)) == ("paused", "recorded")
    assert client.remaining() == Decimal("14.5")


@pytest.mark.parametrize("now", [3 * DAY, 0, -1, -365 * DAY, -(10**12)])
@pytest.mark.parametrize("words", [[], ["given"], ["unknown", "given"]], ids=str)
def test_a_clock_before_the_first_period_pauses(make: Make, now: int, words: list[State]) -> None:
    client = make(clock=lambda: now)
    for word in words:
        client.consent(word)

    assert code(client.record("dark", True)) == "paused"


@pytest.mark.parametrize("variable", ["HUBBUB_OFF", "DO_NOT_TRACK"])
def test_the_owners_variable_stops_everything_before_the_disk_is_touched(
    make: Make, tmp_path: Path, transport: RecordingTransport, variable: str
) -> None:
    client = make(environ={variable: "1"}, consent="unknown")

    outcome = client.record("no such metric", object())
    flushed = client.flush()

    assert (code(outcome), flushed.error) == ("off", f"{variable} is set")
    assert not (tmp_path / "device").exists()
    assert not transport.requests


@pytest.mark.parametrize("text", ["", "0", "false", "no"])
def test_a_variable_that_says_no_does_not_switch_off(make: Make, text: str) -> None:
    assert code(make(environ={"DO_NOT_TRACK": text}).record("dark", True)) == "recorded"


def test_without_consent_nothing_is_written_and_one_warning_says_what_to_write(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    client = make(consent=None)

    codes = {code(client.record("dark", True)) for _ in range(3)}

    assert codes == {"consent"}
    assert not (tmp_path / "device").exists()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert 'client.consent("given")' in caplog.text


@pytest.mark.parametrize("state", ["unknown", "refused"])
def test_an_app_that_knows_of_consent_is_not_warned_and_so_warns_no_user(
    make: Make, caplog: pytest.LogCaptureFixture, state: State
) -> None:
    caplog.set_level(logging.INFO)

    codes = [code(make(consent=state).record("dark", True)), code(make(consent=None).record("dark", True))]

    assert codes == ["consent", "consent"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_refused_consent_stops_recording_and_sending_until_it_is_given_again(
    make: Make, transport: RecordingTransport
) -> None:
    client = make()
    client.record("dark", True)

    client.consent("refused")
    refused = code(client.record("seconds", 3)), client.flush(now=True), len(transport.requests)
    client.consent("given")
    given = code(client.record("seconds", 3)), client.flush().sent

    assert refused[0] == "consent"
    assert "refused" in refused[1].error
    assert refused[2] == 0
    assert given == ("recorded", 2)


def test_a_strict_client_raises_what_another_returns(make: Make) -> None:
    client = make(strict=True)

    with pytest.raises(SkippedError, match="must be True or False") as caught:
        client.record("dark", "SECRET")

    assert caught.value.code == "value"
    assert caught.value.__context__ is None


def test_a_log_that_raises_is_no_exception_in_the_app(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(_: logging.LogRecord) -> bool:
        raise ZeroDivisionError("SECRET")

    monkeypatch.setattr(logging.getLogger("hubbub_client"), "filters", [explode])
    client = make(consent=None)

    outcome = client.record("seconds", 3)

    assert code(outcome) == "consent"
    assert client.stats().skipped == {"consent": 1}


def test_a_fault_of_our_own_is_no_exception_in_the_app(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object) -> None:
        raise ZeroDivisionError("SECRET")

    client = make()
    monkeypatch.setattr("hubbub.mechanisms.laplace.Laplace.perturb", explode)

    outcome = client.record("seconds", 3)

    assert code(outcome) == "storage"
    assert "SECRET" not in repr(outcome)
    assert client.remaining() == 16


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://collector.example.org"},
        {"url": "https://user@collector.example.org"},
        {"url": "ftp://localhost"},
        {"url": "https://"},
        {"consent": "yes"},
        {"lock_wait": -1},
        {"lock_wait": math.inf},
    ],
)
def test_wrong_arguments_are_refused_when_the_client_is_made(make: Make, options: dict[str, object]) -> None:
    with pytest.raises(DomainError):
        make(**options)


def test_a_manifest_that_can_not_be_read_is_named(make: Make, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"metrics\.toml.*can't be read"):
        make(manifest=tmp_path / "metrics.toml")


def test_a_manifest_is_read_from_a_file(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "metrics.toml"
    file.write_text('format = 1\napp = "a"\nserial = 1\n[metrics.dark]\nkind = "boolean"\nepsilon = "1"\n')

    assert code(make(manifest=file).record("dark", True)) == "recorded"


def test_a_journal_entry_holds_every_byte_and_its_cost(make: Make, clock: Clock) -> None:
    client = make()
    client.record("dark", True)

    (entry,) = client.journal()

    assert (entry.number, entry.metric, entry.source, entry.cost) == (1, "dark", "dark", Decimal(1))
    assert (entry.status, entry.at) == ("waiting", int(clock.now))
    assert entry.starts <= clock.now < entry.ends


def test_an_explanation_says_what_is_sent_how_likely_how_often_and_at_what_cost(make: Make) -> None:
    metric = boolean("dark", epsilon=1, absent=False, labels={"os": ["a", "other"]})
    client = make(
        manifest=Manifest(app="a", serial=1, metrics=(metric, number("s", low=0, high=1, epsilon=2)))
    )

    told = client.explain("dark")

    assert '"yes" is sent with probability 73.1 %' in told
    assert "beside it, in clear: os" in told
    assert 'no answer in a period is sent as if it was "no"' in told
    assert told.endswith("at most once in 7 days, each time for epsilon 1")


@pytest.mark.parametrize(("changes", "cost"), [(0, "2"), (2, "6"), (9, "8")])
def test_an_explanation_of_permanent_answers_says_what_is_set_aside(
    make: Make, changes: int, cost: str
) -> None:
    table = {"kind": "choice", "options": list("abcd"), "epsilon": 2, "changes": changes}
    metric = metric_of("word", table | {"mechanism": "l_grr", "parameters": {"first": 1}})
    client = make(manifest=Manifest(app="a", serial=1, metrics=(metric,)))

    told = client.explain("word")

    assert told.endswith(
        f"at most once in 7 days, all of it for epsilon {cost}, which is set aside with the first answer"
    )


def test_stats_count_what_happened(make: Make) -> None:
    client = make()
    for name in ("dark", "dark", "colour"):
        client.record(name, True)

    stats = client.stats()

    assert (stats.waiting, stats.sent) == (1, 0)
    assert stats.skipped == {"already_answered": 1, "unknown_metric": 1}


def test_questions_about_a_device_that_never_recorded_create_nothing(make: Make, tmp_path: Path) -> None:
    client = make()

    client.prepare()
    answers = client.remaining("dark"), list(client.journal()), client.stats().waiting, client.flush().waiting

    assert answers == (Decimal(8), [], 0, 0)
    assert not (tmp_path / "device").exists()


def test_a_client_for_tests_leaves_nothing_behind() -> None:
    client = Client.for_testing(Manifest(app="a", serial=1, metrics=(boolean("dark", epsilon=1),)))
    client.record("dark", True)
    directory = client._session.directory

    existed = directory.exists()
    client.close()
    del client
    gc.collect()

    assert existed
    assert not directory.exists()


def deny(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    """Let a directory be one that this user may not search, even for root, who may search all."""
    look = os.stat

    def stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if Path(path).parent == directory:
            raise PermissionError(13, "Permission denied")
        return look(path, *arguments, **options)

    monkeypatch.setattr("os.stat", stat)


def test_a_home_that_may_not_be_searched_does_not_disable_a_device_elsewhere(
    make: Make, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make()
    deny(monkeypatch, home)

    assert isinstance(client.record("dark", True), Recorded)


def test_refusing_never_raises_even_where_the_device_may_not_be_read(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make()
    client.record("dark", True)
    deny(monkeypatch, tmp_path / "device")

    client.consent("refused")

    outcome = client.record("dark", True)
    assert isinstance(outcome, Skipped)
    assert outcome.code == "consent"


def test_a_report_in_the_journal_is_said_in_words(make: Make, clock: Clock) -> None:
    client = make(delivery=Delivery(delay=0, background=False))
    client.record("system", "mac")
    client.record("seconds", 3)

    said = [client.words(entry) for entry in client.journal()]
    clock.now += 40 * DAY
    client.record("seconds", 3)
    noted = [client.words(entry) for entry in client.journal(notes=True) if entry.status == "note"]
    younger = make(manifest=Manifest(app="notepad", serial=2, metrics=(boolean("dark", epsilon="1"),)))

    assert said[0] in {f'speaks for "{option}"' for option in ("linux", "mac", "other")}
    assert said[1].startswith("reads as ")
    assert noted == [""]
    assert {younger.words(entry) for entry in younger.journal()} == {""}
    assert client.metrics == ("dark", "seconds", "system", "loud")
