"""This file checks coins by going through all words they can meet, and by large samples of the real ones.

False alarms: each comparison by Z once in 10**9.
"""

from fractions import Fraction

import numpy as np
import pytest

from hubbub.coins import Coins, bernoulli, flips, integers
from hubbub.errors import DomainError
from hubbub.mechanisms.laplace import Laplace
from hubbub.probability import Real
from hubbub_client.answering.system_coins import system_coins
from hubbub_lab.seeded_coins import seeded_coins
from tests.forked import in_a_child
from tests.shared.scripted_coins import ScriptedCoins
from tests.statistics import Z

BIASES = {
    "irrational": 1 / (1 + Real.exp(1)),
    "half": Real(Fraction(1, 2)),
    "third": Real(Fraction(1, 3)),
    "tiny": Real.exp(-20),
    "nearly one": 1 - Real.exp(-20),
}
COINS = {"system": system_coins(), "seeded": seeded_coins(1)}


@pytest.mark.parametrize("bias", BIASES.values(), ids=BIASES)
def test_over_all_first_bytes_heads_are_as_many_as_the_bias_says(bias: Real) -> None:
    ties_lost = ScriptedCoins(range(256), then=255)
    ties_won = ScriptedCoins([*range(256), *[0] * 8], then=255)

    fewest, most = bernoulli(bias, 256, ties_lost).sum(), bernoulli(bias, 256, ties_won).sum()

    assert fewest == bias.leading(8)
    assert most == bias.leading(8) + (bias.leading(72) % 2**64 > 0)


@pytest.mark.parametrize("bias", BIASES.values(), ids=BIASES)
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_a_tie_is_broken_by_the_digits_that_follow(bias: Real, levels: int) -> None:
    known = 8 + 64 * (levels - 1)
    tied = _words(bias, 0, 8) + b"".join(_words(bias, at, 64) for at in range(8, known, 64))
    digit = int.from_bytes(_words(bias, known, 64), "little")
    below, above = max(digit - 1, 0).to_bytes(8, "little"), min(digit + 1, 2**64 - 1).to_bytes(8, "little")

    fallen = [bernoulli(bias, 1, ScriptedCoins(tied + last, then=255))[0] for last in (below, above)]

    assert fallen == [digit > 0, False]


def _words(bias: Real, skipped: int, bits: int) -> bytes:
    return (bias.leading(skipped + bits) % 2**bits).to_bytes(bits // 8, "little")


@pytest.mark.parametrize("script", [bytes(range(256)), b"\xff" * 1000])
def test_certain_coins_are_certain_whatever_the_words(script: bytes) -> None:
    never, always = Real(0), Real(1)

    fallen = flips([never, always], 128, ScriptedCoins(script, then=7))

    assert not fallen[:, 0].any()
    assert fallen[:, 1].all()


@pytest.mark.parametrize(
    "bias", [Real(-1), Real(2), Real(Fraction(257, 256)), 1 + Real.exp(-1), 0 - Real.exp(1)]
)
def test_a_bias_that_is_no_probability_is_refused(bias: Real) -> None:
    with pytest.raises(DomainError, match="from 0 to 1"):
        bernoulli(bias, 1, system_coins())


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
@pytest.mark.parametrize("bias", BIASES.values(), ids=BIASES)
def test_a_million_flips_show_the_bias(bias: Real, coins: Coins) -> None:
    p, n = float(bias), 1_000_000

    heads = int(bernoulli(bias, n, coins).sum())

    assert abs(heads - n * p) < Z * (n * p * (1 - p)) ** 0.5 + Z**2


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
def test_each_column_has_its_own_bias_and_no_company(coins: Coins) -> None:
    biases, n = list(BIASES.values()), 300_000
    p = np.array([float(bias) for bias in biases])

    fallen = flips(biases, n, coins).astype(float) - p

    covariance = fallen.T @ fallen / n
    variance = p * (1 - p)
    assert (np.abs(fallen.mean(axis=0)) < (Z * (variance / n) ** 0.5) + Z**2 / n).all()
    assert (
        np.abs(covariance - np.diag(variance)) < Z * np.sqrt(np.outer(variance, variance) / n) + 1e-2
    ).all()


@pytest.mark.parametrize(
    ("high", "width"),
    [(2, 1), (3, 1), (15, 1), (16, 1), (17, 2), (256, 1), (1000, 2), (1024, 2), (4096, 2), (65536, 2)],
)
def test_over_all_words_every_integer_is_drawn_equally_often(high: int, width: int) -> None:
    everything = np.arange(256**width, dtype=f"<u{width}")
    kept = 256**width - 256**width % high
    coins = ScriptedCoins(everything.tobytes(), then=0)

    drawn = integers(high, 256**width, coins)

    assert (np.bincount(drawn[:kept], minlength=high) == kept // high).all()
    assert coins.drawn == width * (2 * 256**width - kept)


@pytest.mark.parametrize("high", [1, 10**6, 2**40 + 1, 2**60])
def test_integers_of_any_size_lie_below_their_end(high: int) -> None:
    n = 10_000

    drawn = integers(high, n, seeded_coins(2)).astype(float)

    assert drawn.max() < high
    assert abs(drawn.mean() / high - 0.5) < Z / (12 * n) ** 0.5 + 1 / high


@pytest.mark.parametrize("high", [0, -1, 2**60 + 1])
def test_integers_below_an_end_that_leaves_none_are_refused(high: int) -> None:
    with pytest.raises(DomainError, match="integers are drawn below"):
        integers(high, 1, system_coins())


@pytest.mark.parametrize("coins", COINS.values(), ids=COINS)
def test_no_coins_may_be_asked_for(coins: Coins) -> None:
    drawn = flips([Real(1)], 0, coins), integers(3, 0, coins), coins.words(0)

    assert [each.size for each in drawn] == [0, 0, 0]


def test_the_same_seed_draws_the_same_and_another_seed_does_not() -> None:
    first, again, other = (seeded_coins(seed).words(64).tobytes() for seed in (5, 5, 6))

    assert first == again
    assert first != other


def test_a_seed_draws_the_same_on_every_version() -> None:
    drawn = seeded_coins(7).words(11).tobytes().hex()

    assert drawn == "cf5e50fa73723a0bbbba19"


def test_a_device_cannot_be_given_a_seed() -> None:
    with pytest.raises(TypeError):
        system_coins(7)  # type: ignore[call-arg]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it is forked on purpose
def test_no_two_forked_children_draw_the_same_noise() -> None:
    mechanism, coins, values = Laplace("1", "0", "1"), system_coins(), np.full(16, 0.5)
    mechanism.perturb(values, coins)

    drawn = [in_a_child(lambda: mechanism.perturb(values, coins).tobytes()) for _ in range(16)]

    assert {len(sequence) for sequence in drawn} == {32}
    assert len(set(drawn)) == 16
