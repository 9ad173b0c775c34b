"""This file foretells what a device spends: on each source and over all, in 28 days and in its life."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from hubbub import registry
from hubbub.epsilon import MICRO
from hubbub.errors import DomainError
from hubbub.metric import Metric

if TYPE_CHECKING:
    from hubbub.longitudinal import Longitudinal

WINDOW = 28  # days


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a device agrees to spend if its owner never says otherwise, in millionths of epsilon.

    delta: for life, in units of 10**-18.
    """

    report: int = 4 * MICRO
    source_window: int = 8 * MICRO
    window: int = 16 * MICRO
    source_life: int = 64 * MICRO
    life: int = 128 * MICRO
    delta: int = 0
    metrics: int = 32


@dataclass(frozen=True, slots=True)
class Spending:
    """What a device that answers in every period spends, in millionths of epsilon.

    of: a source, or "" for all together. window: in its busiest 28 days. life: until the last metric expires,
    or as much as it may. days: how long until it has spent all it may and falls silent; None: never.
    """

    of: str
    window: int
    life: int
    days: int | None


def forecast(metrics: Sequence[Metric], *, today: date, limits: Limits | None = None) -> tuple[Spending, ...]:
    """Return the spending of each source in order of appearance, and of all together last.

    >>> from hubbub.declaration import boolean
    >>> forecast([boolean("dark", epsilon=1)], today=date(2026, 1, 1))[0]
    Spending(of='dark', window=4000000, life=64000000, days=448)
    """
    limits = limits or Limits()
    sources = dict.fromkeys(metric.source for metric in metrics)
    each = [
        _spending([metric for metric in metrics if metric.source == source], today=today, limits=limits)
        for source in sources
    ]
    return (*each, _together(each, [_once(spending.of, metrics) for spending in each], limits))


def _once(source: str, metrics: Sequence[Metric]) -> int:
    """Return what a source spends with its first answers alone."""
    of_it = (metric for metric in metrics if metric.source == source)
    return sum(reserved(metric) for metric in of_it if metric.once or _remembers(metric))


def _together(each: Sequence[Spending], once: Sequence[int], limits: Limits) -> Spending:
    """Add sources up, each of which stops at its own end, until they or the device's life are used up."""
    window, whole = sum(one.window for one in each), sum(one.life for one in each)
    if whole <= limits.life:
        days = [one.days for one in each if one.days is not None]
        return Spending("", window, whole, max(days) if days and len(days) == len(each) else None)
    rates = [min(one.window - first, limits.source_window) for one, first in zip(each, once, strict=True)]
    lefts = [Fraction(max(one.life - first, 0)) for one, first in zip(each, once, strict=True)]
    left, windows = Fraction(max(limits.life - sum(once), 0)), Fraction(0)
    while left:
        running = [at for at, amount in enumerate(lefts) if amount]
        rate = sum(rates[at] for at in running)
        slowed = min(Fraction(1), Fraction(limits.window, rate))
        step = min(left / (rate * slowed), *(lefts[at] / (rates[at] * slowed) for at in running))
        for at in running:
            lefts[at] -= rates[at] * slowed * step
        left, windows = left - rate * slowed * step, windows + step
    return Spending("", window, limits.life, int(WINDOW * windows))


def _spending(metrics: Sequence[Metric], *, today: date, limits: Limits) -> Spending:
    of, cap = metrics[0].source, limits.source_life
    once = _once(of, metrics)
    running = [
        metric
        for metric in metrics
        if not metric.once and not _remembers(metric) and not _has_expired(metric, today)
    ]
    rate = sum(metric.epsilon.micro * (WINDOW // metric.period) for metric in running)
    ends = [_periods_left(metric, today) for metric in running]
    whole = once + sum(
        metric.epsilon.micro * periods
        for metric, periods in zip(running, ends, strict=True)
        if periods is not None
    )
    if None not in ends and whole <= cap:
        return Spending(of, once + rate, whole, None)
    days = WINDOW * max(cap - once, 0) // min(rate, limits.source_window) if rate else 0
    return Spending(of, once + rate, cap, days)


def _remembers(metric: Metric) -> bool:
    return metric.is_resolved and registry.entry(metric.mechanism).remembers


def reserved(metric: Metric) -> int:
    """Return what a device charges for the first answer: with a permanent one all that it may ever cost.

    >>> from hubbub.declaration import boolean
    >>> reserved(boolean("dark", epsilon=1, mechanism="l_grr", parameters={"first": "0.5"}, changes=9))
    2000000
    """
    if not _remembers(metric):
        return metric.epsilon.micro
    try:
        return cast("Longitudinal", registry.build(metric)).reservation(metric.changes)
    except DomainError:  # no device answers it
        return (metric.changes + 1) * metric.epsilon.micro


def _has_expired(metric: Metric, today: date) -> bool:
    return metric.expires is not None and metric.expires <= today


def _periods_left(metric: Metric, today: date) -> int | None:
    """Count the periods until a metric expires, the last one in full; None if it never does."""
    return None if metric.expires is None else -(-(metric.expires - today).days // metric.period)
