"""This file lists faults in options that are told by a hash or a hyperplane."""

from tests.mutants.fault import PROMISES, Fault

LOCAL = "shared/hubbub/mechanisms/local_hashing.py"
GEOMETRY = "shared/hubbub/mechanisms/projective_geometry.py"

HASHING = (
    Fault(
        "local hashing: q 0.01 higher than it is",
        LOCAL,
        (("return Channel(p, shared, ", "return Channel(p, shared + Fraction(1, 100), "),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "local hashing: epsilon halved",
        LOCAL,
        (("e, shared = Real.exp(epsilon.exact), ", "e, shared = Real.exp(epsilon.exact / 2), "),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "local hashing: the digit told with a chance 0.01 higher",
        LOCAL,
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
        LOCAL,
        (("integers(self._reports, some", "integers(self._reports - self.g, some"),),
        PROMISES,
        "local_hashing",
    ),
    Fault(
        "local hashing: a report without coefficients forgotten",
        LOCAL,
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
        "shared/hubbub/frequencies.py",
        (("near, far = in_line or most", "near, far = 0, 0"),),
        "shared/test_finite_fields.py",
    ),
    Fault(
        "hyperplanes: sums not reduced before they hit a point",
        "shared/hubbub/hyperplanes.py",
        (("hit = starts * g + modulo(first, g)", "hit = starts * g + np.minimum(first, g - 1)"),),
        "shared/test_finite_fields.py",
    ),
)
