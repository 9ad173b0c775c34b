"""This file does the tasks with OpenDP, whose vector form of the discrete Laplace mechanism is exact."""

import random
from collections.abc import Callable
from typing import Any

import opendp.prelude as dp

DISTRIBUTION = "opendp"
dp.enable_features("contrib")


def perturb_laplace(n: int, steps: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(steps + 1), k=n)
    measure = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=float(steps)
    )
    return lambda: measure(values)


TASKS = {"perturb laplace": perturb_laplace}
