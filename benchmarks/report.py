"""This file turns what was measured into lines for people and a document for later."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.goals import Goal
from benchmarks.pairs import Pairs, duration


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a goal: pairs, or the reason why there are none."""

    goal: Goal
    pairs: Pairs | None = None
    against: str = ""
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def is_missed(self) -> bool:
        """Whether it was measured and not reached."""
        return self.pairs is not None and not self.goal.is_met(self.pairs)


HEADING = f"{'median':>9} {'lowest to highest':>20} {'goal':>15}  {'':12} what, against whom"


def line(outcome: Outcome) -> str:
    """Return one outcome as a row of the table, its notes below it."""
    goal = outcome.goal
    limit = f"{goal.sense} {goal.limit:g}"
    what = f"{goal.name}, against {outcome.against}" if outcome.against else goal.name
    if outcome.pairs is None:
        row = f"{'-':>9} {'-':>20} {limit:>15}  {'not measured':12} {what}"
    else:
        spread = goal.spread(outcome.pairs)
        reach = f"{_short(spread.lowest)} to {_short(spread.highest)}"
        verdict = "MISSED" if outcome.is_missed else "met"
        row = f"{_short(spread.median):>9} {reach:>20} {limit:>15}  {verdict:12} {what}"
    return f"{row}\n{'':61}{'; '.join(_details(outcome))}"


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
    goal, pairs = outcome.goal, outcome.pairs
    facts: dict[str, Any] = {"goal": goal.name, "sense": goal.sense, "limit": goal.limit}
    if pairs is not None:
        spread = goal.spread(pairs)
        facts |= {
            "met": not outcome.is_missed,
            "median": spread.median, "lowest": spread.lowest, "highest": spread.highest,
            "against": outcome.against, "ours_seconds": pairs.ours, "theirs_seconds": pairs.theirs,
        }  # fmt: skip
    return facts | {"notes": list(outcome.notes)}


def _details(outcome: Outcome) -> list[str]:
    if outcome.pairs is None:
        return list(outcome.notes)
    ours, theirs = (statistics.median(times) for times in (outcome.pairs.ours, outcome.pairs.theirs))
    return [f"{duration(ours)} against {duration(theirs)}", *outcome.notes]


def _short(ratio: float) -> str:
    """Write a ratio with about three figures.

    >>> _short(1234.5), _short(12.345), _short(0.12345)
    ('1,234', '12.3', '0.123')
    """
    if ratio >= 100:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.3g}"
