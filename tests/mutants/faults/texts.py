"""This file lists faults in texts."""

from tests.mutants.fault import PROMISES, Fault

TEXTS = (
    Fault(
        "hadamard sketch: epsilon halved",
        "shared/hubbub/mechanisms/hadamard_sketch.py",
        (("Real.exp(-self.epsilon.exact)", "Real.exp(-self.epsilon.exact / 2)"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "hadamard sketch: the entry told with p - 0.01",
        "shared/hubbub/mechanisms/hadamard_sketch.py",
        (("bernoulli(self.p, size", "bernoulli(self.p - Real(1) / 100, size"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "hadamard sketch: always the first hash",
        "shared/hubbub/mechanisms/hadamard_sketch.py",
        (("which = integers(self.hashes, size", "which = 0 * integers(self.hashes, size"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "count-mean sketch: p and q swapped",
        "shared/hubbub/mechanisms/count_mean_sketch.py",
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
        "shared/hubbub/sketch.py",
        (("q + (p - q) / size)", "q)"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "sketches: the error that collisions make forgotten",
        "shared/hubbub/sketch.py",
        (("others / (hashes * (size - 1))", "0 * others"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "sketches: reports paired with themselves",
        "shared/hubbub/sketch.py",
        (("(squares - alone)", "squares"),),
        "shared/test_sketches.py",
    ),
    Fault(
        "public hashes: not even",
        "shared/hubbub/public_hashes.py",
        (("* size) >> 32", "* size) >> 33"),),
        "shared/test_texts.py",
    ),
    Fault(
        "public hashes: the family forgotten",
        "shared/hubbub/public_hashes.py",
        (("bytes([family])", "bytes([0])"),),
        "shared/test_texts.py",
    ),
    Fault(
        "prefix extension: what was found told by who found it",
        "shared/hubbub/mechanisms/prefix_extension.py",
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
        "shared/hubbub/mechanisms/prefix_extension.py",
        (("bernoulli(self.p - self.q, size", "bernoulli(self.p, size"),),
        PROMISES,
        "prefix_extension",
    ),
    Fault(
        "prefix extension: whole texts in every group",
        "shared/hubbub/mechanisms/prefix_extension.py",
        (("cut = self.prefixes.cut(texts[some][of], one)", "cut = texts[some][of]"),),
        "shared/test_prefix_extension.py",
    ),
    Fault(
        "bloom filters: every hash told with the whole epsilon",
        "shared/hubbub/mechanisms/bloom_rappor.py",
        (("self.epsilon.exact / marks", "self.epsilon.exact"),),
        PROMISES,
        "bloom_rappor",
    ),
    Fault(
        "bloom filters: what is not asked for forgotten",
        "shared/hubbub/candidate_bits.py",
        (("design[:, -1] = taken.size", "design[:, -1] = 1e-6 * taken.size"),),
        "shared/test_bloom_rappor.py",
    ),
    Fault(
        "bloom filters: the error as of other reports",
        "shared/hubbub/candidate_bits.py",
        (("(inverse @ noise * inverse)", "(inverse @ noise * inverse / 2)"),),
        "shared/test_bloom_rappor.py",
    ),
    Fault(
        "texts: control characters taken",
        "shared/hubbub/texts.py",
        (("if any(character < ", "if not text and any(character < "),),
        "shared/test_texts.py",
    ),
)
