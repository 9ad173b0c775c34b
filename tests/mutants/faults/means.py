"""This file lists faults in numbers and their means."""

from tests.mutants.fault import PROMISES, Fault

LAPLACE = "shared/hubbub/mechanisms/laplace.py"
GRID = "shared/hubbub/grid.py"

MEANS = (
    Fault(
        "laplace: scale 1.05 times too small",
        LAPLACE,
        (
            (
                "DiscreteLaplace(self.epsilon.exact / steps)",
                "DiscreteLaplace(self.epsilon.exact / steps * 21 / 20)",
            ),
        ),
        "shared/test_mechanisms_laplace.py",
    ),
    Fault(
        "laplace: values not clamped",
        GRID,
        (
            ("(np.minimum(np.maximum(numbers, low), high) - low)", "(numbers - low)"),
            ("np.minimum(np.maximum(points, 0), self.steps)", "points"),
        ),
        "shared/test_mechanisms_laplace.py",
    ),
    Fault(
        "laplace: clamped after the noise",
        LAPLACE,
        (
            (
                "np.minimum(np.maximum(reports, -self.margin), self.steps + self.margin)",
                "np.minimum(np.maximum(reports, 0), self.steps)",
            ),
        ),
        "shared/test_mechanisms_laplace.py",
    ),
    Fault(
        "laplace: not-a-number taken for 0",
        GRID,
        (("numbers = np.asarray(values)", "numbers = np.nan_to_num(np.asarray(values))"),),
        "shared/test_mechanisms_refusals.py",
    ),
    Fault(
        "laplace: what saturates forgotten at the ends",
        LAPLACE,
        (("outermost = int(report) in", "outermost = report is None and int(report) in"),),
        PROMISES,
        "laplace",
    ),
    Fault(
        "numbers: the noise's variance not subtracted",
        "shared/hubbub/moments.py",
        (("self.n * self.mean, self.spread - self.noise.variance]", "self.n * self.mean, self.spread]"),),
        "shared/test_moments.py",
    ),
    Fault(
        "numbers: wrong error of a variance",
        "shared/hubbub/moments.py",
        (("4 * v * own / (n - 1)", "2 * v * own / (n - 1)"),),
        "shared/test_moments.py",
    ),
    Fault(
        "numbers: the errors about respondents and population swapped",
        "shared/hubbub/moments.py",
        (('"respondents":\n            mean, variance', '"population":\n            mean, variance'),),
        "shared/test_moments.py",
    ),
    Fault(
        "one bit: kept and flipped swapped",
        "shared/hubbub/mechanisms/one_bit_mean.py",
        (("ends ^ bernoulli(self.q", "ends ^ bernoulli(self.p"),),
        PROMISES,
        "one_bit_mean",
    ),
    Fault(
        "one bit: epsilon halved",
        "shared/hubbub/mechanisms/one_bit_mean.py",
        (("Real.exp(self.epsilon.exact)", "Real.exp(self.epsilon.exact / 2)"),),
        PROMISES,
        "one_bit_mean",
    ),
    Fault(
        "piecewise: a window of another width than the best",
        "shared/hubbub/window_error.py",
        (("    return wide\n", "    return wide + 1\n"),),
        "shared/test_means.py",
    ),
    Fault(
        "hybrid: the ways swapped",
        "shared/hubbub/mechanisms/hybrid.py",
        (("chosen = bernoulli(self.share,", "chosen = bernoulli(1 - self.share,"),),
        PROMISES,
        "hybrid",
    ),
    Fault(
        "integer table: drawn from half of the weights",
        "shared/hubbub/mechanisms/integer_table.py",
        (("integers(TOTAL, points.size", "integers(TOTAL // 2, points.size"),),
        PROMISES,
        "integer_table",
    ),
    Fault(
        "integer table: a report that tells too much taken",
        "shared/hubbub/weight_table.py",
        (("<= e * min(column)", "<= 2 * e * min(column)"),),
        "shared/test_weight_table.py",
    ),
    Fault(
        "means: the error of one report fewer",
        "shared/hubbub/outcomes.py",
        (("np.sqrt(variance / self.n)", "np.sqrt(variance / (self.n + 1))"),),
        "shared/test_outcomes.py",
    ),
    Fault(
        "means: the middle of the range taken for its lower end",
        "shared/hubbub/outcomes.py",
        (("(numbers + 1) / 2", "numbers / 2"),),
        "shared/test_means.py",
    ),
    Fault(
        "means: the worst number looked for among points only",
        "shared/hubbub/outcomes.py",
        (("peak = np.clip(slope / (2 * b), start, end)", "peak = end"),),
        "shared/test_outcomes.py",
    ),
)
