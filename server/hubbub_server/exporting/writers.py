"""This file writes noisy reports as CSV, JSON, NDJSON or Parquet, a part at a time.

A report is an integer, or a list of the integers that the mechanism's layout has; in CSV with blanks between.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from hubbub_server.analysis.formats import MEDIA, harmless
from hubbub_server.exporting.cells import Export, Some
from hubbub_server.exporting.parquet import as_parquet

_JSON = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write reports: its media type, and what yields the bytes."""

    media: str
    write: Callable[[Export], Iterator[bytes]]


def as_csv(export: Export) -> Iterator[bytes]:
    """Yield a heading, then a line for each report."""
    names = [label.name for label in export.question.metric.labels]
    yield _line("period", *(f"label_{name}" for name in names), "report").encode()
    for some in export.read():
        before = _line(some.start, *map(harmless, some.labels.values()), "")[:-1]
        lines = (before + _cell(report) for report in some.reports.tolist())
        yield ("\n".join(lines) + "\n").encode()


def as_ndjson(export: Export) -> Iterator[bytes]:
    """Yield an object for each report, one a line."""
    for some in export.read():
        yield b"\n".join(_objects(some)) + b"\n"


def as_json(export: Export) -> Iterator[bytes]:
    """Yield one document."""
    metric, layout = export.question.metric, export.question.mechanism.layout
    about = {"metric": metric.name, "id": metric.id.hex(), "mechanism": metric.mechanism}
    about |= {"type": layout.base.name}
    yield _JSON.encode(about)[:-1] + b',"reports":['
    comma = b""
    for some in export.read():
        yield comma + b",".join(_objects(some))
        comma = b","
    yield b"]}"


FORMATS: Mapping[str, Format] = {
    "json": Format(MEDIA["json"], as_json),
    "ndjson": Format(MEDIA["ndjson"], as_ndjson),
    "csv": Format(MEDIA["csv"], as_csv),
    "parquet": Format("application/vnd.apache.parquet", as_parquet),
}


def _objects(some: Some) -> Iterator[bytes]:
    before = _JSON.encode({"period": some.start, "labels": some.labels})[:-1] + b',"report":'
    return (before + _JSON.encode(report) + b"}" for report in some.reports.tolist())


def _cell(report: int | list[int]) -> str:
    return " ".join(map(str, report)) if isinstance(report, list) else str(report)


def _line(*cells: str) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerow(cells)
    return file.getvalue()
