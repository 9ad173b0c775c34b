"""This file proves that a compacted database is hardly larger than its reports, and tells no arrival."""

import hashlib
import random
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from hubbub.tally import Tally
from hubbub_server.store.opening import open_sqlite, open_store
from hubbub_server.store.records import Deposit, Portion
from tests.postgres import Server
from tests.server.changes import FOREVER, METRIC

LATEST = 0.1  # rank correlation; of 3,000 rows its standard error is 0.018, so chance passes it once in 10^7


def deposit(number: int, reports: bytes, *, period: int = 7) -> Deposit:
    tally = Tally(len(reports), np.array([len(reports), 0]))
    portion = Portion(METRIC, period, b"", 60, tally, reports)
    id_hash = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return Deposit(id_hash, bytes(32), FOREVER, b'{"accepted":1,"refused":[],"reasons":{}}', (portion,))


@pytest.mark.parametrize("width", [10_000, 10_300, 10_500, 12_500, 25_000, 100_000])
def test_ten_million_reports_take_at_most_a_tenth_more_than_their_bytes(tmp_path: Path, width: int) -> None:
    assert share_taken(tmp_path / "hubbub.sqlite3", width) <= 1.1


@pytest.mark.parametrize("width", [10_000, 10_300, 11_950, 100_000])
def test_ten_million_reports_in_postgresql_take_at_most_a_fifth_more(postgres: Server, width: int) -> None:
    assert share_taken(postgres.fresh(), width) <= 1.2


def share_taken(where: Path | str, width: int) -> float:
    """Keep columns that are so wide; return how many bytes a compacted store takes for one of theirs."""
    dice = random.Random(1)  # noqa: S311 - the test's own dice
    columns = 10**7 // width
    with closing(open_store(where)) as store:
        empty = store.upkeep.usage().taken
        for start in range(0, columns, 100):
            numbers = range(start, min(start + 100, columns))
            store.batches.commit(
                [deposit(number, dice.randbytes(width), period=number % 9) for number in numbers]
            )
        store.upkeep.compact()
        return (store.upkeep.usage().taken - empty) / (columns * width)


@pytest.mark.parametrize("size", [1, 120])
def test_the_order_of_pages_tells_nothing_about_that_of_arrival(tmp_path: Path, size: int) -> None:
    store = open_sqlite(tmp_path / "hubbub.sqlite3")
    dice = random.Random(2)  # noqa: S311 - the test's own dice
    arrived = [b"HERE" + dice.randbytes(8) + bytes(size) for _ in range(3000)]
    for start in range(0, len(arrived), 10):
        store.batches.commit(
            [deposit(start + n, reports) for n, reports in enumerate(arrived[start : start + 10])]
        )

    store.upkeep.compact()

    store.close()
    content = (tmp_path / "hubbub.sqlite3").read_bytes()
    places = [content.index(reports) for reports in arrived]
    assert abs(spearmanr(range(3000), places).statistic) < LATEST


def test_without_compacting_pages_would_tell_the_order_of_large_reports(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "hubbub.sqlite3")
    dice = random.Random(3)  # noqa: S311 - the test's own dice
    arrived = [dice.randbytes(6000) for _ in range(300)]
    for number, reports in enumerate(arrived):
        store.batches.commit([deposit(number, reports)])

    store.close()

    content = (tmp_path / "hubbub.sqlite3").read_bytes()
    places = [content.index(reports[-100:]) for reports in arrived]
    assert spearmanr(range(300), places).statistic > 0.5
