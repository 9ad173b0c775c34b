"""This file checks the geometry over the integers modulo a prime against its definition, point by point."""

from typing import Any

import numpy as np
import pytest

from hubbub import hyperplanes
from hubbub.finite_field import inverses, is_prime, prime_from, prime_up_to
from hubbub.hyperplanes import Bundle, grouped, is_through, size, through

SPACES = [(2, 1), (2, 4), (3, 1), (3, 3), (5, 2), (7, 2), (37, 1), (41, 2)]  # g, t


def coordinates_of_a_hyperplane(number: int, g: int, t: int) -> list[int]:
    found = []
    while number:
        number -= 1
        found.append(number % g)
        number //= g
    return [*found, 1, *[0] * (t - len(found))]


def coordinates_of_a_point(point: int, g: int, t: int) -> list[int]:
    zeros = 0
    while point >= g ** (t - zeros):
        point -= g ** (t - zeros)
        zeros += 1
    return [*[0] * zeros, g - 1, *(point // g**i % g for i in reversed(range(t - zeros)))]


def incidence(g: int, t: int) -> Any:
    numbers = range(size(t + 1, g))
    planes = np.array([coordinates_of_a_hyperplane(number, g, t) for number in numbers])
    points = np.array([coordinates_of_a_point(point, g, t) for point in numbers])
    return planes @ points.T % g == 0


@pytest.mark.parametrize(("g", "t"), SPACES)
def test_every_two_points_lie_on_equally_many_hyperplanes(g: int, t: int) -> None:
    meets = incidence(g, t).astype(float)  # which numpy multiplies fast

    common = meets.T @ meets

    assert (common.diagonal() == size(t, g)).all()
    assert (common[~np.eye(len(common), dtype=bool)] == size(t - 1, g)).all()


@pytest.mark.parametrize(("g", "t"), SPACES)
@pytest.mark.parametrize("largest", [0, 1 << 24])  # cells of a table: hyperplanes one by one, or some at once
def test_the_hyperplanes_through_each_point_are_counted_as_defined(
    g: int, t: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hyperplanes, "_LARGEST", largest)
    meets, generator = incidence(g, t), np.random.default_rng(1)
    numbers = generator.permutation(size(t + 1, g))[: 2 * g**t // 3 + 1]
    weights = generator.integers(1, 10**12, numbers.size)
    ks = [1, g**t // 2 + 1, g**t, g**t + 1, size(t + 1, g)]

    counts = [Bundle(numbers, weights, g, t).through(k) for k in ks]

    defined = weights @ meets[numbers]
    assert [found.tolist() for found in counts] == [defined[:k].tolist() for k in ks]


@pytest.mark.parametrize(
    ("g", "m", "points"), [(2, 6, 50), (3, 5, 243), (3, 5, 100), (31, 2, 600), (53, 2, 2_000), (5, 3, 120)]
)
def test_one_by_one_and_at_once_are_the_same(g: int, m: int, points: int) -> None:
    cells = np.random.default_rng(2).integers(0, g**m, 300)
    weights = np.random.default_rng(3).integers(1, 10**12, 300)
    table = np.zeros(g**m, dtype=np.int64)
    np.add.at(table, cells, weights)

    singly = hyperplanes._one_by_one(cells, weights, m, points, g=g)
    jointly = hyperplanes._at_once(table, m, points, g=g)

    assert singly.tolist() == jointly.tolist()
    assert singly.size == points


@pytest.mark.parametrize(("g", "t"), SPACES)
def test_the_hyperplanes_through_a_point_come_from_all_others(g: int, t: int) -> None:
    meets, others = incidence(g, t), np.arange(size(t, g))
    points = range(0, size(t + 1, g), max(1, size(t + 1, g) // 40))

    found = [sorted(through(np.full(others.size, point), others, g, t).tolist()) for point in points]

    assert found == [meets[:, point].nonzero()[0].tolist() for point in points]


@pytest.mark.parametrize(("g", "t"), [(2, 4), (3, 3), (7, 2), (37, 1)])
def test_a_hyperplane_is_through_a_point_as_defined(g: int, t: int) -> None:
    every = range(size(t + 1, g))

    told = [[is_through(point, number, g, t) for point in every] for number in every]

    assert told == incidence(g, t).tolist()


@pytest.mark.parametrize("limit", [4, 100])
def test_reports_are_joined_or_not_but_none_is_lost(limit: int) -> None:
    reports = np.array([3, 0, 3, 1, 3], dtype=np.uint8)

    numbers, weights = grouped(reports, limit)

    assert weights.sum() == reports.size
    assert np.repeat(numbers, weights).tolist() == (sorted(reports) if limit == 4 else reports.tolist())


@pytest.mark.parametrize("g", [2, 3, 5, 53, 101, 5_600_027])
def test_a_residue_times_its_inverse_is_one(g: int) -> None:
    residues = np.unique(np.random.default_rng(4).integers(1, g, 500))

    products = residues * inverses(residues, g) % g

    assert is_prime(g)
    assert (products == 1).all()


@pytest.mark.parametrize("number", [1, 2, 3, 4, 90, 96, 97, 7_920])
def test_primes_are_found_below_and_above(number: int) -> None:
    primes = [
        prime
        for prime in range(2, 8_000)
        if all(prime % divisor for divisor in range(2, 90) if divisor < prime)
    ]

    found = prime_up_to(number), prime_from(number)

    assert found == (
        max([2, *(prime for prime in primes if prime <= number)]),
        min(prime for prime in primes if prime >= number),
    )
