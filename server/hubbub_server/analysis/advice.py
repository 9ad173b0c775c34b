"""This file says in words what an answer is worth, and how many more reports it would take."""

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from hubbub import registry
from hubbub.intervals import normal_quantile
from hubbub.mechanism import Mechanism
from hubbub.metric import Metric
from hubbub.planning import scale
from hubbub.spending import Limits

if TYPE_CHECKING:
    from hubbub_server.analysis.rows import Row

PRECISION = 0.05  # the half-width of an interval to plan for, as a share or as a part of the range

_SAME_PEOPLE = (
    "a device may have sent a report in each period; intervals about the population take them for different "
    "people and are then too narrow"
)
_NAMED = 3  # rows of which the same is said
_HUNDRED = 100  # reports, of which one is 1 %


def advise(
    metric: Metric, mechanism: Mechanism, n: int, *, level: float, periods: int, whose: str = ""
) -> Iterator[str]:
    """Say what to keep in mind about an answer from n reports of so many periods.

    whose: what intervals are planned for, where that is not each row, such as " of one option".
    """
    needed = required_reports(metric, mechanism, level=level)
    goal = _goal(metric, mechanism, level, whose)
    if not n:
        yield f"no reports, so nothing is known; about {needed:,} give {goal}"
    elif n < needed:
        yield f"few reports: about {_two_digits(needed - n):,} more give {goal}"
    yield from _cautions(metric, mechanism, level)
    if periods > 1 and registry.entry(metric.mechanism).remembers:
        yield "errors are those of the same people in each period; those of different ones are smaller"
    elif periods > 1 and not metric.once:
        yield _SAME_PEOPLE


def advise_change(
    metric: Metric,
    mechanism: Mechanism,
    later: int,
    earlier: int,
    *,
    level: float,
    periods: int,
    whose: str = "",
) -> Iterator[str]:
    """Say what to keep in mind about a change from so many reports to so many.

    periods: of how many the reports of a side are, of the side with more.
    """
    needed = required_reports(metric, mechanism, level=level, sides=2)
    goal = _goal(metric, mechanism, level, whose)
    if not (later and earlier):
        side = "now" if earlier else "of then" if later else "of either side"
        yield f"no reports {side}, so no change is known; about {needed:,} on each side give {goal}"
    elif min(later, earlier) < needed:
        yield f"few reports: {needed:,} on each side would give {goal}"
    yield from _cautions(metric, mechanism, level)
    remembers = registry.entry(metric.mechanism).remembers
    if remembers:
        yield "errors are those of memos that were all drawn anew; where they were kept, errors are smaller"
    if periods > 1 and not (remembers or metric.once):
        yield _SAME_PEOPLE
    elif not metric.once:
        yield "errors about the population hold even if the same people answered both times"


def _goal(metric: Metric, mechanism: Mechanism, level: float, whose: str) -> str:
    whose = whose or _planned(metric, mechanism)
    return f"intervals about the population{whose} of at most {_precision(metric)} at level {level:g}"


def _cautions(metric: Metric, mechanism: Mechanism, level: float) -> Iterator[str]:
    if not mechanism.exact:
        yield f"mechanism {metric.mechanism} is not exact: its epsilon holds for real numbers, not for floats"
    if not mechanism.unbiased:
        yield f"mechanism {metric.mechanism} gives values of which not all are unbiased"
    if metric.epsilon.micro > Limits().report:
        yield f"epsilon {metric.epsilon} is above 4: one report all but tells its value"
    if level < 0.9:
        yield f"at level {level:g} about one interval in {1 / (1 - level):.0f} misses the truth"


def remarks(metric: Metric, rows: "Sequence[Row]", asked: Collection[str]) -> Iterator[str]:
    """Say of which rows nothing is known, and which texts may have been found by chance.

    asked: texts that were looked for; others were found.
    """
    unknown = [row.name for row in rows if row.value is None]
    if unknown:
        yield f"unknown, since too few have it or told of it: {_first(unknown)}"
    low = [row.name for row in rows if row.name not in asked and not _is_above_noise(row)]
    if low and metric.domain.kind == "text":
        yield f"found, but not above noise, so maybe nobody's: {_first(low)}"


def exposure(metric: Metric, rows: "Sequence[Row]", n: int) -> Iterator[str]:
    """Say how far some of n reports may have moved what is shown, if they are fake, whatever they say."""
    if n >= _HUNDRED:
        fakes, some = n / _HUNDRED, f"if 1 % of these {n:,} reports are fake"
    else:
        fakes, some = 1, "if one of these reports is fake"
    moved = [(row, fakes * row.per_fake) for row in rows if row.per_fake is not None]
    shares = [far for row, far in moved if row.unit == "share"]
    means = [(row, far) for row, far in moved if row.unit == "number" and not row.name.endswith("sum")]
    if shares:
        yield f"{some}, a share may be off by up to {100 * max(shares):.1f} percentage points"
    if means:
        row, far = max(means, key=lambda each: each[1])
        which = "a mean" if metric.domain.kind == "vector" else f"the {row.name}"
        yield f"{some}, {which} may be off by up to {far:.3g}"
    if rows and not moved:
        yield "how far fake reports move these values is not known"


def _is_above_noise(row: "Row") -> bool:
    interval = row.respondents.interval
    return interval is not None and interval[0] > 0


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def required_reports(metric: Metric, mechanism: Mechanism, *, level: float, sides: int = 1) -> int:
    """Return about how many reports it takes for intervals about the population of PRECISION at most.

    Planned for a share of one half, or for numbers that lie at the ends of their range, half at each. sides:
    two for a change, of which each takes so many; the luck of who was asked adds up then.
    """
    width = scale(metric.domain)
    variance = sides * mechanism.stderr(1, frequency=0.5) ** 2 + (sides * width / 2) ** 2
    return _two_digits(normal_quantile(level) ** 2 * variance / (PRECISION * width) ** 2)


def _planned(metric: Metric, mechanism: Mechanism) -> str:
    """Say which rows are planned for, where not all are alike."""
    kind = metric.domain.kind
    if kind == "number" and any(row.unit == "share" for row in mechanism.rows):
        return " of the mean"
    return {"key_value": " of a share, not of a mean,", "vector": " of a coordinate"}.get(kind, "")


def _precision(metric: Metric) -> str:
    if metric.domain.kind in ("number", "vector"):
        return f"+-{PRECISION * scale(metric.domain):g} ({100 * PRECISION:g} % of the range)"
    return f"+-{100 * PRECISION:g} percentage points"


def _two_digits(number: float) -> int:
    """Round up to two digits: no plan is better than that."""
    unit = int(10 ** max(math.floor(math.log10(max(number, 1))) - 1, 0))
    return math.ceil(number / unit) * unit
