"""This file checks shares, their errors and their intervals, by enumeration of every count that can occur.

Nothing here is drawn, so nothing fails by chance.
"""

from functools import cache

import numpy as np
import pytest

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About
from hubbub.frequencies import Channel, Shares, categories
from hubbub.intervals import normal_quantile
from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub.mechanisms.randomized_response import RandomizedResponse
from tests.statistics import support_law

KINDS = {"randomized_response": RandomizedResponse, "optimized_unary": OptimizedUnary}
ABOUT: tuple[About, About] = ("respondents", "population")


@cache
def every_count(kind: str, epsilon: str, k: int, n: int) -> Shares:
    """Return the shares of as many categories as there are counts, one for each."""
    return Shares(n, np.arange(n + 1), channel_of(kind, epsilon, k))


def channel_of(kind: str, epsilon: str, k: int) -> Channel:
    return KINDS[kind](epsilon, k).channel


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("k", [2, 16])
@pytest.mark.parametrize("n", [1, 30, 10_000])
@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_the_interval_about_respondents_covers_as_it_promises(
    kind: str, epsilon: str, k: int, n: int, share: float
) -> None:
    channel = channel_of(kind, epsilon, k)

    ends = intervals(kind, epsilon, k, n)

    coverage, noise = coverage_of(ends, round(n * share), float(channel.p), float(channel.q))
    least, most = promised(noise, many=25)
    assert least <= coverage <= most


