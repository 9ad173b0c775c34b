"""This file lists faults in options that are told one at a time."""

from tests.mutants.fault import PROMISES, Fault

RESPONSE = "shared/hubbub/mechanisms/randomized_response.py"
OPTIMIZED_UNARY = "shared/hubbub/mechanisms/optimized_unary.py"
SYMMETRIC_UNARY = "shared/hubbub/mechanisms/symmetric_unary.py"
UNARY = "shared/hubbub/unary.py"
SUBSETS = "shared/hubbub/mechanisms/subset_selection.py"
HADAMARD = "shared/hubbub/mechanisms/hadamard_response.py"

CHOICES = (
    Fault(
        "randomized response: p and q swapped",
        RESPONSE,
        (("Channel(p=e / (e + (k - 1)), q=1", "Channel(q=e / (e + (k - 1)), p=1"),),
        PROMISES,
        "randomized_response",
    ),
    Fault(
        "randomized response: epsilon halved",
        RESPONSE,
        (("Real.exp(self.epsilon.exact)", "Real.exp(self.epsilon.exact / 2)"),),
        PROMISES,
        "randomized_response",
    ),
    Fault(
        "randomized response: the truth told with p + 0.01",
        RESPONSE,
        (
            (
                "bernoulli(self._kept, ",
                "bernoulli(self._kept + int(float(self._kept) < 0.99) / Real(100), ",
            ),
        ),
        PROMISES,
        "randomized_response",
    ),
    Fault(
        "randomized response: a report of k taken for a category",
        RESPONSE,
        (("(reports < self.k)", "(reports <= self.k)"),),
        "shared/test_mechanisms_wire.py",
    ),
    Fault(
        "optimized unary: epsilon forgotten",
        OPTIMIZED_UNARY,
        (("Real.exp(self.epsilon.exact)", "Real.exp(1)"),),
        PROMISES,
        "optimized_unary",
    ),
    Fault(
        "symmetric unary: epsilon / 2 forgotten",
        SYMMETRIC_UNARY,
        (("self.epsilon.exact / 2", "self.epsilon.exact"),),
        PROMISES,
        "symmetric_unary",
    ),
    Fault(
        "symmetric unary: p and q swapped",
        SYMMETRIC_UNARY,
        (("Channel(r / (r + 1), 1 / (r + 1))", "Channel(1 / (r + 1), r / (r + 1))"),),
        PROMISES,
        "symmetric_unary",
    ),
    Fault(
        "unary: others ticked with q + 0.01",
        UNARY,
        (
            (
                "PackedCoins((self.channel.q,) * 8)",
                "PackedCoins(((self.channel.q * 100 + 1) / 100,) * 8)",
            ),
        ),
        "shared/test_mechanisms_unary.py",
    ),
    Fault(
        "unary: the held bit kept more often than stated",
        UNARY,
        (("bernoulli(self.channel.p, rows", "bernoulli(1 - self.channel.q, rows"),),
        "shared/test_mechanisms_unary.py",
    ),
    Fault(
        "unary: the last bit in clear",
        UNARY,
        (
            (
                "            thrown[:, -1] &= 255 >> -self.k % 8\n",
                "            thrown[:, -1] &= 127 >> -self.k % 8\n"
                "            thrown[held[some] == self.k - 1, -1] |= 128 >> -self.k % 8\n",
            ),
        ),
        "shared/test_mechanisms_unary.py",
    ),
    Fault(
        "unary: padding bits unchecked",
        UNARY,
        (("return reports[:, -1] >> (self.k - 1) % 8 < 2", "return reports[:, -1] >= 0"),),
        "shared/test_mechanisms_wire.py",
    ),
    Fault(
        "subset selection: the held category kept with p + 0.01",
        SUBSETS,
        (("bernoulli(self.channel.p, ", "bernoulli(self.channel.p + 1 / Real(100), "),),
        PROMISES,
        "subset_selection",
    ),
    Fault(
        "subset selection: epsilon halved",
        SUBSETS,
        (("Real.exp(self.epsilon.exact)", "Real.exp(self.epsilon.exact / 2)"),),
        PROMISES,
        "subset_selection",
    ),
    Fault(
        "subset selection: one member too many taken for possible",
        SUBSETS,
        (("(sizes == self.omega)", "(sizes >= self.omega)"),),
        "shared/test_frequency_oracles.py",
    ),
    Fault(
        "subset selection: the larger size taken for the better one",
        SUBSETS,
        (("return lower if worse.leading(0) >= 0 else lower + 1", "return lower + 1"),),
        "shared/test_frequency_oracles.py",
    ),
    Fault(
        "subset selection: two at once as if they were independent",
        SUBSETS,
        (("pq=p * Fraction(size - 1, k - 1), qq=qq, size", "pq=p * q, qq=q * q, size"),),
        "statistical/test_together.py",
        "subset_selection",
    ),
    Fault(
        "sets: the others not uniform, low categories likelier",
        "shared/hubbub/subsets.py",
        (("integers(k, drawn.size, coins).astype(np.int64)", "integers(k + 3, drawn.size, coins) % k"),),
        "shared/test_frequency_oracles.py",
    ),
    Fault(
        "sets: room made by the first of the others",
        "shared/hubbub/subsets.py",
        (("integers(size, rows, coins)", "integers(1, rows, coins)"),),
        "shared/test_frequency_oracles.py",
    ),
    Fault(
        "hadamard response: the parity told with q",
        HADAMARD,
        (("bernoulli(1 - self.channel.p, ", "bernoulli(self.channel.q, "),),
        PROMISES,
        "hadamard_response",
    ),
    Fault(
        "hadamard response: epsilon doubled",
        HADAMARD,
        (("Real.exp(self.epsilon.exact)", "Real.exp(2 * self.epsilon.exact)"),),
        PROMISES,
        "hadamard_response",
    ),
    Fault(
        "hadamard response: the row of the next category",
        HADAMARD,
        (("walsh_hadamard(balance[None])[0, : self.k]", "walsh_hadamard(balance[None])[0, 1 : self.k + 1]"),),
        PROMISES,
        "hadamard_response",
    ),
    Fault(
        "hadamard response: few supporters forgotten in a simulation",
        HADAMARD,
        (
            ("are_many = supporters > size", "are_many = supporters >= 0"),
            ("for many in are_many.nonzero()[0]:", "for many in (supporters > size).nonzero()[0]:"),
        ),
        "shared/test_frequency_oracles.py",
    ),
    Fault(
        "unary: no tally of everybody",
        OPTIMIZED_UNARY,
        (("return self.bits.simulate(counts, coins)", "return None"),),
        PROMISES,
        "optimized_unary and everybodys",
    ),
)
