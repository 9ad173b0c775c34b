"""This file lists faults in distributions of numbers."""

from tests.mutants.fault import Fault

DISTRIBUTIONS = (
    Fault(
        "square wave: epsilon halved",
        "shared/hubbub/mechanisms/square_wave.py",
        (("e = Real.exp(self.epsilon.exact)", "e = Real.exp(self.epsilon.exact / 2)"),),
        "shared/test_square_wave.py",
    ),
    Fault(
        "square wave: the window kept with 0.01 more",
        "shared/hubbub/windows.py",
        (("bernoulli(self.inside, ", "bernoulli((self.inside * 100 + 1) / 101, "),),
        "shared/test_windows.py",
    ),
    Fault(
        "square wave: one report too many taken",
        "shared/hubbub/mechanisms/square_wave.py",
        (
            (
                "numbered.check(reports, self.window.outputs)",
                "numbered.check(reports, self.window.outputs + 1)",
            ),
        ),
        "shared/test_square_wave.py",
    ),
    Fault(
        "buckets: numbers beyond the range not clamped",
        "shared/hubbub/buckets.py",
        (("np.minimum(positions.astype(np.int64), self.count - 1)", "positions.astype(np.int64)"),),
        "shared/test_square_wave.py",
    ),
    Fault(
        "hierarchical histogram: a level's share of the reports forgotten",
        "shared/hubbub/histogram.py",
        (("(len(nodes) / self.n)", "(1 / self.n)"),),
        "shared/test_hierarchical_histogram.py",
    ),
    Fault(
        "hierarchical histogram: variance as of independent levels",
        "shared/hubbub/hierarchy.py",
        (("levels * squares - means**2", "levels * squares"),),
        "shared/test_hierarchical_histogram.py",
    ),
    Fault(
        "hierarchical histogram: padding unchecked",
        "shared/hubbub/mechanisms/hierarchical_histogram.py",
        (("is_padded & oracle.check", "oracle.check"),),
        "shared/test_hierarchical_histogram.py",
    ),
    Fault(
        "square wave: the error of a part about the respondents for that about the population",
        "shared/hubbub/distribution.py",
        (('found - (true if about == "respondents" else self.values)', "found - true"),),
        "shared/test_square_wave.py",
    ),
)
