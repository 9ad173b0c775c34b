"""This file proves on a disk that is really full that nothing acknowledged is lost, and that room cures."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hubbub.batch import BINARY, encode
from hubbub.period import period_at
from hubbub_server.readiness import FRESH
from hubbub_server.store.opening import open_sqlite
from hubbub_server.store.sqlite.database import PAGE
from tests.end_to_end.test_collector_serving import counted
from tests.server.changes import ALL, METRIC, deposit
from tests.server.process import SERVER, Served, set_up
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


@pytest.mark.parametrize(
    ("room", "said"), [(6 * MIB, b"has no room for another copy of it"), (18 * MIB, b"is full")]
)
def test_compacting_where_two_copies_have_no_room_empties_the_log_and_takes_no_room(
    small_disk: Path, room: int, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hubbub_server.store.sqlite.database.PAGES_OF_LOG", 2 * MIB // PAGE)
    served = set_up(small_disk)
    with closing(open_sqlite(served.database)) as store:
        store.batches.commit([deposit(str(number), BATCH) for number in range(60)])
    temporary = small_disk if room > 12 * MIB else Path(tempfile.gettempdir())

    with closing(open_sqlite(served.database)) as store:
        store.batches.prepare()
        store.batches.commit([deposit("one more", BATCH)])
        (small_disk / "ballast").write_bytes(bytes(shutil.disk_usage(small_disk).free - room))
        done = subprocess.run(
            [*SERVER, "compact", "--config", small_disk / "hubbub.toml"],
            env=os.environ | {"SQLITE_TMPDIR": str(temporary)},
            stderr=subprocess.PIPE,
            check=False,
        )
        left = shutil.disk_usage(small_disk).free
        store.batches.commit([deposit("and another", BATCH)])

        assert (done.returncode, b"the disk of the database " + said in done.stderr) == (1, True)
        assert left > room + MIB
        assert sum(tally.n for _, _, tally in store.batches.tallies(METRIC, ALL)) == 62 * BATCH


def ready(served: Served) -> int:
    return served.request("GET", "/operations/readyz", port=served.operations_port)[0]
