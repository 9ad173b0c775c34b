"""This file proves that tallies are integers that add up in any order, and come back from bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from hubbub.errors import DomainError
from hubbub.tally import Tally

numbers = some.integers(-(2**60), 2**60)


def tallies(cells: int = 3) -> some.SearchStrategy[Tally]:
    """Draw tallies of equally many cells."""
    return some.builds(
        lambda n, values: Tally(n, np.array(values, dtype=np.int64)),
        some.integers(0, 2**40),
        some.lists(some.integers(-(2**40), 2**40), min_size=cells, max_size=cells),
    )


@given(tallies(), tallies(), tallies())
def test_addition_is_commutative_and_associative(a: Tally, b: Tally, c: Tally) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)


@given(tallies(), tallies())
def test_what_was_added_can_be_subtracted(a: Tally, b: Tally) -> None:
    assert a + b - b == a
    assert a + Tally.zero(3) == a
    assert Tally.zero(3) - a + a == Tally.zero(3)


@given(some.lists(numbers, max_size=6), numbers)
def test_a_tally_comes_back_from_its_bytes(cells: list[int], n: int) -> None:
    tally = Tally(n, np.array(cells, dtype=np.int64))

    assert Tally.from_bytes(tally.to_bytes()) == tally
    assert len(tally.to_bytes()) == 8 * (1 + len(cells))


def test_the_bytes_are_little_endian_integers() -> None:
    golden = (
        "0300000000000000"  # n
        "ffffffffffffffff"  # -1
        "0000000001000000"  # 2**32
    )

    assert Tally(3, np.array([-1, 2**32])).to_bytes().hex() == golden


@pytest.mark.parametrize("size", [0, 1, 7, 9, 15])
def test_bytes_that_are_no_whole_integers_are_refused(size: int) -> None:
    with pytest.raises(DomainError):
        Tally.from_bytes(bytes(size))


def test_tallies_of_different_metrics_do_not_add_up() -> None:
    with pytest.raises(DomainError, match="equally many cells, got 2 and 3"):
        Tally.zero(2) + Tally.zero(3)
    with pytest.raises(DomainError):
        Tally.zero(2) - Tally.zero(3)


def test_a_tally_shares_its_cells_with_nobody() -> None:
    cells = np.array([1, 2])
    tally = Tally(3, cells)

    cells[0] = 99

    assert tally.cells.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        tally.cells[0] = 5


def test_tallies_compare_by_value_and_have_no_hash() -> None:
    assert Tally.zero(2) == Tally.zero(2)
    assert Tally.zero(2) != Tally.zero(3)
    assert Tally(1, np.array([0, 0])) != Tally.zero(2)
    assert Tally.zero(2) != "a tally"
    with pytest.raises(TypeError):
        hash(Tally.zero(2))
