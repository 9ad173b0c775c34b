"""This file checks that what promises nothing is refused, without a true value in the sentence."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub_client.answering.system_coins import system_coins


@pytest.mark.parametrize(
    "mechanism", [RandomizedResponse("1", 2), RandomizedResponse("1", 300), OptimizedUnary("1", 13)], ids=str
)
@pytest.mark.parametrize("values", [[99_999], [-1], [1.0], [math.nan], [True], ["1"], [[0]]])
def test_what_is_no_category_is_refused_and_not_repeated(mechanism: Mechanism, values: list[Any]) -> None:
    with pytest.raises(DomainError) as refusal:
        mechanism.perturb(np.array(values), system_coins())

    assert "99999" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    "values", [[math.nan], [0.5, math.inf], [-math.inf], ["1"], [True], [[0.5]], [None], [1j]]
)
def test_what_is_no_finite_number_is_refused(values: list[Any]) -> None:
    with pytest.raises(DomainError, match="finite numbers"):
        Laplace("1", "0", "1").perturb(np.array(values), system_coins())


@pytest.mark.parametrize("epsilon", ["nan", "0", "-1", "inf", "800", True, "1e-320", 0.5, None])
@pytest.mark.parametrize("make", [RandomizedResponse, OptimizedUnary])
def test_an_epsilon_that_promises_nothing_is_refused(make: Any, epsilon: object) -> None:
    with pytest.raises(DomainError, match="epsilon"):
        make(epsilon, 4)
    with pytest.raises(DomainError, match="epsilon"):
        Laplace(epsilon, "0", "1")  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 0, -1, 65_537, True, 2.0, "4"])
@pytest.mark.parametrize("make", [RandomizedResponse, OptimizedUnary])
def test_a_number_of_categories_out_of_range_is_refused(make: Any, k: Any) -> None:
    with pytest.raises(DomainError, match="number of categories"):
        make("1", k)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("0", "0"),
        ("1", "0"),
        ("1", "1.00000000000000000001"),
        ("nan", "1"),
        ("0", "inf"),
        ("-1e999", "1"),
        ("1/0", "1"),
        ("a", "1"),
        (0.5, "1"),
        (True, "2"),
        (Decimal("NaN"), "1"),
        (Decimal("-Infinity"), "1"),
    ],
)
def test_a_range_that_is_none_is_refused(low: Any, high: Any) -> None:
    with pytest.raises(DomainError, match="range"):
        Laplace("1", low, high)


@pytest.mark.parametrize("steps", [0, -1, 2**20 + 1, True, 4.0, "4"])
def test_a_grid_out_of_range_is_refused(steps: Any) -> None:
    with pytest.raises(DomainError, match="steps"):
        Laplace("1", "0", "1", steps=steps)
