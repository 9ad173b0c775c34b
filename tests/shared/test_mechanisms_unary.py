"""This file checks that no bit of a report is left in clear.

False alarms: a comparison by Z once in 10**9.
"""

import numpy as np
import pytest

from hubbub.mechanisms.optimized_unary import OptimizedUnary
from hubbub_lab.seeded_coins import seeded_coins
from tests.statistics import Z


@pytest.mark.parametrize("held", [0, 7, 63])
def test_every_bit_of_a_report_flips_at_its_own_rate(held: int) -> None:
    mechanism, n = OptimizedUnary("1", 64), 100_000
    rates = np.full(64, float(mechanism.channel.q))
    rates[held] = 0.5

    counts = mechanism.tally(mechanism.perturb(np.full(n, held), seeded_coins(43))).cells

    assert (np.abs(counts - n * rates) < Z * np.sqrt(n * rates * (1 - rates))).all()
