"""This file proves that the benchmarks judge fairly: pairs alternate, medians count, no peer goes missing."""

import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from benchmarks import rivals
from benchmarks.__main__ import measure
from benchmarks.goals import Contest, Goal, contest_with_fastest
from benchmarks.pairs import Pairs, alternate
from benchmarks.report import line


def test_each_side_goes_first_in_every_other_pair() -> None:
    calls: list[str] = []

    pairs = alternate(lambda: calls.append("we") or 1.0, lambda: calls.append("they") or 3.0, pairs=2)

    assert calls == ["we", "they", "we", "they", "they", "we"]  # the first two warm up
    assert pairs == Pairs((1.0, 1.0), (3.0, 3.0))


@pytest.mark.parametrize(
    ("sense", "limit", "met"),
    [("at least", 2, True), ("at least", 2.1, False), ("at most", 0.5, True), ("at most", 0.4, False)],
)
def test_the_median_of_the_pairs_is_judged(sense: str, limit: float, met: bool) -> None:
    goal = Goal("speed", sense, limit, lambda _: nullcontext(Contest(float, float, "nobody")))  # type: ignore[arg-type]

    verdict = goal.is_met(Pairs((1.0, 1.0, 1.0), (9.0, 2.0, 0.1)))

    assert verdict is met


def test_a_peer_that_is_not_installed_is_named_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals, "INTERPRETER", Path(sys.executable))  # the peers are in another environment
    goal = Goal(
        "speed",
        "at least",
        2,
        lambda found: nullcontext(
            contest_with_fastest(found, lambda: 1.0, "perturb laplace", ("opendp",), n=1, size=1)
        ),
    )

    with rivals.Rivals() as found:
        outcome = measure(goal, found, pairs=1)

    assert "not measured" in line(outcome)
    assert "opendp: ModuleNotFoundError: No module named 'opendp'" in line(outcome)
    assert not outcome.is_missed
