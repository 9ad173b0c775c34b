"""This file lists faults in shares, alone and together, and their intervals."""

from tests.mutants.fault import PROMISES, Fault

SHARES = (
    Fault(
        "together: errors added up as if categories were independent",
        "shared/hubbub/frequencies.py",
        (("others * q * (1 - q) + 2 * others * (pq - p * q)", "others * q * (1 - q)"),),
        "statistical/test_together.py",
        "subset_selection",
    ),
    Fault(
        "together: a score interval without its slope",
        "shared/hubbub/together.py",
        (("middle = shares + unit * slope / 2", "middle = shares"),),
        "shared/test_together.py",
    ),
    Fault(
        "shares: wrong variance of a held category",
        "shared/hubbub/frequencies.py",
        (("frequency * (p - q) * (1 - p - q)", "frequency * (p - q) * (p - q)"),),
        PROMISES,
        "optimized_unary",
    ),
    Fault(
        "shares: n - 1 for n",
        "shared/hubbub/frequencies.py",
        (("(self.supports / self.n - q)", "(self.supports / (self.n - 1) - q)"),),
        "shared/test_frequencies.py",
    ),
    Fault(
        "shares: -1 taken for the last category",
        "shared/hubbub/frequencies.py",
        (("indices.min() >= 0 and ", ""),),
        "shared/test_frequencies.py",
    ),
    Fault(
        "intervals: one side for two",
        "shared/hubbub/intervals.py",
        (("inv_cdf((1 + check_level(level, _FURTHEST)) / 2)", "inv_cdf(check_level(level, _FURTHEST))"),),
        "shared/test_frequencies.py",
    ),
    Fault(
        "top: one interval's level for all of them",
        "shared/hubbub/intervals.py",
        (("(1 - check_level(level)) / count", "(1 - check_level(level)) + 0 * count"),),
        "shared/test_intervals.py",
    ),
    Fault(
        "shares: of a few reports an interval about the population that is too narrow",
        "shared/hubbub/chances.py",
        (("ends[is_rare] = _exact(hits[is_rare], n, level)", "pass"),),
        "shared/test_frequencies.py",
        "of_few",
    ),
)
