"""This file reads collections in the CSV form of google/rappor: parameters, counts by cohort, and a map.

Erlingsson, Pihur, Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response", CCS 2014.
There, p and q are the chances that the bit of a Bloom filter which is 0 / 1 is sent as 1, and f is the share
of bits that a device replaces for good. The map lists the bits that each candidate sets, cohort by cohort,
counted from 1 over all cohorts.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.candidate_bits import CandidateShares, candidate_shares
from hubbub.domains.plain import decimal
from hubbub.errors import DomainError
from hubbub.frequencies import Channel, Ints
from hubbub.probability import Real
from hubbub.table import table
from hubbub_server.analysis.lines import figure

_NAMES = ("k", "h", "m", "p", "q", "f")


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a RAPPOR collection.

    k: bits. h: hashes. m: cohorts. p, q: the chance that a bit that is 0 / 1 is sent as 1.
    """

    k: int
    h: int
    m: int
    p: Fraction
    q: Fraction

    @property
    def epsilon(self) -> float:
        """What one report costs: the log of (q (1 - p) / (p (1 - q)))^h."""
        return float(self.h * Real.log(self.q * (1 - self.p) / (self.p * (1 - self.q))))


@dataclass(frozen=True, slots=True)
class Collection:
    """What was collected, and whom to ask for.

    sizes: reports by cohort, shape (m,). counts: of those, by bit, shape (m, k). candidates: each one's bits,
    counted from 0 over all cohorts. incomplete: how many candidates lack the bits of some cohort.
    """

    parameters: Parameters
    sizes: Ints
    counts: Ints
    candidates: Mapping[str, Ints]
    incomplete: int

    def shares(self) -> CandidateShares:
        """Return the share of each candidate."""
        channel = Channel(Real(self.parameters.q), Real(self.parameters.p))
        names, places = list(self.candidates), list(self.candidates.values())
        return candidate_shares(names, places, self.sizes, self.counts, channel)

    @property
    def notes(self) -> Iterator[str]:
        """What to know about the figures."""
        yield (
            f"f is 0: nothing is remembered, so this is a one-time RAPPOR of epsilon "
            f"{self.parameters.epsilon:.4f}; a device that answers again spends as much again, and it can't "
            f"serve as a longitudinal metric"
        )
        if self.incomplete:
            yield f"{self.incomplete} rows of the map have blank cells, which set no bit"


def read(parameters: Path, counts: Path, bits: Path) -> Collection:
    """Read a collection.

    Raises DomainError if the files are not such, do not go together, or speak of a longitudinal collection.
    """
    told = _parameters(_rows(parameters))
    numbers = _integers(counts, _rows(counts))
    if numbers.shape != (told.m, told.k + 1):
        raise DomainError(f"{counts.name} must have {told.m} rows of {told.k + 1} numbers")
    if (numbers < 0).any() or (numbers[:, 1:] > numbers[:, :1]).any():
        raise DomainError(f"{counts.name} has a bit that more reports have than there are in its cohort")
    cells = [(row[0], [cell for cell in row[1:] if cell.strip()]) for row in _rows(bits)]
    places = {name: _integers(bits, [own])[0] - 1 for name, own in cells}
    if len(places) < len(cells):
        raise DomainError(f"{bits.name} has a candidate twice")
    if any(own.size and (own.min() < 0 or own.max() >= told.m * told.k) for own in places.values()):
        raise DomainError(f"{bits.name} has a bit outside 1 to {told.m * told.k}")
    lacking = sum(len(own) < told.m * told.h for _, own in cells)
    return Collection(told, numbers[:, 0], numbers[:, 1:], places, lacking)


def rappor_document(collection: Collection) -> dict[str, Any]:
    """Return plain data that JSON can carry; what is unknown is null."""
    found = collection.shares()
    columns = (found.values, found.stderr("respondents"), found.stderr("population"), found.non_negative)
    names = ("value", "respondents_stderr", "population_stderr", "non_negative")
    known = [[None if isnan(number) else number for number in column.tolist()] for column in columns]
    rows = [
        {"name": row.name, **dict(zip(names, numbers, strict=True))}
        for row, *numbers in zip(found.rows, *known, strict=True)
    ]
    told = {"reports": found.n, "epsilon": collection.parameters.epsilon}
    return {**told, "rows": rows, "notes": list(collection.notes)}


def rappor_lines(collection: Collection) -> str:
    """Return a table of the candidates, what they hold, and the notes."""
    found = collection.shares()
    columns = (found.values, found.stderr("respondents"), found.non_negative)
    rows = [
        (row.name, *(figure(number, stderr, "share") for number in (value, stderr, viewed)))
        for row, value, stderr, viewed in zip(
            found.rows, *(column.tolist() for column in columns), strict=True
        )
    ]
    heads = ("candidate", "share", "standard error", "not below 0")
    told = [
        f"{found.n:,} reports; shares of all who sent one, unbiased, and the likeliest that are not below 0"
    ]
    return "\n".join([*told, table(heads, rows), *(f"note: {note}" for note in collection.notes)])


def _parameters(rows: Sequence[Sequence[str]]) -> Parameters:
    if len(rows) != 2 or tuple(rows[0]) != _NAMES or len(rows[1]) != len(_NAMES):
        raise DomainError(f"the parameters must be a line of names, {','.join(_NAMES)}, and a line of values")
    k, h, m, p, q, f = map(decimal, rows[1])
    if f != 0:
        raise DomainError(
            f"f is {f}, so answers are permanent; only a one-time collection, of f = 0, is read"
        )
    if any(number != int(number) or not 1 <= number <= 65_536 for number in (k, h, m)) or not 0 < p < q < 1:
        raise DomainError("k, h and m must be whole numbers from 1, and 0 < p < q < 1")
    return Parameters(int(k), int(h), int(m), Fraction(p), Fraction(q))


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DomainError(f"{path.name} can't be read: {error}") from None


def _integers(path: Path, rows: Sequence[Sequence[str]]) -> Ints:
    try:
        return np.array([[int(cell) for cell in row] for row in rows], dtype=np.int64)
    except (ValueError, OverflowError):
        raise DomainError(f"{path.name} must hold rows of whole numbers, equally many in each") from None
