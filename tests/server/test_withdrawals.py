"""This file proves that a withdrawn batch is subtracted, and stays withdrawn."""

import pytest

from hubbub.period import DAY, GRACE, start_of
from tests.server.rows import rows
from tests.server.site import PERIOD, Site, batch, code, dark, fresh_id, seconds


@pytest.fixture
def home(either: Site) -> Site:
    """Each database in turn."""
    return either


def test_a_withdrawal_leaves_the_estimates_as_if_the_batch_had_never_come(home: Site) -> None:
    home.post(batch(dark([1, 0]), seconds([40], label=1)))
    before, sent = home.estimates(), batch(dark([1, 1, 9]), seconds([-3, 700]), seconds([5], label=1))
    home.post(sent)

    answer = home.withdraw(sent.id)

    assert answer.json == {"withdrawn": True}
    assert home.estimates() == before


def test_a_period_of_which_everything_was_withdrawn_is_as_if_nothing_had_come(home: Site) -> None:
    def told() -> list[object]:
        suspicion = home.client.get("/v1/suspicion?metric=seconds", headers=home.bearer("analyst"))
        return [home.estimate("seconds", by=by).json for by in ("", "period", "label")] + [suspicion.json]

    home.post(batch(seconds([40])))
    before, sent = told(), batch(seconds([5], period=PERIOD - 1), seconds([6], label=2))
    home.post(sent)

    home.withdraw(sent.id)

    assert told() == before


def test_a_withdrawn_batch_stays_withdrawn_when_its_retry_arrives_late(home: Site) -> None:
    sent = batch()
    home.post(sent)
    home.withdraw(sent.id)

    retry = home.post(sent)

    assert (retry.status_code, code(retry)) == (410, "withdrawn")
    assert home.counted("dark") == 0


def test_a_batch_withdrawn_before_it_came_is_never_counted(home: Site) -> None:
    sent = batch()
    home.withdraw(sent.id)

    late = home.post(sent)

    assert (late.status_code, code(late)) == (410, "withdrawn")
    assert home.counted("dark") == 0


def test_a_withdrawal_may_be_repeated(home: Site) -> None:
    sent = batch()
    home.post(sent)

    answers = [home.withdraw(sent.id).data for _ in range(3)]

    assert len(set(answers)) == 1
    assert home.counted("dark") == 0


def test_nothing_of_a_withdrawn_batch_stays_in_the_tables(home: Site) -> None:
    sent = batch(dark([1] * 1000))
    home.post(sent)

    home.withdraw(sent.id)

    assert rows(home.where, "SELECT (SELECT count(*) FROM reports), (SELECT count(*) FROM cell)") == [(0, 0)]


def test_a_batch_whose_raw_reports_are_gone_cannot_be_withdrawn(home: Site) -> None:
    sent = batch()
    home.post(sent)
    rows(home.where, "DELETE FROM reports")

    answers = [home.withdraw(sent.id), home.withdraw(sent.id)]

    assert [(answer.status_code, code(answer)) for answer in answers] == [(410, "already_folded")] * 2
    assert home.counted("dark") == 3


@pytest.mark.parametrize("known", [True, False])
def test_a_tombstone_lives_as_long_as_its_batch_could_be_taken(home: Site, known: bool) -> None:
    sent = batch()
    arrived = [home.post(sent)] if known else []
    home.withdraw(sent.id)
    home.clock.now = start_of(PERIOD + 1, 7) + GRACE - 1.0
    home.collector.store.upkeep.forget(int(home.clock.now // DAY))

    retry = home.post(sent)

    assert len(arrived) == known
    assert code(retry) == "withdrawn"


def test_a_tombstone_of_an_unknown_batch_tells_no_day_of_its_arrival(home: Site) -> None:
    start = start_of(PERIOD // 4, 28)
    for day in range(28):
        home.clock.now = start + day * DAY
        home.withdraw(fresh_id())

    assert len(rows(home.where, "SELECT DISTINCT forget_after FROM batch")) == 1
