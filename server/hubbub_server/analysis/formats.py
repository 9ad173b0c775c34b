"""This file writes answers as a table, JSON or CSV."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence

import msgspec

from hubbub_server.analysis.estimation import Group
from hubbub_server.analysis.lines import lines
from hubbub_server.analysis.rows import Row

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_table(groups: Sequence[Group]) -> str:
    """Return answers for people to read."""
    return "\n\n".join(f"{_about(group)}: {lines(group.answer)}" for group in groups)


def as_json(groups: Sequence[Group]) -> str:
    """Return answers for programs."""
    document = msgspec.json.encode({"groups": [group.document() for group in groups]})
    return msgspec.json.format(document, indent=2).decode()


def as_csv(groups: Sequence[Group]) -> str:
    """Return answers for spreadsheets, quoting text that they would take for a formula."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    errors = [
        f"{about}_{what}" for about in ("respondents", "population") for what in ("stderr", "low", "high")
    ]
    writer.writerow(["metric", "id", "about", "answer", "n", "epsilon", "level", "value", "viewed", *errors])
    for group in groups:
        answer = group.answer
        for row in answer.rows:
            texts = [_harmless(text) for text in (answer.metric, answer.id, _about(group), row.name)]
            numbers = (row.value, row.viewed, *_error(row))
            writer.writerow([*texts, answer.n, answer.epsilon, answer.level, *numbers])
    return file.getvalue()


FORMATS: Mapping[str, Callable[[Sequence[Group]], str]] = {"table": as_table, "json": as_json, "csv": as_csv}


def _about(group: Group) -> str:
    if group.start is not None:
        return f"from {group.start}"
    return ", ".join(f"{name} {value}" for name, value in (group.labels or {}).items()) or "all"


def _error(row: Row) -> list[float | None]:
    return [
        number
        for error in (row.respondents, row.population)
        for number in (error.stderr, *(error.interval or (None, None)))
    ]


def _harmless(text: str) -> str:
    """Keep a spreadsheet from running a name.

    >>> _harmless("=cmd()"), _harmless("linux")
    ("'=cmd()", 'linux')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
