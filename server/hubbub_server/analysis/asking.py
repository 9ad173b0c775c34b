"""This file checks what an analyst asks for: how rows are shown, some rows as one, or texts to look for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, cast, get_args, runtime_checkable

from hubbub import consistency
from hubbub.combining import Combined
from hubbub.domains.record import Record
from hubbub.errors import DomainError
from hubbub.estimate import Estimate
from hubbub.intervals import check_level
from hubbub.mechanism import Mechanism
from hubbub.metric import Metric
from hubbub.together import Joinable
from hubbub_server.catalog import Question

View = Literal["raw"] | consistency.View
VIEWS = ("raw", *get_args(consistency.View))
MOST_NAMED = 1_000  # options, facts or candidates
_SHOWN = 12  # rows that an error lists


@runtime_checkable
class _Joint(Protocol):
    """An estimate of facts that were told as one answer."""

    def all_of(self, rows: Sequence[int]) -> Estimate: ...


@dataclass(frozen=True, slots=True)
class Joined:
    """Rows that become one: people who hold any of them, or of whom all are true."""

    title: str
    rows: tuple[int, ...]
    is_all: bool

    def of(self, metric: Metric, estimate: Estimate) -> Estimate:
        """Return the share, the only row.

        Raises DomainError where the mechanism's estimates can't tell it or its error.
        """
        if isinstance(estimate, Combined):
            return estimate.each(partial(self.of, metric))
        if self.is_all:
            if not isinstance(estimate, _Joint):
                raise DomainError(
                    f"mechanism {metric.mechanism} tells facts one by one, not which are true of one person; "
                    "mechanism joint_response does"
                )
            return estimate.all_of(self.rows)
        if not isinstance(estimate, Joinable):
            raise DomainError(f"mechanism {metric.mechanism} can't tell the error of any of some rows")
        return estimate.together(self.rows)


@dataclass(frozen=True, slots=True)
class Asked:
    """How an answer is to be shown, checked.

    top: how many of the largest shares, or of the largest changes. one: rows that become one, the only one.
    candidates: texts to look for, in their canonical form.
    """

    level: float
    view: View
    top: int | None
    one: Joined | None
    candidates: tuple[str, ...]


def ask(
    question: Question,
    *,
    level: float = 0.95,
    view: str = "raw",
    top: int | None = None,
    any_of: Sequence[str] = (),
    all_of: Sequence[str] = (),
    candidates: Sequence[str] = (),
    is_change: bool = False,
) -> Asked:
    """Check what is asked of a metric.

    is_change: whether of what changed, which has no view.

    Raises DomainError for a view, options or candidates that the metric does not have, and for a level
    outside 0.5 to 0.9999.
    """
    metric, mechanism = question.metric, question.mechanism
    check_level(level)
    if view not in VIEWS:
        raise DomainError(f"view must be one of {', '.join(VIEWS)}")
    if is_change and view != "raw":
        raise DomainError("a change has no view but raw: what is left out of a view is not what changed")
    _check_view(metric, mechanism, view)
    asked = texts(metric, candidates)
    if top is not None:
        _check_top(metric, mechanism, top)
    one = joined(metric, any_of, all_of)
    if top and one:
        raise DomainError("ask for top or for rows as one, not for both")
    return Asked(level, cast("View", view), top, one, asked)


def _check_view(metric: Metric, mechanism: Mechanism, view: str) -> None:
    kind = metric.domain.kind
    is_cut = kind == "number" and any(row.unit == "share" for row in mechanism.rows)
    if view != "raw" and not (is_cut if view == "monotone" else kind == "choice"):
        whose = "numbers that are told in buckets" if view == "monotone" else "a choice"
        raise DomainError(f'view {view} is for {whose}, "{metric.name}" is a {kind}; ask for raw')


def _check_top(metric: Metric, mechanism: Mechanism, top: int) -> None:
    if top < 1:
        raise DomainError(f"top must be a whole number from 1, got {top}")
    if not mechanism.rows or any(row.unit != "share" for row in mechanism.rows):
        raise DomainError(f'top is for shares of options, "{metric.name}" is a {metric.domain.kind}')


def texts(metric: Metric, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return candidates in their canonical form.

    Raises DomainError if one can't be an answer or comes twice, and if the answers are no text.
    """
    _check_count("candidates", candidates)
    if candidates and metric.domain.kind != "text":
        raise DomainError(f'candidates are for a text, "{metric.name}" is a {metric.domain.kind}')
    plain = tuple(_held(metric, candidate) for candidate in candidates)
    if len(set(plain)) < len(plain):
        raise DomainError("candidates must be different texts")
    return plain


def _held(metric: Metric, candidate: str) -> str:
    try:
        return str(metric.domain.plain(candidate))
    except DomainError as error:
        raise DomainError(f"no device can hold the candidate {candidate[:64]!r}: {error}") from None


def joined(metric: Metric, any_of: Sequence[str], all_of: Sequence[str]) -> Joined | None:
    """Return the rows that are asked for as one; None if none are.

    any_of: options of a choice or, such as "system = linux", of one attribute of a record. all_of: facts of
    different attributes of a record.

    Raises DomainError for rows that do not go together so.
    """
    if any_of and all_of:
        raise DomainError("ask for any or for all of some rows, not for both")
    _check_count("rows", any_of or all_of)
    if any_of:
        known = _options(metric)
        rows = _positions(metric, any_of, known)
        asked = {known[option] for option in any_of}
        if len(asked) > 1:
            raise DomainError(f"any takes options of one attribute, got {' and '.join(sorted(asked))}")
        if len(any_of) == sum(owner in asked for owner in known.values()):
            raise DomainError("any takes some of the options, not all: everybody holds one of them")
        return Joined(" or ".join(any_of), rows, is_all=False)
    if all_of:
        if not isinstance(metric.domain, Record):
            raise DomainError(f'all is for facts of a record, "{metric.name}" is a {metric.domain.kind}')
        known = _options(metric)
        rows = _positions(metric, all_of, known)
        if len({known[fact] for fact in all_of}) < len(all_of):
            raise DomainError("all takes one option of each attribute: nobody holds two; ask for any of them")
        return Joined(" and ".join(all_of), rows, is_all=True)
    return None


def _options(metric: Metric) -> dict[str, str]:
    """Return the rows that are options, each with what it is an option of."""
    domain = metric.domain
    if isinstance(domain, Record):
        attributes = [(name, each) for name, each in domain.attributes if each.kind != "number"]
        owners = [name for name, each in attributes for _ in each.names]
        if not owners:
            raise DomainError(f'"{metric.name}" has no options, only numbers')
        return dict(zip(domain.categories, owners, strict=True))
    if domain.kind != "choice":
        raise DomainError(f'any is for options of a choice, "{metric.name}" is a {domain.kind}')
    return dict.fromkeys(domain.names, metric.name)


def _positions(metric: Metric, named: Sequence[str], known: Iterable[str]) -> tuple[int, ...]:
    places = {name: place for place, name in enumerate(known)}
    for name in named:
        if name not in places:
            some = list(places)[:_SHOWN]
            more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
            raise DomainError(
                f'"{metric.name}" has no row {name[:64]!r}; name rows like "{some[0]}"; '
                f"rows are {', '.join(some)}{more}"
            )
    if len(set(named)) < len(named):
        raise DomainError("name each row once")
    return tuple(places[name] for name in named)


def _check_count(what: str, named: Sequence[str]) -> None:
    if len(named) > MOST_NAMED:
        raise DomainError(f"name at most {MOST_NAMED:,} {what} at once, got {len(named):,}")
