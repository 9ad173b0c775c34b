"""This file attacks whole devices from outside, by the bodies that a wire tap hears."""

import gzip
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from hubbub_client import Client, Delivery
from hubbub_lab.black_box import ID, Messages, epsilon_at_least
from tests.end_to_end.conftest import WireTap
from tests.server.process import Served

DEVICES = 2_000  # a side
CLAIM = 2.0


@pytest.mark.torture
def test_what_devices_send_over_http_tells_no_more_than_they_claim(
    tmp_path: Path, manifest: Path, collector: Served, tap: WireTap
) -> None:
    now = time.time()

    def run(number: int, answer: str) -> int:
        with Client(
            tap.url,
            manifest,
            key=collector.keys["ingest"],
            data_dir=tmp_path / f"{answer}-{number}",
            clock=lambda: now,
            consent="given",
            delivery=Delivery(delay=0, background=False),
        ) as client:
            client.record("theme", answer)
            return client.flush(timeout=60).sent

    with ThreadPoolExecutor(8) as pool:
        sent = [sum(pool.map(run, range(DEVICES), [answer] * DEVICES)) for answer in ("plain", "other")]

    heard = [np.delete(np.frombuffer(gzip.decompress(body), np.uint8), ID).tobytes() for body in tap.bodies]
    runs = [Messages.of(heard[start : start + DEVICES // 2]) for start in range(0, 2 * DEVICES, DEVICES // 2)]
    bound = epsilon_at_least((runs[0], runs[2]), (runs[1], runs[3]))
    assert sent == [DEVICES, DEVICES]
    assert 0.5 * CLAIM < bound <= CLAIM
