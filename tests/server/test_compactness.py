"""This file proves that a compacted database is hardly larger than its reports, and tells no arrival."""

import hashlib
import random
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from hubbub.tally import Tally
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.records import Deposit, Portion
from tests.server.changes import FOREVER, METRIC

LATEST = 0.1  # rank correlation; of 3,000 rows its standard error is 0.018, so chance passes it once in 10^7


def deposit(number: int, reports: bytes, *, period: int = 7) -> Deposit:
    tally = Tally(len(reports), np.array([len(reports), 0]))
    portion = Portion(METRIC, period, b"", 60, tally, reports)
    id_hash = hashlib.sha256(number.to_bytes(8, "big")).digest()
    return Deposit(id_hash, bytes(32), FOREVER, b'{"accepted":1,"refused":[],"reasons":{}}', (portion,))


@pytest.mark.parametrize("width", [10_000, 10_300, 10_500, 12_500, 25_000, 100_000])
def test_ten_million_reports_take_at_most_a_tenth_more_than_their_bytes(tmp_path: Path, width: int) -> None:
    store = open_sqlite(tmp_path / "hubbub.sqlite3")
    dice = random.Random(1)  # noqa: S311 - the test's own dice
    columns = 10**7 // width
    for start in range(0, columns, 100):
        numbers = range(start, min(start + 100, columns))
        store.batches.commit(
            [deposit(number, dice.randbytes(width), period=number % 9) for number in numbers]
        )

    store.upkeep.compact()

    assert store.upkeep.usage().taken <= 1.1 * columns * width
    store.close()


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
