"""This file holds the Hadamard count-mean sketch: one bit about one public hash of a text.

Apple's Differential Privacy Team, "Learning with privacy at scale", Apple Machine Learning Journal 2017.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hubbub import numbered
from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.estimate import Quantity
from hubbub.frequencies import Ints
from hubbub.laws import Law, counted, evenly
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.public_hashes import check_sketch, chosen_symbols, rows_of_bytes, rows_of_texts, symbols
from hubbub.sketch import Sketch, TextShares, channel
from hubbub.tally import Tally
from hubbub.texts import check_length
from hubbub.walsh_hadamard import walsh_hadamard

_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class HadamardSketch:
    """A text of at most ``length`` bytes.

    A report is a number, little-endian: 2 (j width + l) + b of hash j, row l of the Hadamard matrix of order
    ``width``, both drawn evenly, and a bit b: whether the entry in row l and the text's column is +1, told
    truly with probability p = e^epsilon / (e^epsilon + 1). The column is the text's symbol in hash j.

    >>> float(HadamardSketch("1.0", 16).p)
    0.7310585786300049
    """

    kind: ClassVar[str] = "hadamard_sketch"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    length: int
    hashes: int
    width: int
    p: Real = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, length: int, hashes: int = 1024, width: int = 1024) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "length", check_length(length))
        check_sketch(hashes, width)
        object.__setattr__(self, "hashes", hashes)
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "p", 1 / (Real.exp(-self.epsilon.exact) + 1))

    @property
    def layout(self) -> "np.dtype[Any]":
        """One number."""
        return numbered.layout(self._count)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """Return none: the rows of an estimate are the texts that are asked for."""
        return ()

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a hash and a row of the matrix, and tell the entry with probability p."""
        texts = rows_of_bytes(values, self.length)
        reports = np.empty(len(texts), dtype=self.layout)
        for some in slices(len(texts), _ROWS):
            size = some.stop - some.start
            which = integers(self.hashes, size, coins).astype(np.int64)
            row = integers(self.width, size, coins).astype(np.int64)
            column = chosen_symbols(texts[some], which, self.hashes, self.width)
            told = _is_positive(row, column) == bernoulli(self.p, size, coins)
            reports[some] = 2 * (which * self.width + row) + told
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are such numbers."""
        return numbered.check(reports, self._count)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each number."""
        return numbered.tally(reports, self._count)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the hashes and rows, drawn evenly, and of the bits told of each."""
        no, yes = tally.cells.reshape(-1, 2).T
        lie, truth = float(1 - self.p), float(self.p)
        return [
            evenly("reports with question {}", no + yes, tally.n),
            counted("reports that affirm question {}", yes, no + yes, lie, truth),
        ]

    def estimate(self, tally: Tally, *, candidates: Sequence[str] = ()) -> TextShares:
        """Return the share of each text that is asked for.

        Raises DomainError for one that nobody can hold.
        """
        texts = rows_of_texts(candidates, self.length)
        counts = tally.cells.reshape(self.hashes, self.width, 2)
        sizes: Ints = counts.sum(axis=(1, 2))
        agreements = (sizes[:, None] + walsh_hadamard(counts[:, :, 1] - counts[:, :, 0])) // 2
        return Sketch(sizes, agreements, self.p, Real(1) / 2).shares(candidates, texts)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports, but for the collisions of hashes."""
        return channel(self.p, Real(1) / 2, self.width).stderr(n, frequency)

    def loss(self) -> Loss:
        """Enclose log(p / (1 - p)): two texts may have different entries in a row."""
        return Loss(*Real.log(self.p / (1 - self.p)).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return nothing: texts are not numbered."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return each text's symbol in every hash, shape (n, hashes)."""
        return symbols(rows_of_bytes(values, self.length), self.hashes, self.width)

    def outputs(self) -> Reports:
        """Return every report.

        Raises DomainError if they are over 2**20.
        """
        return numbered.every(self._count)

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return p or 1 - p, evenly over hashes and rows."""
        rest, told = divmod(int(report), 2)
        which, row = divmod(rest, self.width)
        is_true = bool(_is_positive(np.array(row), np.array(held[which]))) == bool(told)
        return (self.p if is_true else 1 - self.p) / (self.hashes * self.width)

    def sentence(self, names: Sequence[str]) -> str:  # noqa: ARG002 - no text is known beforehand
        """Say what is sent of a text."""
        return (
            f"of your words only the answer to a yes or no question is sent, drawn from "
            f"{self.hashes * self.width:,} that chop them up, true with probability {percent(self.p)}"
        )

    @property
    def _count(self) -> int:
        return 2 * self.hashes * self.width


def _is_positive(row: Ints, column: Ints) -> Any:
    return np.bitwise_count(row & column) % 2 == 0
