"""This file proves the bounds of a chance against binomial sums in exact arithmetic."""

import math
from fractions import Fraction

import pytest

from hubbub_lab.clopper_pearson import at_least, at_most


def at_least_so_many(hits: int, tries: int, chance: float) -> float:
    p = Fraction(chance)
    terms = (math.comb(tries, i) * p**i * (1 - p) ** (tries - i) for i in range(hits, tries + 1))
    return float(sum(terms))


@pytest.mark.parametrize("error", [0.3, 0.025, 1e-9])
@pytest.mark.parametrize(
    ("hits", "tries"), [(1, 1), (1, 10), (3, 10), (10, 10), (7, 200), (100, 200), (199, 200)]
)
def test_at_the_bound_so_many_hits_are_as_rare_as_the_error(hits: int, tries: int, error: float) -> None:
    bound = at_least(hits, tries, error)

    assert at_least_so_many(hits, tries, bound) == pytest.approx(error, rel=1e-9)


def test_upper_bounds_mirror_lower_ones() -> None:
    upper = at_most(3, 200, 1e-7)

    assert upper == 1 - at_least(197, 200, 1e-7)


def test_no_hits_say_nothing_from_below_and_all_hits_nothing_from_above() -> None:
    bounds = at_least(0, 10, 0.1), at_most(10, 10, 0.1)

    assert bounds == (0, 1)


def test_a_chance_that_never_came_true_in_a_million_tries_is_below_the_rule_of_its_logarithm() -> None:
    upper = at_most(0, 10**6, 1e-7)

    assert upper == pytest.approx(-math.log(1e-7) / 10**6, rel=1e-4)
