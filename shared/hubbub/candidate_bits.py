"""This file tells shares of texts from the bits of Bloom filters, by regression on the texts asked for.

In each group of n reports, of which C have a bit, (C / n - q) / (p - q) is the share of people whose text has
that bit. That is a sum over texts, so least squares tells the shares apart, unbiased if all texts that people
hold are asked for. One more unknown stands for the rest of the texts, spread evenly over the bits: then what
is left out does no harm on average over the choice of the hashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub.errors import TooFewReportsError
from hubbub.estimate import About, Floats, Quantity
from hubbub.frequencies import Channel, Ints
from hubbub.intervals import normal_quantile
from hubbub.least_squares import LeastSquares


@dataclass(frozen=True, slots=True, eq=False)
class CandidateShares:
    """The shares of texts.

    values: unbiased. non_negative: the likest ones that are not below 0, which are not. variances: about the
    respondents. All of shape (texts,).
    """

    n: int
    rows: tuple[Quantity, ...]
    values: Floats
    non_negative: Floats
    variances: Floats

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
    p, q = float(channel.p), float(channel.q)
    design = np.zeros((counts.size, len(names) + 1))
    for column, own in enumerate(places):
        design[own, column] = 1
    design[:, -1] = design[:, :-1].mean() if names else 1  # the rest
    seen, reports = counts.reshape(-1), np.repeat(sizes, counts.shape[1])
    equations = LeastSquares(design.T * reports @ design, design.T @ ((seen - q * reports) / (p - q)))
    inverse = equations.inverse()
    spread = seen * (1 - seen / np.maximum(reports, 1)) / (p - q) ** 2  # of people over groups, and of noise
    return CandidateShares(
        n,
        tuple(Quantity(name, "share") for name in names),
        (inverse @ equations.moment)[:-1],
        equations.non_negative()[:-1],
        ((inverse @ design.T) ** 2 @ spread)[:-1],
    )
