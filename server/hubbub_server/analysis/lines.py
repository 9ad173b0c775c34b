"""This file writes an answer for people who read it in a terminal."""

from collections.abc import Sequence

from hubbub.estimate import About, Unit
from hubbub.printable import printable
from hubbub.table import rounded, table
from hubbub_server.analysis.answers import Answer
from hubbub_server.analysis.rows import ABOUTS, Row


def lines(answer: Answer, about: About | None = None) -> str:
    """Return an answer as a heading, a table with its errors, and what there is to say about it.

    about: whom errors are about; both if not given.

    >>> from hubbub.declaration import boolean
    >>> from hubbub.tally import Tally
    >>> from hubbub_server.analysis.answers import answer
    >>> import numpy as np
    >>> dark = boolean("dark", epsilon="1.0").of("notepad")
    >>> print(lines(answer(dark, Tally(5000, np.array([2500, 2500])))))
    dark: 5,000 reports by randomized_response, epsilon 1
         estimate  respondents: stderr     95 % interval  population: stderr     95 % interval
    ---  --------  -------------------  ----------------  ------------------  ----------------
    yes    50.0 %                1.4 %  47.3 % to 52.7 %               1.5 %  47.0 % to 53.0 %
    note: if 1 % of these 5,000 reports are fake, a share may be off by up to 2.2 percentage points
    """
    heads = ["", "change" if answer.since else "estimate"] + ([] if answer.view == "raw" else [answer.view])
    abouts = [about] if about else ABOUTS
    for each in abouts:
        heads += [f"{each}: stderr", f"{100 * answer.level:g} % interval"]
    body = table(heads, [_cells(row, answer, abouts) for row in answer.rows])
    told = [f"warning: {finding.sentence}" for finding in answer.warnings]
    told += [f"note: {each}" for each in answer.advice]
    return "\n".join([_heading(answer), body, *map(printable, told)])  # which may name texts that came in


def _heading(answer: Answer) -> str:
    heading = f"{answer.metric}: {_reports(answer.n)} by {answer.mechanism}, epsilon {answer.epsilon}"
    if answer.versions:
        each = ", ".join(f"{version.id[:8]} {version.n:,}" for version in answer.versions)
        heading += f" at most; reports by version: {each}"
    if answer.since:
        heading += f"; change since {answer.since.start} to {answer.since.end}, {_reports(answer.since.n)}"
    if answer.top:
        what = "largest changes" if answer.since else "largest"
        heading += f"; the {len(answer.rows)} {what}, by intervals that hold for all options at once"
    return heading


def _reports(n: int) -> str:
    return f"{n:,} report{'s' * (n != 1)}"


def figure(value: float | None, stderr: float | None, unit: Unit) -> str:
    """Write a value with the digits that its standard error leaves; a share as a percentage.

    "-" stands for what is not known.

    >>> figure(0.61234, 0.0123, "share"), figure(2.5, 0.01, "number")
    ('61.2 %', '2.500')
    """
    if value is None:
        return "-"
    if unit == "number":
        return rounded(value, stderr)
    return f"{rounded(100 * value, stderr and 100 * stderr)} %"


def span(interval: tuple[float, float] | None, stderr: float | None, unit: Unit) -> str:
    """Write an interval."""
    return " to ".join(figure(end, stderr, unit) for end in interval) if interval else "-"


def _cells(row: Row, answer: Answer, abouts: Sequence[About]) -> list[str]:
    values = [row.value] + ([] if answer.view == "raw" else [row.viewed])
    cells = [figure(value, row.population.stderr, row.unit) for value in values]
    for about in abouts:
        error = row.error(about)
        cells += [
            figure(error.stderr, error.stderr, row.unit),
            span(error.interval, error.stderr, row.unit),
        ]
    if answer.since:  # the difference of two percentages is no percentage of anything
        cells = [cell.replace(" %", " points") for cell in cells]
    return [printable(row.name), *cells]
