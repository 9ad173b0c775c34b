"""This file checks quantiles against published tables of the normal and the Student distribution."""

import math

import pytest

from hubbub.errors import DomainError
from hubbub.intervals import normal_quantile, simultaneous, student_quantile


@pytest.mark.parametrize(
    ("level", "quantile"),
    [(0.5, 0.674489750196), (0.9, 1.644853626951), (0.95, 1.959963984540), (0.99, 2.575829303549)],
)
def test_normal_quantiles_are_the_published_ones(level: float, quantile: float) -> None:
    assert normal_quantile(level) == pytest.approx(quantile, abs=1e-12)


@pytest.mark.parametrize(
    ("level", "degrees", "quantile"),
    [
        (0.95, 1, 12.7062047),
        (0.95, 2, 4.3026527),
        (0.95, 3, 3.1824463),
        (0.95, 5, 2.5705818),
        (0.95, 10, 2.2281389),
        (0.95, 30, 2.0422725),
        (0.95, 100, 1.9839715),
        (0.95, 1000, 1.9623391),
        (0.9, 4, 2.1318468),
        (0.99, 1, 63.6567412),
        (0.99, 9, 3.2498355),
        (0.999, 20, 3.8495163),
    ],
)
def test_student_quantiles_are_the_published_ones(level: float, degrees: int, quantile: float) -> None:
    assert student_quantile(level, degrees) == pytest.approx(quantile, abs=1e-7)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_one_degree_of_freedom_is_the_tangent(level: float) -> None:
    assert student_quantile(level, 1) == pytest.approx(math.tan(math.pi * level / 2), rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99, 0.9999])
def test_both_ways_to_compute_a_student_quantile_meet(level: float) -> None:
    before, at, after = (student_quantile(level, degrees) for degrees in (199, 200, 201))

    assert before > at > after
    assert before - at == pytest.approx(at - after, rel=0.05)


def test_many_degrees_of_freedom_are_normal() -> None:
    assert student_quantile(0.95, 10**12) == pytest.approx(normal_quantile(0.95), abs=1e-11)


@pytest.mark.parametrize("level", [0.0, 0.49, 0.99995, 1.0, 95.0, math.nan])
def test_a_level_out_of_range_is_refused(level: float) -> None:
    with pytest.raises(DomainError, match="confidence level"):
        student_quantile(level, 5)
    with pytest.raises(DomainError, match="confidence level"):
        simultaneous(level, 5)


@pytest.mark.parametrize("level", [0.0, 0.49, 1 - 1e-10, 1.0, 95.0, math.nan])
def test_a_level_beyond_that_of_one_of_many_intervals_is_refused(level: float) -> None:
    with pytest.raises(DomainError, match="confidence level"):
        normal_quantile(level)


@pytest.mark.parametrize("level", [0.5, 0.9999])
def test_as_many_intervals_as_there_are_options_at_most_can_hold_at_once(level: float) -> None:
    each = simultaneous(level, 65_536)

    assert (1 - each) * 65_536 == pytest.approx(1 - level, rel=1e-6)
    assert normal_quantile(each) > normal_quantile(level)
