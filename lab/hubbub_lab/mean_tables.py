"""This file makes the tables of ``hubbub.mechanisms.integer_table``: python -m hubbub_lab.mean_tables FOLDER.

Reports stand for numbers y, and points x of [-1, 1] send them with chances P. Of a report none is below m and
none above e^epsilon m; those of a point add up to 1 and have the mean x; and E[y^2 | x] - x^2 is at most V,
at points and between. The least V is found as a linear programme, and the solution rounded to whole numbers
that keep every equation exactly. It needs scipy, and ``ruff format`` lays its files out.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from hubbub.errors import DomainError
from hubbub.weight_table import TOTAL, Column, WeightTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EPSILONS = tuple(Fraction(quarters, 4) for quarters in range(1, 33))
MARGIN = 1e-6  # by which epsilon is undercut, so that there is room for rounding
BETWEEN = np.arange(5) / 5  # where between two points V is kept to
REACH = 1.4  # times that of a one-bit report: no solution has numbers as large
FINENESS = 52  # numbers up to that reach, about
NEGLIGIBLE = 1e-11  # the chance of a report that is left out
CLOSE = 1e-7  # to the lowest or highest chance of a report: taken for it
MOST_TRIED = 12  # weights to repair a row by


def main(folder: str) -> None:
    """Write a module for each epsilon."""
    for epsilon in EPSILONS:
        unit, columns = solved(epsilon, steps=8 * min(5, math.ceil(epsilon)))
        name = f"epsilon_{int(100 * epsilon):03}"
        Path(folder, f"{name}.py").write_text(module(epsilon, unit, columns), "utf-8")
        print(name, file=sys.stderr)


def module(epsilon: Fraction, unit: int, columns: list[Column]) -> str:
    """Write a table as a module."""
    rows = "\n".join(f"    {column}," for column in columns)
    return (
        f'"""This file holds the integer table for epsilon {float(epsilon):g}, edition 1, '
        'as hubbub_lab.mean_tables made it."""\n\n'
        f"UNIT = {unit}\nCOLUMNS = (\n{rows}\n)\n".replace("'", '"')
    )


def solved(epsilon: Fraction, steps: int) -> tuple[int, list[Column]]:
    """Return the unit and the columns of the best table, checked."""
    half, e = steps // 2, math.exp(epsilon - MARGIN)
    reach = (e + 1) / (e - 1)
    unit = half * max(1, round(FINENESS / reach / half))
    numbers = np.arange(-round(REACH * reach * unit), round(REACH * reach * unit) + 1)
    chances = _best(e, np.linspace(-1, 1, steps + 1), numbers / unit)
    kept = chances.max(axis=0) > NEGLIGIBLE
    columns = list(_columns(numbers[kept], _whole(e, unit, numbers[kept], chances[:, kept])))
    WeightTable.of_columns(epsilon, unit, columns)  # raises if it breaks a promise
    return unit, columns


def _best(e: float, x: Floats, y: Floats) -> Floats:
    """Solve the programme for the points up to the middle, the others being their mirror images.

    The unknowns are P by point and report, m by report up to the middle, and V.
    """
    points, outputs = (x.size + 1) // 2, y.size
    least = outputs // 2 + 1
    each, middle = np.eye(points), np.eye(points)[-1:]
    mirrored = np.minimum(np.arange(outputs), np.arange(outputs)[::-1])
    floors = sparse.kron(np.ones((points, 1)), np.eye(least)[mirrored])
    chances, squares = sparse.eye(points * outputs), sparse.kron(each, y**2)
    mixes = np.concatenate([*[(1 - part) * each[:-1] + part * each[1:] for part in BETWEEN], middle])
    at_most = sparse.bmat(
        [
            [-chances, floors, None],
            [chances, -e * floors, None],
            [sparse.csr_matrix(mixes) @ squares, None, -np.ones((len(mixes), 1))],
        ]
    )
    symmetry = sparse.kron(middle, np.eye(outputs) - np.eye(outputs)[::-1])
    equal = sparse.vstack([sparse.kron(each, np.ones(outputs)), sparse.kron(each, y), symmetry])
    solution = linprog(
        np.append(np.zeros(at_most.shape[1] - 1), 1),
        A_ub=at_most,
        b_ub=np.concatenate([np.zeros(2 * points * outputs), (mixes @ x[:points]) ** 2]),
        A_eq=sparse.hstack([equal, sparse.csr_matrix((equal.shape[0], least + 1))]),
        b_eq=np.concatenate([np.ones(points), x[:points], np.zeros(outputs)]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10},
    )
    if not solution.success:
        raise DomainError(f"the programme was not solved: {solution.message}")
    found: Floats = solution.x[: points * outputs].reshape(points, outputs)
    return found


def _whole(e: float, unit: int, numbers: Ints, chances: Floats) -> Ints:
    """Round chances to weights that add up to TOTAL and have the mean of their point, exactly.

    Chances at a report's lowest or highest stay equal, so that a column is short to write.
    """
    weights = np.rint(chances * TOTAL).astype(np.int64)
    mirrored = np.concatenate([weights, weights[-2::-1, ::-1]])
    high = mirrored.max(axis=0)
    low = np.maximum(mirrored.min(axis=0), np.ceil(high / e).astype(np.int64))
    weights = np.where(
        weights < low * (1 + CLOSE), low, np.where(weights > high * (1 - CLOSE), high, weights)
    )
    steps = len(mirrored) - 1
    for point in range(len(weights) - 1):
        goal = TOTAL * unit * (2 * point - steps) // steps
        weights[point] += _repair(weights[point], numbers, goal)
    middle, half = weights[-1], numbers.size // 2
    if numbers.size % 2:
        middle[half] += TOTAL - middle.sum()
    else:
        middle[[half - 1, half]] += (TOTAL - middle.sum()) // 2
    return np.concatenate([weights, weights[-2::-1, ::-1]])


def _repair(row: Ints, numbers: Ints, goal: int) -> Ints:
    """Return what three weights lack, in proportion the least, for TOTAL as their sum and a mean to match."""
    missing, moment = TOTAL - int(row.sum()), goal - int(row @ numbers)
    largest = np.argsort(row)[-MOST_TRIED:].tolist()
    best, change = math.inf, np.zeros(row.size, dtype=np.int64)
    for (a, b, c), third in product(permutations(largest, 3), range(-3, 4)):
        left = moment - missing * numbers[a] - third * (numbers[c] - numbers[a])
        second, rest = divmod(left, numbers[b] - numbers[a])
        added = np.array([missing - second - third, second, third])
        most = float(np.abs(added / row[[a, b, c]]).max())
        if not rest and most < best:
            best, change = most, np.zeros(row.size, dtype=np.int64)
            change[[a, b, c]] = added
    return change


def _columns(numbers: Ints, weights: Ints) -> Iterator[Column]:
    """Write the reports of the numbers up to 0 down in letters."""
    for number, column in zip(numbers[: (numbers.size + 1) // 2].tolist(), weights.T.tolist(), strict=False):
        (low, _), (high, _) = (Counter(column).most_common(2) * 2)[:2]
        low, high = min(low, high), max(low, high)
        letters = {low: "L", high: "H"}
        others = tuple(weight for weight in column if weight not in letters)
        yield number, low, high, "".join(letters.get(weight, ".") for weight in column), others


if __name__ == "__main__":
    main(*sys.argv[1:])
