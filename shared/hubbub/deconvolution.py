"""This file finds the distribution that explains reports sent through a window: likely, smooth, with spikes.

Expectation maximization (EM) moves the shares of points to the most likely ones; smoothing them each time
(EMS) keeps noise out: Li, Wang, Lopuhaa-Zwakenberg, Skoric, Li, "Estimating numerical distributions under
local differential privacy", SIGMOD 2020. But what many people hold exactly, smoothing wears down, so ours is
the sum of a smooth part and of spikes. A point becomes one if that adds more to the log-likelihood than its
description takes, log(points) for its place and log(n) / 2 for its share (Rissanen, "Modeling by shortest
data description", Automatica 1978). Steps are lengthened by SQUAREM (Varadhan, Roland, "Simple and globally
convergent methods for accelerating the convergence of any EM algorithm", Scandinavian Journal of Statistics
2008), which reaches the same shares in a tenth of the steps.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hubbub.buckets import cumulative
from hubbub.estimate import Floats
from hubbub.windows import Window

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_MOST_SPIKES = 32
_MOST_ROUNDS = 500
_STILL = 1e-3  # a round that moves no share below a point by more, in units of 1 / sqrt(n), is the last
_STRENGTHS = (0, 1, 16)  # tried for 1024 points
_SHY, _LEAST = 0.1, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Deconvolution:
    """Finds shares of a window's points from counts of its reports.

    strength: how often the smooth part is smoothed in each step, or how far for a fraction; 0 is EM, 1 EMS.
    spikes: the points that are not smoothed, shape (inputs,).

    >>> from hubbub.probability import Real
    >>> plain = Deconvolution(Window(inputs=4, width=2, e=Real(1000)), strength=0)
    >>> plain.shares(np.array([0, 0, 500, 500, 0])).round(2).tolist()
    [0.0, 0.0, 1.0, 0.0]
    """

    window: Window
    strength: float
    spikes: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def __post_init__(self) -> None:
        if not self.spikes.size:
            object.__setattr__(self, "spikes", np.zeros(self.window.inputs, dtype=np.bool_))

    def shares(self, counts: Ints) -> Floats:
        """Return the shares of the points, (..., outputs) -> (..., inputs); several counts at once."""
        parts = self._start * np.ones((*counts.shape[:-1], 1, 1))
        room = _STILL / np.sqrt(counts.sum(axis=-1))
        for _ in range(_MOST_ROUNDS):
            start, once = parts, self._step(counts, parts)
            twice = self._step(counts, once)
            moved = np.abs(np.cumsum((twice - once).sum(axis=-2), axis=-1)).max(axis=-1)
            parts = twice  # where it stops: a leap may land badly, and the steps after it make up for that
            if (moved < room).all():
                break
            parts = self._step(counts, _leap(start, once, twice))
        shares: Floats = parts.sum(axis=-2)
        return shares

    def log_likelihood(self, counts: Ints, shares: Floats) -> float:
        """Return the log of the chance of the reports, if the points have these shares."""
        return float((counts * np.log(self._chances(shares))).sum())

    def with_spikes(self, counts: Ints) -> "Deconvolution":
        """Add the points that are worth being spikes, one after the other, where there is smoothing."""
        n, points, best = int(counts.sum()), self.window.inputs, self
        price, shares = math.log(points) + math.log(n) / 2, self.shares(counts)
        for _ in range(_MOST_SPIKES if self.strength else 0):
            spikes = best.spikes.copy()
            spikes[np.where(spikes, 0, self._pull(counts, shares)).argmax()] = True
            candidate = Deconvolution(self.window, self.strength, spikes)
            better = candidate.shares(counts)
            if self.log_likelihood(counts, better) - self.log_likelihood(counts, shares) < price:
                break
            best, shares = candidate, better
        return best

    def _chances(self, shares: Floats) -> Floats:
        """Return how likely each report is, (..., inputs) -> (..., outputs): sums over a moving window."""
        sums, reports = cumulative(shares), np.arange(self.window.outputs) + 1
        first, last = np.maximum(reports - self.window.width, 0), np.minimum(reports, self.window.inputs)
        p, q = float(self.window.p), float(self.window.q)
        chances: Floats = q * sums[..., -1:] + (p - q) * (sums[..., last] - sums[..., first])
        return chances

    def _pull(self, counts: Ints, shares: Floats) -> Floats:
        """Return by what factor a step of EM changes each share, (..., outputs) -> (..., inputs)."""
        sums, width = cumulative(counts / self._chances(shares)), self.window.width
        p, q = float(self.window.p), float(self.window.q)
        seen = q * sums[..., -1:] + (p - q) * (sums[..., width:] - sums[..., :-width])
        pull: Floats = seen / counts.sum(axis=-1, keepdims=True)
        return pull

    @property
    def _start(self) -> Floats:
        """The spikes and the smooth part, shape (2, inputs): each spike as high as all the rest together."""
        smooth = np.full(self.window.inputs, 1 / self.window.inputs)
        parts = np.stack([self.spikes.astype(float), smooth])
        start: Floats = parts / parts.sum()
        return start

    def _step(self, counts: Ints, parts: Floats) -> Floats:
        """Return the next parts, shape (..., 2, inputs)."""
        moved: Floats = parts * self._pull(counts, parts.sum(axis=-2))[..., None, :]
        passes = math.ceil(self.strength)
        for _ in range(passes):
            moved[..., 1, :] = _smoothed(moved[..., 1, :], self.strength / passes)
        moved /= moved.sum(axis=(-2, -1), keepdims=True)
        return moved


def explain(window: Window, counts: Ints, half: Ints) -> Deconvolution:
    """Choose how much to smooth: what makes each half of the reports most likely, judged by the other one.

    half: counts of a random half of the reports; where either is empty, the most smoothing is chosen.
    """
    halves, unit = np.stack([half, counts - half]), (window.inputs / 1024) ** 2
    tried = [Deconvolution(window, strength * unit).with_spikes(counts) for strength in _STRENGTHS]
    if not halves.any(axis=1).all():
        return tried[-1]
    return max(tried, key=lambda each: each.log_likelihood(halves[::-1], each.shares(halves)))


def _leap(parts: Floats, once: Floats, twice: Floats) -> Floats:
    """Go on the way that two steps took, as far as they let hope, keeping shares positive."""
    way, bend = once - parts, twice - 2 * once + parts
    weights = 1 / np.maximum(twice, _LEAST)
    far, bent = ((move**2 * weights).sum(axis=(-2, -1), keepdims=True) for move in (way, bend))
    length = np.maximum(1, np.sqrt(far / np.maximum(bent, _LEAST**2)))
    leap = parts + 2 * length * way + length**2 * bend
    kept: Floats = np.where(leap > 0, leap, _SHY * twice)
    kept /= kept.sum(axis=(-2, -1), keepdims=True)
    return kept


def _smoothed(shares: Floats, weight: float) -> Floats:
    """Move shares towards means with their neighbours, weighted 1 : 2 : 1; an end is its own neighbour."""
    ends = np.concatenate([shares[..., :1], shares, shares[..., -1:]], axis=-1)
    mean: Floats = (ends[..., :-2] + 2 * shares + ends[..., 2:]) / 4
    return shares + weight * (mean - shares)
