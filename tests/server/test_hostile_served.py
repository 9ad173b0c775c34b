"""This file besieges a running collector: it answers, stays small, and estimates as its twin, left alone."""

import gzip
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hubbub.batch import BINARY, Batch, encode
from hubbub.batch_json import JSON, encode_json
from hubbub.period import period_at
from tests.server.atlas import VECTORS, publish_atlas
from tests.server.case import MARK, Case
from tests.server.process import Served, set_up
from tests.server.sieges import Attack, attacks, bombs
from tests.server.site import METRICS, batch, dark
from tests.server.wire import as_bytes, exchange

pytestmark = pytest.mark.torture
GROWTH = 64  # MiB
HONEST_BUSY = "overloaded"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Served, Served]]:
    """A collector to besiege, and its twin."""
    both = tuple(_start(tmp_path / name) for name in ("besieged", "twin"))
    try:
        yield both  # type: ignore[misc]  # of two
    finally:
        for served in both:
            served.end()


def test_whatever_is_sent_it_answers_and_counts_as_if_nothing_had_been(pair: tuple[Served, Served]) -> None:
    besieged, twin = pair
    period, known = period_at(time.time(), 7), encode(batch(dark([1, 0], period=period_at(time.time(), 7))))
    sent = attacks(besieged.keys, period, known, VECTORS["metrics"])
    sent += [Attack(case.name, (as_bytes(case, besieged.keys),)) for case in bombs()]
    _both_take(pair, known)
    before = besieged.resident

    faults = [fault for attack in sent if (fault := _fault(besieged, attack) or _unfit(pair))]

    assert len(sent) > 500
    assert faults == []
    assert estimates(besieged) == estimates(twin)
    assert besieged.resident - before < GROWTH


def test_many_bombs_at_once_leave_no_mark(pair: tuple[Served, Served]) -> None:
    besieged, twin = pair
    _both_take(pair, encode(batch(dark([1, 0], period=period_at(time.time(), 7)))))
    sent = [as_bytes(case, besieged.keys) for case in bombs()] * 4
    before = besieged.resident

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda data: exchange(besieged, data)[0], sent))

    strange = {answer.status for answer in answers} - {*range(400, 500), 503}
    assert strange == set()
    assert {HONEST_BUSY.encode() in answer.body for answer in answers if answer.status == 503} <= {True}
    assert _unfit(pair) == ""
    assert estimates(besieged) == estimates(twin)
    assert besieged.resident - before < GROWTH


@pytest.mark.parametrize("write", [encode, encode_json])
def test_large_batches_that_are_taken_leave_no_mark(
    pair: tuple[Served, Served], write: Callable[[Batch], bytes]
) -> None:
    besieged, _ = pair
    _both_take(pair, encode(batch(dark([1, 0], period=period_at(time.time(), 7)))))
    form, reports = BINARY if write is encode else JSON, bytes(40 * 2**20)
    large = [batch(dark(reports, period=period_at(time.time(), 7))) for _ in range(6)]
    packed = [gzip.compress(write(each), 1) for each in large]
    sent = [
        as_bytes(Case("", data, form, headers={"Content-Encoding": "gzip"}), besieged.keys) for data in packed
    ]
    before = besieged.resident

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda data: exchange(besieged, data)[0], sent))

    assert {answer.status for answer in answers} == {200}
    assert besieged.resident - before < GROWTH


def estimates(served: Served) -> list[tuple[int, bytes]]:
    """Return everything that can be told of every metric."""
    names = [f"atlas/{vector['name']}" for vector in VECTORS["metrics"]]
    names += [f"notepad/{metric.name}" for metric in METRICS.metrics]
    return [served.request("GET", f"/v1/estimates?metric={name}", key="analyst") for name in names]


def _start(directory: Path) -> Served:
    served = set_up(directory)
    publish_atlas(served.database)
    served.start()
    return served


def _fault(served: Served, attack: Attack) -> str:
    """Attack, and say what is wrong with the answers, if anything is."""
    try:
        found = exchange(served, *attack.pieces, answers=len(attack.answers))
    except TimeoutError:
        return f"{attack.name}: no answer"
    in_order = len(found) == len(attack.answers) and all(
        answer.status in allowed for answer, allowed in zip(found, attack.answers, strict=True)
    )
    if not in_order or any(MARK.encode() in answer.head + answer.body for answer in found):
        return f"{attack.name}: {found}"
    return ""


def _unfit(pair: tuple[Served, Served]) -> str:
    """Send both the same honest batch, and say if one does not take it."""
    data = encode(batch(dark([1, 0, 1], period=period_at(time.time(), 7))))
    found = _both_take(pair, data)
    return (
        "" if {answer.partition(b',"refused"')[0] for answer in found} == {b'{"accepted":3'} else f"{found}"
    )


def _both_take(pair: tuple[Served, Served], data: bytes) -> list[bytes]:
    return [exchange(served, as_bytes(Case("", data, BINARY), served.keys))[0].body for served in pair]
