"""This file makes a metric from what a person writes: a manifest's table, or the same words in code.

Every fault is a ManifestError that names its key, so that a manifest can name its line.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hubbub import reading, registry
from hubbub.delta import Delta
from hubbub.domain import Domain
from hubbub.domains.kinds import KINDS
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError
from hubbub.metric import FORMAT, Label, Metric
from hubbub.parameter import Setting
from hubbub.period import parse_length
from hubbub.reading import Reader

_OWNERS = {key: name for name, kind in KINDS.items() for key in kind.keys}
KEYS = (
    *("kind", *_OWNERS, "epsilon", "delta", "mechanism", "parameters", "period", "labels"),
    *("once", "changes", "absent", "source", "why", "owner", "expires"),
)


def boolean(name: str, *, epsilon: EpsilonLike, **more: Any) -> Metric:
    """Declare a yes/no question; more keys as in a manifest.

    Raises ManifestError.

    >>> boolean("uses_dark_mode", epsilon="1.0", absent=False).mechanism
    'randomized_response'
    """
    return metric_of(name, {"kind": "boolean", "epsilon": epsilon, **more})


def choice(name: str, *, options: Sequence[str], epsilon: EpsilonLike, **more: Any) -> Metric:
    """Declare a question with one answer of several; more keys as in a manifest.

    Raises ManifestError.

    >>> choice("system", options=["linux", "mac", "other"], epsilon=2, once=True).domain.names
    ('linux', 'mac', 'other')
    """
    return metric_of(name, {"kind": "choice", "options": options, "epsilon": epsilon, **more})


def number(name: str, *, low: object, high: object, epsilon: EpsilonLike, **more: Any) -> Metric:
    """Declare a question for a number; what lies outside [low, high] counts as the nearer end.

    Raises ManifestError.

    >>> number("startup_seconds", low=0, high=10, epsilon="1.0").parameters
    (('steps', 1024),)
    """
    return metric_of(name, {"kind": "number", "range": [low, high], "epsilon": epsilon, **more})


def choices(
    name: str, *, options: Sequence[str], most: int | None = None, epsilon: EpsilonLike, **more: Any
) -> Metric:
    """Declare a question with any of several answers, made for ``most`` picks; None for all options.

    Raises ManifestError.

    >>> choices("plugins", options=["maps", "mail", "music"], most=2, epsilon=2).mechanism
    'sampled_option'
    """
    given = {} if most is None else {"most": most}
    return metric_of(name, {"kind": "choices", "options": options, "epsilon": epsilon, **given, **more})


def record(
    name: str, *, attributes: Mapping[str, Mapping[str, Any]], epsilon: EpsilonLike, **more: Any
) -> Metric:
    """Declare several facts about one person as one question; a table for each, as in a manifest.

    Raises ManifestError.

    >>> system = {"kind": "choice", "options": ["linux", "mac", "other"]}
    >>> record("device", attributes={"dark": {"kind": "boolean"}, "system": system}, epsilon=2).domain.names
    ('dark', 'system')
    """
    return metric_of(name, {"kind": "record", "attributes": attributes, "epsilon": epsilon, **more})


def text(name: str, *, length: int, epsilon: EpsilonLike, **more: Any) -> Metric:
    """Declare a question that is answered in words, of at most ``length`` bytes of UTF-8.

    Raises ManifestError.

    >>> text("browser", length=16, epsilon=2).parameters
    (('hashes', 255), ('width', 256))
    """
    return metric_of(name, {"kind": "text", "length": length, "epsilon": epsilon, **more})


def key_value(
    name: str,
    *,
    keys: Sequence[str],
    low: object,
    high: object,
    most: int,
    epsilon: EpsilonLike,
    **more: Any,
) -> Metric:
    """Declare a question for a number in [low, high] for each key that a person has, ``most`` of them.

    Raises ManifestError.

    >>> key_value("minutes", keys=["maps", "mail"], low=0, high=60, most=1, epsilon=2).domain.names
    ('maps', 'mail', '0', '60')
    """
    table = {"kind": "key_value", "keys": list(keys), "range": [low, high], "most": most}
    return metric_of(name, {**table, "epsilon": epsilon, **more})


def vector(
    name: str, *, size: int, norm: object, mechanism: str, epsilon: EpsilonLike, **more: Any
) -> Metric:
    """Declare a question for ``size`` numbers, shortened to a Euclidean length of ``norm``.

    mechanism: there is no default. Raises ManifestError.

    >>> vector("gradient", size=64, norm=1, mechanism="gaussian", delta="1e-9", epsilon=2).domain.names
    ('64', '1')
    """
    table = {"kind": "vector", "size": size, "norm": norm, "mechanism": mechanism}
    return metric_of(name, {**table, "epsilon": epsilon, **more})


def selection(name: str, *, options: Sequence[str], epsilon: EpsilonLike, **more: Any) -> Metric:
    """Declare a question that a device answers with one option, picked by how useful each is to it.

    Raises ManifestError.

    >>> selection("layout", options=["wide", "narrow"], epsilon=2).mechanism
    'exponential'
    """
    return metric_of(name, {"kind": "selection", "options": options, "epsilon": epsilon, **more})


def metric_of(name: str, table: Mapping[str, Any]) -> Metric:
    """Read a metric from the table of a manifest.

    Raises ManifestError.
    """
    read = Reader(str(name)[:64], table)
    read.refuse_unknown(KEYS)
    kind = read("kind", _kind, example='kind = "boolean", "number" or "choice"')
    domain = _domain(kind, read)
    default = registry.DEFAULTS[FORMAT].get(kind)
    mechanism = read(
        "mechanism", reading.text, default=default, example="" if default else f'mechanism = "{_some(kind)}"'
    )
    return Metric(
        name=name,
        domain=domain,
        epsilon=read("epsilon", Epsilon.parse, example='epsilon = "1.0"'),
        mechanism=mechanism,
        delta=read("delta", Delta.parse, default=Delta()),
        parameters=_parameters(mechanism, kind, read),
        source=read("source", reading.text, default=""),
        period=read("period", parse_length, default=7),
        labels=read("labels", _labels, default=()),
        once=read("once", reading.flag, default=False),
        changes=read("changes", reading.count, default=0),
        absent=read("absent", _plain(domain), default=None),
        why=read("why", reading.text, default=""),
        owner=read("owner", reading.text, default=""),
        expires=read("expires", reading.day, default=None),
    )


def _domain(kind: str, read: Reader) -> Domain:
    for key in read.table:
        if key in _OWNERS and key not in KINDS[kind].keys:
            owners = " or ".join(f'"{name}"' for name, other in KINDS.items() if key in other.keys)
            raise read.error(key, f"has {key}, which is for kind = {owners} only")
    try:
        return KINDS[kind].domain.read(read)
    except DomainError as error:  # several keys that do not go together
        raise read.error("kind", str(error)) from None


def _some(kind: str) -> str:
    return next(entry.kind for entry in registry.ENTRIES if kind in entry.domains)


def _parameters(mechanism: str, kind: str, read: Reader) -> tuple[tuple[str, Setting], ...]:
    given = read("parameters", reading.table, default={})
    if mechanism == registry.UNRESOLVED:
        if given:
            remedy = "leave it out: hubbub plan --write writes mechanism and parameters"
            raise read.error("parameters", 'has parameters beside mechanism = "best"', remedy=remedy)
        return ()
    try:
        return registry.complete(mechanism, kind, given)
    except DomainError as error:
        key = "parameters" if "parameters" in read.table else "mechanism"
        raise read.error(key, f"{key}: {error}") from None


def _kind(value: object) -> str:
    if not isinstance(value, str) or value not in KINDS:
        raise DomainError(f"must be one of {', '.join(KINDS)}")
    return value


def _labels(value: object) -> tuple[Label, ...]:
    """Read a table of names and values, or a list of pairs: in JSON, only a list has an order."""
    pairs = value if isinstance(value, list) else list(reading.table(value).items())
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise DomainError("must be a table, or pairs of a name and a list of values")
    return tuple(Label(reading.text(name), tuple(reading.items(values))) for name, values in pairs)


def _plain(domain: Domain) -> Callable[[object], Any]:
    return domain.plain
