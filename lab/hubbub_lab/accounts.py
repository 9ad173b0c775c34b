"""This file adds up what a metric's reports of a year tell about one person, in several currencies.

The ledger's sum is what holds without conditions; the others hold but for a probability of ``DELTA``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hubbub import registry
from hubbub.accounting import composed_epsilon
from hubbub.accounting_renyi import renyi_epsilon, zcdp, zcdp_epsilon
from hubbub.accounting_shuffle import shuffled_epsilon
from hubbub.epsilon import MICRO, decimal_text
from hubbub.longitudinal import Longitudinal
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.metric import Metric
from hubbub.spending import Limits
from hubbub.table import table

DELTA = 1e-6
YEAR = 364  # days: 52 weeks

_MORE = "(sum)"  # marks a figure that says less than the sum


@dataclass(frozen=True, slots=True)
class Account:
    """What the reports of a year tell together; None where a currency does not apply.

    reports: how many there are. basic: the sum that the ledger charges. optimal: the least there is. renyi,
    zcdp: by these accountants. shuffled: one report, among so many others that somebody shuffles. delta: the
    probability that even the sum fails.
    """

    metric: str
    reports: int
    basic: float
    optimal: float | None = None
    renyi: float | None = None
    zcdp: float | None = None
    shuffled: float | None = None
    delta: float = 0.0

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry."""
        return asdict(self)


def account(metric: Metric, *, shuffle: int | None = None) -> Account:
    """Account for a metric whose mechanism is named.

    shuffle: how many people's reports somebody shuffles who forgets who sent what; None if nobody does.

    >>> from hubbub.declaration import boolean
    >>> found = account(boolean("dark", epsilon="0.1", period="1d"))
    >>> found.reports, round(found.basic, 9), round(found.optimal, 2)
    (364, 36.4, 10.31)
    """
    mechanism, epsilon = registry.build(metric), float(metric.epsilon.exact)
    among = shuffle and shuffled_epsilon(epsilon, shuffle, DELTA, k=_categories(mechanism))
    reports = 1 if metric.once else YEAR // metric.period
    if isinstance(mechanism, Longitudinal):  # whose reports of a year are about few permanent answers
        return Account(metric.name, reports, mechanism.reservation(metric.changes) / 1e6)
    basic = float(reports * metric.epsilon.exact)
    if metric.delta.atto:  # what follows is for reports that never fail their epsilon
        return Account(metric.name, reports, basic, delta=float(reports * metric.delta.exact))
    return Account(
        metric.name,
        reports,
        basic,
        composed_epsilon(epsilon, reports, DELTA),
        renyi_epsilon(epsilon, reports, DELTA),
        zcdp_epsilon(reports * zcdp(epsilon), DELTA),
        among,
    )


def account_lines(accounts: Sequence[Account], *, shuffle: int | None = None) -> str:
    """Return a table of epsilons; those beside the ledger's hold but for a probability of DELTA.

    A figure above the ledger's sum is no use, since the sum holds always.
    """
    heads = ["metric", "reports a year", "ledger", "optimal", "Renyi", "zCDP"]
    heads += [f"1 of {shuffle:,} shuffled"] if shuffle else []
    rows = [[each.metric, f"{each.reports:,}", *_figures(each, shuffle)] for each in accounts]
    who = "What the reports of a person who always answers tell"
    intro = f"{who}; all but the ledger's sum fail with probability {DELTA:g}:\n"
    most = decimal_text(Limits().source_life)
    over = [each.metric for each in accounts if each.basic > Limits().source_life / MICRO]
    notes = []
    if over:
        notes.append(f"\ndevices give {most} a source in their life by default, then none: {', '.join(over)}")
    if any(figure.endswith(_MORE) for row in rows for figure in row):
        notes.append(f"\n{_MORE}: more than the ledger's sum, which holds anyway")
    failing = (
        f"\n{each.metric}: its sum fails too, with probability {each.delta:.2g}"
        for each in accounts
        if each.delta
    )
    return intro + table(heads, rows) + "".join([*notes, *failing])


def _categories(mechanism: Mechanism) -> int | None:
    """Return k for randomized response, for which there is a better bound."""
    return mechanism.k if isinstance(mechanism, RandomizedResponse) else None


def _figures(each: Account, shuffle: int | None) -> Iterator[str]:
    for epsilon in (each.basic, each.optimal, each.renyi, each.zcdp, *([each.shuffled] if shuffle else [])):
        if epsilon is None:
            yield "-"
        else:
            yield f"{epsilon:.4g}" + f" {_MORE}" * (epsilon > each.basic * (1 + 1e-9))
