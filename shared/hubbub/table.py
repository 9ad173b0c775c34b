"""This file lays text out in columns, for the commands."""

import math
from collections.abc import Sequence


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return heads, a rule and rows as text in aligned columns.

    left: how many columns, from the left, hold words; the others are aligned at the right.

    >>> print(table(("name", "value"), [("linux", "61.5"), ("mac", "9.0")]))
    name   value
    -----  -----
    linux   61.5
    mac      9.0
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [heads, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if column < left else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def rounded(value: float | None, error: float | None) -> str:
    """Write a value with the digits that its error leaves: two of the error's own; "-" for None.

    >>> rounded(0.61234, 0.0123), rounded(1234.5, 120.0), rounded(None, None)
    ('0.612', '1,234', '-')
    """
    if value is None:
        return "-"
    if not error or not math.isfinite(error):
        return f"{value:,.6g}"
    decimals = min(max(1 - math.floor(math.log10(error)), 0), 12)
    return f"{value:,.{decimals}f}"
