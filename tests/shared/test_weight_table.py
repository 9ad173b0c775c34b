"""This file checks that a table which breaks any promise is refused, and that shipped ones never change."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError
from hubbub.mechanisms.integer_table import IntegerTable, load
from hubbub.probability import Real
from hubbub.weight_table import WeightTable

Rows = list[list[int]]
GOOD = load(Epsilon.parse("2"), 1)
EDITION_1 = "b8f9c5a94180493cfb9f042a9cdf5dadbfeb04b1fcd2847c109c32ed6c793dd7"


def copied(change: Callable[[Rows], object]) -> WeightTable:
    rows = [list(row) for row in GOOD.weights]
    change(rows)
    return replace(GOOD, weights=tuple(map(tuple, rows)))


def move(rows: Rows, weight: int, shares: dict[int, int], *, both: bool = True) -> None:
    """Add shares of a weight to reports of the lowest point, and mirrored of the highest."""
    for report, share in shares.items():
        rows[0][report] += share * weight
        rows[-1][-1 - report] += share * weight * both


def test_a_copy_of_a_good_table_is_taken() -> None:
    assert copied(lambda rows: move(rows, 0, {0: 1})) == GOOD


FAULTS: dict[str, Callable[[Rows], object]] = {
    "a report tells more than epsilon": lambda rows: move(rows, rows[0][11] // 4, {10: 1, 11: -2, 12: 1}),
    "a mean is biased": lambda rows: move(rows, 1, {0: 1, 1: -1}),
    "the chances of a point do not add up to 1": lambda rows: move(rows, 1, {0: 1}),
    "its weights are lopsided": lambda rows: move(rows, 1, {10: 1, 11: -2, 12: 1}, both=False),
    "a weight is missing": lambda rows: rows[3].pop(),
    "a report has no weight": lambda rows: rows[3].insert(3, -rows[3].pop(3)),
    "its size is off": lambda rows: rows.__delitem__(slice(1, None)),
}


@pytest.mark.parametrize(("problem", "fault"), FAULTS.items(), ids=FAULTS)
def test_a_table_with_a_fault_is_refused(problem: str, fault: Callable[[Rows], object]) -> None:
    with pytest.raises(DomainError, match=f"the table for epsilon 2 is refused: {problem}"):
        copied(fault)


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ((*GOOD.numbers[:-2], 66, 60), "its numbers do not rise"),
        ((*GOOD.numbers[:-1], 67), "its numbers are lopsided"),
        (GOOD.numbers[:-1], "a weight is missing"),
        ((-67, *GOOD.numbers[1:-1], 67), "a mean is biased"),
    ],
)
def test_a_table_whose_numbers_are_wrong_is_refused(numbers: tuple[int, ...], problem: str) -> None:
    with pytest.raises(DomainError, match=problem):
        replace(GOOD, numbers=numbers)


def test_a_table_is_refused_at_the_very_epsilon_that_it_breaks() -> None:
    worst = max(Fraction(max(column), min(column)) for column in zip(*GOOD.weights, strict=True))
    lower, upper = Real.log(worst).enclose(40)

    assert replace(GOOD, epsilon=upper).weights == GOOD.weights
    with pytest.raises(DomainError, match="tells more"):
        replace(GOOD, epsilon=lower - Fraction(1, 2**40))


def test_the_tables_of_an_edition_never_change() -> None:
    digest = hashlib.sha256()

    for quarters in range(1, 33):
        table = load(Epsilon(250_000 * quarters), 1)
        digest.update(repr((table.unit, table.numbers, table.weights)).encode())

    assert digest.hexdigest() == EDITION_1


@pytest.mark.parametrize("quarters", range(1, 33))
def test_a_table_uses_all_of_its_epsilon_but_two_millionths(quarters: int) -> None:
    mechanism = IntegerTable(Epsilon(250_000 * quarters), "0", "1")

    loss = mechanism.loss()

    assert loss.lower <= loss.upper < mechanism.epsilon.exact
    assert loss.lower > mechanism.epsilon.exact - Fraction(2, 10**6)
