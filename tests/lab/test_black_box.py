"""This file proves that the auditor from outside never accuses the honest and finds planted leaks.

Bounds are wrong with a probability of 1e-7 each; seeds are fixed.
"""

import numpy as np
import pytest

from hubbub import registry
from hubbub.declaration import boolean, choice, number
from hubbub.errors import DomainError
from hubbub.metric import Metric
from hubbub_lab.black_box import Messages, black_box, encoded, epsilon_at_least
from hubbub_lab.seeded_coins import seeded_coins
from tests.lab.faulty import boastful

FRUITS = ["apple", "fig", "kiwi", "lime", "pear"]
METRICS = [
    boolean("rr2", epsilon="0.5"),
    boolean("rr2", epsilon="4"),
    choice("rr5", options=FRUITS, epsilon="1"),
    choice("rr300", options=list(map(str, range(300))), epsilon="4"),
    choice("unary5", options=FRUITS, epsilon="1", mechanism="optimized_unary"),
    choice("unary20", options=list(map(str, range(20))), epsilon="4", mechanism="optimized_unary"),
    number("laplace", low=-2, high=3, epsilon="1"),
    number("laplace4", low=-2, high=3, epsilon="4", parameters={"steps": 4}),
]
DARK = boolean("dark", epsilon="1").of("notepad")


def label(metric: Metric) -> str:
    return f"{metric.name}-{metric.epsilon}"


def bound_of(first: list[Messages], second: list[Messages]) -> float:
    return epsilon_at_least((first[0], second[0]), (first[1], second[1]))


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_the_bytes_of_an_honest_mechanism_tell_no_more_than_it_claims(metric: Metric) -> None:
    claim = float(metric.epsilon.exact)

    bound = black_box(metric.of("audit"), reports=20_000, coins=seeded_coins(1))

    assert 0.4 * claim < bound <= claim


@pytest.mark.parametrize("epsilon", [1, 4])
def test_the_auditor_has_power(epsilon: int) -> None:
    metric = boolean("dark", epsilon=epsilon).of("notepad")

    bound = black_box(metric, reports=100_000, coins=seeded_coins(2))

    assert 0.9 * epsilon <= bound <= epsilon


@pytest.mark.torture
@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_a_million_reports_a_side_tell_no_more_than_is_claimed_and_nearly_all_of_it(metric: Metric) -> None:
    claim = float(metric.epsilon.exact)

    bound = black_box(metric.of("audit"), reports=1_000_000, coins=seeded_coins(3))

    assert 0.9 * claim <= bound <= claim


def test_a_mechanism_that_spends_more_than_it_claims_is_caught() -> None:
    mechanism, coins = boastful("1", 2), seeded_coins(4)
    first, second = (
        [encoded(DARK.id, mechanism.perturb(np.full(25_000, value), coins)) for _ in range(2)]
        for value in (0, 1)
    )

    bound = bound_of(first, second)

    assert bound > 1.05


def test_noise_in_floating_point_is_caught_by_its_low_bits() -> None:
    generator = np.random.default_rng(5)
    first, second = (
        [encoded(DARK.id, value + generator.laplace(size=25_000)) for _ in range(2)] for value in (0, 1)
    )

    bound = bound_of(first, second)

    assert bound > 3


def test_noise_that_is_always_the_same_is_caught() -> None:
    mechanism = registry.build(number("seconds", low=0, high=10, epsilon="0.1"))
    first, second = (
        [
            encoded(DARK.id, mechanism.perturb(np.array([value]), seeded_coins(6)).repeat(25_000))
            for _ in range(2)
        ]
        for value in (0.0, 10.0)
    )

    bound = bound_of(first, second)

    assert bound > 5


def test_messages_of_different_length_are_refused() -> None:
    sent = [b"yes", b"no"]

    with pytest.raises(DomainError, match="equally long"):
        Messages.of(sent)


def test_messages_are_the_bytes_of_one_batch_each_without_the_id() -> None:
    messages = encoded(DARK.id, np.array([1, 0, 1], dtype=np.uint8))

    head = b"HBB\x01" + b"\x01\x00" + DARK.id + b"\x01\x00\x00\x00" + b"\x00" + b"\x01\x00\x00\x00" * 2
    assert [row.tobytes() for row in messages.different] == [head + b"\x00", head + b"\x01"]
    assert messages.counts.tolist() == [1, 2]
