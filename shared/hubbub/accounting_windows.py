"""This file says what a cap on each window of time promises over a longer span.

"E in a calendar month" lets a device spend E on its last day and E on the day after. A sliding window gives E
in every stretch of its length. Neither bounds a life, so a device also has a cap for life.
"""

from hubbub.errors import DomainError


def calendar_bound(cap: int, *, window: int, span: int, life: int | None = None) -> int:
    """Return the most that is spent in ``span`` days in a row, under a cap on each calendar window.

    cap: for a window of so many days. life: the cap for life, if there is one; all in one unit.

    >>> calendar_bound(8, window=28, span=28), calendar_bound(8, window=28, span=365)
    (16, 112)
    """
    _check(cap, window, span, life)
    return _capped(cap * (-(-(span - 1) // window) + 1), life)


def sliding_bound(cap: int, *, window: int, span: int, life: int | None = None) -> int:
    """Return the most that is spent in ``span`` days in a row, under a cap on every stretch of window days.

    >>> sliding_bound(8, window=28, span=28), sliding_bound(8, window=28, span=365, life=64)
    (8, 64)
    """
    _check(cap, window, span, life)
    return _capped(cap * -(-span // window), life)


def _capped(spent: int, life: int | None) -> int:
    return spent if life is None else min(spent, life)


def _check(cap: int, window: int, span: int, life: int | None) -> None:
    if min(window, span) < 1:
        raise DomainError(f"a window and a span must be at least a day, got {window} and {span}")
    if cap < 0 or (life is not None and life < 0):
        raise DomainError(f"a cap must not be negative, got {cap} and {life}")
