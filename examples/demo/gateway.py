"""This file plays a gateway: it perturbs many people's values with a device's coins, and sends large batches.

A hospital or an office that collects for many people would do the same on its own side of the wire.
"""

import gzip
import secrets
from collections.abc import Iterator, Sequence

import requests

from examples.demo.population import Person, inputs
from hubbub import registry
from hubbub.batch import BINARY, Batch, Column, encode
from hubbub.manifest import Manifest
from hubbub.period import period_at
from hubbub_client.answering.system_coins import system_coins

AT_ONCE = 2000  # people in a batch


def send_all(
    people: Sequence[Person], manifest: Manifest, url: str, key: str, *, now: float
) -> Iterator[int]:
    """Send one report a person and metric, and yield how many people are through after each batch."""
    for start in range(0, len(people), AT_ONCE):
        some = people[start : start + AT_ONCE]
        batch = Batch(secrets.token_bytes(16), tuple(_columns(some, manifest, now)))
        answer = requests.post(
            f"{url}/v1/batches",
            data=gzip.compress(encode(batch)),
            headers={"Authorization": f"Bearer {key}", "Content-Type": BINARY, "Content-Encoding": "gzip"},
            timeout=30,
        )
        answer.raise_for_status()
        yield len(some)


def _columns(people: Sequence[Person], manifest: Manifest, now: float) -> Iterator[Column]:
    for metric in manifest.metrics:
        reports = registry.build(metric).perturb(inputs(metric, people), system_coins())
        labels = metric.label_indices({"route": "gateway"})
        yield Column(metric.id, period_at(now, metric.period), labels, len(people), reports.tobytes())
