"""This file looks for fake reports: it tests the laws that honest ones obey, whatever the true values are.

A finding is a broken law. Honest reports break any of those of a metric and a period with a chance of one in
10**9 at most: half of it is for laws of sums, which every estimate tests, half for those of reports. Nothing
is removed from an estimate because of a finding, since nobody can tell which of the reports are fake.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hubbub.errors import DomainError
from hubbub.laws import Breach, Inspectable, Lawful, breaches, laws_of_reports, laws_of_sums
from hubbub.mechanism import Reports
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub_server.analysis.raw_sums import sums
from hubbub_server.analysis.spans import day, span
from hubbub_server.analysis.versions import left_out
from hubbub_server.catalog import Catalog, Question
from hubbub_server.store.protocol import Batches

ALARM = 1e-9  # the chance of a finding among honest reports of a metric and a period
_HALVES = 2  # of that chance: for laws of sums, and for those of reports
MOST = 50_000  # reports of a period that are looked at one by one
_SMALLEST = -690.0  # the log of a chance that is told


@dataclass(frozen=True, slots=True)
class Finding:
    """A law that reports break.

    p_value: at most how likely honest reports are to break any law so badly, of sums or of reports.
    """

    law: str
    statistic: str
    p_value: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found about the reports of a period.

    n: how many there are. inspected: how many of them were looked at one by one. tested: whether any law is
    known, of sums or of reports.
    """

    period: int
    start: str
    n: int
    inspected: int
    is_tested: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What was found about the reports of a metric, period by period.

    alarm: the chance of any finding among honest reports of one period. advice: sentences for people.
    """

    metric: str
    id: str
    mechanism: str
    alarm: float
    periods: tuple[Inspection, ...]
    advice: tuple[str, ...] = ()


def suspicion(
    batches: Batches,
    catalog: Catalog,
    *,
    metric: str,
    first: str = "",
    last: str = "",
    longest: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> Suspicion:
    """Test the reports of each period of a metric.

    metric: id, name or app/name. first, last: a period's number or a date; periods that start between.
    longest: how many seconds all periods but the last may take.

    Raises RefusedError for an unknown metric, DomainError for a period that is none, and for periods that
    are too many for the time.
    """
    question = catalog.find(metric)
    found, began, inspections = question.metric, clock(), list[Inspection]()
    kept = batches.tallies(found.id, span(first, last, found))
    periods = sorted({period for period, *_ in kept})
    for period in periods:
        if clock() - began > longest:
            raise DomainError(
                f"{len(inspections):,} of {len(periods):,} periods took {longest:g} seconds already; "
                "ask for fewer periods"
            )
        inspections.append(_inspect(batches, question, period))
    advice = left_out(batches, catalog, [question])
    return Suspicion(found.name, found.id.hex(), found.mechanism, ALARM, tuple(inspections), advice)


def suspicions(question: Question, tally: Tally) -> list[Finding]:
    """Return the laws of sums that a tally breaks; it takes no longer where the reports are more."""
    broken = breaches(laws_of_sums(question.mechanism, tally), ALARM / _HALVES)
    return [_finding(question.metric, breach) for breach in broken]


def _inspect(batches: Batches, question: Question, period: int) -> Inspection:
    mechanism, tally, cells = question.mechanism, Tally.zero(question.cells), 0
    for *_, part in sums(batches, question, range(period, period + 1)):
        tally, cells = tally + part, cells + 1
    findings, reports = suspicions(question, tally), np.zeros(0, dtype=mechanism.layout)
    if isinstance(mechanism, Inspectable):
        reports = _sampled(batches, question, period, each=max(1, MOST // max(1, cells)))
        broken = breaches(laws_of_reports(mechanism, reports), ALARM / _HALVES)
        findings += (_finding(question.metric, breach) for breach in broken)
    is_tested = isinstance(mechanism, Lawful | Inspectable)
    start = day(period, question.metric)
    return Inspection(period, start, tally.n, len(reports), is_tested, tuple(findings))


def _sampled(batches: Batches, question: Question, period: int, *, each: int) -> Reports:
    """Return reports of a period, at most so many of each combination of labels, which come shuffled."""
    layout, most = question.mechanism.layout, each * question.mechanism.layout.itemsize
    left: dict[bytes, int] = {}
    taken = []
    rows = batches.reports(question.metric.id, range(period, period + 1), most=most)
    for _, labels, reports in rows:
        room = left.get(labels, most)
        taken.append(reports[:room])
        left[labels] = max(0, room - len(reports))
    return np.frombuffer(b"".join(taken), dtype=layout)


def _finding(metric: Metric, breach: Breach) -> Finding:
    law, place = breach.law, breach.place
    statistic = law.what.format(*_named(metric, breach))
    is_few = law.few[place] < law.many[place]
    end, which = (law.least[place], "least") if is_few else (law.most[place], "most")
    chance = _HALVES * math.exp(max(breach.chance, _SMALLEST))
    sentence = (
        f"{statistic}: {law.seen[place]:,.0f}; of honest ones it would be about {end:,.0f} at {which}, "
        f"whatever people hold, and their chance to look so odd is about {chance:.0e} at most: "
        "some are fake, or drawn wrongly"
    )
    return Finding(law.what.replace("{}", "..."), statistic, chance, sentence)


def _named(metric: Metric, breach: Breach) -> Iterator[str]:
    """Yield the names of a statistic, those of rows as the metric calls them."""
    for name in breach.names:
        title = metric.domain.title(name) if breach.law.are_rows else name
        hidden = metric.domain.names[int(name)] if title is None and name.isdecimal() else name
        yield title or hidden  # such as "no", whose share an answer leaves out
