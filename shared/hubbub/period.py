"""This file counts time in periods: integer buckets of 1, 7 or 28 days since Monday, 1970-01-05.

Intervals are half-open: a period contains its start and not its end.
"""

import math

from hubbub.errors import DomainError

DAY = 86_400
EPOCH = 4 * DAY  # 1970-01-05 00:00 UTC, a Monday
LENGTHS = (1, 7, 28)
GRACE = 14 * DAY  # how long after its end a period still takes reports


def parse_length(text: object) -> int:
    """Read "1d", "7d" or "28d" as a number of days.

    Raises DomainError for anything else.

    >>> parse_length("7d")
    7
    """
    lengths = {f"{days}d": days for days in LENGTHS}
    if not isinstance(text, str) or text not in lengths:
        raise DomainError('period must be "1d", "7d" or "28d"')
    return lengths[text]


def period_at(now: float, days: int) -> int:
    """Return the number of the period that contains a Unix time.

    >>> period_at(4 * 86400, 7), period_at(4 * 86400 - 1, 7)
    (0, -1)
    """
    return (math.floor(now) - EPOCH) // (days * DAY)


def start_of(period: int, days: int) -> int:
    """Return the Unix time at which a period starts; it ends where the next one starts."""
    return EPOCH + period * days * DAY


def is_open(period: int, days: int, now: float) -> bool:
    """Tell whether a collector takes reports of this period: from its start until its end + grace."""
    return start_of(period, days) <= now < start_of(period + 1, days) + GRACE
