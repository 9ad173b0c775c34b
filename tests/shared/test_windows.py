"""This file checks the law of reports that crowd in a window.

False alarms: each chi-square comparison once in 10**8.
"""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.errors import DomainError
from hubbub.probability import Real
from hubbub.windows import Window
from hubbub_lab.seeded_coins import seeded_coins
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import chi_square_excess

SHAPES = pytest.mark.parametrize(("inputs", "width"), [(2, 1), (2, 5), (5, 3), (300, 200)])


@SHAPES
@pytest.mark.parametrize("e", [Fraction(101, 100), 4, 3000])
def test_the_likelihoods_of_a_point_add_up_to_one_and_differ_by_e(
    inputs: int, width: int, e: Fraction
) -> None:
    window = Window(inputs, width, Real(e))

    laws = [[window.likelihood(point, report).exact for report in range(window.outputs)] for point in (0, 1)]

    assert list(map(sum, laws)) == [1, 1]
    assert max(one / other for one, other in zip(*laws, strict=True)) == e


@SHAPES
@pytest.mark.parametrize("point", [0, 1])
def test_reports_are_drawn_with_their_likelihoods(inputs: int, width: int, point: int) -> None:
    window, n = Window(inputs, width, Real.exp(1)), 4_000_000

    reports = window.draw(np.full(n, point), seeded_coins(61))

    expected = [n * float(window.likelihood(point, report)) for report in range(window.outputs)]
    assert chi_square_excess(np.bincount(reports, minlength=window.outputs), np.array(expected)) < 1


def test_the_loss_is_the_log_of_e() -> None:
    window = Window(7, 4, Real.exp(Fraction(3, 2)))

    lower, upper = window.loss()

    assert lower <= Fraction(3, 2) <= upper
    assert upper - lower < Fraction(1, 10**30)


def test_a_report_is_a_place_in_the_window_or_any_place() -> None:
    window = Window(5, 4, Real.exp(1))
    # a byte for the place in the window, one for the coin, one for the place among all
    scripts = ([3, 0, 7], [3, 255, 7])

    reports = [window.draw(np.array([2]), ScriptedCoins(script)).tolist() for script in scripts]

    assert reports == [[5], [7]]


@pytest.mark.parametrize(("inputs", "width"), [(1, 3), (2, 0), (1 << 60, 1)])
def test_windows_that_tell_nothing_apart_are_refused(inputs: int, width: int) -> None:
    with pytest.raises(DomainError, match="2 inputs and a width of 1 at least"):
        Window(inputs, width, Real(2))
