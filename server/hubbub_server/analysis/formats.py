"""This file writes answers as a table, JSON, NDJSON or CSV."""

import csv
import io
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hubbub.estimate import About
from hubbub_server.analysis.groups import Answers, Group
from hubbub_server.analysis.lines import lines

# where a spreadsheet would take a formula to begin; one that splits lines at semicolons finds cells within
_FORMULA = re.compile("(?:^|(?<=;))(?=\\s*[-=+@\uff1d\uff0b\uff0d\uff20])")


def as_table(answers: Answers, about: About | None = None) -> str:
    """Return answers for people to read."""
    groups = answers.groups or filter(None, [answers.nothing])
    return "\n".join(f"{_about(group)}: {lines(group.answer, about)}\n" for group in groups)


def as_json(answers: Answers, about: About | None = None) -> str:
    """Return answers for programs."""
    return msgspec.json.format(msgspec.json.encode(answers.document(about)), indent=2).decode() + "\n"


def as_ndjson(answers: Answers, about: About | None = None) -> str:
    """Return an object for each row, one a line, flat as in CSV."""
    return "".join(f"{msgspec.json.encode(line).decode()}\n" for line in answers.flat(about))


def as_csv(answers: Answers, about: About | None = None) -> str:
    """Return a line for each row, for spreadsheets, quoting text that they would take for a formula."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(answers.columns(about))
    writer.writerows([harmless(cell) for cell in line.values()] for line in answers.flat(about))
    return file.getvalue()


FORMATS: Mapping[str, Callable[[Answers, About | None], str]] = {
    "table": as_table,
    "json": as_json,
    "ndjson": as_ndjson,
    "csv": as_csv,
}
MEDIA = {"json": "application/json", "ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


def harmless(cell: Any) -> Any:
    """Keep a spreadsheet from running text.

    >>> harmless("=cmd()"), harmless("a;=cmd()"), harmless("linux"), harmless(-1)
    ("'=cmd()", "a;'=cmd()", 'linux', -1)
    """
    return _FORMULA.sub("'", cell) if isinstance(cell, str) else cell


def _about(group: Group) -> str:
    labels = ", ".join(f"{name} {value}" for name, value in (group.labels or {}).items())
    return ", ".join(filter(None, [group.start and f"from {group.start}", labels])) or "all"
