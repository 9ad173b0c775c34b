"""This file lists faults that others shipped, as changes to our own source text."""

from dataclasses import dataclass
from pathlib import Path

SHARED = Path(__file__).parents[2] / "shared"

RESPONSE = "mechanisms/randomized_response.py"
OPTIMIZED_UNARY = "mechanisms/optimized_unary.py"
SYMMETRIC_UNARY = "mechanisms/symmetric_unary.py"
UNARY = "unary.py"
SUBSETS = "mechanisms/subset_selection.py"
HADAMARD = "mechanisms/hadamard_response.py"
LAPLACE = "mechanisms/laplace.py"
HASHING = "mechanisms/local_hashing.py"
GEOMETRY = "mechanisms/projective_geometry.py"
GRID = "grid.py"
PROMISES = "statistical/test_promises.py"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault to plant.

    what: in words. file: in shared/hubbub. changes: texts that stand there once, and what takes their places.
    tests: the file in tests/ that must catch it. only: what pytest's -k selects there, by default all.
    """

    what: str
    file: str
    changes: tuple[tuple[str, str], ...]
    tests: str
    only: str = ""

    def plant(self, source: str) -> str:
        """Return the source with the fault in it.

        Raises ValueError if a text does not stand there exactly once.
        """
        for old, new in self.changes:
            if source.count(old) != 1:
                raise ValueError(f"{self.what}: {self.file} has {source.count(old)} times: {old}")
            source = source.replace(old, new)
        return source


FAULTS = (
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
        (("pq=p * Fraction(size - 1, k - 1), qq=qq)", "pq=p * q, qq=q * q)"),),
        "statistical/test_together.py",
        "subset_selection",
    ),
    Fault(
        "sets: the others not uniform, low categories likelier",
        "subsets.py",
        (("integers(k, drawn.size, coins).astype(np.int64)", "integers(k + 3, drawn.size, coins) % k"),),
        "shared/test_frequency_oracles.py",
    ),
    Fault(
        "sets: room made by the first of the others",
        "subsets.py",
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
        "together: errors added up as if categories were independent",
        "frequencies.py",
        (("others * q * (1 - q) + 2 * others * (pq - p * q)", "others * q * (1 - q)"),),
        "statistical/test_together.py",
        "subset_selection",
    ),
    Fault(
        "together: a score interval without its slope",
        "together.py",
        (("middle = shares + unit * slope / 2", "middle = shares"),),
        "shared/test_together.py",
    ),
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
        "local hashing: q 0.01 higher than it is",
        HASHING,
        (("return Channel(p, shared, ", "return Channel(p, shared + Fraction(1, 100), "),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "local hashing: epsilon halved",
        HASHING,
        (("e, shared = Real.exp(epsilon.exact), ", "e, shared = Real.exp(epsilon.exact / 2), "),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "local hashing: the digit told with a chance 0.01 higher",
        HASHING,
        (
            (
                "bernoulli(self._kept, ",
                "bernoulli(self._kept + int(float(self._kept) < 0.99) / Real(100), ",
            ),
        ),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "local hashing: coefficients not uniform",
        HASHING,
        (("integers(self._reports, some", "integers(self._reports - self.g, some"),),
        PROMISES,
        "local_hashing",
    ),
    Fault(
        "local hashing: a report without coefficients forgotten",
        HASHING,
        (("for_all = int(weights[reports == 0].sum())", "for_all = 0"),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "projective geometry: any hyperplane too rarely",
        GEOMETRY,
        (("1 - self._untrue * self.hyperplanes)", "1 - self._untrue * (self.hyperplanes - 1))"),),
        PROMISES,
        "projective_geometry",
    ),
    Fault(
        "projective geometry: the last hyperplane through a point never drawn",
        GEOMETRY,
        (("integers(self._through, rows", "integers(max(1, self._through - 1), rows"),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "lines: as if no third category were on any",
        "frequencies.py",
        (("near, far = in_line or most", "near, far = 0, 0"),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "hyperplanes: sums not reduced before they hit a point",
        "hyperplanes.py",
        (("hit = starts * g + modulo(first, g)", "hit = starts * g + np.minimum(first, g - 1)"),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "noise: drawn 5 % smaller than stated",
        "noise.py",
        (("Real.exp(self.rate)", "Real.exp(self.rate * 20 / 19)"),),
        "shared/test_noise.py",
    ),
    Fault(
        "noise: minus zero not drawn again",
        "noise.py",
        (("return noise, negative & (noise == 0)", "return noise, negative & False"),),
        "shared/test_mechanisms_laplace.py",
    ),
    Fault(
        "coins: the same on every call",
        "coins.py",
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
        "coins.py",
        (("        if tied.size:", "        if False:"),),
        "shared/test_coins.py",
    ),
    Fault(
        "coins: integers with the bias of a remainder",
        "coins.py",
        (("while refused.size:", "while False:"),),
        "shared/test_coins.py",
    ),
    Fault(
        "eight coins: heads and tails swapped",
        "eight_coins.py",
        (
            ("tails = width * (1 - bias)", "tails = width * bias"),
            ("tails, width * bias)", "tails, width - tails)"),
        ),
        "shared/test_eight_coins.py",
    ),
    Fault(
        "eight coins: a cell with a bound in it taken for closed",
        "eight_coins.py",
        (("searchsorted(starts + width, ", "searchsorted(starts + 1, "),),
        "shared/test_eight_coins.py",
    ),
    Fault(
        "eight coins: 48 digits taken for all",
        "eight_coins.py",
        (("if certain == sum(floor <= digits", "if certain <= sum(floor <= digits"),),
        "shared/test_eight_coins.py",
    ),
    Fault(
        "eight coins: one outcome a unit of 2**-48 too likely",
        "eight_coins.py",
        (("np.array(ceilings))", "np.array(ceilings) - 2)"), ("np.array(floors))", "np.array(floors) - 2)")),
        "shared/test_eight_coins.py",
    ),
    Fault(
        "shares: wrong variance of a held category",
        "frequencies.py",
        (("frequency * (p - q) * (1 - p - q)", "frequency * (p - q) * (p - q)"),),
        PROMISES,
        "optimized_unary",
    ),
    Fault(
        "shares: n - 1 for n",
        "frequencies.py",
        (("(self.supports / self.n - q)", "(self.supports / (self.n - 1) - q)"),),
        "shared/test_frequencies.py",
    ),
    Fault(
        "shares: -1 taken for the last category",
        "frequencies.py",
        (("indices.min() >= 0 and ", ""),),
        "shared/test_frequencies.py",
    ),
    Fault(
        "numbers: the noise's variance not subtracted",
        "moments.py",
        (("self.n * self.mean, self.spread - self.noise.variance]", "self.n * self.mean, self.spread]"),),
        "shared/test_moments.py",
    ),
    Fault(
        "numbers: wrong error of a variance",
        "moments.py",
        (("4 * v * own / (n - 1)", "2 * v * own / (n - 1)"),),
        "shared/test_moments.py",
    ),
    Fault(
        "numbers: the errors about respondents and population swapped",
        "moments.py",
        (('"respondents":\n            mean, variance', '"population":\n            mean, variance'),),
        "shared/test_moments.py",
    ),
    Fault(
        "intervals: one side for two",
        "intervals.py",
        (("inv_cdf((1 + check_level(level, _FURTHEST)) / 2)", "inv_cdf(check_level(level, _FURTHEST))"),),
        "shared/test_frequencies.py",
    ),
    Fault(
        "permanent answers: p and q of the second step swapped",
        "second_step.py",
        (("return Channel(kept + moved, moved)", "return Channel(moved, kept + moved)"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "permanent answers: q of the second step 1 % off",
        "second_step.py",
        (("moved = channel.q - kept * permanent.q", "moved = channel.q - kept * permanent.q * 101 / 100"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "permanent answers: bits flipped with 0.01 more",
        "second_step.py",
        (("PackedCoins((self.flip,) * 8)", "PackedCoins((self.flip * 99 / 100 + Real(1) / 100,) * 8)"),),
        "statistical/test_longitudinal.py",
        "l_osue",
    ),
    Fault(
        "permanent answers: the bound of a single report for all",
        "second_step.py",
        (("(self.second.q / self.second.p) ** at_least_one(reports)", "(self.second.q / self.second.p)"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "permanent answers: drawn anew for each report",
        "mechanisms/l_grr.py",
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
        "mechanisms/loloha.py",
        (("if earlier is None:", "if True:"),),
        "statistical/test_longitudinal.py",
        "loloha",
    ),
    Fault(
        "permanent answers: an average taken for fresh noise in each period",
        "longitudinal.py",
        (("(always + (once - always) / periods) / n", "once / periods / n"),),
        "shared/test_longitudinal.py",
    ),
    Fault(
        "dbitflip: the whole epsilon spent on each of two bits",
        "mechanisms/dbitflip.py",
        (("self.epsilon.exact / min(buckets, 2)", "self.epsilon.exact"),),
        PROMISES,
        "dbitflip",
    ),
    Fault(
        "dbitflip: some buckets watched more often than others",
        "mechanisms/dbitflip.py",
        (("np.where(is_taken, last, drawn)", "np.where(is_taken, self.k - 1, drawn)"),),
        PROMISES,
        "dbitflip",
    ),
    Fault(
        "accounting: the withdrawn bound for any mechanism",
        "accounting_shuffle.py",
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
        "accounting.py",
        (("(2 * truths - reports) * epsilon", "(2 * truths - reports + 1) * epsilon"),),
        "shared/test_accounting.py",
    ),
    Fault(
        "accounting: a calendar window taken for a sliding one",
        "accounting_windows.py",
        (("(-(-(span - 1) // window) + 1)", "-(-span // window)"),),
        "shared/test_accounting.py",
    ),
    Fault(
        "sampled options: epsilon halved",
        "mechanisms/sampled_option.py",
        (("Real.exp(self.epsilon.exact)", "Real.exp(self.epsilon.exact / 2)"),),
        PROMISES,
        "sampled_option",
    ),
    Fault(
        "sampled options: shares of all respondents from the answers of some",
        "mechanisms/sampled_option.py",
        (("Shares(no + yes, ", "Shares(no + yes + 1, "),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "sampled options: the luck of who is asked left out",
        "parts.py",
        (("np.sqrt(told * own**2 + (1 - told) * whole**2)", "np.sqrt(own**2)"),),
        "statistical/test_several.py",
    ),
    Fault(
        "padded sampling: a slot drawn among the picks only",
        "picks.py",
        (("np.maximum(picked.sum(axis=1), most)", "np.maximum(picked.sum(axis=1), 1)"),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "padded sampling: p of the oracle, though only one slot is told",
        "mechanisms/padded_sampling.py",
        (("(own.p - own.q) / most", "(own.p - own.q)"),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "sampled attributes: a claim that is amplified by sampling",
        "mechanisms/sampled_attribute.py",
        (
            (
                "registry.make(_DEFAULTS[domain.kind], self.epsilon, ",
                "registry.make(_DEFAULTS[domain.kind], Epsilon(self.epsilon.micro * 3 // 2), ",
            ),
        ),
        PROMISES,
        "sampled_attribute",
    ),
    Fault(
        "joint answers: errors of cells taken for independent",
        "mechanisms/joint_response.py",
        (
            (
                "channel: Channel = self._oracle.channel",
                "channel: Channel = Channel(self._oracle.channel.p, self._oracle.channel.q)",
            ),
        ),
        PROMISES,
        "joint_response",
    ),
    Fault(
        "key-value: key and number at epsilon each",
        "mechanisms/key_value_unary.py",
        (('"b", 2 / (e + 3)', '"b", 1 / (e + 1)'),),
        PROMISES,
        "key_value_unary",
    ),
    Fault(
        "key-value: signs of other keys not at random",
        "mechanisms/key_value_unary.py",
        (("signs = coins.words(size * width)", "signs = 0 * coins.words(size * width)"),),
        PROMISES,
        "key_value_unary",
    ),
    Fault(
        "key-value: intervals as of half the reports",
        "keyed_means.py",
        (("normal_quantile(level) ** 2 / self.n", "normal_quantile(level) ** 2 / (self.n / 2)"),),
        "statistical/test_several.py",
    ),
    Fault(
        "exponential: epsilon in place of the worst case's half",
        "mechanisms/exponential.py",
        (("return (e - 1 + root) / (2 * others)", "return e"),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "exponential: a draw at a bound given to the option below",
        "mechanisms/exponential.py",
        (("(bounds <= _below(", "(bounds < _below("),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "square wave: epsilon halved",
        "mechanisms/square_wave.py",
        (("e = Real.exp(self.epsilon.exact)", "e = Real.exp(self.epsilon.exact / 2)"),),
        "shared/test_square_wave.py",
    ),
    Fault(
        "square wave: the window kept with 0.01 more",
        "windows.py",
        (("bernoulli(self.inside, ", "bernoulli((self.inside * 100 + 1) / 101, "),),
        "shared/test_windows.py",
    ),
    Fault(
        "square wave: one report too many taken",
        "mechanisms/square_wave.py",
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
        "buckets.py",
        (("np.minimum(positions.astype(np.int64), self.count - 1)", "positions.astype(np.int64)"),),
        "shared/test_square_wave.py",
    ),
    Fault(
        "hierarchical histogram: a level's share of the reports forgotten",
        "histogram.py",
        (("(len(nodes) / self.n)", "(1 / self.n)"),),
        "shared/test_hierarchical_histogram.py",
    ),
    Fault(
        "hierarchical histogram: variance as of independent levels",
        "hierarchy.py",
        (("levels * squares - means**2", "levels * squares"),),
        "shared/test_hierarchical_histogram.py",
    ),
    Fault(
        "hierarchical histogram: padding unchecked",
        "mechanisms/hierarchical_histogram.py",
        (("is_padded & oracle.check", "oracle.check"),),
        "shared/test_hierarchical_histogram.py",
    ),
    Fault(
        "hadamard sketch: epsilon halved",
        "mechanisms/hadamard_sketch.py",
        (("Real.exp(-self.epsilon.exact)", "Real.exp(-self.epsilon.exact / 2)"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "hadamard sketch: the entry told with p - 0.01",
        "mechanisms/hadamard_sketch.py",
        (("bernoulli(self.p, size", "bernoulli(self.p - Real(1) / 100, size"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "hadamard sketch: always the first hash",
        "mechanisms/hadamard_sketch.py",
        (("which = integers(self.hashes, size", "which = 0 * integers(self.hashes, size"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "count-mean sketch: p and q swapped",
        "mechanisms/count_mean_sketch.py",
        (
            (
                "Channel(Real(Fraction(1, 2)), 1 / (Real.exp(self.epsilon.exact) + 1))",
                "Channel(1 / (Real.exp(self.epsilon.exact) + 1), Real(Fraction(1, 2)))",
            ),
        ),
        "shared/test_sketches.py",
    ),
    Fault(
        "sketches: collisions not taken off",
        "sketch.py",
        (("q + (p - q) / size)", "q)"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "sketches: the error that collisions make forgotten",
        "sketch.py",
        (("others / (hashes * (size - 1))", "0 * others"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "sketches: reports paired with themselves",
        "sketch.py",
        (("(squares - alone)", "squares"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "public hashes: not even",
        "public_hashes.py",
        (("* size) >> 32", "* size) >> 33"),),
        "shared/test_texts.py",
    ),
    Fault(
        "public hashes: the family forgotten",
        "public_hashes.py",
        (("bytes([family])", "bytes([0])"),),
        "shared/test_texts.py",
    ),
    Fault(
        "prefix extension: what was found told by who found it",
        "mechanisms/prefix_extension.py",
        (
            (
                "return self._sketch(tally, len(self.prefixes.bits) - 1)",
                "return self._sketch(tally, len(self.prefixes.bits) - 2)",
            ),
        ),
        "shared/test_prefix_extension.py",
    ),
    Fault(
        "prefix extension: kept with probability p, then drawn from all",
        "mechanisms/prefix_extension.py",
        (("bernoulli(self.p - self.q, size", "bernoulli(self.p, size"),),
        PROMISES,
        "prefix_extension",
    ),
    Fault(
        "prefix extension: whole texts in every group",
        "mechanisms/prefix_extension.py",
        (("cut = self.prefixes.cut(texts[some][of], one)", "cut = texts[some][of]"),),
        "shared/test_prefix_extension.py",
    ),
    Fault(
        "bloom filters: every hash told with the whole epsilon",
        "mechanisms/bloom_rappor.py",
        (("self.epsilon.exact / marks", "self.epsilon.exact"),),
        PROMISES,
        "bloom_rappor",
    ),
    Fault(
        "bloom filters: what is not asked for forgotten",
        "candidate_bits.py",
        (("design[:, -1] = taken.size", "design[:, -1] = 1e-6 * taken.size"),),
        "shared/test_bloom_rappor.py",
    ),
    Fault(
        "bloom filters: the error as of other reports",
        "candidate_bits.py",
        (("(inverse @ noise * inverse)", "(inverse @ noise * inverse / 2)"),),
        "shared/test_bloom_rappor.py",
    ),
    Fault(
        "texts: control characters taken",
        "texts.py",
        (("if any(character < ", "if not text and any(character < "),),
        "shared/test_texts.py",
    ),
    Fault(
        "one bit: kept and flipped swapped",
        "mechanisms/one_bit_mean.py",
        (("ends ^ bernoulli(self.q", "ends ^ bernoulli(self.p"),),
        PROMISES,
        "one_bit_mean",
    ),
    Fault(
        "one bit: epsilon halved",
        "mechanisms/one_bit_mean.py",
        (("Real.exp(self.epsilon.exact)", "Real.exp(self.epsilon.exact / 2)"),),
        PROMISES,
        "one_bit_mean",
    ),
    Fault(
        "piecewise: a window of another width than the best",
        "window_error.py",
        (("    return wide\n", "    return wide + 1\n"),),
        "shared/test_means.py",
    ),
    Fault(
        "hybrid: the ways swapped",
        "mechanisms/hybrid.py",
        (("chosen = bernoulli(self.share,", "chosen = bernoulli(1 - self.share,"),),
        PROMISES,
        "hybrid",
    ),
    Fault(
        "integer table: drawn from half of the weights",
        "mechanisms/integer_table.py",
        (("integers(TOTAL, points.size", "integers(TOTAL // 2, points.size"),),
        PROMISES,
        "integer_table",
    ),
    Fault(
        "integer table: a report that tells too much taken",
        "weight_table.py",
        (("<= e * min(column)", "<= 2 * e * min(column)"),),
        "shared/test_weight_table.py",
    ),
    Fault(
        "means: the error of one report fewer",
        "outcomes.py",
        (("np.sqrt(variance / self.n)", "np.sqrt(variance / (self.n + 1))"),),
        "shared/test_outcomes.py",
    ),
    Fault(
        "means: the middle of the range taken for its lower end",
        "outcomes.py",
        (("(numbers + 1) / 2", "numbers / 2"),),
        "shared/test_means.py",
    ),
    Fault(
        "means: the worst number looked for among points only",
        "outcomes.py",
        (("peak = np.clip(slope / (2 * b), start, end)", "peak = end"),),
        "shared/test_outcomes.py",
    ),
    Fault(
        "watched: taken for as many as were expected",
        "watched.py",
        (("self.yes - b * self.watched", "self.yes - b * self.n * part"),),
        "shared/test_watched.py",
    ),
    Fault(
        "watched: the error of a held category a little too small",
        "watched.py",
        (("+ 1) / self.part - 1)", "+ 1) / self.part - 1.05)"),),
        "shared/test_watched.py",
    ),
    Fault(
        "watched: the error of several categories that of one",
        "watched.py",
        (("(len(rows) - 1) * self.watch.outside", "0 * self.watch.outside"),),
        "shared/test_watched.py",
    ),
    Fault(
        "planner: the shortest report chosen, whatever its error",
        "planning.py",
        (("lowest * (1 + _ROUNDING)", "lowest * 100"),),
        "shared/test_candidates.py",
    ),
    Fault(
        "planner: planned for shares of 0",
        "candidates.py",
        (("frequency=_even_share(metric.domain)", "frequency=0.0"),),
        "shared/test_candidates.py",
    ),
    Fault(
        "planner: what is not unbiased chosen",
        "candidates.py",
        (("if is_fair and not (each.is_unbiased or each.why_not)", "if False"),),
        "shared/test_candidates.py",
    ),
    Fault(
        "combining: weights by error in place of variance",
        "combining.py",
        (("mechanism.stderr(1) ** 2)", "mechanism.stderr(1))"),),
        "shared/test_combining.py",
    ),
    Fault(
        "combining: errors of independent parts added up",
        "combining.py",
        (("if self.are_correlated else", "if not self.are_correlated else"),),
        "shared/test_combining.py",
    ),
    Fault(
        "combining: errors of memos levelled out like those of reports",
        "combining.py",
        (("once - always, 0", "once, 0"),),
        "shared/test_combining.py",
    ),
    Fault(
        "top: one interval's level for all of them",
        "intervals.py",
        (("(1 - check_level(level)) / count", "(1 - check_level(level)) + 0 * count"),),
        "shared/test_intervals.py",
    ),
    Fault(
        "joint answers: all of some facts taken for any",
        "marginals.py",
        (("np.flatnonzero(np.all(", "np.flatnonzero(np.any("),),
        "shared/test_mechanisms_of_several.py",
    ),
    Fault(
        "key-value: a mean told of a key that nobody has",
        "keyed_means.py",
        (("(self._square(_SURE) > 0)", "(self._square(_SURE) > -1)"),),
        "statistical/test_several.py",
    ),
    Fault(
        "square wave: the error of a part about the respondents for that about the population",
        "distribution.py",
        (('found - (true if about == "respondents" else self.values)', "found - true"),),
        "shared/test_square_wave.py",
    ),
)
