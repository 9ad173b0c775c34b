"""This file holds answers: one, or one for each period or combination of labels."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from hubbub.estimate import About
from hubbub_server.analysis.answers import Answer, frame
from hubbub_server.analysis.rows import ABOUTS

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class Group:
    """An answer and what it is about: a period, a combination of labels, or everything asked for.

    period: None unless grouped by period. labels: None unless grouped by label.
    """

    answer: Answer
    period: int | None = None
    start: str | None = None
    labels: dict[str, str] | None = None

    def document(self) -> dict[str, Any]:
        """Return plain data that JSON can carry."""
        about = {"period": self.period, "start": self.start, "labels": self.labels}
        return {key: value for key, value in about.items() if value is not None} | {
            "answer": self.answer.document()
        }

    def flat(self) -> Iterator[dict[str, Any]]:
        """Yield one line of a table for programs for each row."""
        answer, since = self.answer, self.answer.since
        about: dict[str, object] = {"metric": answer.metric, "id": answer.id, "start": self.start}
        about |= {f"label_{name}": value for name, value in (self.labels or {}).items()}
        about |= {"since": since.start, "since_end": since.end, "since_n": since.n} if since else {}
        what: dict[str, object] = {
            "n": answer.n,
            "periods": answer.periods,
            "epsilon": answer.epsilon,
            "mechanism": answer.mechanism,
            "level": answer.level,
            "view": answer.view,
        }
        warnings = "; ".join(finding.sentence for finding in answer.warnings)
        advice = {"warnings": warnings, "advice": "; ".join(answer.advice)}
        yield from (about | what | row.flat() | advice for row in answer.rows)


@dataclass(frozen=True, slots=True)
class Answers:
    """What was asked for, group by group.

    nothing: an answer from no report, which has the columns and the advice of one where there is no group.
    """

    groups: tuple[Group, ...]
    nothing: Group | None = field(default=None, compare=False, repr=False)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __getitem__(self, number: int) -> Group:
        return self.groups[number]

    def document(self, about: About | None = None) -> dict[str, Any]:
        """Return plain data that JSON can carry.

        about: whom errors are about; both if not given.
        """
        groups = [group.document() for group in self.groups]
        for row in (row for group in groups for row in group["answer"]["rows"]):
            for other in _left_out(about):
                del row[other]
        return {"groups": groups}

    def flat(self, about: About | None = None) -> Iterator[dict[str, Any]]:
        """Yield the lines of a table for programs, all with the same columns, None where one has nothing.

        about: whom errors are about; both if not given.
        """
        columns = self.columns(about)
        for line in (line for group in self.groups for line in group.flat()):
            yield {column: line.get(column) for column in columns}

    def columns(self, about: About | None = None) -> list[str]:
        """Return the columns of that table, which it has without a line, too."""
        groups = self.groups or filter(None, [self.nothing])
        lines = (line for group in groups for line in islice(group.flat(), 1))  # a group's are all alike
        return [
            column
            for column in dict.fromkeys(column for line in lines for column in line)
            if not column.startswith(_left_out(about))
        ]

    def to_frame(self) -> "DataFrame":
        """Return all rows of all groups as a pandas frame.

        Raises MissingExtraError without pandas.
        """
        return frame(list(self.flat()))


def _left_out(about: About | None) -> tuple[About, ...]:
    return tuple(other for other in ABOUTS if about not in (None, other))
