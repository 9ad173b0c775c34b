"""This file proves what is taken, what is refused, and that a batch counts once."""

import gzip
import hashlib
import json
import tracemalloc
from collections.abc import Iterable
from itertools import product

import pytest

from hubbub.batch import BINARY, Batch, Column, encode
from hubbub.batch_json import JSON, encode_json
from hubbub.declaration import choice
from hubbub.manifest import Manifest
from hubbub.period import DAY, GRACE, start_of
from hubbub_server.publication import publish
from tests.server.site import (
    DARK,
    NOW,
    PERIOD,
    SECONDS,
    Site,
    batch,
    code,
    dark,
    fresh_id,
    seconds,
    squeezed,
    system,
)


def test_a_batch_is_counted_in_every_column(either: Site) -> None:
    sent = batch(dark([1, 0, 1]), seconds([500, 600], label=2), system([0b101]))

    answer = either.post(sent)

    assert answer.json == {"accepted": 6, "refused": [], "reasons": {}}
    assert [either.counted(name) for name in ("dark", "seconds", "system")] == [3, 2, 1]


def test_a_retry_in_any_form_gets_the_stored_answer_and_is_not_counted(either: Site) -> None:
    sent = batch()
    first = either.post(sent)
    padded_after = squeezed(encode(sent)) + bytes(100)

    retries = [
        either.post(sent),
        either.post(sent, form=JSON),
        either.post_bytes(squeezed(encode(sent)), Content_Encoding="gzip"),
        either.post_bytes(squeezed(encode_json(sent)), form=JSON, Content_Encoding="GZip"),
        either.post_bytes(padded_after, Content_Encoding="gzip"),
        either.post_bytes(_padded_inside(encode(sent)), Content_Encoding="gzip"),
        either.post_bytes(squeezed(encode(sent)[:9]) + squeezed(encode(sent)[9:]), Content_Encoding="gzip"),
        either.post_bytes(json.dumps(json.loads(encode_json(sent)), indent=2).encode(), form=JSON),
    ]

    assert {retry.data for retry in retries} == {first.data}
    assert either.counted("dark") == 3


def test_a_retry_gets_its_stored_answer_even_after_the_period_has_closed(home: Site) -> None:
    sent = batch(dark([1, 7]))
    first = home.post(sent)
    home.clock.now = start_of(PERIOD + 1, 7) + GRACE + 0.5 * DAY

    retry = home.post(sent)

    assert (retry.status_code, retry.data) == (200, first.data)
    assert code(home.post(batch())) == "period_closed"


def test_a_replay_after_its_id_was_forgotten_finds_the_period_closed(either: Site) -> None:
    sent = batch()
    either.post(sent)
    either.clock.now = start_of(PERIOD + 1, 7) + GRACE + 2 * DAY
    either.collector.store.upkeep.forget(int(either.clock.now // DAY))

    replay = either.post(sent)

    assert either.collector.store.batches.find(hashlib.sha256(sent.id).digest()) is None
    assert code(replay) == "period_closed"
    assert either.counted("dark") == 3


def test_another_batch_under_a_known_id_is_a_conflict(either: Site) -> None:
    known = fresh_id()
    either.post(batch(dark([1]), id=known))

    answer = either.post(batch(dark([0]), id=known))

    assert (answer.status_code, code(answer)) == (409, "id_conflict")
    assert either.counted("dark") == 1


def test_impossible_reports_are_named_and_not_counted(either: Site) -> None:
    answer = either.post(batch(dark([1]), dark([0, 2, 1, 255]), system([0b111, 0b1000])))

    assert answer.json == {
        "accepted": 4,
        "refused": [
            {"column": 1, "report": 1, "code": "impossible_report"},
            {"column": 1, "report": 3, "code": "impossible_report"},
            {"column": 2, "report": 1, "code": "impossible_report"},
        ],
        "reasons": {"impossible_report": 3},
    }
    assert either.counted("dark") == 3


def test_of_many_impossible_reports_all_are_counted_and_a_hundred_named(home: Site) -> None:
    answer = home.post(batch(dark([9] * 150), dark([9] * 150 + [1])))

    assert answer.json is not None
    assert answer.json["accepted"] == 1
    assert answer.json["reasons"] == {"impossible_report": 300}
    assert len(answer.json["refused"]) == 100


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        (0.0, 200),
        (-0.001, 425),
        (7 * DAY - 0.001, 200),
        (7 * DAY + GRACE - 0.001, 200),
        (float(7 * DAY + GRACE), 422),
    ],
)
def test_a_period_is_open_from_its_start_until_its_end_and_grace_half_open(
    home: Site, later: float, expected: int
) -> None:
    home.clock.now = start_of(PERIOD, 7) + later

    answer = home.post(batch())

    assert answer.status_code == expected