@pytest.mark.torture
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["0.1", "0.3", "1", "2", "4", "8"])
@pytest.mark.parametrize("k", [2, 5, 100])
def test_intervals_cover_as_they_promise_at_any_size(kind: str, epsilon: str, k: int) -> None:
    channel = channel_of(kind, epsilon, k)
    p, q = float(channel.p), float(channel.q)

    broken = [
        (n, holders, coverage)
        for n in [*range(1, 20), *range(20, 400, 13), 1_000, 3_000]
        for holders in {0, n // 10, n // 2, n}
        for coverage, noise in [coverage_of(intervals(kind, epsilon, k, n), holders, p, q)]
        if not promised(noise, many=30, fair=0.935)[0] <= coverage <= promised(noise, many=30)[1]
    ]

    assert not broken


def promised(noise: float, *, many: float, fair: float = 0.93) -> tuple[float, float]:
    """Return the least and the greatest coverage that may be."""
    return (0.94, 0.96) if noise >= many else (fair, 1) if noise >= 5 else (0.95, 1)


def coverage_of(ends: "np.ndarray", holders: int, p: float, q: float) -> tuple[float, float]:  # type: ignore[type-arg]
    """Return how often the interval of a count holds the truth, and the noise variance of the count."""
    n = len(ends) - 1
    holds = (ends[:, 0] <= holders / n + 1e-12) & (ends[:, 1] >= holders / n - 1e-12)
    coverage = min(1.0, float((support_law(n, holders, p, q) * holds).sum()))
    return coverage, holders * p * (1 - p) + (n - holders) * q * (1 - q)


@cache
def intervals(kind: str, epsilon: str, k: int, n: int) -> "np.ndarray":  # type: ignore[type-arg]
    return every_count(kind, epsilon, k, n).interval(0.95, "respondents")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_at_both_ends_of_a_score_interval_the_count_is_just_so_far_off(kind: str, level: float) -> None:
    n, channel = 10_000, channel_of(kind, "1", 16)
    p, q = float(channel.p), float(channel.q)
    shares = Shares(n, np.array([500, 2_500, 3_000, 9_000]), channel)

    ends = shares.interval(level, "respondents")

    off = shares.supports[:, None] - n * (q + ends * (p - q))
    spread = np.sqrt(n * (q * (1 - q) + ends * (p * (1 - p) - q * (1 - q))))
    z = normal_quantile(level)
    assert off / spread == pytest.approx(np.tile([z, -z], (4, 1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_interval_about_the_population_covers_nearly_as_often(
    kind: str, epsilon: str, share: float
) -> None:
    n, channel = 1_000, channel_of(kind, epsilon, 4)
    p, q = float(channel.p), float(channel.q)
    supported = share * p + (1 - share) * q

    ends = every_count(kind, epsilon, 4, n).interval(0.95, "population")

    holds = (ends[:, 0] <= share) & (ends[:, 1] >= share)
    coverage = (support_law(n, n, supported, 0.5) * holds).sum()
    assert 0.94 <= coverage <= 0.96


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["0.5", "1", "4"])
@pytest.mark.parametrize("k", [2, 16, 1024])
def test_the_interval_about_the_population_of_few_covers_as_often_as_it_says(
    kind: str, epsilon: str, k: int
) -> None:
    channel = channel_of(kind, epsilon, k)
    p, q = float(channel.p), float(channel.q)

    broken = []
    for n in [1, 2, 3, 8, 20, 79, 80, 200, 1_000]:
        ends = every_count(kind, epsilon, k, n).interval(0.95, "population")
        for share in (0, 0.01, 0.1, 0.5, 1):
            holds = (ends[:, 0] <= share + 1e-12) & (ends[:, 1] >= share - 1e-12)
            coverage = (support_law(n, n, share * p + (1 - share) * q, 0.5) * holds).sum()
            broken += [(n, share, coverage)] if coverage < (0.95 if n < 80 else 0.935) - 1e-9 else []

    assert not broken


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_shares_have_no_bias_and_their_exact_variance(kind: str, share: float) -> None:
    n, channel = 40, channel_of(kind, "1", 5)
    holders = round(n * share)
    law = support_law(n, holders, float(channel.p), float(channel.q))

    values = every_count(kind, "1", 5, n).values

    mean = (law * values).sum()
    assert mean == pytest.approx(share, abs=1e-12)
    assert (law * (values - mean) ** 2).sum() == pytest.approx(channel.stderr(n, share) ** 2, rel=1e-10)


@pytest.mark.parametrize("about", ABOUT)
@pytest.mark.parametrize("n", [1, 2, 10, 10**12])
def test_any_count_has_finite_errors_and_an_interval_of_a_width(about: About, n: int) -> None:
    shares = Shares(n, np.array([0, n // 2, n]), channel_of("optimized_unary", "1", 3))

    ends, stderr = shares.interval(0.95, about), shares.stderr(about)

    assert np.isfinite(ends).all()
    assert (ends[:, 0] <= ends[:, 1]).all()
    assert (stderr > 0).all()
    assert np.isfinite(shares.values).all()


def test_intervals_are_never_clipped_where_reports_are_many() -> None:
    shares = Shares(10_000, np.array([2_500, 5_200]), channel_of("optimized_unary", "1", 2))

    low, high = shares.interval(0.95, "respondents")

    assert low[0] < 0 > shares.values[0]
    assert high[1] > 1 < shares.values[1]


def test_few_reports_that_no_share_explains_keep_their_score_interval() -> None:
    shares = Shares(50, np.array([0]), channel_of("randomized_response", "0.5", 2))

    ends = shares.interval(0.95, "respondents")

    assert (ends < 0).all()


@pytest.mark.parametrize("about", ABOUT)
def test_the_two_answers_to_a_question_mirror_each_other(about: About) -> None:
    shares = Shares(1_000, np.array([400, 600]), channel_of("randomized_response", "1", 2))

    no, yes = shares.interval(0.95, about)

    assert shares.values.sum() == pytest.approx(1)
    assert no == pytest.approx(1 - yes[::-1])


def test_the_error_about_the_population_adds_the_luck_of_who_answered() -> None:
    shares = Shares(1_000, np.array([400]), channel_of("optimized_unary", "4", 2))
    share = shares.values[0]

    added = shares.stderr("population") ** 2 - shares.stderr("respondents") ** 2

    assert added == pytest.approx([share * (1 - share) / 1_000])


@pytest.mark.parametrize("n", [0, -1])
def test_no_reports_make_no_shares(n: int) -> None:
    channel = channel_of("optimized_unary", "1", 2)

    with pytest.raises(TooFewReportsError, match="at least 1 report"):
        Shares(n, np.array([0, 0]), channel)
    with pytest.raises(TooFewReportsError):
        channel.stderr(n, 0.5)


@pytest.mark.parametrize(
    "values", [[99], [-1], [0, 4], [1.0], [1.5], [np.nan], [True], ["1"], [[1]], [2**64 - 1], [None]]
)
def test_what_is_no_category_is_refused_and_not_repeated(values: list[object]) -> None:
    with pytest.raises(DomainError, match="categor") as refusal:
        categories(np.array(values), 4)

    assert "99" not in str(refusal.value)
