"""This file lists faults in answers that are asked for again and again."""

from tests.mutants.fault import PROMISES, Fault

LONGITUDINAL = (
    Fault(
        "permanent answers: p and q of the second step swapped",
        "shared/hubbub/second_step.py",
        (("return Channel(kept + moved, moved)", "return Channel(moved, kept + moved)"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "permanent answers: q of the second step 1 % off",
        "shared/hubbub/second_step.py",
        (("moved = channel.q - kept * permanent.q", "moved = channel.q - kept * permanent.q * 101 / 100"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "permanent answers: bits flipped with 0.01 more",
        "shared/hubbub/second_step.py",
        (("PackedCoins((self.flip,) * 8)", "PackedCoins((self.flip * 99 / 100 + Real(1) / 100,) * 8)"),),
        "statistical/test_longitudinal.py",
        "l_osue",
    ),
    Fault(
        "permanent answers: the bound of a single report for all",
        "shared/hubbub/second_step.py",
        (("(self.second.q / self.second.p) ** at_least_one(reports)", "(self.second.q / self.second.p)"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "permanent answers: drawn anew for each report",
        "shared/hubbub/mechanisms/l_grr.py",
        (
            (
                "return self.step.report(memos, coins)",
                "return self.step.report(self._memo.perturb(memos, coins), coins)",
            ),
        ),
        "statistical/test_longitudinal.py",
        "l_grr",
    ),
    Fault(
        "permanent answers: another hash for each value",
        "shared/hubbub/mechanisms/loloha.py",
        (("if earlier is None:", "if True:"),),
        "statistical/test_longitudinal.py",
        "loloha",
    ),
    Fault(
        "permanent answers: an average taken for fresh noise in each period",
        "shared/hubbub/longitudinal.py",
        (("(always + (once - always) / periods) / n", "once / periods / n"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "dbitflip: the whole epsilon spent on each of two bits",
        "shared/hubbub/mechanisms/dbitflip.py",
        (("self.epsilon.exact / min(buckets, 2)", "self.epsilon.exact"),),
        PROMISES,
        "dbitflip",
    ),
    Fault(
        "dbitflip: some buckets watched more often than others",
        "shared/hubbub/mechanisms/dbitflip.py",
        (("np.where(is_taken, last, drawn)", "np.where(is_taken, self.k - 1, drawn)"),),
        PROMISES,
        "dbitflip",
    ),
    Fault(
        "watched: taken for as many as were expected",
        "shared/hubbub/watched.py",
        (("self.yes - b * self.watched", "self.yes - b * self.n * part"),),
        "shared/test_watched.py",
    ),
    Fault(
        "watched: the error of a held category a little too small",
        "shared/hubbub/watched.py",
        (("+ 1) / self.part - 1)", "+ 1) / self.part - 1.05)"),),
        "shared/test_watched.py",
    ),
    Fault(
        "watched: the error of several categories that of one",
        "shared/hubbub/watched.py",
        (("(len(rows) - 1) * self.watch.outside", "0 * self.watch.outside"),),
        "shared/test_watched.py",
    ),
    Fault(
        "watched: no share where nobody was watched",
        "shared/hubbub/watched.py",
        (
            (
                "return (self.yes - b * self.watched) /",
                "return np.where(self.watched, self.yes - b * self.watched, math.nan) /",
            ),
        ),
        PROMISES,
        "dbitflip",
    ),
)
