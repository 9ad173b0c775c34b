"""This file sets the square wave's distribution functions against published ways to read the same reports.

The other figures are the mean error of three collections each, read by EM and by EMS. What they call a spike
and a normal is here 30 % of the people at 0.25 and the others normal about 0.6 with standard deviation 0.12.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.tasks import Outcome, Task, rows_of
from hubbub.buckets import cumulative
from hubbub.deconvolution import Deconvolution
from hubbub.mechanisms.square_wave import SquareWave
from hubbub_lab.seeded_coins import seeded_coins

Floats = NDArray[np.float64]

FILE = "distributions.json"
PEOPLE, BUCKETS, RUNS = 100_000, 1024, 12


def tasks() -> list[Task]:
    """Return a task for each population and epsilon."""
    return [
        Task(f"distribution, {row['people']}, epsilon {row['epsilon']}", partial(compare, **row))
        for row in rows_of(FILE)
    ]


def compare(people: str, epsilon: str, ems: float, em: float, runs: int = RUNS) -> Outcome:
    """Compare our mean error of the distribution function with the less of two published ones."""
    mechanism = SquareWave(epsilon, "0", "1", buckets=BUCKETS)
    ours, plain, smoothed = np.mean([errors(mechanism, people, seed) for seed in range(runs)], axis=0)
    return Outcome(
        ours / min(ems, em),
        1.0,
        f"mean error of {runs} collections {ours:.5f}; published EMS {ems:.4f}, EM {em:.4f}; "
        f"of the same reports EMS {smoothed:.5f}, EM {plain:.5f}",
    )


def errors(mechanism: SquareWave, people: str, seed: int) -> tuple[float, float, float]:
    """Collect once, and return the mean error of the distribution function: ours, by EM and by EMS."""
    values = drawn(people, np.random.default_rng(seed))
    truth = np.bincount(mechanism.buckets.index(values), minlength=BUCKETS) / PEOPLE
    tally = mechanism.tally(mechanism.perturb(values, seeded_coins(seed)))
    plain, smoothed = (Deconvolution(mechanism.window, strength) for strength in (0, 1))
    found = (mechanism.estimate(tally).shares, plain.shares(tally.cells), smoothed.shares(tally.cells))
    ours, em, ems = (float(np.abs(cumulative(shares - truth)).mean()) for shares in found)
    return ours, em, ems


def drawn(people: str, generator: np.random.Generator) -> Floats:
    """Draw a population by its name."""
    if people == "beta(5, 2)":
        return generator.beta(5, 2, PEOPLE)
    normal = np.clip(generator.normal(0.6, 0.12, PEOPLE), 0, 1)
    values: Floats = np.where(generator.random(PEOPLE) < 0.3, 0.25, normal)
    return values
