"""This file holds the metrics that a collector is measured with, and batches of reports for them."""

import secrets
import time

from hubbub.batch import Batch, Column, encode
from hubbub.declaration import boolean, choice
from hubbub.manifest import Manifest
from hubbub.period import period_at

OPTIONS = [f"option {number}" for number in range(16)]


def manifest() -> Manifest:
    """Return the metrics: two alike to fill with few and many reports, and one yes-or-no question."""
    return Manifest(
        app="benchmark",
        serial=1,
        metrics=(
            choice("few", options=OPTIONS, epsilon="1.0"),
            choice("many", options=OPTIONS, epsilon="1.0"),
            boolean("single", epsilon="1.0"),
        ),
    )


def batch(metric: str, reports: bytes) -> bytes:
    """Return a new batch of one-byte reports of a metric, in binary."""
    period = period_at(time.time(), 7)
    column = Column(manifest()[metric].id, period, (), len(reports), reports)
    return encode(Batch(secrets.token_bytes(16), (column,)))
