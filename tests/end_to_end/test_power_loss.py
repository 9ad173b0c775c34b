"""This file proves that what was acknowledged outlives a loss of power and of every write not yet synced."""

import hashlib
import os
import random
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from hubbub_server.catalog import Catalog
from hubbub_server.store.opening import open_sqlite
from tests.end_to_end.unsynced import STRACE, Call, calls, disk
from tests.postgres import REQUIRED
from tests.server.process import Served, set_up
from tests.server.site import batch, dark
from tests.server.waiting import wait_until

needs_strace = pytest.mark.skipif(
    not (shutil.which("strace") or os.environ.get(REQUIRED)), reason="strace is not installed"
)
BATCHES = 360
REPORTS = 60_000  # in a batch, so that the log is emptied into the database more than once
MOMENTS = 16


@pytest.mark.torture
@needs_strace
def test_a_loss_of_power_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    served = set_up(tmp_path)
    trace = tmp_path / "trace"
    before = {path: path.read_bytes() if path.exists() else b"" for path in files(served)}
    send_traced(served, trace)
    made = calls(trace)
    acknowledged = answers(made)
    chance = random.Random(1)  # noqa: S311 - the test's own dice
    chosen = sorted(chance.sample(range(10, len(acknowledged)), MOMENTS))

    lost, faults = [], []
    for number in chosen:
        for share in (0.0, 0.5):
            left = disk(before, made, acknowledged[number][0], lambda share=share: chance.random() < share)
            missing, wrong = examine(tmp_path / f"{number}-{share}", left, acknowledged[: number + 1])
            lost += missing
            faults += wrong

    assert len(acknowledged) == BATCHES
    assert emptied(made, served) >= 2
    assert (lost, faults) == ([], [])


@pytest.mark.torture
@needs_strace
def test_a_collector_that_did_not_sync_would_be_caught(tmp_path: Path) -> None:
    served = set_up(tmp_path)
    trace = tmp_path / "trace"
    before = {path: path.read_bytes() if path.exists() else b"" for path in files(served)}
    send_traced(served, trace, batches=12)
    made = [call for call in calls(trace) if call.name != "fdatasync"]
    acknowledged = answers(made)

    lost, _ = examine(tmp_path / "left", disk(before, made, acknowledged[-1][0], lambda: False), acknowledged)

    assert len(lost) == len(acknowledged) == 12


def files(served: Served) -> tuple[Path, Path]:
    return served.database, served.database.with_name(served.database.name + "-wal")


def send_traced(served: Served, trace: Path, *, batches: int = BATCHES) -> None:
    """Send batches over a few connections at once to a collector under strace."""
    period = period_at(time.time(), 7)
    served.start(prefix=(*STRACE, str(trace)))

    def send(_: int) -> int:
        body = encode(batch(dark([1] * REPORTS, period=period), id=os.urandom(16)))
        return served.request("POST", "/v1/batches", body=body, form=BINARY)[0]

    try:
        with ThreadPoolExecutor(4) as senders:
            assert set(senders.map(send, range(batches))) == {200}
        served.stop()
    finally:
        served.end()
    wait_until(lambda: trace.read_bytes()[-100:].rstrip().endswith(b"+++ exited with 0 +++"))


def answers(made: list[Call]) -> list[tuple[int, bytes]]:
    """Return when each batch was acknowledged, as a line of the trace, and its id."""
    asked: dict[tuple[int, str], bytes] = {}
    found = []
    for call in made:
        line = (call.descriptor, call.path)
        if call.name == "recvfrom":
            asked[line] = asked.get(line, b"") + call.data
        elif call.name == "sendto" and b'"accepted"' in call.data:
            request = asked.pop(line)
            start = request.index(b"HBB\1") + 4
            found.append((call.begun, request[start : start + 16]))
    return found


def emptied(made: list[Call], served: Served) -> int:
    """How often the log was emptied: how many syncs the database itself got."""
    return sum(call.path == str(served.database) and call.name == "fdatasync" for call in made)


def examine(
    directory: Path, left: dict[Path, bytes], acknowledged: list[tuple[int, bytes]]
) -> tuple[list[bytes], list[object]]:
    """Start from what was left on the disk; return ids that are not there, and what is wrong."""
    directory.mkdir()
    for path, content in left.items():
        (directory / path.name).write_bytes(content)
    store = open_sqlite(directory / "hubbub.sqlite3")
    lost = [
        batch_id
        for _, batch_id in acknowledged
        if store.batches.find(hashlib.sha256(batch_id).digest()) is None
    ]
    faults: list[object] = list(store.upkeep.check(Catalog(store.manifests).add_up))
    store.close()
    shutil.rmtree(directory)
    return lost, faults
