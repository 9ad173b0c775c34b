"""This file estimates shares of texts from public hashes: how many reports support what a text hashes to.

Everybody draws one of K public hashes into m symbols; a report supports its holder's symbol with probability
p, another symbol with q. Someone else's text has the same symbol with probability 1/m, over the choice of
the hashes, so that q + (p - q) / m is the chance to support a text that is not held. But all share the K
hashes: what other texts, of shares f, happen to have in common with one adds the variance
sum f^2 / (K (m - 1)), which no number of reports removes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import Channel, Ints, Shares
from hubbub.intervals import normal_quantile
from hubbub.probability import Real
from hubbub.public_hashes import Rows, symbols
from hubbub.reach import Reach

_AT_ONCE = 1 << 20  # symbols worked on at a time


@dataclass(frozen=True, slots=True, eq=False)
class TextShares:
    """The shares of texts that were asked for.

    collisions: the variance that other people's texts add, shape (texts,).
    """

    rows: tuple[Quantity, ...]
    shares: Shares
    collisions: Floats

    @property
    def n(self) -> int:
        """How many reports it is made of."""
        return self.shares.n

    @property
    def values(self) -> Floats:
        """The shares, unbiased over the choice of the hashes, shape (texts,)."""
        return self.shares.values

    def reach(self) -> Reach:
        """Return what one report says of each text, which may support them all."""
        return self.shares.reach()

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (texts,)."""
        return np.sqrt(self.shares.stderr(about) ** 2 + self.collisions)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (texts, 2): those of shares, widened by the collisions."""
        ends = self.shares.interval(level, about)
        half = np.sqrt((ends[:, 1] - ends[:, 0]) ** 2 / 4 + normal_quantile(level) ** 2 * self.collisions)
        widened: Floats = ends.mean(axis=1)[:, None] + np.outer(half, [-1, 1])
        return widened


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """What all reports say of every symbol of every hash.

    sizes: how many reports used each hash, shape (K,). supports: how many of those support each symbol, shape
    (K, m). p, q: the chance that the symbol held / another one is supported. family: of the hashes.
    """

    sizes: Ints
    supports: Ints
    p: Real
    q: Real
    family: int = 0

    def shares(self, names: Sequence[str], texts: Rows) -> TextShares:
        """Return the shares of some texts, by whatever names."""
        rows = tuple(Quantity(name, "share") for name in names)
        n = int(self.sizes.sum())
        found = Shares(n, self.supporters(texts), channel(self.p, self.q, self.supports.shape[1]))
        hashes, size = self.supports.shape
        others = np.maximum(self.concentration() - np.clip(found.values, 0, 1) ** 2, 0)
        return TextShares(rows, found, others / (hashes * (size - 1)))

    def supporters(self, texts: Rows) -> Ints:
        """Return how many reports support each text, shape (texts,)."""
        hashes, size = self.supports.shape
        starts, flat = np.arange(hashes) * size, self.supports.reshape(-1)
        counts = np.empty(len(texts), dtype=np.int64)
        at_once = max(1, _AT_ONCE // hashes)
        for start in range(0, len(texts), at_once):
            places = symbols(texts[start : start + at_once], hashes, size, family=self.family) + starts
            counts[start : start + at_once] = flat[places].sum(axis=1)
        return counts

    def concentration(self) -> float:
        """Estimate the sum of all squared shares, known texts or not, from pairs of reports with one hash.

        Of a pair with the symbols a and b, sum (x - q) (y - q) over all symbols, x and y being 1 where the
        reports support one, has the expectation (p - q)^2 if a = b and 0 if not.
        """
        p, q, size = float(self.p), float(self.q), self.supports.shape[1]
        sizes, supports = self.sizes.astype(np.float64), self.supports.astype(np.float64)
        pairs = float(sizes @ (sizes - 1))
        if pairs == 0:
            return 1.0
        squares = float(((supports - q * sizes[:, None]) ** 2).sum())
        alone = (1 - 2 * q) * float(supports.sum()) + size * q * q * float(sizes.sum())  # with themselves
        equal = (squares - alone) / ((p - q) ** 2 * pairs)
        return float(np.clip((equal - 1 / size) / (1 - 1 / size), 0, 1))


def channel(p: Real, q: Real, size: int) -> Channel:
    """Return the chances that a text which is held / not held is supported, over the choice of a hash."""
    return Channel(p, q + (p - q) / size)
