"""This file tells shares of texts from the bits of Bloom filters, by regression on the texts asked for.

In each group of n reports, of which C have a bit, (C / n - q) / (p - q) is the share of people whose text has
that bit. That is a sum over texts, so least squares tells the shares apart, unbiased if all texts that people
hold are asked for. One more unknown stands for the rest of the texts, spread evenly over the bits: then what
is left out does no harm on average over the choice of the hashes.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hubbub.errors import DomainError, TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import Channel, Ints
from hubbub.intervals import normal_quantile
from hubbub.least_squares import LeastSquares

_MOST = 1 << 33  # bits times texts times texts: products, of which a processor adds up some 10^10 a second
_AT_ONCE = 1 << 10  # bits worked on at a time


@dataclass(frozen=True, slots=True, eq=False)
class CandidateShares:
    """The shares of texts.

    values: unbiased. variances: about the respondents. Both of shape (texts,). equations: for all texts, and
    the rest.
    """

    n: int
    rows: tuple[Quantity, ...]
    values: Floats
    variances: Floats
    equations: LeastSquares

    @property
    def non_negative(self) -> Floats:
        """The likeliest shares that are not below 0, which are biased, shape (texts,); slow for many."""
        return self.equations.non_negative()[:-1]

    def stderr(self, about: About) -> Floats:
        """Return standard errors, shape (texts,); those about the respondents are a little too large."""
        shares = np.clip(self.values, 0, 1)
        luck = shares * (1 - shares) / self.n if about == "population" else 0
        return np.sqrt(self.variances + luck)

    def interval(self, level: float, about: About) -> Floats:
        """Return confidence intervals, shape (texts, 2)."""
        half = normal_quantile(level) * self.stderr(about)
        ends: Floats = self.values[:, None] + np.outer(half, [-1, 1])
        return ends


def candidate_shares(
    names: Sequence[str], places: Sequence[Ints], sizes: Ints, counts: Ints, channel: Channel
) -> CandidateShares:
    """Return the shares of texts.

    places: each text's bits, by their index in all counts. sizes: how many reports each group has, shape
    (groups,). counts: how many of those have each bit, shape (groups, bits). channel: of one bit.

    Raises DomainError if the texts are too many or too alike to be told apart.
    """
    n = int(sizes.sum())
    if n < 1:
        raise TooFewReportsError(n, 1, "a share")
    most = min(counts.size, math.isqrt(_MOST // counts.size)) - 1
    if len(names) > most:
        raise DomainError(
            f"{len(names):,} texts can't be told apart by {counts.size:,} bits; "
            f"look for at most {most:,} at once"
        )
    p, q = float(channel.p), float(channel.q)
    seen, reports = counts.reshape(-1).astype(np.float64), np.repeat(sizes, counts.shape[1])
    spread = seen * (1 - seen / np.maximum(reports, 1)) / (p - q) ** 2  # of people over groups, and of noise
    unknowns = len(names) + 1
    gram, noise, moment = np.zeros((unknowns, unknowns)), np.zeros((unknowns, unknowns)), np.zeros(unknowns)
    for some, design in _designs(places, counts.size):
        gram += design.T * reports[some] @ design
        noise += design.T * spread[some] @ design
        moment += design.T @ ((seen[some] - q * reports[some]) / (p - q))
    equations = LeastSquares(gram, moment)
    inverse = equations.inverse()
    return CandidateShares(
        n,
        tuple(Quantity(name, "share") for name in names),
        (inverse @ equations.moment)[:-1],
        (inverse @ noise * inverse).sum(axis=1)[:-1],
        equations,
    )


def _designs(places: Sequence[Ints], bits: int) -> Iterator[tuple[slice, Floats]]:
    """Yield which texts have each of some bits, and in the last column the rest, shape (some, texts + 1)."""
    owners = np.repeat(np.arange(len(places)), [len(own) for own in places])
    taken = np.concatenate([*places, np.zeros(0, dtype=np.int64)])
    order = np.argsort(taken, kind="stable")
    taken, owners = taken[order], owners[order]
    for start in range(0, bits, _AT_ONCE):
        some = slice(start, min(start + _AT_ONCE, bits))
        here = slice(*np.searchsorted(taken, [some.start, some.stop]))
        design = np.zeros((some.stop - some.start, len(places) + 1))
        design[taken[here] - start, owners[here]] = 1
        design[:, -1] = taken.size / (bits * len(places)) if places else 1
        yield some, design
