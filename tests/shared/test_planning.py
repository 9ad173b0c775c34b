"""This file checks that planned reports give the planned error, and not one report more."""

import math

import pytest

from hubbub.errors import DomainError
from hubbub.mechanism import Mechanism
from hubbub.mechanisms.laplace import Laplace
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from hubbub.planning import required_reports

MECHANISMS = [
    OptimizedUnary("1", 16),
    RandomizedResponse("0.1", 2),
    RandomizedResponse("8", 64),
    Laplace("1", "0", "10"),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("stderr", [0.2, 0.01, 1e-4])
@pytest.mark.parametrize("frequency", [0.0, 0.5])
def test_the_reports_required_are_just_enough(mechanism: Mechanism, stderr: float, frequency: float) -> None:
    needed = required_reports(mechanism, stderr, frequency=frequency)

    assert mechanism.stderr(needed, frequency=frequency) <= stderr * (1 + 1e-12)
    assert needed == 1 or mechanism.stderr(needed - 1, frequency=frequency) > stderr


@pytest.mark.parametrize("stderr", [0.0, -0.1, math.inf, math.nan])
def test_an_error_that_cannot_be_planned_for_is_refused(stderr: float) -> None:
    with pytest.raises(DomainError, match="positive and finite"):
        required_reports(MECHANISMS[0], stderr)


def test_a_frequency_that_is_none_is_refused() -> None:
    with pytest.raises(DomainError, match="from 0 to 1"):
        required_reports(MECHANISMS[0], 0.1, frequency=1.5)
