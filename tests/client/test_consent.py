"""This file proves consent by metric: the last word about one counts, and without one nothing happens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub.declaration import boolean
from hubbub.errors import DomainError
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Recorded, Skipped
from hubbub_client.consent import State
from hubbub_client.sending.transport import Answer, Request
from hubbub_client.testing import ACCEPTED, RecordingTransport
from tests.client.conftest import DAY, MONDAY, Clock

Make = Callable[..., Client]
Word = tuple[State, list[str] | None]
WEEKLY = Manifest(
    app="notepad",
    serial=1,
    metrics=(
        boolean("dark", epsilon="1", absent=False),
        boolean("wide", epsilon="1", absent=False),
        boolean("spoken", epsilon="1"),
    ),
)


def code(outcome: Recorded | Skipped) -> str:
    return outcome.code if isinstance(outcome, Skipped) else "recorded"


def metrics(client: Client) -> list[str]:
    return [entry.metric for entry in client.journal()]


@pytest.mark.parametrize(
    ("words", "dark", "seconds"),
    [
        ([], "unknown", "unknown"),
        ([("given", None)], "given", "given"),
        ([("given", ["dark"])], "given", "unknown"),
        ([("given", None), ("refused", ["dark"])], "refused", "given"),
        ([("refused", ["dark"]), ("given", None)], "given", "given"),
        ([("given", ["dark"]), ("refused", None)], "refused", "refused"),
        ([("given", ["dark", "seconds"]), ("unknown", ["dark"])], "unknown", "given"),
        ([("refused", None), ("given", ["dark"]), ("given", [])], "given", "refused"),
    ],
    ids=str,
)
def test_the_last_word_about_a_metric_counts_and_one_without_metrics_is_about_all(
    make: Make, words: list[Word], dark: State, seconds: State
) -> None:
    client = make(consent="unknown")

    for state, names in words:
        client.consent(state, names)

    stated = client.consents()
    recorded = [code(client.record("dark", True)), code(client.record("seconds", 3))]
    assert (stated["dark"], stated["seconds"]) == (dark, seconds)
    assert recorded == ["recorded" if state == "given" else "consent" for state in (dark, seconds)]
    assert metrics(client) == [
        name for name, state in (("dark", dark), ("seconds", seconds)) if state == "given"
    ]


@pytest.mark.parametrize(
    ("names", "words"),
    [(["drak"], "it has dark"), (["dark", "drak"], "it has dark"), ("dark", "a list"), ([7], "it has dark")],
    ids=str,
)
def test_a_metric_that_is_not_declared_is_refused_and_nothing_is_decided(
    make: Make, names: Any, words: str
) -> None:
    client = make(consent="unknown")

    with pytest.raises(DomainError, match=words):
        client.consent("given", names)

    assert set(client.consents().values()) == {"unknown"}


def test_a_word_that_is_no_state_decides_nothing(make: Make) -> None:
    client = make(consent="unknown")

    with pytest.raises(DomainError, match="consent must be"):
        client.consent("yes", ["dark"])  # type: ignore[arg-type]

    assert set(client.consents().values()) == {"unknown"}


@pytest.mark.parametrize("state", ["unknown", "refused"])
def test_about_a_metric_without_consent_nothing_is_stored_or_sent(
    make: Make, transport: RecordingTransport, tmp_path: Path, state: State
) -> None:
    client = make(consent=state, delivery=Delivery(delay=0))
    client.consent("given", ["dark"])

    outcome = client.record("seconds", 3)
    flushed = client.flush(now=True)

    assert code(outcome) == "consent"
    assert flushed.error == ""
    assert not (tmp_path / "device").exists()
    assert transport.requests == []


def test_the_switch_stands_above_consent_to_a_metric(make: Make, tmp_path: Path) -> None:
    client = make(consent="unknown", environ={"HUBBUB_OFF": "1"})
    client.consent("given", ["dark"])

    outcome = client.record("dark", True)

    assert code(outcome) == "off"
    assert not (tmp_path / "device").exists()


def test_what_waits_about_a_metric_leaves_only_with_consent_to_that_metric(
    make: Make, transport: RecordingTransport
) -> None:
    client = make()
    client.record("dark", True)
    client.record("seconds", 3)

    client.consent("refused", ["dark"])
    without = client.flush(now=True)
    client.consent("given", ["dark"])
    with_consent = client.flush(now=True)

    assert (without.sent, without.waiting, without.error) == (1, 1, "")
    assert (with_consent.sent, with_consent.waiting) == (1, 0)
    assert len(transport.requests) == 2


def test_many_batches_without_consent_hold_up_none_that_has_it(make: Make) -> None:
    many = Manifest(
        app="a", serial=1, metrics=tuple(boolean(f"fact_{at}", epsilon="0.1") for at in range(21))
    )
    client = make(manifest=many)
    for metric in many.metrics:
        client.record(metric.name, True)

    client.consent("refused", [f"fact_{at}" for at in range(20)])
    flushed = client.flush(now=True)

    assert (flushed.sent, flushed.waiting) == (1, 20)
    assert [entry.metric for entry in client.journal() if entry.status == "sent"] == ["fact_20"]


def test_the_background_thread_does_not_wait_for_what_may_not_leave(
    make: Make, transport: RecordingTransport
) -> None:
    client = make(delivery=Delivery(delay=0))
    client.consent("refused", ["dark"])
    make().record("dark", True)

    idle = client._session.recorder.sender._idle()

    assert idle is None
    assert transport.requests == []


class Interrupted:
    """Takes a request, and meanwhile the owner decides something."""

    def __init__(self, decide: Callable[[Client], object]) -> None:
        self.requests: list[Request] = []
        self.client: Client | None = None
        self._decide = decide

    def send(self, request: Request) -> Answer:
        self.requests.append(request)
        assert self.client is not None
        self._decide(self.client)
        return ACCEPTED


def switch_off(client: Client) -> None:
    (client._session.directory / "_off").touch()


DECISIONS: dict[str, Callable[[Client], object]] = {
    "refuse all": lambda client: client.consent("refused"),
    "refuse these": lambda client: client.consent("refused", ["dark", "seconds"]),
    "withdraw": lambda client: client.withdraw(),
    "switch off": switch_off,
}


@pytest.mark.parametrize("decide", DECISIONS.values(), ids=DECISIONS)
def test_a_decision_while_one_batch_is_on_its_way_keeps_the_next_here(
    make: Make, decide: Callable[[Client], object]
) -> None:
    transport = Interrupted(decide)
    client = transport.client = make(transport=transport)
    client.record("dark", True)
    client.record("seconds", 3)

    flushed = client.flush()

    assert (flushed.sent, len(transport.requests)) == (1, 1)
    assert client.stats().sent == 1


def weeks(client: Client) -> list[tuple[str, int]]:
    """Return what silence was reported about, by metric and week."""
    return [
        (entry.metric, (entry.starts - MONDAY) // (7 * DAY))
        for entry in client.journal()
        if entry.metric != "spoken"
    ]


def at_week(clock: Clock, week: float) -> None:
    clock.now = MONDAY + week * 7 * DAY + 60


def test_silence_is_reported_about_metrics_with_consent_only(make: Make, clock: Clock) -> None:
    client = make(manifest=WEEKLY)
    client.consent("refused", ["dark"])

    for week in range(3):
        at_week(clock, week)
        client.record("dark", True)
        client.record("spoken", True)

    assert weeks(client) == [("wide", 0), ("wide", 1)]


def test_a_word_about_one_metric_at_each_start_silences_no_other(make: Make, clock: Clock) -> None:
    for week in range(3):
        at_week(clock, week)
        client = make(manifest=WEEKLY)
        client.consent("refused", ["dark"])
        client.record("spoken", True)

    assert weeks(client) == [("wide", 0), ("wide", 1)]


@pytest.mark.parametrize("state", ["unknown", "refused"])
def test_silence_in_a_period_in_which_consent_to_the_metric_ended_is_not_reported(
    make: Make, clock: Clock, state: State
) -> None:
    client = make(manifest=WEEKLY)
    client.record("spoken", True)

    client.consent(state, ["dark"])
    client.consent("given", ["dark"])
    at_week(clock, 1)
    client.record("spoken", True)
    at_week(clock, 2)
    client.record("spoken", True)

    assert weeks(client) == [("wide", 0), ("dark", 1), ("wide", 1)]


def test_silence_in_a_period_whose_end_the_owner_did_not_consent_to_is_not_reported(
    make: Make, clock: Clock
) -> None:
    make(manifest=WEEKLY).record("spoken", True)
    at_week(clock, 1)
    other = make(manifest=WEEKLY, consent="refused")
    other.consent("given", ["spoken"])
    other.record("spoken", True)

    later = make(manifest=WEEKLY)
    later.record("spoken", True)

    assert weeks(later) == []


def test_silence_in_a_period_before_consent_to_the_metric_is_not_reported(make: Make, clock: Clock) -> None:
    first = make(manifest=WEEKLY, consent="unknown")
    first.consent("given", ["spoken"])
    first.record("spoken", True)

    at_week(clock, 1)
    later = make(manifest=WEEKLY)
    later.record("spoken", True)

    assert weeks(later) == []
