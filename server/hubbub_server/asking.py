"""This file finds what an analyst asks for beyond all rows: some options as one, or texts to look for."""

from collections.abc import Sequence
from typing import Protocol, cast

from hubbub.domains import Record
from hubbub.errors import DomainError
from hubbub.estimate import Estimate
from hubbub.mechanism import Mechanism
from hubbub.metric import Metric
from hubbub.tally import Tally
from hubbub.together import Joinable, Together


class _Searchable(Protocol):
    """A mechanism for text, which can't list what there is."""

    def estimate(self, tally: Tally, *, candidates: Sequence[str]) -> Estimate: ...


def estimated(metric: Metric, mechanism: Mechanism, tally: Tally, candidates: Sequence[str]) -> Estimate:
    """Turn a tally into an estimate, of these candidates if the answers are text."""
    if metric.domain.kind == "text":
        return cast("_Searchable", mechanism).estimate(tally, candidates=candidates)
    return mechanism.estimate(tally)


def texts(metric: Metric, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return candidates in their canonical form.

    Raises DomainError if one can't be an answer or comes twice, and if the answers are no text.
    """
    if candidates and metric.domain.kind != "text":
        raise DomainError(f'candidates are for a text, "{metric.name}" is a {metric.domain.kind}')
    plain = tuple(metric.domain.plain(candidate) for candidate in candidates)
    if len(set(plain)) < len(plain):
        raise DomainError("candidates must be different texts")
    return plain


def positions(metric: Metric, options: Sequence[str]) -> list[int]:
    """Return which rows options are; those of a record are such as "dark = yes".

    Raises DomainError if they are none, and unless a person holds just one option, or one of each attribute.
    """
    domain = metric.domain
    if domain.kind != "choice" and not isinstance(domain, Record):
        raise DomainError(
            f'together is for options that exclude each other, "{metric.name}" is a {domain.kind}'
        )
    known = domain.categories if isinstance(domain, Record) else domain.names
    for option in options:
        if option not in known:
            raise DomainError(f'"{metric.name}" has no option {option[:64]!r}')
    if len(set(options)) < len(options) or len(options) == len(known):
        raise DomainError("together takes different options, and not all of them")
    return [known.index(option) for option in options]


def joined(metric: Metric, estimate: Estimate, rows: Sequence[int]) -> Together:
    """Estimate the share of all who hold any of some options.

    Raises DomainError where the mechanism's estimates can't tell the error of that.
    """
    if not isinstance(estimate, Joinable):
        raise DomainError(f"mechanism {metric.mechanism} has no estimate of options together; add them up")
    return estimate.together(rows)
