"""This file checks that sums of numbers and squares come back exactly, up to 10**12 of the largest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.limbs import cut, whole


@given(numbers=st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=50))
def test_sums_of_numbers_and_squares_come_back(numbers: list[int]) -> None:
    cells = cut(np.array(numbers), parts=2).sum(axis=1)

    assert whole(cells) == (sum(numbers), sum(number**2 for number in numbers))


@given(numbers=st.lists(st.integers(0, 2**20 - 1), min_size=1, max_size=50))
def test_small_numbers_need_three_cells(numbers: list[int]) -> None:
    cells = cut(np.array(numbers), parts=1).sum(axis=1)

    assert cells.size == 3
    assert whole(cells) == (sum(numbers), sum(number**2 for number in numbers))


@pytest.mark.parametrize(("parts", "largest"), [(1, 2**20 - 1), (2, 2**40 - 1)])
def test_ten_to_the_twelve_of_the_largest_number_do_not_overflow(parts: int, largest: int) -> None:
    many = 10**12

    cells = cut(np.array([largest]), parts)[:, 0] * np.int64(many)

    assert cells.max() < 2**63 / 8
    assert whole(cells) == (many * largest, many * largest**2)
