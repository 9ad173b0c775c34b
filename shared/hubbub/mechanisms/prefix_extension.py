"""This file holds the prefix extending method: find what words many people hold, when nobody can list them.

Wang, Li, Jha, "Locally differentially private heavy hitter identification", IEEE Transactions on Dependable
and Secure Computing 2021. People are split into groups by chance; each group tells of a longer prefix,
through local hashing with a pool of public hashes, and only what extends a frequent prefix is looked for in
the next.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hubbub import numbered
from hubbub.coins import Coins, SimulationCoins, bernoulli, integers, slices
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.estimate import Quantity
from hubbub.frequencies import Ints
from hubbub.laws import Law, counted, evenly
from hubbub.mechanism import Loss, Mask, Reports, Values
from hubbub.parts import Part, Parts
from hubbub.prefixes import Prefixes
from hubbub.probability import Real, percent
from hubbub.public_hashes import Rows, chosen_symbols, rows_of_bytes, rows_of_texts, symbols
from hubbub.sketch import Sketch, channel
from hubbub.tally import Tally
from hubbub.texts import check_length, text_of

WINNERS = 16  # texts that are found
KEPT = 32  # prefixes that are extended

_MOST_GROUPS = 64
_MOST_SYMBOLS = 1 << 10
_MOST_CELLS = 1 << 18  # of a group: hashes times symbols
_MOST_HASHES = 1 << 29  # to find texts by, which takes about 5 seconds
_CALL = 64  # what a prefix costs beside its hashes, in hashes
_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, init=False)
class PrefixExtension:
    """A text of at most ``length`` bytes, told in prefixes of ``start``, ``start + step`` and so on bits.

    A report is a number, little-endian: (group hashes + j) g + y of a group and a hash, both drawn evenly,
    and a symbol y, that of the group's prefix with probability p = e^epsilon / (e^epsilon + g - 1), another
    one with q = 1 / (e^epsilon + g - 1) each. g is e^epsilon rounded, plus 1, and at most 1024. The last
    group tells of whole texts again: what it says of the texts that the others found is unbiased.

    >>> mechanism = PrefixExtension("1.0", 6)
    >>> mechanism.prefixes.bits, mechanism.g, mechanism.hashes, mechanism.layout.itemsize
    ((13, 20, 27, 34, 41, 48, 48), 4, 4096, 4)
    """

    kind: ClassVar[str] = "prefix_extension"
    exact: ClassVar[bool] = True
    unbiased: ClassVar[bool] = True

    epsilon: Epsilon
    length: int
    start: int
    step: int
    pool: int
    prefixes: Prefixes = field(init=False, repr=False, compare=False)
    g: int = field(init=False, repr=False, compare=False)
    hashes: int = field(init=False, repr=False, compare=False)
    p: Real = field(init=False, repr=False, compare=False)
    q: Real = field(init=False, repr=False, compare=False)

    def __init__(
        self, epsilon: EpsilonLike, length: int, start: int = 13, step: int = 7, pool: int = 4096
    ) -> None:
        object.__setattr__(self, "epsilon", Epsilon.parse(epsilon))
        object.__setattr__(self, "length", check_length(length))
        for name, given, most in (("start", start, 16), ("step", step, 12), ("pool", pool, 65_536)):
            if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
                raise DomainError(f"{name} must be an integer from 1 to {most}, got {given}")
            object.__setattr__(self, name, given)
        object.__setattr__(self, "prefixes", Prefixes(length, start, step))
        if len(self.prefixes.bits) > _MOST_GROUPS:
            raise DomainError(
                f"people must be split into at most {_MOST_GROUPS} groups, got {len(self.prefixes.bits)}; "
                "take a larger step"
            )
        e = Real.exp(self.epsilon.exact)
        g = min((e.leading(1) + 1) // 2 + 1, _MOST_SYMBOLS)
        object.__setattr__(self, "g", g)
        object.__setattr__(self, "hashes", min(pool, _MOST_CELLS // g))
        most = _MOST_HASHES // self.prefixes.searched(KEPT) - _CALL
        if self.hashes > most:
            raise DomainError(
                f"with a start of {start} and a step of {step} bits, pool must be at most {most:,}, or texts "
                f"would take too long to find, got {self.hashes:,}; take a smaller pool or step"
            )
        object.__setattr__(self, "p", e / (e + (g - 1)))
        object.__setattr__(self, "q", 1 / (e + (g - 1)))

    @property
    def layout(self) -> "np.dtype[Any]":
        """One number."""
        return numbered.layout(self._count)

    @property
    def rows(self) -> tuple[Quantity, ...]:
        """Return none: the rows of an estimate are the texts that are found or asked for."""
        return ()

    def perturb(self, values: Values, coins: Coins) -> Reports:
        """Draw a group and a hash; keep the prefix's symbol with probability p - q, else draw any."""
        texts = rows_of_bytes(values, self.length)
        reports = np.empty(len(texts), dtype=self.layout)
        for some in slices(len(texts), _ROWS):
            size = some.stop - some.start
            group = integers(len(self.prefixes.bits), size, coins)
            which = integers(self.hashes, size, coins).astype(np.int64)
            told = integers(self.g, size, coins).astype(np.int64)
            kept = bernoulli(self.p - self.q, size, coins)
            for one in np.unique(group).tolist():
                of = np.flatnonzero(kept & (group == one))
                cut = self.prefixes.cut(texts[some][of], one)
                told[of] = chosen_symbols(cut, which[of], self.hashes, self.g, family=one)
            reports[some] = (group * np.int64(self.hashes) + which) * self.g + told
        return reports

    def check(self, reports: Reports) -> Mask:
        """Tell which reports are such numbers."""
        return numbered.check(reports, self._count)

    def tally(self, reports: Reports) -> Tally:
        """Count the reports of each number."""
        return numbered.tally(reports, self._count)

    def winners(self, tally: Tally) -> Rows:
        """Find the texts that most people hold, by all groups but the last, shape (16, length) at most."""
        *earlier, whole = [self._sketch(tally, group) for group in range(len(self.prefixes.bits) - 1)]
        kept = self.prefixes.root
        for group, sketch in enumerate(earlier):
            kept = _likeliest(sketch, self.prefixes.extended(kept, group), KEPT)
        return _likeliest(whole, self.prefixes.extended(kept, len(earlier)), WINNERS)

    def last(self, tally: Tally) -> Sketch:
        """Return what the last group says of whole texts."""
        return self._sketch(tally, len(self.prefixes.bits) - 1)

    def laws(self, tally: Tally) -> list[Law]:
        """Return those of the groups and hashes, drawn evenly, and of the symbols of each."""
        counts = tally.cells.reshape(-1, self.g)
        asked = counts.sum(axis=1)
        tries = np.broadcast_to(asked[:, None], counts.shape)
        return [
            evenly("reports with hash {}", asked, tally.n),
            counted("reports with symbol {}", counts, tries, float(self.q), float(self.p)),
        ]

    def estimate(self, tally: Tally, *, candidates: Sequence[str] = ()) -> Parts:
        """Return the shares of the texts that were found, and of those that are asked for.

        They are told by the last group alone. Raises DomainError for a candidate that nobody can hold.
        """
        rows_of_texts(candidates, self.length)  # before the search, which takes long
        found = [text_of(row.tobytes()) for row in self.winners(tally)] if tally.n else []
        names = [*candidates, *(text for text in found if text is not None and text not in candidates)]
        return self.shares(tally, names)

    def shares(self, tally: Tally, names: Sequence[str]) -> Parts:
        """Return the shares of some texts, without a search for others.

        Raises DomainError for a text that nobody can hold.
        """
        rows, sketch = rows_of_texts(names, self.length), self.last(tally)
        quantities = tuple(Quantity(name, "share") for name in names)
        told = sketch.shares(names, rows) if sketch.sizes.any() else None
        return Parts(tally.n, [Part(quantities, told)])

    def stderr(self, n: int, *, frequency: float = 0.0) -> float:
        """Return the standard error of a share to expect of n reports, but for the collisions of hashes."""
        return channel(self.p, self.q, self.g).stderr(n, frequency) * math.sqrt(len(self.prefixes.bits))

    def loss(self) -> Loss:
        """Enclose log(p / q): whatever the group and the hash, two texts may have different symbols."""
        return Loss(*Real.log(self.p / self.q).enclose(100))

    def simulate(self, counts: Ints, coins: SimulationCoins) -> None:
        """Return nothing: texts are not numbered."""

    def inputs(self, values: Values, coins: Coins) -> Ints:  # noqa: ARG002 - nothing is rounded
        """Return the symbol of each text's prefixes in every hash, shape (n, groups * pool)."""
        texts = rows_of_bytes(values, self.length)
        groups = range(len(self.prefixes.bits))
        parts = [
            symbols(self.prefixes.cut(texts, group), self.hashes, self.g, family=group) for group in groups
        ]
        return np.concatenate(parts, axis=1)

    def outputs(self) -> Reports:
        """Return every report.

        Raises DomainError if they are over 2**20.
        """
        return numbered.every(self._count)

    def likelihood(self, held: Any, report: Any) -> Real:
        """Return p or q, evenly over groups and hashes."""
        which, symbol = divmod(int(report), self.g)
        chance = self.p if held[which] == symbol else self.q
        return chance * Real(Fraction(1, len(self.prefixes.bits) * self.hashes))

    def sentence(self, names: Sequence[str]) -> str:  # noqa: ARG002 - no text is known beforehand
        """Say what is sent of a text."""
        return (
            f"only the beginning of your words, or all, goes into one of {self.g:,} boxes, in one of "
            f"{self.hashes * len(self.prefixes.bits):,} ways that is drawn; that box is sent with "
            f"probability {percent(self.p)}, and each other one, untrue, with {percent(self.q)}"
        )

    @property
    def _count(self) -> int:
        return len(self.prefixes.bits) * self.hashes * self.g

    def _sketch(self, tally: Tally, group: int) -> Sketch:
        counts = tally.cells.reshape(-1, self.hashes, self.g)[group]
        return Sketch(counts.sum(axis=1), counts, self.p, self.q, family=group)


def _likeliest(sketch: Sketch, texts: Rows, most: int) -> Rows:
    """Return the texts that most reports support."""
    order = np.argsort(-sketch.supporters(texts), kind="stable")
    return texts[order[:most]]
