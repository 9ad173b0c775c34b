"""This file holds the square wave, for the whole distribution of a number in a range.

Li, Wang, Lopuhaa-Zwakenberg, Skoric, Li, "Estimating numerical distributions under local differential
privacy", SIGMOD 2020: reports crowd in a window about the number, wide enough to tell most. Theirs is
continuous; here the window moves over whole numbers, so that every probability is exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub import numbered
from hubbub.buckets import Buckets
from hubbub.coins import Coins, SimulationCoins, slices
from hubbub.distribution import Distribution
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import TooFewReportsError
from hubbub.estimate import Quantity
from hubbub.grid import End
from hubbub.laws import Law, counted
from hubbub.mechanism import Ints, Loss, Mask, Reports, Values
from hubbub.probability import Real, percent
from hubbub.tally import Tally
from hubbub.windows import Window

_ROWS = 1 << 14  # worked on at a time


@dataclass(frozen=True, slots=True, init=False)
class SquareWave:
    """A number in [low, high], as one of ``buckets`` equal parts of it.

    A report is an index: one of the L from the bucket's own on with probability p each, or any other with q,
    p = e^epsilon q. One byte up to 256 reports, else two, little-endian.

    >>> mechanism = SquareWave(epsilon="1.0", low="0", high="1", buckets=256)
    >>> mechanism.window.width, mechanism.window.outputs
    (131, 386)
    """

    kind: ClassVar[str] = "square_wave"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = False  # the estimate is the most likely one, smoothed

    epsilon: Epsilon
    buckets: Buckets
    window: Window = field(init=False, repr=False, compare=False)

    def __init__(self, epsilon: EpsilonLike, low: End, high: End, *, buckets: int = 256) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "buckets", Buckets(low, high, buckets))
        e = Real.exp(self.epsilon.exact)
        object.__setattr__(self, "window", Window(buckets, _width(e, self.epsilon.exact, buckets), e))

    @property
    def layout(self) -> "np.dtype[Any]":
        """One index."""
        return numbered.layout(self.window.outputs)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """The mean, quantiles, and the shares of equal bins."""
        return self.buckets.rows

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a report in the window of each value's bucket, or anywhere."""
        reports = np.empty(len(values), dtype=self.layout)
        for some in slices(len(values), _ROWS):
            reports[some] = self.window.draw(self.buckets.index(values[some]), coins)
        return reports

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded at random
        """Return the bucket of each value."""
        return self.buckets.index(values)

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are indices."""
        return numbered.check(reports, self.window.outputs)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each index."""
        return numbered.tally(reports, self.window.outputs)

    def laws(self, tally: Tally) -> list[Law]:
        """Return that of the reports of each index."""
        chances = float(self.window.q), float(self.window.p)
        return [counted("reports that say {}", tally.cells, tally.n, *chances)]

    def estimate(self, tally: Tally) -> Distribution:
        """Return the distribution."""
        return Distribution(self.buckets, self.window, tally.cells)

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:  # noqa: ARG002 - the ends are worst
        """Return the standard error of the mean of n reports, moved and stretched to be unbiased.

        That of the estimate, which knows more about the distribution, is mostly less.
        """
        if n < 1:
            raise TooFewReportsError(n, 1, "a mean")
        inside, outputs, width = float(self.window.inside), self.window.outputs, self.window.width
        far = (self.window.inputs - 1) / 2  # from the middle to an end
        anywhere, near = (outputs**2 - 1) / 12, (width**2 - 1) / 12
        variance = (1 - inside) * anywhere + inside * near + inside * (1 - inside) * far**2
        return math.sqrt(variance / n) / inside * float(self.buckets.range.step)

    def loss(self) -> Loss:
        """Enclose log(p / q)."""
        return Loss(*self.window.loss())

    def simulate(self, counts: Ints, coins: SimulationCoins) -> Tally:
        """Scatter everybody's reports at once."""
        return Tally(int(counts.sum()), self.window.crowd(counts, coins))

    def outputs(self) -> Reports:
        """Return every index."""
        return numbered.every(self.window.outputs)

    def likelihood(self, held: int, report: Any) -> Real:
        """Return p in the window of the bucket held, and q outside."""
        return self.window.likelihood(held, int(report))

    def sentence(self, names: Sequence[str]) -> str:
        """Say how likely a report is to be near the truth."""
        outputs, width = self.window.outputs, self.window.width
        return (
            f"your number, taken as within {names[0]} and {names[1]}, is sent as one of {outputs} numbers: "
            f"as one of the {width} nearest to it with probability {percent(self.window.p * width)}, "
            "else as any other"
        )


def _width(e: Real, epsilon: Fraction, buckets: int) -> int:
    """Return the width that tells most about an even distribution, rounded to a whole number.

    The derivative by the width of the information that a report gives is zero where it says; with it, the
    window covers 2 b of the range as in the paper. It is decided on whole numbers, the same everywhere.
    """
    best = (buckets - 1) * (epsilon * e - e + 1) / (e * (e - 1 - epsilon))
    return max(1, (best + Fraction(1, 2)).leading(0))
