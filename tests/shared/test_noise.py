"""This file checks the discrete Laplace law: its digits exactly, its draws by chi-square.

False alarms: a comparison by chi-square once in 10**8, by Z once in 10**9.
"""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.coins import Coins
from hubbub.errors import DomainError
from hubbub.noise import DiscreteLaplace
from hubbub.probability import Real
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z, chi_square_excess, far

RATES = [Fraction(1, 10**6), Fraction(1, 1024), Fraction(1, 100), Fraction(1), Fraction(20)]
COINS = {"system": system_coins(), "seeded": seeded_coins(3)}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("magnitude", [0, 1, 5, 38, 63])
def test_independent_digits_make_a_geometric_magnitude(rate: Fraction, magnitude: int) -> None:
    law = DiscreteLaplace(rate)
    *digits, more, _ = law._biases
    stated = (1 - law.alpha) * law.alpha**magnitude

    product = 1 - more
    for place, one in enumerate(digits):
        product = product * (one if magnitude >> place & 1 else 1 - one)

    assert all(abs(end) < Fraction(1, 2**300) for end in (product - stated).enclose(320))


@pytest.mark.parametrize("rate", RATES)
def test_what_lies_above_the_digits_is_geometric_again(rate: Fraction) -> None:
    law = DiscreteLaplace(rate)
    *digits, more, sign = law._biases

    ratio = more / law.alpha**2 ** len(digits)

    assert all(abs(end - 1) < Fraction(1, 2**90) for end in ratio.enclose(100))
    assert sign.exact == Fraction(1, 2)


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("at_once", [400_000, 8_000])
def test_draws_follow_the_law_with_its_mass_at_zero(rate: Fraction, coins: Coins, at_once: int) -> None:
    law, n, reach = DiscreteLaplace(rate), 400_000, int(25 / rate) + 1

    noise = np.concatenate([law.draw(at_once, coins) for _ in range(n // at_once)])

    seen = np.bincount(np.clip(noise, -reach, reach) + reach, minlength=2 * reach + 1)
    zero = float(law.mass(0))
    assert chi_square_excess(seen, n * masses(law, reach)) < 1
    assert abs(seen[reach] - n * zero) < Z * (n * zero) ** 0.5


@pytest.mark.parametrize("rate", [Fraction(1, 50), Fraction(1, 3), Fraction(4)])
def test_a_crowd_draws_the_same_law(rate: Fraction) -> None:
    law, n, reach = DiscreteLaplace(rate), 10**8, int(25 / rate) + 1

    noise, people = law.crowd(n, seeded_coins(4))

    seen = np.bincount(np.clip(noise, -reach, reach) + reach, weights=people, minlength=2 * reach + 1)
    assert people.sum() == n
    assert np.unique(noise).size == noise.size
    assert chi_square_excess(seen, n * masses(law, reach)) < 1


def masses(law: DiscreteLaplace, reach: int) -> "np.ndarray":  # type: ignore[type-arg]
    """Return the law on -reach to reach, the ends holding their tails."""
    inner = [float(law.mass(z)) for z in range(1, reach)]
    end = float(law.tail(reach))
    return np.array([end, *inner[::-1], float(law.mass(0)), *inner, end])


@pytest.mark.parametrize("size", [0, 1])
def test_the_noise_of_hardly_anybody_is_drawn_too(size: int) -> None:
    law = DiscreteLaplace(Fraction(1, 1024))

    noise, people = law.crowd(size, seeded_coins(5))

    assert people.sum() == size
    assert law.draw(size, seeded_coins(5)).shape == (size,)
    assert noise.shape == people.shape


@pytest.mark.parametrize("rate", RATES[1:])
def test_moments_are_the_sums_over_the_law(rate: Fraction) -> None:
    law = DiscreteLaplace(rate)
    z = np.arange(1, int(60 / rate) + 60)

    mass = float(law.mass(0)) * np.exp(-float(rate) * z)

    assert float(law.variance) == pytest.approx(2 * (z.astype(float) ** 2 * mass).sum(), rel=1e-9)
    assert float(law.fourth_moment) == pytest.approx(2 * (z.astype(float) ** 4 * mass).sum(), rel=1e-9)
    assert float(law.tail(3)) == pytest.approx(mass[2:].sum(), rel=1e-9)


@pytest.mark.parametrize("rate", RATES[:-1])
def test_draws_have_the_moments_of_the_law(rate: Fraction) -> None:
    law = DiscreteLaplace(rate)

    noise = law.draw(300_000, seeded_coins(6)).astype(float)

    assert far(noise, np.zeros(())) < Z
    assert far(noise**2, np.array(float(law.variance))) < Z


def test_the_variance_is_the_closed_form() -> None:
    law = DiscreteLaplace(Fraction(1))
    e = Real.exp(Fraction(1, 2))

    sinh = (e - 1 / e) / 2

    assert float(law.variance) == pytest.approx(float(1 / (2 * sinh**2)), rel=1e-15)


@pytest.mark.parametrize("size", [100, 20_000])
def test_noise_of_the_greatest_rate_is_nothing(size: int) -> None:
    law = DiscreteLaplace(Fraction(1024))

    noise = law.draw(size, system_coins())

    assert not noise.any()


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), Fraction(1, 2**30 + 1), Fraction(1025)])
def test_a_rate_that_no_mechanism_has_is_refused(rate: Fraction) -> None:
    with pytest.raises(DomainError, match="a rate must be"):
        DiscreteLaplace(rate)