WRONG = {
    "unknown_metric": Column(bytes(32), PERIOD, (), 1, b"\1"),
    "wrong_labels": Column(DARK.id, PERIOD, (0,), 1, b"\1"),
    "wrong_width": Column(DARK.id, PERIOD, (), 1, b"\1\1"),
    "period_closed": dark([1], period=PERIOD - 3),
    "period_not_started": dark([1], period=PERIOD + 1),
}


@pytest.mark.parametrize("expected", WRONG)
def test_one_wrong_column_refuses_the_whole_batch_and_is_named(home: Site, expected: str) -> None:
    answer = home.post(batch(dark([1]), WRONG[expected], seconds([5])))

    assert code(answer) == expected
    assert answer.json is not None
    assert answer.json["columns"] == [{"column": 1, "code": expected}]
    assert home.counted("dark") == home.counted("seconds") == 0


@pytest.mark.parametrize("labels", [(), (3,), (0, 0)])
def test_labels_are_the_metrics_own(home: Site, labels: tuple[int, ...]) -> None:
    answer = home.post(batch(Column(SECONDS.id, PERIOD, labels, 1, b"\0\0")))

    assert code(answer) == "wrong_labels"


def test_a_batch_refused_whole_may_come_again_under_its_id(home: Site) -> None:
    early = batch(dark([1], period=PERIOD + 1))
    refused = home.post(early)
    home.clock.now = NOW + 7 * DAY

    answer = home.post(early)

    assert (refused.status_code, answer.status_code) == (425, 200)


def test_the_answer_of_a_batch_without_one_possible_report_is_kept_too(either: Site) -> None:
    sent = batch(dark([9]))

    answers = [either.post(sent).json, either.post(sent).json]

    assert answers[0] == answers[1]
    assert answers[0]["accepted"] == 0  # type: ignore[index]


def test_a_device_and_a_gateway_send_the_same_format(either: Site) -> None:
    big = dark([0, 1] * 50_000)

    answers = [either.post(batch(big)), either.post(batch(dark([1])))]

    assert [answer.json["accepted"] for answer in answers] == [100_000, 1]  # type: ignore[index]


def test_the_largest_number_of_columns_is_taken(either: Site) -> None:
    sent = Batch(fresh_id(), tuple(dark([1]) for _ in range(1024)))

    answer = either.post(sent, form=BINARY)

    assert answer.json["accepted"] == 1024  # type: ignore[index]


def wide(site: Site, columns: Iterable[tuple[int, ...]]) -> Batch:
    """Return a batch of one report a column, about a metric of 8,192 options and 1,024 label values."""
    values = [str(value) for value in range(32)]
    options = [str(option) for option in range(2**13)]
    asked = choice("word", options=options, epsilon="1", labels={"a": values, "b": values}).of("keyboard")
    publish(site.collector.store.manifests, Manifest(app="keyboard", serial=1, metrics=(asked,)))
    site.collector.catalog.get(asked.id)
    return Batch(fresh_id(), tuple(Column(asked.id, PERIOD, labels, 1, b"\1\0") for labels in columns))


def test_columns_of_the_same_metric_period_and_labels_cost_what_one_does(home: Site) -> None:
    sent = wide(home, [(0, 0)] * 1024)
    tracemalloc.start()

    answer = home.post(sent)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.json["accepted"] == 1024  # type: ignore[index]
    assert peak < 8 * 2**20  # apart, they would cost 64 MiB


def test_a_batch_that_adds_to_too_many_sums_is_too_large_before_they_are_made(home: Site) -> None:
    sent = wide(home, product(range(32), range(32)))
    most = Batch(fresh_id(), sent.columns[:128])
    tracemalloc.start()

    refused = home.post(sent)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (refused.status_code, code(refused)) == (413, "too_large")
    assert peak < 8 * 2**20
    assert code(home.post(Batch(fresh_id(), sent.columns[:129]))) == "too_large"
    assert home.post(most).status_code == 200


def test_a_million_impossible_reports_are_counted_and_not_listed(home: Site) -> None:
    sent = batch(dark([1, 9]), dark([9] * (2**20 + 1) + [0]))

    answer = home.post(sent)

    assert answer.json is not None
    assert answer.json["accepted"] == 2
    assert answer.json["reasons"] == {"impossible_report": 2**20 + 2}
    assert [one["column"] for one in answer.json["refused"]] == [0] + [1] * 99


def _padded_inside(data: bytes) -> bytes:
    """Gzip with 300 bytes in the header's extra field."""
    plain = gzip.compress(data, mtime=0)
    extra = b"pd" + (296).to_bytes(2, "little") + bytes(296)
    return plain[:3] + b"\x04" + plain[4:10] + len(extra).to_bytes(2, "little") + extra + plain[10:]
