"""This file checks the counting of bits by adders against unpacking every bit."""

import numpy as np
import pytest

from hubbub import bit_counts
from hubbub.bit_counts import count_bits


@pytest.mark.parametrize("width", [1, 2, 3, 7, 8, 9, 16, 128])
@pytest.mark.parametrize("height", [0, 1, 2, 3, 7, 8, 63, 1000])
def test_bits_are_counted_at_every_width_and_height(width: int, height: int) -> None:
    rows = np.random.default_rng(width).integers(0, 256, (height, width), dtype=np.uint8)

    counts = count_bits(rows)

    assert counts.tolist() == np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0).tolist()


def test_rows_of_ones_are_all_counted_across_chunks() -> None:
    rows = np.full((2 * bit_counts._CHUNK // 8 + 5, 8), 255, dtype=np.uint8)

    counts = count_bits(rows)

    assert counts.tolist() == [len(rows)] * 64


def test_rows_are_left_as_they_were_and_may_be_read_only() -> None:
    data = bytes(range(256)) * 3
    rows = np.frombuffer(b"\x00" + data, dtype=np.uint8)[1:].reshape(-1, 8)

    count_bits(rows)

    assert rows.tobytes() == data
