"""This file checks that the tool which makes the tables for means still finds as good ones."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.epsilon import Epsilon
from hubbub.grid import Grid
from hubbub.mechanisms.integer_table import load
from hubbub.outcomes import Meaning
from hubbub.weight_table import TOTAL, WeightTable
from hubbub_lab.mean_tables import module, solved


def worst_of(table: WeightTable) -> float:
    numbers = np.array(table.numbers) / table.unit
    return Meaning(
        Grid("-1", "1", len(table.weights) - 1), numbers, np.array(table.weights) / TOTAL @ numbers**2
    ).worst


@pytest.mark.parametrize(("epsilon", "steps"), [("0.25", 8), ("1", 8), ("2", 16)])
def test_a_table_made_anew_is_checked_and_as_good_as_the_shipped_one(epsilon: str, steps: int) -> None:
    exact = Fraction(epsilon)

    made = WeightTable.of_columns(exact, *solved(exact, steps))

    assert worst_of(made) == pytest.approx(worst_of(load(Epsilon.parse(epsilon), 1)), rel=1e-6)


def test_a_table_is_written_as_a_module_that_says_the_same() -> None:
    unit, columns = solved(Fraction(1), 4)
    written: dict[str, Any] = {}

    exec(module(Fraction(1), unit, columns), written)  # noqa: S102 - our own words

    assert (written["UNIT"], list(written["COLUMNS"])) == (unit, columns)
    assert written["__doc__"].startswith("This file holds the integer table for epsilon 1")
