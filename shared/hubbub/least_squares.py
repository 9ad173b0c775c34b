"""This file solves linear equations by least squares: plainly, which is unbiased, or with no number below 0.

The second is the active set method of Lawson, Hanson, "Solving least squares problems", 1974, chapter 23, on
the normal equations (Bro, de Jong, "A fast non-negativity-constrained least squares algorithm", Journal of
Chemometrics 1997).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import DomainError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquares:
    """Unknowns x that make design x as near to what was seen as can be.

    gram: design^T design, shape (unknowns, unknowns). moment: design^T seen, shape (unknowns,).
    """

    gram: Floats
    moment: Floats

    def inverse(self) -> Floats:
        """Return the inverse of the gram matrix, with which the solution is linear in what was seen.

        Raises DomainError if the equations do not tell the unknowns apart.
        """
        if np.linalg.matrix_rank(self.gram, hermitian=True) < len(self.gram):
            raise DomainError("what was asked for can't be told apart by these reports; ask for less")
        return np.asarray(np.linalg.inv(self.gram), dtype=np.float64)

    def non_negative(self) -> Floats:
        """Return the solution without a negative number.

        >>> LeastSquares(np.eye(2), np.array([0.5, -0.25])).non_negative().tolist()
        [0.5, 0.0]
        """
        size = len(self.moment)
        solution, free = np.zeros(size), np.zeros(size, dtype=np.bool_)
        least = 1e-10 * np.abs(self.moment).max(initial=0)
        for _ in range(3 * size):
            slope = np.where(free, -np.inf, self.moment - self.gram @ solution)
            if not size or slope.max() <= least:
                break
            free[slope.argmax()] = True
            solution = self._within(solution, free)
        return solution

    def _within(self, before: Floats, free: NDArray[np.bool_]) -> Floats:
        """Go from a solution towards the best of the free unknowns; fix those that reach 0 on the way."""
        while True:
            best = np.zeros(len(before))
            best[free] = np.linalg.solve(self.gram[np.ix_(free, free)], self.moment[free])
            low = free & (best < 0)
            if not low.any():
                return best
            steps = before[low] / (before[low] - best[low])
            before = np.asarray(before + steps.min() * (best - before), dtype=np.float64)
            free[free & (before <= 1e-14 * np.abs(before).max())] = False
