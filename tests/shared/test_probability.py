"""This file checks the digits of real numbers against sums of fractions that know no decimal."""

import copy
import math
import operator
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import DomainError
from hubbub.probability import Real, _add, _divide, _exp, _log, _multiply, _Rounding, _subtract, percent

rationals = st.fractions(min_value=-20, max_value=20, max_denominator=10**6)
decimals = st.decimals(-1000, 1000, allow_nan=False, places=9)
positives = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=10**6)


def exponential(x: Fraction, terms: int = 160) -> tuple[Fraction, Fraction]:
    """Enclose e^x, |x| <= 20, by its series: what is left out is less than twice the last term."""
    total, term = Fraction(0), Fraction(1)
    for k in range(1, terms):
        total, term = total + term, term * x / k
    return total - 2 * abs(term), total + 2 * abs(term)


@given(x=rationals)
def test_an_exponential_lies_in_its_enclosure(x: Fraction) -> None:
    below, above = exponential(x)

    lower, upper = Real.exp(x).enclose(100)

    assert lower <= above
    assert upper >= below
    assert upper - lower <= Fraction(1, 2**100)


@given(x=rationals, digits=st.integers(1, 12))
def test_an_exponential_of_few_digits_is_rounded_outward(x: Fraction, digits: int) -> None:
    below, above = exponential(x)
    at = _Rounding(digits)

    lower, upper = _exp(at, Real(x)._at(at))

    assert Fraction(lower) <= above
    assert Fraction(upper) >= below


@given(x=positives, digits=st.integers(1, 12))
def test_a_logarithm_of_few_digits_is_rounded_outward(x: Fraction, digits: int) -> None:
    at = _Rounding(digits)

    lower, upper = _log(at, Real(x)._at(at))

    assert exponential(Fraction(math.floor(lower.scaleb(20)), 10**20))[0] <= x
    assert exponential(Fraction(math.ceil(upper.scaleb(20)), 10**20))[1] >= x


@given(a=rationals, b=rationals, c=rationals, digits=st.integers(1, 12))
def test_arithmetic_of_few_digits_encloses_the_exact_result(
    a: Fraction, b: Fraction, c: Fraction, digits: int
) -> None:
    one = Real.log(Real.exp(1))  # is 1, but nobody tells
    x, y, z = one * a, one * b, one * c
    at = _Rounding(digits)

    enclosed = [
        (x + y, a + b),
        (x - y, a - b),
        (x * y, a * b),
        (x * y - z * z, a * b - c * c),
        (x / (y * y + 1), a / (b * b + 1)),
        (x / (y - 21), a / (b - 21)),
        (x**3, a**3),
        ((y - 21) ** -2, 1 / (b - 21) ** 2),
        (2 - x, 2 - a),
    ]

    assert all(real._at(at)[0] <= exact <= real._at(at)[1] for real, exact in enclosed)


@pytest.mark.parametrize(
    ("rule", "exactly"),
    [(_add, operator.add), (_subtract, operator.sub), (_multiply, operator.mul), (_divide, operator.truediv)],
)
@given(a=decimals, b=decimals.filter(bool), digits=st.integers(1, 6))
def test_each_rule_rounds_points_outward(
    rule: Any, exactly: Any, a: Decimal, b: Decimal, digits: int
) -> None:
    exact = exactly(Fraction(a), Fraction(b))

    lower, upper = rule(_Rounding(digits), (a, a), (b, b))

    assert Fraction(lower) <= exact <= Fraction(upper)


@given(x=rationals, bits=st.integers(0, 120))
def test_leading_digits_are_the_largest_integer_below(x: Fraction, bits: int) -> None:
    e = Real.exp(abs(x) + Fraction(1, 997))
    p = e / (e + 15)
    below, above = exponential(abs(x) + Fraction(1, 997))

    digits = p.leading(bits)

    assert digits <= above / (above + 15) * 2**bits
    assert digits + 1 >= below / (below + 15) * 2**bits


@given(x=st.fractions(min_value=0, max_value=1), bits=st.integers(0, 80))
def test_digits_of_a_rational_are_exact(x: Fraction, bits: int) -> None:
    digits = Real(x).leading(bits)

    assert digits == math.floor(x * 2**bits)


@pytest.mark.parametrize(("sign", "digits"), [(1, 2**63), (-1, 2**63 - 1)])
def test_a_number_next_to_a_tie_is_decided_by_more_digits(sign: int, digits: int) -> None:
    p = Fraction(1, 2) + sign * Real.exp(-200)

    leading = p.leading(64)

    assert leading == digits


def test_a_formula_that_hides_a_rational_is_refused_rather_than_guessed() -> None:
    half = Real.exp(1) / (Real.exp(1) + Real.exp(1))

    with pytest.raises(DomainError, match="told from a rational"):
        half.leading(8)


@pytest.mark.parametrize("magnitude", [10**3, 10**6, 10**12, 10**30])
def test_huge_exponents_neither_overflow_nor_lie(magnitude: int) -> None:
    vanishing = 1 / (1 + Real.exp(magnitude))

    lower, upper = vanishing.enclose(200)

    assert 0 <= lower <= upper <= Fraction(1, 2**200)
    assert vanishing.leading(64) == 0
    assert float(Real.exp(-magnitude)) == 0


@pytest.mark.parametrize("value", [0.5, True, "1", None])
def test_only_integers_and_fractions_build_a_number(value: object) -> None:
    with pytest.raises(DomainError, match="int and Fraction"):
        Real(value)  # type: ignore[arg-type]


def test_the_nearest_float_is_given() -> None:
    floats = [float(Real.exp(1)), float(Real.log(2)), float(Real(Fraction(1, 3))), float(Real.exp(-700))]

    assert floats == [math.e, math.log(2), 1 / 3, 9.859676543759770e-305]


def test_rationals_stay_exact_through_arithmetic() -> None:
    number = (1 - Real(Fraction(1, 3))) ** 2 / 4 + Real.exp(0) - Real.log(1)

    assert number.exact == Fraction(10, 9)


def test_division_by_an_exact_zero_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        Real.exp(0) / Real(0)


def test_a_number_survives_a_process_boundary() -> None:
    p = 1 / (1 + Real.exp(3))

    sent = pickle.loads(pickle.dumps(p))  # noqa: S301 - our own bytes

    assert sent.leading(64) == copy.deepcopy(p).leading(64) == p.leading(64)


@pytest.mark.parametrize(
    ("probability", "text"),
    [
        (Fraction(0), "0 %"),
        (Fraction(1), "100 %"),
        (Fraction(1, 2), "50 %"),
        (Fraction(731, 1000), "73.1 %"),
        (Fraction(1, 10**6), "0.0001 %"),
        (1 - Fraction(1, 10**9), "99.9999999 %"),
    ],
)
def test_a_probability_is_written_with_the_digits_that_matter(probability: Fraction, text: str) -> None:
    written = percent(Real(probability))

    assert written == text
