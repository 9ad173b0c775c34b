"""This file holds the metric: one declared question, its price, and the id that pins both.

The id is the SHA-256 of the canonical definition, so a collector cannot decode with another epsilon, domain
or mechanism than the device used.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from hubbub import registry
from hubbub.delta import Delta
from hubbub.domain import Domain
from hubbub.domains.plain import check_texts
from hubbub.epsilon import Epsilon
from hubbub.errors import DomainError, ManifestError
from hubbub.parameter import Setting
from hubbub.period import LENGTHS
from hubbub.printable import is_plain

FORMAT = 1
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Label:
    """A public attribute that is sent in clear beside a report: a name and a closed list of values."""

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise DomainError("a label's name must be lower-case letters, digits and _, from a letter")
        check_texts(f"values of label {self.name}", self.values, least=2, most=32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A declared question.

    ``declaration`` makes one from code or from a manifest's table.
    app: given by the manifest that holds it. source: the fact on the device that it reads; budgets go by it.
    period: length in days. mechanism, parameters: complete, defaults filled in.
    """

    name: str
    domain: Domain
    epsilon: Epsilon
    mechanism: str
    delta: Delta = Delta()  # noqa: RUF009 - it is frozen
    parameters: tuple[tuple[str, Setting], ...] = ()
    app: str = ""
    source: str = ""
    period: int = 7
    labels: tuple[Label, ...] = ()
    once: bool = False
    changes: int = 0
    absent: Any = None  # a value of the domain in its plain form
    why: str = ""
    owner: str = ""
    expires: date | None = None

    def __post_init__(self) -> None:
        self._check(
            "name",
            isinstance(self.name, str) and NAME.fullmatch(self.name),
            "must be 1 to 64 lower-case letters, digits and _, from a letter",
        )
        self._check(
            "source", not self.source or NAME.fullmatch(self.source), "must be a name like a metric's"
        )
        self._check("period", self.period in LENGTHS, 'must be "1d", "7d" or "28d"')
        self._check("labels", len(self.labels) <= 2, "may be at most 2")
        names = {label.name for label in self.labels}
        self._check("labels", len(names) == len(self.labels), "must have different names")
        self._check(
            "changes",
            self.changes == 0 or not self.is_resolved or registry.entry(self.mechanism).remembers,
            f"has no meaning for mechanism {self.mechanism!r}; leave it out",
        )
        for key, text in (("why", self.why), ("owner", self.owner)):
            self._check(
                key, isinstance(text, str) and len(text) <= 500, "must be a string of at most 500 characters"
            )
            self._check(
                key, is_plain(text), "must have no control character, nor one for the direction of text"
            )
        self._check(
            "absent", not isinstance(self.absent, str) or self.absent.isprintable(), "must be printable"
        )
        if self.is_resolved:
            approximates = registry.entry(self.mechanism).approximates
            self._check(
                "delta",
                approximates or not self.delta.atto,
                f"must be left out: mechanism {self.mechanism!r} never fails its epsilon",
            )
            self._check(
                "delta",
                not approximates or self.delta.atto,
                f'is missing: mechanism {self.mechanism!r} may fail its epsilon; add delta = "1e-9"',
            )
        if not self.source:
            object.__setattr__(self, "source", self.name)

    @property
    def canonical(self) -> str:
        """The definition that the id is the digest of: ASCII JSON, sorted keys, no blanks.

        Raises ManifestError while the metric belongs to no app or leaves its mechanism open.
        """
        self._check("app", self.app, "is missing: put the metric into a Manifest first")
        self._check("mechanism", self.mechanism != registry.UNRESOLVED, 'is still open ("best"); name one')
        definition = {
            "format": FORMAT,
            "app": self.app,
            "name": self.name,
            "source": self.source,
            "domain": self.domain.canonical,
            "labels": [[label.name, list(label.values)] for label in self.labels],
            "epsilon": str(self.epsilon),
            "mechanism": {"kind": self.mechanism, "parameters": dict(self.parameters)},
            "period": self.period,
            "once": self.once,
            "changes": self.changes,
            "absent": self.absent,
        }
        if self.delta.atto:
            definition["delta"] = str(self.delta)
        return json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @property
    def id(self) -> bytes:
        """The 32-byte SHA-256 of the canonical definition."""
        import hashlib  # noqa: PLC0415 - loads OpenSSL, and an app's start needs no id

        return hashlib.sha256(self.canonical.encode("ascii")).digest()

    @property
    def is_resolved(self) -> bool:
        """Whether the mechanism is named, so that a device and a collector can use it."""
        return self.mechanism != registry.UNRESOLVED

    def of(self, app: str) -> "Metric":
        """Return the same metric as a part of an app."""
        return replace(self, app=app)

    def label_indices(self, given: Mapping[str, str] | None = None) -> tuple[int, ...]:
        """Return the position of each label's value, in the order declared.

        A value that is not listed counts as "other", if that is.

        Raises DomainError if a label is missing, unknown, or its value is not listed and there is no "other".
        """
        given = given or {}
        names = [label.name for label in self.labels]
        if any(name not in names for name in given):
            known = ", ".join(names) or "none"
            raise DomainError(f'metric "{self.name}" has no label of that name; it has {known}')
        return tuple(_position(label, given) for label in self.labels)

    def _check(self, key: str, fact: object, rule: str) -> None:
        if not fact:
            raise ManifestError(f'metric "{str(self.name)[:64]}": {key} {rule}', path=(self.name, key))


def _position(label: Label, given: Mapping[str, str]) -> int:
    if label.name not in given:
        raise DomainError(f"label {label.name} is missing; give one of its {len(label.values)} values")
    for value in (given[label.name], "other"):
        if value in label.values:
            return label.values.index(value)
    raise DomainError(f'label {label.name} has no such value; add "other" to its values')
