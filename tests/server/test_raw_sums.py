"""This file proves that metrics with large sums keep their reports alone, and are answered as exactly."""

import json
from pathlib import Path

import numpy as np
import pytest

from hubbub import registry
from hubbub.batch import Column
from hubbub_server.analysis import raw_sums
from hubbub_server.analysis.answers import answer
from hubbub_server.publication import publish
from hubbub_server.receiving import intake
from tests.server.rows import rows
from tests.server.site import PERIOD, Site, batch, code, dark
from tests.server.words import CELLS, FEW, MECHANISM, WORD, WORDS, asked, column, reports


@pytest.fixture
def house(either: Site) -> Site:
    publish(either.collector.store.manifests, WORDS)
    return either


def test_an_answer_from_reports_alone_is_that_of_their_tally(house: Site) -> None:
    first, second = reports(1), reports(2)
    house.post(batch(column(first)))
    house.post(batch(column(second, period=PERIOD - 1), column(first[:7], label=1)))

    (group,) = asked(house)

    tally = MECHANISM.tally(np.concatenate([first, second, first[:7]]))
    expected = answer(WORD, tally, candidates=["linux", "mac", "bsd"], periods=2).document()
    assert group["answer"] == json.loads(json.dumps(expected))
    assert group["answer"]["n"] == 407
    assert 0.3 < group["answer"]["rows"][0]["value"] < 0.7


def test_no_sum_is_written_where_it_would_have_over_65536_numbers(house: Site) -> None:
    few = Column(FEW.id, PERIOD, (), 1, bytes(registry.build(FEW).layout.itemsize))
    house.post(batch(column(reports(1)), few, dark([1])))

    query = "SELECT metric, n, length(sums), unfolded FROM cell"
    joined = "" if isinstance(house.where, Path) else " JOIN tally ON cell = number"
    kept = {metric: rest for metric, *rest in rows(house.where, query + joined)}

    assert kept[WORD.id] == [200, 0, 800]
    assert kept[FEW.id] == [1, 8 * 65_536, 0]
    assert rows(house.where, "SELECT count(*) FROM reports") == [(3,)]
    assert len(kept) == 3


@pytest.mark.parametrize("by", ["", "period", "label"])
def test_a_withdrawal_leaves_the_answers_as_if_the_batch_had_never_come(house: Site, by: str) -> None:
    house.post(batch(column(reports(1)), column(reports(2), label=1)))
    before = asked(house, by=by)
    sent = batch(column(reports(3)), column(reports(4), label=1), column(reports(5), period=PERIOD - 1))
    house.post(sent)
    between = asked(house, by=by)

    house.withdraw(sent.id)

    assert before != between
    assert asked(house, by=by) == before
    assert house.counted("word") == 400


def test_nothing_of_a_withdrawn_batch_stays_in_the_tables(house: Site) -> None:
    sent = batch(column(reports(1)))
    house.post(sent)

    house.withdraw(sent.id)

    assert rows(house.where, "SELECT (SELECT count(*) FROM reports), (SELECT count(*) FROM cell)") == [(0, 0)]
    assert asked(house)[0]["answer"]["n"] == 0
    assert code(house.post(sent)) == "withdrawn"


def test_a_retry_is_counted_once_and_answered_alike(house: Site) -> None:
    sent = batch(column(reports(1)))

    answers = [house.post(sent).data for _ in range(3)]

    assert len(set(answers)) == 1
    assert house.counted("word") == 200


def test_periods_and_labels_are_kept_apart(house: Site) -> None:
    house.post(batch(column(reports(1)), column(reports(2)[:30], label=1)))
    house.post(batch(column(reports(3)[:20]), column(reports(4)[:10], period=PERIOD - 1)))

    by_label, by_period = asked(house, by="label"), asked(house, by="period")
    last = asked(house, **{"from": str(PERIOD)})

    assert [group["answer"]["n"] for group in by_label] == [230, 30]
    assert [group["answer"]["n"] for group in by_period] == [10, 250]
    assert [group["answer"]["n"] for group in last] == [250]


def test_an_impossible_report_is_named_and_not_kept(house: Site) -> None:
    sent = np.append(reports(1)[:3], np.uint32(2**31)).astype("<u4")

    answer = house.post(batch(column(sent)))

    assert answer.json is not None
    assert (answer.json["accepted"], answer.json["reasons"]) == (3, {"impossible_report": 1})
    assert house.counted("word") == 3


def test_reports_are_added_up_a_part_at_a_time(house: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        house.post(batch(column(reports(seed))))
    whole = asked(house)

    monkeypatch.setattr(raw_sums, "_TOGETHER", 1000)

    assert asked(house) == whole
    assert whole[0]["answer"]["n"] == 1000


def test_more_sums_than_memory_holds_are_refused(house: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    house.post(batch(column(reports(1)), column(reports(2), label=1)))
    monkeypatch.setattr(raw_sums, "MOST_AT_ONCE", 2 * CELLS - 1)

    refused = house.estimate("word", by="label", candidate=["linux"])

    assert (refused.status_code, code(refused)) == (400, "bad_query")
    assert "ask for fewer periods" in refused.json["detail"]  # type: ignore[index]


def test_metrics_that_are_not_summed_do_not_count_towards_the_sums_of_a_batch(
    house: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_CELLS", CELLS)
    columns = [
        column(reports(1)[:1], label=label, period=PERIOD - back) for label in (0, 1) for back in (0, 1)
    ]

    answer = house.post(batch(*columns))  # four sums, were they summed

    assert answer.status_code == 200
    assert house.counted("word") == 4


def test_labels_that_do_not_count_are_not_read(house: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    house.post(batch(column(reports(1)), column(reports(2), label=1)))
    monkeypatch.setattr(raw_sums, "MOST_AT_ONCE", 2 * CELLS - 1)  # one sum, not two

    (group,) = asked(house, label="version:other")

    assert group["answer"]["n"] == 200
