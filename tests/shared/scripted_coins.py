"""This file holds coins that fall as they are told, so that a law can be checked by counting, not by luck."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class ScriptedCoins:
    """Give the bytes of a script, then one byte for ever.

    drawn: how many bytes were asked for.
    """

    script: Iterable[int] = ()
    then: int = 0
    drawn: int = 0
    _rest: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self._rest = itertools.chain(self.script, itertools.repeat(self.then))

    def words(self, size: int) -> NDArray[np.uint8]:
        self.drawn += size
        return np.fromiter(self._rest, dtype=np.uint8, count=size)
