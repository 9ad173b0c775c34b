"""This file makes a metric from what a person writes: a manifest's table, or the same words in code.

Every fault is a ManifestError that names its key, so that a manifest can name its line.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeVar

from hubbub import domains, registry
from hubbub.delta import Delta
from hubbub.domain import Domain
from hubbub.epsilon import Epsilon, EpsilonLike
from hubbub.errors import DomainError, ManifestError
from hubbub.metric import FORMAT, Label, Metric
from hubbub.parameter import Setting
from hubbub.period import parse_length

_OWNERS = {key: kind for kind, domain in domains.KINDS.items() for key in domain.keys}
KEYS = (
    *("kind", *_OWNERS, "epsilon", "delta", "mechanism", "parameters", "period", "labels"),
    *("once", "changes", "absent", "source", "why", "owner", "expires"),
)
T = TypeVar("T")


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
    return metric_of(name, {"kind": "choice", "options": list(options), "epsilon": epsilon, **more})


def number(name: str, *, low: object, high: object, epsilon: EpsilonLike, **more: Any) -> Metric:
    """Declare a question for a number; what lies outside [low, high] counts as the nearer end.

    Raises ManifestError.

    >>> number("startup_seconds", low=0, high=10, epsilon="1.0").parameters
    (('steps', 1024),)
    """
    return metric_of(name, {"kind": "number", "range": [low, high], "epsilon": epsilon, **more})


def metric_of(name: str, table: Mapping[str, Any]) -> Metric:
    """Read a metric from the table of a manifest.

    Raises ManifestError.
    """
    read = _Reader(str(name)[:64], table)
    read.refuse_unknown_keys()
    kind = read("kind", _kind, example='kind = "boolean", "number" or "choice"')
    domain = _domain(kind, read)
    default = registry.DEFAULTS[FORMAT].get(kind)
    mechanism = read(
        "mechanism", _text, default=default, example="" if default else f'mechanism = "{_some(kind)}"'
    )
    return Metric(
        name=name,
        domain=domain,
        epsilon=read("epsilon", Epsilon.parse, example='epsilon = "1.0"'),
        mechanism=mechanism,
        delta=read("delta", Delta.parse, default=Delta()),
        parameters=_parameters(mechanism, kind, read),
        source=read("source", _text, default=""),
        period=read("period", parse_length, default=7),
        labels=read("labels", _labels, default=()),
        once=read("once", _flag, default=False),
        changes=read("changes", _count, default=0),
        absent=read("absent", _plain(domain), default=None),
        why=read("why", _text, default=""),
        owner=read("owner", _text, default=""),
        expires=read("expires", _date, default=None),
    )


class _Reader:
    """Read one key after the other, so that every error names its key."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self.name, self.table = name, table

    def __call__(self, key: str, reader: Callable[[Any], T], *, default: Any = None, example: str = "") -> T:
        if key not in self.table:
            if example:
                raise self.error("kind", f"has no {key}", remedy=f"add {example}")
            return default  # type: ignore[no-any-return]  # the default is of the reader's type
        try:
            return reader(self.table[key])
        except DomainError as error:
            raise self.error(key, f"{key}: {error}") from None

    def refuse_unknown_keys(self) -> None:
        for key in self.table:
            if key not in KEYS:
                known = ", ".join(KEYS)
                raise self.error(
                    str(key), f"has an unknown key {str(key)[:64]!r}", remedy=f"known are {known}"
                )

    def error(self, key: str, problem: str, *, remedy: str = "") -> ManifestError:
        return ManifestError(f'metric "{self.name}" {problem}', remedy=remedy, path=(self.name, key))


def _domain(kind: str, read: _Reader) -> Domain:
    domain = domains.KINDS[kind]
    for key in read.table:
        if key in _OWNERS and key not in domain.keys:
            owners = " or ".join(f'"{name}"' for name, other in domains.KINDS.items() if key in other.keys)
            raise read.error(key, f"has {key}, which is for kind = {owners} only")
    try:
        return domain.read(read)
    except DomainError as error:  # several keys that do not go together
        raise read.error("kind", str(error)) from None


def _some(kind: str) -> str:
    return next(entry.kind for entry in registry.ENTRIES if kind in entry.domains)


def _parameters(mechanism: str, kind: str, read: _Reader) -> tuple[tuple[str, Setting], ...]:
    given = read("parameters", _table, default={})
    if mechanism == registry.UNRESOLVED:
        return ()
    try:
        return registry.complete(mechanism, kind, given)
    except DomainError as error:
        key = "parameters" if "parameters" in read.table else "mechanism"
        raise read.error(key, f"{key}: {error}") from None


def _kind(value: object) -> str:
    if not isinstance(value, str) or value not in domains.KINDS:
        raise DomainError(f"must be one of {', '.join(domains.KINDS)}")
    return value


def _labels(value: object) -> tuple[Label, ...]:
    """Read a table of names and values, or a list of pairs: in JSON, only a list has an order."""
    pairs = value if isinstance(value, list) else list(_table(value).items())
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise DomainError("must be a table, or pairs of a name and a list of values")
    return tuple(Label(_text(name), tuple(_list(values))) for name, values in pairs)


def _plain(domain: Domain) -> Callable[[object], Any]:
    return domain.plain


def _text(value: object) -> str:
    text = _only(str, value, "a string")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise DomainError("must be text that UTF-8 can hold, without lone surrogates")
    return text


def _flag(value: object) -> bool:
    return _only(bool, value, "true or false")


def _table(value: object) -> dict[str, Any]:
    return _only(dict, value, "a table")


def _list(value: object) -> list[Any]:
    return _only(list, value, "a list")


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DomainError("must be a whole number, 0 or more")
    return value


def _date(value: object) -> date:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else _plain_date(value)
    except ValueError:
        raise DomainError("must be a date like 2027-06-01") from None


def _plain_date(value: object) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise ValueError
    return value


def _only(kind: type[T], value: object, words: str) -> T:
    if not isinstance(value, kind):
        raise DomainError(f"must be {words}")
    return value
