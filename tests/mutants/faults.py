"""This file lists faults that others shipped, as changes to our own source text."""

from dataclasses import dataclass
from pathlib import Path

SHARED = Path(__file__).parents[2] / "shared"

RESPONSE = "mechanisms/randomized_response.py"
OPTIMIZED_UNARY = "mechanisms/optimized_unary.py"
SYMMETRIC_UNARY = "mechanisms/symmetric_unary.py"
UNARY = "unary.py"
LAPLACE = "mechanisms/laplace.py"
GRID = "grid.py"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault to plant.

    what: in words. file: in shared/hubbub. changes: texts that stand there once, and what takes their places.
    tests: what must catch it, as pytest's -k understands it.
    """

    what: str
    file: str
    changes: tuple[tuple[str, str], ...]
    tests: str

    def plant(self, source: str) -> str:
        """Return the source with the fault in it.

        Raises ValueError if a text does not stand there exactly once.
        """
        for old, new in self.changes:
            if source.count(old) != 1:
                raise ValueError(f"{self.what}: {self.file} has {source.count(old)} times: {old}")
            source = source.replace(old, new)
        return source


FAULTS = (
    Fault(
        "randomized response: p and q swapped",
        RESPONSE,
        (("Channel(p=e / (e + (k - 1)), q=1", "Channel(q=e / (e + (k - 1)), p=1"),),
        "randomized_response or mechanisms",
    ),
    Fault(
        "randomized response: epsilon halved",
        RESPONSE,
        (("Real.exp(self.epsilon.exact)", "Real.exp(self.epsilon.exact / 2)"),),
        "randomized_response or mechanisms",
    ),
    Fault(
        "randomized response: the truth told with p + 0.01",
        RESPONSE,
        (
            (
                "bernoulli(self._kept, ",
                "bernoulli(self._kept + int(float(self._kept) < 0.99) / Real(100), ",
            ),
        ),
        "randomized_response or mechanisms",
    ),
    Fault(
        "randomized response: a report of k taken for a category",
        RESPONSE,
        (("(reports < self.k)", "(reports <= self.k)"),),
        "randomized_response or mechanisms",
    ),
    Fault(
        "optimized unary: epsilon forgotten",
        OPTIMIZED_UNARY,
        (("Real.exp(self.epsilon.exact)", "Real.exp(1)"),),
        "optimized_unary or mechanisms",
    ),
    Fault(
        "symmetric unary: epsilon / 2 forgotten",
        SYMMETRIC_UNARY,
        (("self.epsilon.exact / 2", "self.epsilon.exact"),),
        "symmetric_unary",
    ),
    Fault(
        "symmetric unary: p and q swapped",
        SYMMETRIC_UNARY,
        (("Channel(r / (r + 1), 1 / (r + 1))", "Channel(1 / (r + 1), r / (r + 1))"),),
        "symmetric_unary",
    ),
    Fault(
        "unary: others ticked with q + 0.01",
        UNARY,
        (
            (
                "PackedCoins((self.channel.q,) * 8)",
                "PackedCoins(((self.channel.q * 100 + 1) / 100,) * 8)",
            ),
        ),
        "optimized_unary or mechanisms",
    ),
    Fault(
        "unary: the held bit kept more often than stated",
        UNARY,
        (("bernoulli(self.channel.p, rows", "bernoulli(1 - self.channel.q, rows"),),
        "optimized_unary or mechanisms",
    ),
    Fault(
        "unary: the last bit in clear",
        UNARY,
        (
            (
                "            thrown[:, -1] &= 255 >> -self.k % 8\n",
                "            thrown[:, -1] &= 127 >> -self.k % 8\n"
                "            thrown[held[some] == self.k - 1, -1] |= 128 >> -self.k % 8\n",
            ),
        ),
        "optimized_unary or mechanisms",
    ),
    Fault(
        "unary: padding bits unchecked",
        UNARY,
        (("return reports[:, -1] >> (self.k - 1) % 8 < 2", "return reports[:, -1] >= 0"),),
        "optimized_unary or mechanisms",
    ),
    Fault(
        "laplace: scale 1.05 times too small",
        LAPLACE,
        (
            (
                "DiscreteLaplace(self.epsilon.exact / steps)",
                "DiscreteLaplace(self.epsilon.exact / steps * 21 / 20)",
            ),
        ),
        "laplace or mechanisms",
    ),
    Fault(
        "laplace: values not clamped",
        GRID,
        (
            ("(np.minimum(np.maximum(numbers, low), high) - low)", "(numbers - low)"),
            ("np.minimum(np.maximum(points, 0), self.steps)", "points"),
        ),
        "laplace or mechanisms",
    ),
    Fault(
        "laplace: clamped after the noise",
        LAPLACE,
        (
            (
                "np.minimum(np.maximum(reports, -self.margin), self.steps + self.margin)",
                "np.minimum(np.maximum(reports, 0), self.steps)",
            ),
        ),
        "laplace or mechanisms",
    ),
    Fault(
        "laplace: not-a-number taken for 0",
        GRID,
        (("numbers = np.asarray(values)", "numbers = np.nan_to_num(np.asarray(values))"),),
        "laplace or mechanisms",
    ),
    Fault(
        "laplace: what saturates forgotten at the ends",
        LAPLACE,
        (("outermost = int(report) in", "outermost = report is None and int(report) in"),),
        "laplace or mechanisms",
    ),
    Fault(
        "noise: drawn 5 % smaller than stated",
        "noise.py",
        (("Real.exp(self.rate)", "Real.exp(self.rate * 20 / 19)"),),
        "laplace or noise",
    ),
    Fault(
        "noise: minus zero not drawn again",
        "noise.py",
        (("return noise, negative & (noise == 0)", "return noise, negative & False"),),
        "laplace or noise",
    ),
    Fault(
        "coins: the same on every call",
        "coins.py",
        (
            (
                "words = coins.words(some.stop - some.start)",
                "words = np.random.default_rng(1).integers(0, 256, some.stop - some.start, dtype=np.uint8)",
            ),
        ),
        "coins",
    ),
    Fault(
        "coins: ties fall tails",
        "coins.py",
        (("        if tied.size:", "        if False:"),),
        "coins",
    ),
    Fault(
        "coins: integers with the bias of a remainder",
        "coins.py",
        (("while refused.size:", "while False:"),),
        "coins",
    ),
    Fault(
        "eight coins: heads and tails swapped",
        "eight_coins.py",
        (
            ("tails = width * (1 - bias)", "tails = width * bias"),
            ("tails, width * bias)", "tails, width - tails)"),
        ),
        "coins",
    ),
    Fault(
        "eight coins: a cell with a bound in it taken for closed",
        "eight_coins.py",
        (("searchsorted(starts + width, ", "searchsorted(starts + 1, "),),
        "coins",
    ),
    Fault(
        "eight coins: 48 digits taken for all",
        "eight_coins.py",
        (("if certain == sum(floor <= digits", "if certain <= sum(floor <= digits"),),
        "coins",
    ),
    Fault(
        "eight coins: one outcome a unit of 2**-48 too likely",
        "eight_coins.py",
        (("np.array(ceilings))", "np.array(ceilings) - 2)"), ("np.array(floors))", "np.array(floors) - 2)")),
        "coins",
    ),
    Fault(
        "shares: wrong variance of a held category",
        "frequencies.py",
        (("frequency * (p - q) * (1 - p - q)", "frequency * (p - q) * (p - q)"),),
        "randomized_response or optimized_unary",
    ),
    Fault(
        "shares: n - 1 for n",
        "frequencies.py",
        (("(self.supports / self.n - q)", "(self.supports / (self.n - 1) - q)"),),
        "randomized_response or optimized_unary",
    ),
    Fault(
        "shares: -1 taken for the last category",
        "frequencies.py",
        (("indices.min() >= 0 and ", ""),),
        "randomized_response or optimized_unary or frequencies",
    ),
    Fault(
        "numbers: the noise's variance not subtracted",
        "moments.py",
        (("self.n * self.mean, self.spread - self.noise.variance]", "self.n * self.mean, self.spread]"),),
        "laplace or moments",
    ),
    Fault(
        "numbers: wrong error of a variance",
        "moments.py",
        (("4 * v * own / (n - 1)", "2 * v * own / (n - 1)"),),
        "laplace or moments",
    ),
    Fault(
        "numbers: the errors about respondents and population swapped",
        "moments.py",
        (('"respondents":\n            mean, variance', '"population":\n            mean, variance'),),
        "laplace or moments",
    ),
    Fault(
        "intervals: one side for two",
        "intervals.py",
        (("inv_cdf((1 + check_level(level, _FURTHEST)) / 2)", "inv_cdf(check_level(level, _FURTHEST))"),),
        "intervals or coverage or promises",
    ),
)
