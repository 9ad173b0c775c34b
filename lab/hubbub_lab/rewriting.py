"""This file writes chosen mechanisms into a manifest's text, and leaves every other byte as it was.

It goes through the places where the words stand and keeps the first edit that a TOML parser reads as exactly
the change that is meant, so that no layout, comment or look-alike in a string can lead it astray.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from hubbub.epsilon import Epsilon
from hubbub.errors import ManifestError
from hubbub.manifest import line_of
from hubbub.metric import Metric

_KEY = r"""(?P<start>(?:^[ \t]*|[{{,][ \t]*)(?:[^\s=#{{}},]+\.)?)["']?{key}["']?(?P<equals>[ \t]*=[ \t]*)"""
_REST = r"(?=(?P<rest>[^\r\n]*)(?P<end>\r?\n|\Z))"
_MECHANISM = re.compile(_KEY.format(key="mechanism") + r"""(?:"best"|'best')""" + _REST, re.MULTILINE)
_EPSILON = re.compile(
    _KEY.format(key="epsilon") + r"""(?:"[^"\r\n]*"|'[^'\r\n]*'|\d+)""" + _REST, re.MULTILINE
)


def written(text: str, resolved: Mapping[str, Metric], *, where: str = "manifest") -> str:
    r"""Return a manifest's text with the mechanisms of open metrics named.

    resolved: each such metric by name, with mechanism, parameters and epsilon as they shall stand. where: the
    file's name, for messages.

    Raises ManifestError where so small a change can't be made, with what to write by hand.

    >>> from hubbub.declaration import boolean
    >>> text = '[metrics.dark]\nepsilon = "1.0"\nmechanism = "best"  # for now\n'
    >>> written(text, {"dark": boolean("dark", epsilon=1)})
    '[metrics.dark]\nepsilon = "1.0"\nmechanism = "randomized_response"  # for now\n'
    """
    for name, metric in resolved.items():
        document = tomllib.loads(text)
        table = document["metrics"][name]
        table["mechanism"] = metric.mechanism
        table.pop("parameters", None)  # of no mechanism yet: a hand must take them out
        if metric.parameters:
            table["parameters"] = dict(metric.parameters)
        text = _changed(text, metric, "mechanism", document) or _by_hand(text, metric, where)
        if Epsilon.parse(table["epsilon"]) != metric.epsilon:
            table["epsilon"] = str(metric.epsilon)
            text = _changed(text, metric, "epsilon", document) or _by_hand(text, metric, where)
    return text


def _changed(text: str, metric: Metric, key: str, meant: Mapping[str, Any]) -> str:
    """Return the edit of a text that reads as the document that is meant; "" if there is none."""
    for edit in _edits(text, metric, key):
        try:
            if tomllib.loads(edit) == meant:
                return edit
        except tomllib.TOMLDecodeError:
            continue
    return ""


def _by_hand(text: str, metric: Metric, where: str) -> NoReturn:
    lines = [f'mechanism = "{metric.mechanism}"', *_parameters(metric), f'epsilon = "{metric.epsilon}"']
    raise ManifestError(
        f'metric "{metric.name}" is written in a way that only a hand can change',
        remedy=f"write {', '.join(lines)} there",
        where=f"{where}, line {line_of(text, (metric.name, 'mechanism'))}",
    )


def _edits(text: str, metric: Metric, key: str) -> Iterator[str]:
    """Return edits to try, those near the line that it should be first."""
    line = line_of(text, (metric.name, key))
    places = list((_MECHANISM if key == "mechanism" else _EPSILON).finditer(text))
    for place in sorted(places, key=lambda place: abs(text.count("\n", 0, place.end("start")) + 1 - line)):
        head, rest, end = text[: place.end("equals")], place["rest"], place["end"]
        tail = text[place.end("end") :]
        if key == "epsilon":
            yield f'{head}"{metric.epsilon}"{rest}{end}{tail}'
            continue
        head += f'"{metric.mechanism}"'
        more = "".join(_parameters(metric))
        below = f"{end or chr(10)}{place['start']}{more}" if more else ""
        yield f"{head}{rest}{below}{end}{tail}"
        yield f"{head}, {more}{rest}{end}{tail}"  # in an inline table


def _parameters(metric: Metric) -> list[str]:
    pairs = ", ".join(f"{name} = {json.dumps(value)}" for name, value in metric.parameters)
    return [f"parameters = {{ {pairs} }}"] if pairs else []
