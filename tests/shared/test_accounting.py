"""This file checks privacy accounting against enumeration and reference values. Nothing here is drawn.

The reference values were computed with 50-digit arithmetic.
"""

import json
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hubbub.accounting import basic, composed_delta, composed_epsilon
from hubbub.accounting_renyi import numerical_zcdp, renyi, renyi_epsilon, zcdp, zcdp_epsilon
from hubbub.accounting_shuffle import shuffled_delta, shuffled_epsilon
from hubbub.accounting_windows import calendar_bound, sliding_bound
from hubbub.delta import Delta
from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError

REFERENCE = json.loads((Path(__file__).parents[1] / "vectors" / "reference_accounting.json").read_text())
Law = Counter[Any]


def hockey_stick(one: Law, other: Law, total: float) -> float:
    """Return the least delta at a total, by going through every outcome, for the worse of both directions."""
    both = set(one) | set(other)
    return max(
        sum(max(0.0, p[outcome] - math.exp(total) * q[outcome]) for outcome in both)
        for p, q in ((one, other), (other, one))
    )


def response(held: int, k: int, epsilon: float) -> Law:
    e = math.exp(epsilon)
    return Counter({told: (e if told == held else 1.0) / (e + k - 1) for told in range(k)})


def together(laws: list[Law], k: int) -> Law:
    """Return the law of how many of several reports name each category."""
    total: Law = Counter({(0,) * k: 1.0})
    for law in laws:
        following: Law = Counter()
        for counts, told in product(total, law):
            more = tuple(count + (at == told) for at, count in enumerate(counts))
            following[more] += total[counts] * law[told]
        total = following
    return total


def in_order(laws: list[Law]) -> Law:
    return Counter(
        {told: math.prod(law[one] for law, one in zip(laws, told, strict=True)) for told in product(*laws)}
    )


def test_ten_tenths_are_one() -> None:
    assert basic(["0.1"] * 10) == 1_000_000
    assert basic([]) == 0


@pytest.mark.parametrize("row", REFERENCE["composition"], ids=str)
def test_the_composition_of_equal_epsilons_is_the_reference_one(row: dict[str, float]) -> None:
    delta = composed_delta(row["eps"], int(row["k"]), row["eps_total"])

    assert delta == pytest.approx(row["delta"], rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_composition_is_what_all_outcomes_of_seven_reports_say(epsilon: float, share: float) -> None:
    yes, no = (in_order([response(held, 2, epsilon)] * 7) for held in (1, 0))

    delta = composed_delta(epsilon, 7, share * 7 * epsilon)

    assert delta == pytest.approx(hockey_stick(yes, no, share * 7 * epsilon), rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "reports", "optimal", "renyi_view", "concentrated"),
    [(0.1, 100, 4.775, 5.07, 5.75), (0.5, 30, 13.95, 14.35, 17.9), (1.0, 30, 29.99, 29.99, 41.5)],
)
def test_every_view_is_above_the_optimal_one(
    epsilon: float, reports: int, optimal: float, renyi_view: float, concentrated: float
) -> None:
    total = composed_epsilon(epsilon, reports, 1e-6)

    by_renyi = renyi_epsilon(epsilon, reports, 1e-6)
    by_rho = zcdp_epsilon(reports * numerical_zcdp(epsilon), 1e-6)

    assert (total, by_renyi, by_rho) == pytest.approx((optimal, renyi_view, concentrated), rel=4e-3)
    assert total <= by_renyi * (1 + 1e-8) <= reports * epsilon * (1 + 1e-8)
    assert by_rho <= zcdp_epsilon(reports * zcdp(epsilon), 1e-6)


@pytest.mark.parametrize(("epsilon", "reports"), [(0.1, 1), (0.1, 1000), (20.0, 3), (0.001, 10**5)])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_a_total_holds_and_hardly_less_does(epsilon: float, reports: int, delta: float) -> None:
    total = composed_epsilon(epsilon, reports, delta)

    assert composed_delta(epsilon, reports, total) <= delta
    assert composed_delta(epsilon, reports, total * (1 - 1e-6)) > delta or total == 0


