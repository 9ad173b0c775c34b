"""This file does the tasks with diffprivlib, whose discrete Laplace mechanism takes one value at a time."""

import random
from collections.abc import Callable
from typing import Any

from diffprivlib.mechanisms import Geometric

DISTRIBUTION = "diffprivlib"


def perturb_laplace(n: int, steps: int) -> Callable[[], Any]:
    values = random.Random(1).choices(range(steps + 1), k=n)
    mechanism = Geometric(epsilon=1.0, sensitivity=steps)
    return lambda: [mechanism.randomise(value) for value in values]


TASKS = {"perturb laplace": perturb_laplace}
