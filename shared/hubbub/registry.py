"""This file lists the mechanisms: one line each, and nothing else names them.

A mechanism's module is imported when it is built, so that reading a manifest costs a device nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.parameter import Exact, Parameter, Setting, Whole, Word

if TYPE_CHECKING:
    from hubbub.mechanism import Mechanism
    from hubbub.metric import Metric

UNRESOLVED = "best"  # to be replaced by a planner; neither a device nor a collector takes it


@dataclass(frozen=True, slots=True)
class Entry:
    """A mechanism: its kind on the wire, the domains it answers, where it lives, its parameters.

    remembers: whether a device keeps a permanent answer, so that a metric may declare changes. approximates:
    whether it fails its epsilon with a probability delta, which a metric must then declare. spacing: of the
    epsilons that it is made for, in millionths.
    """

    kind: str
    domains: tuple[str, ...]
    where: str  # "module:class"
    parameters: tuple[Parameter, ...] = ()
    remembers: bool = False
    approximates: bool = False
    spacing: int = 1

    def is_made_for(self, epsilon: "EpsilonLike") -> bool:
        """Tell whether there is such a mechanism for an epsilon, as far as the spacing goes."""
        return Epsilon.parse(epsilon).micro % self.spacing == 0


FIRST = Exact("first", None, "0.001", "20")  # the epsilon of a single report, where a memo has another
ORACLES = ("randomized_response", "optimized_unary", "subset_selection")  # within another mechanism
STEPS = Whole("steps", 16, 1, 256)  # of utilities
POINTS = Whole("steps", 1024, 1, 2**14)  # of numbers that are sent through a window

ENTRIES = (
    Entry(
        "randomized_response",
        ("boolean", "choice"),
        "hubbub.mechanisms.randomized_response:RandomizedResponse",
    ),
    Entry("optimized_unary", ("choice",), "hubbub.mechanisms.optimized_unary:OptimizedUnary"),
    Entry("symmetric_unary", ("choice",), "hubbub.mechanisms.symmetric_unary:SymmetricUnary"),
    Entry("subset_selection", ("choice",), "hubbub.mechanisms.subset_selection:SubsetSelection"),
    Entry("hadamard_response", ("choice",), "hubbub.mechanisms.hadamard_response:HadamardResponse"),
    Entry("local_hashing", ("choice",), "hubbub.mechanisms.local_hashing:LocalHashing"),
    Entry("projective_geometry", ("choice",), "hubbub.mechanisms.projective_geometry:ProjectiveGeometry"),
    Entry("l_grr", ("boolean", "choice"), "hubbub.mechanisms.l_grr:LGRR", (FIRST,), remembers=True),
    Entry("l_osue", ("choice",), "hubbub.mechanisms.l_osue:LOSUE", (FIRST,), remembers=True),
    Entry("rappor", ("choice",), "hubbub.mechanisms.rappor:Rappor", (FIRST,), remembers=True),
    Entry("loloha", ("choice",), "hubbub.mechanisms.loloha:LOLOHA", (FIRST,), remembers=True),
    Entry(
        "dbitflip",
        ("choice",),
        "hubbub.mechanisms.dbitflip:DBitFlip",
        (Whole("buckets", 1, 1, 256),),
        remembers=True,
    ),
    Entry("laplace", ("number",), "hubbub.mechanisms.laplace:Laplace", (Whole("steps", 1024, 1, 2**20),)),
    Entry("one_bit_mean", ("number",), "hubbub.mechanisms.one_bit_mean:OneBitMean"),
    Entry("piecewise", ("number",), "hubbub.mechanisms.piecewise:Piecewise", (POINTS,)),
    Entry("hybrid", ("number",), "hubbub.mechanisms.hybrid:Hybrid", (POINTS,)),
    Entry(
        "integer_table",
        ("number",),
        "hubbub.mechanisms.integer_table:IntegerTable",
        (Whole("edition", 1, 1, 1),),
        spacing=250_000,
    ),
    Entry(
        "square_wave",
        ("number",),
        "hubbub.mechanisms.square_wave:SquareWave",
        (Whole("buckets", 256, 2, 1024),),
    ),
    Entry(
        "hierarchical_histogram",
        ("number",),
        "hubbub.mechanisms.hierarchical_histogram:HierarchicalHistogram",
        (Whole("branching", 4, 2, 16), Whole("buckets", 256, 2, 1024)),
    ),
    Entry("sampled_option", ("choices",), "hubbub.mechanisms.sampled_option:SampledOption"),
    Entry(
        "padded_sampling",
        ("choices",),
        "hubbub.mechanisms.padded_sampling:PaddedSampling",
        (Word("oracle", "optimized_unary", ORACLES),),
    ),
    Entry("sampled_attribute", ("record",), "hubbub.mechanisms.sampled_attribute:SampledAttribute"),
    Entry(
        "joint_response",
        ("record",),
        "hubbub.mechanisms.joint_response:JointResponse",
        (Word("oracle", "subset_selection", ORACLES),),
    ),
    Entry("key_value_unary", ("key_value",), "hubbub.mechanisms.key_value_unary:KeyValueUnary"),
    Entry("exponential", ("selection",), "hubbub.mechanisms.exponential:Exponential", (STEPS,)),
    Entry(
        "hadamard_sketch",
        ("text",),
        "hubbub.mechanisms.hadamard_sketch:HadamardSketch",
        (Whole("hashes", 1024, 1, 65_536), Whole("width", 1024, 2, 65_536)),
    ),
    Entry(
        "count_mean_sketch",
        ("text",),
        "hubbub.mechanisms.count_mean_sketch:CountMeanSketch",
        (Whole("hashes", 255, 1, 65_536), Whole("width", 256, 2, 65_536)),
    ),
    Entry(
        "prefix_extension",
        ("text",),
        "hubbub.mechanisms.prefix_extension:PrefixExtension",
        (Whole("start", 13, 1, 16), Whole("step", 7, 1, 12), Whole("pool", 4096, 1, 65_536)),
    ),
    Entry(
        "bloom_rappor",
        ("text",),
        "hubbub.mechanisms.bloom_rappor:BloomRappor",
        (Whole("bits", 128, 2, 1024), Whole("marks", 2, 1, 8), Whole("cohorts", 64, 1, 1024)),
    ),
    Entry("gaussian", ("vector",), "hubbub.mechanisms.gaussian:Gaussian", approximates=True),
    Entry("private_unit", ("vector",), "hubbub.mechanisms.private_unit:PrivateUnit"),
)

# What a manifest of each format number means where it names no mechanism; frozen for ever.
DEFAULTS: Mapping[int, Mapping[str, str]] = {
    1: {
        "boolean": "randomized_response",
        "choice": "randomized_response",
        "number": "laplace",
        "choices": "sampled_option",
        "record": "sampled_attribute",
        "key_value": "key_value_unary",
        "selection": "exponential",
        "text": "count_mean_sketch",
    }
}


def entry(kind: str) -> Entry:
    """Return the entry of a kind.

    Raises DomainError if there is none: an unknown mechanism is refused, never guessed.
    """
    for candidate in ENTRIES:
        if candidate.kind == kind:
            return candidate
    known = ", ".join(candidate.kind for candidate in ENTRIES)
    raise DomainError(f"mechanism {kind[:64]!r} is not known to this version; known are {known}")


def complete(kind: str, domain: str, given: Mapping[str, object]) -> tuple[tuple[str, Setting], ...]:
    """Return all parameters of a mechanism, sorted by name, with defaults filled in.

    Raises DomainError if the mechanism can't answer the domain, or a parameter is unknown, missing or out of
    range.

    >>> complete("laplace", "number", {})
    (('steps', 1024),)
    """
    found = entry(kind)
    if domain not in found.domains:
        raise DomainError(f"mechanism {kind!r} is for {' and '.join(found.domains)}, not for {domain}")
    unknown = set(given) - {parameter.name for parameter in found.parameters}
    if unknown:
        raise DomainError(f"mechanism {kind!r} has no parameter {min(map(str, unknown))[:64]!r}")
    return tuple(
        (parameter.name, parameter.read(given.get(parameter.name, parameter.default)))
        for parameter in sorted(found.parameters, key=lambda parameter: parameter.name)
    )


def build(metric: "Metric") -> "Mechanism":
    """Build the mechanism of a metric.

    Raises DomainError if its mechanism is unresolved ("best") or unknown.
    """
    if metric.mechanism == UNRESOLVED:
        raise DomainError(
            f'metric "{metric.name}" leaves its mechanism open ("best"); '
            "name one, or run hubbub plan FILE --write"
        )
    told = dict(metric.parameters) | ({"delta": metric.delta} if metric.delta.atto else {})
    return make(metric.mechanism, metric.epsilon, **metric.domain.arguments, **told)


def make(kind: str, epsilon: "EpsilonLike", **told: Any) -> "Mechanism":
    """Build a mechanism: on its own, or as a part of another.

    told: what its domain tells it, and parameters. Raises DomainError.
    """
    maker: Any = mechanism_class(kind)
    made: Mechanism = maker(epsilon=epsilon, **told)
    return made


def mechanism_class(kind: str) -> "type[Mechanism]":
    """Return the class of a kind, which tells whether it is exact and unbiased.

    Raises DomainError if there is no such kind.
    """
    module, _, name = entry(kind).where.partition(":")
    found: type[Mechanism] = getattr(import_module(module), name)
    return found
