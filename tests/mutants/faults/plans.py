"""This file lists faults in what is planned, charged and combined."""

from tests.mutants.fault import Fault

PLANS = (
    Fault(
        "accounting: the withdrawn bound for any mechanism",
        "shared/hubbub/accounting_shuffle.py",
        (
            (
                "_clones(epsilon, n, total, math.exp(-epsilon))",
                "_clones(epsilon, n, total, 2 / (math.exp(epsilon) + 1))",
            ),
        ),
        "shared/test_accounting.py",
    ),
    Fault(
        "accounting: n - 1 for n",
        "shared/hubbub/accounting.py",
        (("(2 * truths - reports) * epsilon", "(2 * truths - reports + 1) * epsilon"),),
        "shared/test_accounting.py",
    ),
    Fault(
        "accounting: a calendar window taken for a sliding one",
        "shared/hubbub/accounting_windows.py",
        (("(-(-(span - 1) // window) + 1)", "-(-span // window)"),),
        "shared/test_accounting.py",
    ),
    Fault(
        "planner: the shortest report chosen, whatever its error",
        "shared/hubbub/planning.py",
        (("lowest * (1 + _ROUNDING)", "lowest * 100"),),
        "shared/test_candidates.py",
    ),
    Fault(
        "planner: planned for shares of 0",
        "shared/hubbub/candidates.py",
        (("frequency=_even_share(metric.domain)", "frequency=0.0"),),
        "shared/test_candidates.py",
    ),
    Fault(
        "planner: what is not unbiased chosen",
        "shared/hubbub/candidates.py",
        (("if is_fair and not (each.is_unbiased or each.why_not)", "if False"),),
        "shared/test_candidates.py",
    ),
    Fault(
        "combining: weights by error in place of variance",
        "shared/hubbub/combining.py",
        (("mechanism.stderr(1) ** 2 for", "mechanism.stderr(1) for"),),
        "shared/test_combining.py",
    ),
    Fault(
        "combining: errors of independent parts added up",
        "shared/hubbub/combining.py",
        (("if self.are_correlated else", "if not self.are_correlated else"),),
        "shared/test_combining.py",
    ),
    Fault(
        "combining: noise of fresh reports taken to last",
        "shared/hubbub/combining.py",
        (("self._once() * self.is_fresh", "self._once() * 0"),),
        "shared/test_combining.py",
    ),
    Fault(
        "combining: errors of memos levelled out like those of reports",
        "shared/hubbub/combining.py",
        (("once - always, 0", "once, 0"),),
        "shared/test_combining.py",
    ),
)
