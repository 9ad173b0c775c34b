"""This file reads the reports of a cell page by page, so that no reader holds more than it works on."""

from collections.abc import Iterator

from hubbub_server.store.cells import span_of
from hubbub_server.store.postgres.patience import Connection
from hubbub_server.store.records import Cell

ROWS = 1000
BYTES = 2**23  # of reports, from which on a page ends
_PAGE = """SELECT key, bytes || rest FROM (
        SELECT key, bytes, rest, sum(octet_length(bytes)) OVER (ORDER BY key) - octet_length(bytes) AS before
        FROM reports WHERE ends = %s AND key BETWEEN %s AND %s ORDER BY key LIMIT %s
    ) AS page WHERE before < %s ORDER BY key"""
_WAITING = _PAGE.replace("FROM reports", "FROM waiting JOIN reports USING (key)")
_OF_CELL = _PAGE.replace(
    "ORDER BY key LIMIT",
    "AND (%s, %s, %s) = (SELECT metric, period, labels FROM cell WHERE number = %s) ORDER BY key LIMIT",
)

Page = list[tuple[int, bytes]]


def page_of(connection: Connection, number: int, ends: int, *, after: int = 0, waiting: bool = False) -> Page:
    """Return keys and reports of a cell, in the order of keys; none if there are no more.

    after: the last key of the page before. waiting: only of those that are not added up yet.
    """
    first, last = span_of(number)
    query = _WAITING if waiting else _PAGE
    values = (ends, max(first, after + 1), last, ROWS, BYTES)
    return connection.execute(query, values, binary=True).fetchall()


def next_page(connection: Connection, cell: Cell, number: int, ends: int, *, after: int) -> Page:
    """Return such a page unless the number, since it was read, has come to another cell."""
    first, last = span_of(number)
    values = (ends, max(first, after + 1), last, *cell, number, ROWS, BYTES)
    return connection.execute(_OF_CELL, values, binary=True).fetchall()


def pages(connection: Connection, number: int, ends: int, *, waiting: bool = False) -> Iterator[Page]:
    """Yield all pages of a cell."""
    page = page_of(connection, number, ends, waiting=waiting)
    while page:
        yield page
        page = page_of(connection, number, ends, after=page[-1][0], waiting=waiting)
