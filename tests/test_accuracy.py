"""This file proves that the accuracy tasks judge fairly: all are found, limits hold, none goes missing."""

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy import peers
from benchmarks.accuracy.__main__ import every_task, report
from benchmarks.accuracy.tasks import Outcome, Task
from benchmarks.rivals import RivalError


def refuse() -> Outcome:
    raise RivalError("nobody is there")


def fail() -> Outcome:
    raise ZeroDivisionError("of our own making")


def test_the_tasks_of_every_file_are_found() -> None:
    names = [task.name for task in every_task()]

    assert len(set(names)) == len(names)
    assert {name.split()[0].rstrip(",") for name in names} >= {"shares", "means", "raw", "final"}


@pytest.mark.parametrize(("ratio", "word"), [(1.03, "met"), (1.0301, "MISSED"), (float("nan"), "MISSED")])
def test_a_ratio_above_its_limit_is_missed(
    capsys: pytest.CaptureFixture[str], ratio: float, word: str
) -> None:
    missed = report(Task("ours", lambda: Outcome(ratio, 1.03, "beside theirs")))

    assert missed is (word == "MISSED")
    assert capsys.readouterr().out.split()[2] == word


def test_a_task_without_a_peer_is_not_measured_and_one_that_fails_is_missed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not report(Task("theirs", refuse))
    assert report(Task("ours", fail))

    printed = capsys.readouterr().out
    assert "nobody is there" in printed
    assert "ZeroDivisionError: of our own making" in printed


def test_a_peer_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "INTERPRETER", Path(sys.executable))  # the peers are in another environment

    with pytest.raises(RivalError, match="No module named"):
        peers.compare("opendp", "randomized response", "raw")


def test_an_error_as_large_as_theirs_is_told_from_one_that_is_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    theirs, worse = (scale * generator.chisquare(15, 20_000) for scale in (1.0, 1.04))
    monkeypatch.setattr(peers, "_theirs", lambda *_: {"raw": theirs[:10_000]})

    monkeypatch.setattr(peers, "_ours", lambda *_: {"raw": theirs[10_000:]})
    equal = peers.compare("multi_freq", "subset selection", "raw")
    monkeypatch.setattr(peers, "_ours", lambda *_: {"raw": worse})
    larger = peers.compare("multi_freq", "subset selection", "raw")

    assert (equal.is_met, larger.is_met) == (True, False)


def test_people_are_as_many_as_asked_by_the_law_of_zipf() -> None:
    values = peers.SHARES.values

    assert len(values) == peers.SHARES.n
    assert np.bincount(values)[[0, 1, 3]] == pytest.approx(
        np.bincount(values)[0] / np.array([1, 2, 4]), abs=1
    )
