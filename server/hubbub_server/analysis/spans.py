"""This file reads spans of time as analysts write them: periods by number or by date, half-open."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.period import DAY, EPOCH, period_at, start_of

BEFORE = "before"  # the period before each
EVER = range(2**31)
_NUMBER = re.compile(r"[0-9]{1,10}")


def span(first: str, last: str, metric: Metric) -> range:
    """Return the periods that start between two ends, each a period's number, a date, or "" for no end.

    Raises DomainError.
    """
    found = range(_bound(first, metric, EVER.start), _bound(last, metric, EVER.stop))
    if first and last and found.start > found.stop:
        raise DomainError("a span ends after it begins; swap the two")
    return found


def earlier_span(text: str, metric: Metric) -> range:
    """Return a period by its number or by a date in it, or those that start in a span FROM/TO.

    Raises DomainError.
    """
    first, slash, last = text.partition("/")
    if slash and first and last:
        return span(first, last, metric)
    if slash:
        raise DomainError("a span to compare with has two ends, like 2027-05-03/2027-05-31")
    if _NUMBER.fullmatch(text):
        return range(int(text), int(text) + 1)
    period = max(0, period_at(_time(text), metric.period))
    return range(period, period + 1)


def day(period: int, metric: Metric) -> str:
    """Return the day on which a period starts, "" for none that a calendar has."""
    try:
        return datetime.fromtimestamp(start_of(period, metric.period), UTC).date().isoformat()
    except (OverflowError, ValueError):
        return ""


def check_lengths(metrics: Sequence[Metric], *texts: str) -> None:
    """Raise DomainError if versions whose periods differ in length are asked for by number, or by period."""
    if len({metric.period for metric in metrics}) > 1 and any(
        text in ("period", BEFORE) or re.fullmatch("[0-9]+(/.*)?|.*/[0-9]+", text) for text in texts
    ):
        raise DomainError(
            "these versions have periods of different lengths; name dates, and group by label only"
        )


def _bound(text: str, metric: Metric, default: int) -> int:
    if not text:
        return default
    if _NUMBER.fullmatch(text):
        return min(int(text), EVER.stop)
    return max(0, -int(-(_time(text) - EPOCH) // (metric.period * DAY)))


def _time(text: str) -> float:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise DomainError("periods are told by their number or by a date like 2027-06-01") from None
