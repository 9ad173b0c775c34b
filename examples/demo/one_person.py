"""This file shows one person's side: what the collector holds, what it cost, what asking again does."""

import sqlite3
from dataclasses import asdict
from pathlib import Path

import numpy as np

from examples.demo.population import Person
from hubbub import registry
from hubbub.batch import digest
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub_client import Client, Skipped


def show_one_person(client: Client, person: Person, manifest: Manifest, database: Path) -> None:
    """Print what became of one person's answers, read from their own device and the collector's database."""
    print("\nOne person. This is all that the collector holds of them, and it may well be untrue:")
    for entry in client.journal():
        report = entry.batch.columns[0].reports
        where = "in" if _is_kept(database, digest(entry.batch)) else "MISSING FROM"
        meaning = _meaning(manifest[entry.metric], report)
        print(f"  {entry.metric:<20} {meaning:<12} (bytes {report.hex()}, {where} the collector's database)")
    print("A noisy number may lie outside its range: cutting it off there would shift the mean of many.")
    print("\nWhat the device tells its owner:")
    for metric in manifest.metrics:
        print(f"  {client.explain(metric.name)}")
    spent = sum(entry.cost for entry in client.journal())
    print(
        f"\nThe device has spent epsilon {spent}, and may spend {client.remaining()} more in these 28 days."
    )
    print("Asked again, with the same values, it sends and charges nothing:")
    for name, value in asdict(person).items():
        outcome = client.record(name, value, labels={"route": "device"})
        print(f"  {outcome.message if isinstance(outcome, Skipped) else outcome}")


def _meaning(metric: Metric, report: bytes) -> str:
    mechanism = registry.build(metric)
    reports = np.frombuffer(report, dtype=mechanism.layout)
    if metric.domain.kind == "number":
        return f"{mechanism.estimate(mechanism.tally(reports)).values[0]:.2f}"
    return metric.domain.names[int(reports[0])]


def _is_kept(database: Path, fingerprint: bytes) -> bool:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        found = connection.execute("SELECT 1 FROM batch WHERE digest = ?", (fingerprint,)).fetchone()
    finally:
        connection.close()
    return found is not None
