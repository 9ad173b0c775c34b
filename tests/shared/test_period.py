"""This file proves that periods are half-open buckets without gaps, and when they take reports."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.errors import DomainError
from hubbub.period import DAY, EPOCH, GRACE, LENGTHS, is_open, parse_length, period_at, start_of

lengths = some.sampled_from(LENGTHS)
times = some.floats(min_value=-1e10, max_value=1e11, allow_nan=False)


@given(times, lengths)
def test_every_moment_belongs_to_one_period(now: float, days: int) -> None:
    period = period_at(now, days)

    assert start_of(period, days) <= now < start_of(period + 1, days)


@given(some.integers(-(10**4), 10**6), lengths)
def test_a_period_contains_its_start_and_not_its_end(period: int, days: int) -> None:
    start, end = start_of(period, days), start_of(period + 1, days)

    assert end - start == days * DAY
    assert [period_at(moment, days) for moment in (start, end - 1, end, start - 1)] == [
        *(period, period, period + 1, period - 1)
    ]


def test_periods_are_counted_from_a_monday() -> None:
    assert datetime.fromtimestamp(EPOCH, UTC).isoformat() == "1970-01-05T00:00:00+00:00"
    assert datetime.fromtimestamp(start_of(2974, 7), UTC).strftime("%A %Y-%m-%d") == "Monday 2027-01-04"
    assert [period_at(start_of(2974, 7), days) for days in LENGTHS] == [20818, 2974, 743]


@given(some.integers(0, 10**5), lengths)
def test_a_period_is_open_from_its_start_to_its_end_and_grace_half_open(period: int, days: int) -> None:
    start, close = start_of(period, days), start_of(period + 1, days) + GRACE

    moments = (start - 0.001, start, close - 0.001, close)

    assert [is_open(period, days, moment) for moment in moments] == [False, True, True, False]


@pytest.mark.parametrize(("text", "days"), [("1d", 1), ("7d", 7), ("28d", 28)])
def test_a_length_is_read(text: str, days: int) -> None:
    assert parse_length(text) == days


@pytest.mark.parametrize("text", ["", "1", "7", "2d", "7D", " 7d", "7d ", "30d", 7, None, 7.0, ["7d"], {}])
def test_another_length_is_refused(text: object) -> None:
    with pytest.raises(DomainError, match='"1d", "7d" or "28d"'):
        parse_length(text)
