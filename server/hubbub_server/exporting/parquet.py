"""This file writes noisy reports as Parquet, by pyarrow, in row groups that memory can hold."""

import io
from collections.abc import Iterator
from datetime import date
from typing import Any

from hubbub.errors import MissingExtraError
from hubbub_server.exporting.cells import Export, Some

ROW_GROUP = 2**17  # numbers, about


def as_parquet(export: Export) -> Iterator[bytes]:
    """Yield the bytes of one file.

    Raises MissingExtraError without pyarrow.
    """
    try:
        import pyarrow as arrow  # noqa: PLC0415 - an optional part
        from pyarrow import parquet  # noqa: PLC0415
    except ModuleNotFoundError:
        raise MissingExtraError("an export as Parquet", "parquet") from None
    metric, layout = export.question.metric, export.question.mechanism.layout
    number = arrow.from_numpy_dtype(layout.base)
    columns = {"period": arrow.date32()}
    columns |= {f"label_{label.name}": arrow.string() for label in metric.labels}
    columns |= {"report": arrow.list_(number, export.width) if layout.shape else number}
    about = {"metric": metric.name, "id": metric.id.hex(), "mechanism": metric.mechanism}
    schema = arrow.schema(columns, metadata={f"hubbub.{key}": value for key, value in about.items()})

    def table(some: Some) -> Any:
        n = len(some.reports)
        flat = arrow.array(some.reports.reshape(-1), type=number)
        told = arrow.FixedSizeListArray.from_arrays(flat, export.width) if layout.shape else flat
        fixed = [arrow.array([date.fromisoformat(some.start)] * n, type=arrow.date32())]
        fixed += [arrow.array([value] * n, type=arrow.string()) for value in some.labels.values()]
        return arrow.Table.from_arrays([*fixed, told], schema=schema)

    sink = _Sink()
    with parquet.ParquetWriter(sink, schema) as writer:
        waiting: list[Any] = []
        for some in export.read():
            waiting.append(table(some))
            if sum(len(each) for each in waiting) * export.width >= ROW_GROUP:
                writer.write_table(arrow.concat_tables(waiting))
                waiting = []
                yield sink.taken()
        if waiting:
            writer.write_table(arrow.concat_tables(waiting))
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file that can be written only, and hands on what was."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._end = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._end

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._end += len(self._parts[-1])
        return len(self._parts[-1])

    def taken(self) -> bytes:
        taken, self._parts = b"".join(self._parts), []
        return taken
