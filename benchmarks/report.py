"""This file turns what was measured into lines for people and a document for later."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.goals import Contest, Goal
from benchmarks.pairs import Pairs


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a goal: a contest and its pairs, or the reason why there are none.

    has_failed: whether that reason is a fault, and not a peer or a part that is missing.
    """

    goal: Goal
    contest: Contest | None = None
    pairs: Pairs | None = None
    reason: str = ""
    has_failed: bool = False

    @property
    def is_missed(self) -> bool:
        """Whether it was measured and not reached, or failed on the way."""
        return self.has_failed or (self.pairs is not None and not self.goal.is_met(self.pairs))


HEADING = f"{'median':>9} {'lowest to highest':>20} {'goal':>15}  {'':12} what, against whom"


def line(outcome: Outcome) -> str:
    """Return one outcome as a row of the table, its notes below it."""
    goal = outcome.goal
    limit = f"{goal.sense} {goal.limit:g}"
    if outcome.contest is None or outcome.pairs is None:
        verdict = "FAILED" if outcome.has_failed else "not measured"
        row = f"{'-':>9} {'-':>20} {limit:>15}  {verdict:12} {goal.name}"
        return f"{row}\n{'':61}{outcome.reason}"
    contest, spread = outcome.contest, goal.spread(outcome.pairs)
    reach = f"{_short(spread.lowest)} to {_short(spread.highest)}"
    verdict = "MISSED" if outcome.is_missed else "met"
    ours, theirs = (statistics.median(side) for side in (outcome.pairs.ours, outcome.pairs.theirs))
    details = [f"{contest.words(ours)} against {contest.words(theirs)}", *contest.notes]
    row = f"{_short(spread.median):>9} {reach:>20} {limit:>15}  {verdict:12} "
    return f"{row}{goal.name}, against {contest.against}\n{'':61}{'; '.join(details)}"


def document(outcomes: Sequence[Outcome], machine: dict[str, str], peers: dict[str, str]) -> dict[str, Any]:
    """Return everything that was measured as plain data."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "peers": peers,
        "results": [_plain(outcome) for outcome in outcomes],
    }


def save(document: dict[str, Any], path: Path) -> None:
    """Write a document as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _plain(outcome: Outcome) -> dict[str, Any]:
    goal = outcome.goal
    facts: dict[str, Any] = {"goal": goal.name, "sense": goal.sense, "limit": goal.limit}
    if outcome.contest is None or outcome.pairs is None:
        return facts | {"reason": outcome.reason}
    spread = asdict(goal.spread(outcome.pairs))
    contest = {"against": outcome.contest.against, "notes": outcome.contest.notes}
    return facts | {"met": not outcome.is_missed} | spread | contest | asdict(outcome.pairs)


def _short(ratio: float) -> str:
    """Write a ratio with about three figures.

    >>> _short(1234.5), _short(12.345), _short(0.12345)
    ('1,234', '12.3', '0.123')
    """
    if ratio >= 100:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.3g}"