def test_a_delta_that_hides_everything_leaves_no_epsilon() -> None:
    assert composed_epsilon(0.1, 1, 0.5) == 0


@pytest.mark.parametrize("row", REFERENCE["renyi"], ids=str)
def test_the_curve_of_randomized_response_is_the_reference_one(row: dict[str, Any]) -> None:
    epsilon, rho = row["eps"], row["rho"]
    curve = {int(order): value for order, value in row["curve"].items()}

    found = {order: renyi(epsilon, order) for order in curve}

    assert found == {order: pytest.approx(value, rel=1e-12) for order, value in curve.items()}
    assert numerical_zcdp(epsilon) == pytest.approx(rho, rel=1e-12)
    assert all(value <= rho * order <= zcdp(epsilon) * order for order, value in curve.items())


@pytest.mark.parametrize("row", REFERENCE["shuffle"], ids=str)
def test_the_bounds_of_a_shuffle_are_the_reference_ones(row: dict[str, Any]) -> None:
    n, epsilon, total = row["n"], row["eps0"], row["eps"]

    found = shuffled_delta(epsilon, n, total), shuffled_delta(epsilon, n, total, k=2)

    names = ("clones_exp_minus_eps0", "blanket_binary_rr")
    assert found == tuple(pytest.approx(row["delta"][name], rel=1e-12) for name in names)


@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 2), (2, 12), (2, 60), (3, 7)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 0.95])
def test_no_shuffle_tells_more_than_its_bound(k: int, n: int, epsilon: float, share: float) -> None:
    total = share * epsilon
    crowds = [[response(v, k, epsilon)] * (n - 1) for v in (0, k - 1)]
    worst = max(
        hockey_stick(*(together([*crowd, response(held, k, epsilon)], k) for held in (0, 1)), total)
        for crowd in crowds
    )

    bounds = shuffled_delta(epsilon, n, total), shuffled_delta(epsilon, n, total, k=k)

    assert worst <= bounds[1] * (1 + 1e-9)
    assert bounds[1] <= bounds[0] <= 1


def test_the_bound_for_all_clones_is_met_by_its_own_mechanism() -> None:
    epsilon, n, total = 1.2, 9, 0.4
    e, c = math.exp(epsilon), math.exp(-epsilon)
    clone: Law = Counter({0: c / 2, 1: c / 2, "other": 1 - c})
    crowd = [Counter({(at,): mass for at, mass in clone.items()})] * (n - 1)
    one, other = (Counter({(held,): e / (e + 1), (1 - held,): 1 / (e + 1)}) for held in (0, 1))

    laws = [unordered([*crowd, own]) for own in (one, other)]

    assert shuffled_delta(epsilon, n, total) == pytest.approx(hockey_stick(*laws, total), rel=1e-9)


def unordered(laws: list[Law]) -> Law:
    total: Law = Counter({(): 1.0})
    for law in laws:
        following: Law = Counter()
        for seen, (told,) in product(total, law):
            following[tuple(sorted([*seen, told], key=str))] += total[seen] * law[(told,)]
        total = following
    return total


@pytest.mark.parametrize(
    ("epsilon", "n", "clones", "binary"),
    [(1.0, 10_000, 0.0530, 0.0432), (2.0, 100_000, 0.0450, 0.0332), (4.0, 1_000_000, 0.0493, 0.0343)],
)
def test_a_large_shuffle_amplifies_as_published(epsilon: float, n: int, clones: float, binary: float) -> None:
    found = shuffled_epsilon(epsilon, n, 1e-6), shuffled_epsilon(epsilon, n, 1e-6, k=2)

    assert found == pytest.approx((clones, binary), abs=6e-5)
    assert shuffled_delta(epsilon, n, found[0]) <= 1e-6


def test_few_categories_hide_better_than_clones_and_many_do_not() -> None:
    few, many, any_mechanism = (shuffled_epsilon(4.0, 1_000, 1e-6, k=k) for k in (8, 64, None))

    assert few < any_mechanism
    assert many <= any_mechanism


def test_a_shuffle_never_tells_more_than_a_report_by_itself() -> None:
    assert shuffled_epsilon(3.0, 1, 1e-9) <= 3
    assert shuffled_delta(3.0, 5, 3.0) == 0


