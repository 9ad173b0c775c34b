"""This file writes Unix times for people, also those that no calendar has: a file may say anything."""

from datetime import UTC, datetime

EARLIEST, LATEST = -62_135_596_800, 253_402_300_799  # from the year 1 to the year 9999


def moment(at: int) -> str:
    """Return the second of a Unix time in UTC, or the number if no calendar has it.

    >>> moment(1_767_571_200), moment(2**62)
    ('2026-01-05T00:00:00+00:00', '4611686018427387904')
    """
    return datetime.fromtimestamp(at, tz=UTC).isoformat() if EARLIEST <= at <= LATEST else str(at)


def day(at: int) -> str:
    """Return the day of a Unix time in UTC, or the number if no calendar has it.

    >>> day(1_767_571_200)
    '2026-01-05'
    """
    return moment(at).partition("T")[0]


def minute(at: int) -> str:
    """Return the minute of a Unix time in UTC, or the number if no calendar has it.

    >>> minute(1_767_571_200)
    '2026-01-05 00:00'
    """
    date, _, time = moment(at).partition("T")
    return f"{date} {time[:5]}".rstrip()
