"""This file asks the store: it fetches the tallies of a metric, groups them, and has each group answered."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, cast, get_args

from hubbub import registry
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub.period import DAY, EPOCH, start_of
from hubbub.tally import Tally
from hubbub_server.analysis.answers import Answer, answer
from hubbub_server.analysis.asking import VIEWS, View
from hubbub_server.analysis.raw_sums import MOST_AT_ONCE, sums
from hubbub_server.catalog import Catalog, Question
from hubbub_server.store.protocol import Batches

By = Literal["", "period", "label"]
MOST_ROWS = 2**17  # of all groups together, which are 35 MB of JSON
LONGEST = 20.0  # seconds that all groups but the last may take
_MOST_PERIODS = 2**31

_Key = tuple[int | None, bytes | None]  # period and labels; None unless they tell groups apart
_Sum = tuple[frozenset[int], list[Tally]]  # of which periods, and what: each of them, or all in one


@dataclass(frozen=True, slots=True)
class Group:
    """An answer and what it is about: a period, a combination of labels, or everything asked for.

    period: None unless grouped by period. labels: None unless grouped by label.
    """

    answer: Answer
    period: int | None = None
    start: str | None = None
    labels: dict[str, str] | None = None

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry."""
        about = {"period": self.period, "start": self.start, "labels": self.labels}
        return {key: value for key, value in about.items() if value is not None} | {
            "answer": self.answer.document()
        }


def estimate(
    batches: Batches,
    catalog: Catalog,
    *,
    metric: str,
    first: str = "",
    last: str = "",
    by: str = "",
    view: str = "raw",
    top: int | None = None,
    any_of: Sequence[str] = (),
    all_of: Sequence[str] = (),
    candidates: Sequence[str] = (),
    level: float = 0.95,
    clock: Callable[[], float] = time.monotonic,
) -> list[Group]:
    """Answer a metric, as one group or by period or label.

    metric: id, name or app/name. first, last: a period's number or a date; periods that start between. top:
    how many of the largest shares; None: all rows. any_of, all_of: rows that become one, the only one.
    candidates: texts to look for. clock: seconds, from whenever.

    Raises RefusedError for an unknown metric, DomainError for anything else that is wrong, and for groups
    that are too many for memory or time.
    """
    if by not in get_args(By):
        raise DomainError("by must be period or label")
    if view not in VIEWS:
        raise DomainError(f"view must be one of {', '.join(VIEWS)}")
    question = catalog.find(metric)
    found = question.metric
    periods = range(_bound(first, found, 0), _bound(last, found, _MOST_PERIODS))
    groups = _grouped(batches, question, periods, by)
    if len(groups) > 1:
        rows = 1 if any_of or all_of else len(question.mechanism.rows) + len(candidates)
        _check_rows(len(groups), min(rows, top or rows))
    return [
        Group(
            answer(
                found,
                sum(parts[1:], start=parts[0]),
                level=level,
                view=cast("View", view),
                top=top,
                any_of=any_of,
                all_of=all_of,
                candidates=candidates,
                periods=max(1, len(numbers)),
                parts=parts,
            ),
            period,
            _date(period, found) if period is not None else None,
            _names(labels, found) if labels is not None else None,
        )
        for (period, labels), (numbers, parts) in _in_time(groups, clock)
    ]


def _grouped(batches: Batches, question: Question, periods: range, by: str) -> Sequence[tuple[_Key, _Sum]]:
    """Add up the tallies of each group, in order; those of periods only where these are independent.

    Raises DomainError if they are more than memory should hold.
    """
    is_apart = registry.entry(question.metric.mechanism).remembers
    groups: dict[_Key, dict[int, Tally]] = {}
    seen: dict[_Key, set[int]] = {}
    held = 0
    for period, labels, tally in sums(batches, question, periods):
        key = (period if by == "period" else None, labels if by == "label" else None)
        parts, at = groups.setdefault(key, {}), period if is_apart else 0
        seen.setdefault(key, set()).add(period)
        held += at not in parts
        parts[at] = parts[at] + tally if at in parts else tally
        if held * question.cells > MOST_AT_ONCE:
            raise DomainError(
                f"the sums of {held:,} groups or more are too large together; "
                "ask for fewer periods, or for fewer groups"
            )
    if not groups and not by:
        groups[None, None], seen[None, None] = {0: Tally.zero(0)}, set()
    found = [(key, (frozenset(seen[key]), list(parts.values()))) for key, parts in groups.items()]
    return sorted(found, key=lambda item: (item[0][0] or 0, item[0][1] or b""))


def _check_rows(groups: int, each: int) -> None:
    if groups * each > MOST_ROWS:
        raise DomainError(
            f"{groups:,} groups of {each:,} rows are over {MOST_ROWS:,} rows together; "
            "ask for the largest by top, for fewer periods, or for fewer groups"
        )


def _in_time(groups: Sequence[tuple[_Key, _Sum]], clock: Callable[[], float]) -> Iterator[tuple[_Key, _Sum]]:
    began = clock()
    for number, group in enumerate(groups):
        if clock() - began > LONGEST:
            raise DomainError(
                f"{number:,} of {len(groups):,} groups took {LONGEST:g} seconds already; "
                "ask for fewer periods, or for fewer groups"
            )
        yield group


def _bound(text: str, metric: Metric, default: int) -> int:
    if not text:
        return default
    if re.fullmatch(r"[0-9]{1,10}", text):
        return min(int(text), _MOST_PERIODS)
    try:
        start = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise DomainError("from and to must be a period's number or a date like 2027-06-01") from None
    return max(0, -int(-(start - EPOCH) // (metric.period * DAY)))


def _date(period: int, metric: Metric) -> str:
    return datetime.fromtimestamp(start_of(period, metric.period), UTC).date().isoformat()


def _names(labels: bytes, metric: Metric) -> dict[str, str]:
    return {label.name: label.values[position] for label, position in zip(metric.labels, labels, strict=True)}
