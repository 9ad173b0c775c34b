"""This file proves on a disk that is really full that nothing acknowledged is lost, and that room cures."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from hubbub_server.readiness import FRESH
from tests.end_to_end.test_collector_serving import counted
from tests.server.process import Served, set_up
from tests.server.site import batch, dark

MIB = 2**20
BATCH = 200_000  # reports, of a byte each


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 MiB, in memory."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no disk can be mounted: {done.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.fixture
def served(small_disk: Path) -> Iterator[Served]:
    running = set_up(small_disk)
    running.settings = {"operations_port": "0", "least_room": str(4 * MIB)}
    running.start()
    yield running
    running.end()


@pytest.mark.torture
def test_a_full_disk_loses_nothing_and_recovers_without_a_restart(served: Served) -> None:
    ballast = served.directory / "ballast"
    ballast.write_bytes(bytes(12 * MIB))
    period = period_at(time.time(), 7)
    sent = [encode(batch(dark([1] * BATCH, period=period))) for _ in range(300)]

    first = [served.request("POST", "/v1/batches", body=data, form=BINARY)[0] for data in sent]
    full = ready(served)
    alive, _ = served.request("GET", "/healthz")
    kept = counted(served)
    ballast.unlink()
    time.sleep(FRESH)
    roomy = ready(served)
    again = [
        served.request("POST", "/v1/batches", body=data, form=BINARY)[0]
        for data, status in zip(sent, first, strict=True)
        if status != 200
    ][:20]

    assert set(first) == {200, 507}
    assert kept == first.count(200) * BATCH
    assert (full, alive, roomy) == (503, 200, 200)
    assert again[:10] == [200] * 10
    assert counted(served) >= kept + 10 * BATCH
    assert served.stop() == 0


def ready(served: Served) -> int:
    return served.request("GET", "/operations/readyz", port=served.operations_port)[0]
