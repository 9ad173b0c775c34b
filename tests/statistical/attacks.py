"""This file sends fake reports as an attacker would, who wants to push targets up as far as it goes.

Maximal gain: Cao, Jia, Gong, "Data poisoning attacks to local differential privacy protocols", USENIX
Security 2021; padded so that each fake has as many ticks as an honest report.
"""

from typing import Any

import numpy as np

from hubbub.mechanism import Reports
from hubbub.mechanisms.laplace import Laplace
from hubbub_lab.seeded_coins import seeded_coins

_TRIED = 1_000  # reports from which the best for an attacker is taken


def ticked(mechanism: Any, fakes: int, targets: int, *, is_padded: bool, seed: int = 1) -> Reports:
    """Return rows of ticks of the first categories, padded at random or not."""
    random, k = np.random.default_rng(seed), mechanism.k
    bits = np.zeros((fakes, k), dtype=np.uint8)
    bits[:, :targets] = 1
    p, q = float(mechanism.channel.p), float(mechanism.channel.q)
    ticks = random.binomial(1, p, fakes) + random.binomial(k - 1, q, fakes)
    for row, many in zip(bits, ticks * is_padded, strict=True):
        row[targets + random.permutation(k - targets)[: max(0, many - targets)]] = 1
    return np.packbits(bits, axis=1, bitorder="little")


def chosen(mechanism: Any, fakes: int, targets: int, *, seed: int = 1) -> Reports:
    """Return reports that say the most of the first rows, of many that the mechanism draws."""
    if isinstance(mechanism, Laplace):
        return np.full(fakes, mechanism.steps + mechanism.margin, dtype=mechanism.layout)
    random = np.random.default_rng(seed)
    most = getattr(mechanism, "k", 11) - 1
    tried = mechanism.perturb(random.integers(0, most + 1, _TRIED), seeded_coins(seed))
    said = [mechanism.estimate(mechanism.tally(report[None])).values for report in tried]
    gains = np.array([values[:targets].sum() for values in said])
    best = np.flatnonzero(gains > gains.max() - 1e-9)
    return tried[random.choice(best, fakes)]
