"""This file lists faults in coins and noise."""

from tests.mutants.fault import Fault

COINS = (
    Fault(
        "noise: drawn 5 % smaller than stated",
        "shared/hubbub/noise.py",
        (("Real.exp(self.rate)", "Real.exp(self.rate * 20 / 19)"),),
        "shared/test_noise.py",
    ),
    Fault(
        "noise: minus zero not drawn again",
        "shared/hubbub/noise.py",
        (("return noise, negative & (noise == 0)", "return noise, negative & False"),),
        "shared/test_mechanisms_laplace.py",
    ),
    Fault(
        "coins: the same on every call",
        "shared/hubbub/coins.py",
        (
            (
                "words = coins.words(some.stop - some.start)",
                "words = np.random.default_rng(1).integers(0, 256, some.stop - some.start, dtype=np.uint8)",
            ),
        ),
        "shared/test_coins.py",
    ),
    Fault(
        "coins: ties fall tails",
        "shared/hubbub/coins.py",
        (("        if tied.size:", "        if False:"),),
        "shared/test_coins.py",
    ),
    Fault(
        "coins: integers with the bias of a remainder",
        "shared/hubbub/coins.py",
        (("while refused.size:", "while False:"),),
        "shared/test_coins.py",
    ),
    Fault(
        "eight coins: heads and tails swapped",
        "shared/hubbub/eight_coins.py",
        (
            ("tails = width * (1 - bias)", "tails = width * bias"),
            ("tails, width * bias)", "tails, width - tails)"),
        ),
        "shared/test_eight_coins.py",
    ),
    Fault(
        "eight coins: a cell with a bound in it taken for closed",
        "shared/hubbub/eight_coins.py",
        (("searchsorted(starts + width, ", "searchsorted(starts + 1, "),),
        "shared/test_eight_coins.py",
    ),
    Fault(
        "eight coins: 48 digits taken for all",
        "shared/hubbub/eight_coins.py",
        (("if certain == sum(floor <= digits", "if certain <= sum(floor <= digits"),),
        "shared/test_eight_coins.py",
    ),
    Fault(
        "eight coins: one outcome a unit of 2**-48 too likely",
        "shared/hubbub/eight_coins.py",
        (("np.array(ceilings))", "np.array(ceilings) - 2)"), ("np.array(floors))", "np.array(floors) - 2)")),
        "shared/test_eight_coins.py",
    ),
)
