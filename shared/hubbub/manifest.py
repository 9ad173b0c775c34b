"""This file holds the manifest: all metrics of an app, as people write them and programs exchange them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hubbub.declaration import metric_of
from hubbub.errors import DomainError, ManifestError
from hubbub.metric import FORMAT, Metric

APP = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
MOST_METRICS = 1000
_SHOWN = 20  # names that a message lists
KEYS = ("format", "app", "serial", "metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """An app's metrics.

    serial: rises with every change. Metrics are made part of the app on the way in.

    >>> from hubbub.declaration import boolean
    >>> manifest = Manifest(app="notepad", serial=1, metrics=(boolean("uses_dark_mode", epsilon="1.0"),))
    >>> manifest["uses_dark_mode"].id.hex()[:8]
    '2d2f6ad9'
    """

    app: str
    serial: int
    metrics: tuple[Metric, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.app, str) or not APP.fullmatch(self.app) or self.app.endswith("."):
            raise ManifestError(
                "app must be 1 to 64 lower-case letters, digits, dots, - and _", path=("app",)
            )
        if isinstance(self.serial, bool) or not isinstance(self.serial, int) or not 1 <= self.serial < 2**31:
            raise ManifestError("serial must be a whole number from 1", path=("serial",))
        if len(self.metrics) > MOST_METRICS:
            raise ManifestError(f"a manifest has at most {MOST_METRICS} metrics", path=("metrics",))
        names = [metric.name for metric in self.metrics]
        for name in names:
            if names.count(name) > 1:
                raise ManifestError(f'metric "{name}" is declared twice', path=(name,))
        object.__setattr__(self, "metrics", tuple(metric.of(self.app) for metric in self.metrics))

    def __getitem__(self, name: str) -> Metric:
        for metric in self.metrics:
            if metric.name == name:
                return metric
        known = ", ".join(metric.name for metric in self.metrics[:_SHOWN]) or "none"
        more = f" and {len(self.metrics) - _SHOWN} more" if len(self.metrics) > _SHOWN else ""
        # The name is not said: who swaps two arguments gives a value in its place.
        raise DomainError(f"the manifest of {self.app} has no metric of that name; it has {known}{more}")

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The names of the metrics whose mechanism is still open."""
        return tuple(metric.name for metric in self.metrics if not metric.is_resolved)

    @classmethod
    def from_toml(cls, text: str, *, where: str = "manifest") -> "Manifest":
        r"""Read a manifest as a person writes it.

        where: the file's name, for messages. Raises ManifestError with the line.

        >>> head = 'format = 1\napp = "notepad"\nserial = 1\n'
        >>> Manifest.from_toml(head + '[metrics.tabs]\nkind = "boolean"')
        Traceback (most recent call last):
        hubbub.errors.ManifestError: manifest, line 5: metric "tabs" has no epsilon; add epsilon = "1.0"
        """
        import tomllib  # noqa: PLC0415 - a manifest that is made in code needs none of it

        try:
            document = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also of an integer that Python will not read
            raise ManifestError(f"not TOML: {error}", where=where) from None
        try:
            return cls.from_document(document)
        except ManifestError as error:
            place = f"{where}, line {line_of(text, error.path)}"
            raise ManifestError(error.problem, remedy=error.remedy, where=place, path=error.path) from None

    @classmethod
    def from_document(cls, document: object) -> "Manifest":
        """Read a manifest from plain data, such as parsed JSON.

        Raises ManifestError.
        """
        if not isinstance(document, Mapping):
            raise ManifestError("a manifest is a table with format, app, serial and metrics")
        for key in document:
            if key not in KEYS:
                raise ManifestError(
                    f"unknown key {str(key)[:64]!r}", remedy=f"known are {', '.join(KEYS)}", path=(str(key),)
                )
        for key in KEYS[:3]:
            if key not in document:
                raise ManifestError(f"{key} is missing", remedy="add it before the first table", path=())
        if document["format"] != FORMAT or type(document["format"]) is not int:
            raise ManifestError(f"format must be {FORMAT}", remedy="or use a newer hubbub", path=("format",))
        tables = document.get("metrics", {})
        if not isinstance(tables, Mapping) or not all(
            isinstance(table, Mapping) for table in tables.values()
        ):
            raise ManifestError(
                "metrics must be tables", remedy="write [metrics.name] above each", path=("metrics",)
            )
        metrics = tuple(metric_of(name, table) for name, table in tables.items())
        return cls(app=document["app"], serial=document["serial"], metrics=metrics)

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry and ``from_document`` reads back."""
        return {
            "format": FORMAT,
            "app": self.app,
            "serial": self.serial,
            "metrics": {metric.name: _table_of(metric) for metric in self.metrics},
        }


def _table_of(metric: Metric) -> dict[str, Any]:
    table: dict[str, Any] = {
        **metric.domain.canonical,
        "epsilon": str(metric.epsilon),
        "mechanism": metric.mechanism,
        "parameters": dict(metric.parameters),
        "period": f"{metric.period}d",
        "labels": [[label.name, list(label.values)] for label in metric.labels],
        "once": metric.once,
        "changes": metric.changes,
        "source": metric.source,
        "why": metric.why,
        "owner": metric.owner,
    }
    if metric.delta.atto:
        table["delta"] = str(metric.delta)
    if metric.absent is not None:
        table["absent"] = metric.absent
    if metric.expires is not None:
        table["expires"] = metric.expires.isoformat()
    return table


def line_of(text: str, path: tuple[str, ...]) -> int:
    """Find the line that a path of keys points at, as well as a search can; line 1 if it can't."""
    lines = text.splitlines()
    start = 0
    name, key = (path[0], path[1]) if len(path) > 1 else ("", "".join(path))
    if name:
        header = re.compile(rf"""\s*\[\s*metrics\s*\.\s*["']?{re.escape(name)}["']?\s*[].]""")
        start = next((number for number, line in enumerate(lines) if header.match(line)), 0)
    assignment = re.compile(rf"""\s*(\[.*\.)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    for number in range(start, len(lines)):
        if assignment.match(lines[number]):
            return number + 1
        if number > start and name and lines[number].lstrip().startswith("["):
            break
    return start + 1
