"""This file draws one of the options that a person picked, each as likely as if all had picked equally many.

With at most ``most`` picks each stands in one of so many slots, and the others are empty: a slot is drawn
(Wang, Li, Jha, "Locally differentially private frequent itemset mining", S&P 2018). Of more picks than slots
one is drawn too, as if so many of them, chosen at random, filled the slots.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.coins import CHUNK, Coins, integers, slices
from hubbub.errors import DomainError
from hubbub.probability import Real

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def draw(picked: Bools, most: int, coins: Coins) -> Ints:
    """Return the option in a slot drawn at random for each row, shape (rows,); k for an empty slot.

    picked: shape (rows, k).
    """
    rows, k = picked.shape
    drawn = np.empty(rows, dtype=np.int64)
    for some in slices(rows, max(1, CHUNK // k)):
        drawn[some] = _drawn(picked[some], most, coins)
    return drawn


def _drawn(picked: Bools, most: int, coins: Coins) -> Ints:
    slots = np.maximum(picked.sum(axis=1), most)
    slot = np.empty(len(picked), dtype=np.int64)
    for size in np.unique(slots):
        rows = slots == size
        slot[rows] = integers(int(size), int(rows.sum()), coins)
    is_it = picked & (np.cumsum(picked, axis=1) == slot[:, None] + 1)
    drawn: Ints = np.where(is_it.any(axis=1), is_it.argmax(axis=1), picked.shape[1])
    return drawn


def slots(picked: Bools, most: int) -> dict[int, Real]:
    """Return the chance of each option, and of k for an empty slot, where there is one.

    picked: of one person, shape (k,).
    """
    chosen = np.flatnonzero(picked).tolist()
    size = max(len(chosen), most)
    chances = {option: Real(1) / size for option in chosen}
    return chances if len(chosen) == size else {**chances, picked.size: Real(size - len(chosen)) / size}


def rows_of(values: NDArray[Any], k: int) -> Bools:
    """Return rows of 0 and 1 as they are, refusing what is none.

    Raises DomainError, naming no value.
    """
    rows = np.asarray(values)
    if rows.ndim != 2 or rows.shape[1] != k or rows.dtype.kind not in "biu":
        raise DomainError(f"choices must be rows of {k} integers")
    if rows.size and not (rows.min() >= 0 and rows.max() <= 1):
        raise DomainError("a choice must be 0 or 1")
    return rows.astype(np.bool_)