@pytest.mark.parametrize("cap", [1, 8])
@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("span", [1, 2, 3, 4, 7])
def test_the_bounds_of_windows_are_the_most_that_a_spender_reaches(cap: int, window: int, span: int) -> None:
    days = range(span + window)

    calendar = max(
        sum(min(cap, spent) for spent in by_window(start, span, window, cap)) for start in range(window)
    )
    sliding = sum(cap for day in days[:span] if day % window == 0)

    assert calendar_bound(cap, window=window, span=span) == calendar
    assert sliding_bound(cap, window=window, span=span) == sliding


def by_window(start: int, span: int, window: int, cap: int) -> list[int]:
    """Return what is spent in each calendar window that a span of days touches, all it may in each."""
    return [cap for _ in {day // window for day in range(start, start + span)}]


def test_a_cap_for_life_ends_what_windows_allow() -> None:
    assert calendar_bound(8, window=28, span=10**6, life=64) == 64
    assert sliding_bound(8, window=28, span=10**6, life=64) == 64


@pytest.mark.parametrize(
    "ask",
    [
        lambda: composed_delta(0, 10, 1),
        lambda: composed_delta(math.nan, 10, 1),
        lambda: composed_delta(101, 10, 1),
        lambda: composed_delta(1, 0, 1),
        lambda: composed_delta(1, 10**8, 1),
        lambda: composed_epsilon(1, 10, 0),
        lambda: composed_epsilon(1, 10, math.nan),
        lambda: zcdp(-1),
        lambda: numerical_zcdp(math.inf),
        lambda: zcdp_epsilon(0, 1e-6),
        lambda: zcdp_epsilon(1, 1),
        lambda: renyi(1, 1),
        lambda: renyi(1, math.inf),
        lambda: renyi_epsilon(1, True, 1e-6),
        lambda: composed_delta(1, 10, -1),
        lambda: composed_delta(1, 10, math.nan),
        lambda: composed_epsilon("one", 10, 1e-6),
        lambda: composed_epsilon(True, 10, 1e-6),
        lambda: composed_epsilon(None, 10, 1e-6),  # type: ignore[arg-type]
        lambda: composed_epsilon(1, "10", 1e-6),  # type: ignore[arg-type]
        lambda: composed_epsilon(1, 10, "often"),
        lambda: composed_epsilon(1, 10, 10**400),
        lambda: zcdp_epsilon("nan", 1e-6),
        lambda: renyi(1, "two"),
        lambda: shuffled_delta(1, 10, -1),
        lambda: shuffled_delta(1, 10, math.nan),
        lambda: shuffled_delta(1, 10, 1, k=1),
        lambda: shuffled_epsilon(1, 10, 2),
        lambda: calendar_bound(1, window=0, span=1),
        lambda: sliding_bound(1, window=1, span=0),
        lambda: sliding_bound(-1, window=1, span=1),
        lambda: sliding_bound(1, window=1, span=1, life=-1),
    ],
)
def test_what_has_no_meaning_is_refused(ask: Any) -> None:
    with pytest.raises(DomainError):
        ask()


@pytest.mark.parametrize(
    "epsilon", ["0.5", 0.5, Decimal("0.5"), Fraction(1, 2), Epsilon.parse("0.5")], ids=repr
)
@pytest.mark.parametrize("delta", ["1e-6", 1e-6, Decimal("1e-6"), Delta.parse("1e-6")], ids=repr)
def test_an_epsilon_and_a_delta_are_taken_in_every_form_that_others_take(epsilon: Any, delta: Any) -> None:
    assert composed_epsilon(epsilon, 100, delta) == composed_epsilon(0.5, 100, 1e-6)
    assert renyi_epsilon(epsilon, 100, delta) == renyi_epsilon(0.5, 100, 1e-6)
    assert shuffled_epsilon(epsilon, 100, delta) == shuffled_epsilon(0.5, 100, 1e-6)
    assert zcdp_epsilon(zcdp(epsilon), delta) == zcdp_epsilon(0.125, 1e-6)
