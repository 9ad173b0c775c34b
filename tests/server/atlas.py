"""This file publishes a manifest with a metric of every kind and mechanism: that of the vectors."""

import json
from pathlib import Path
from typing import Any

from hubbub.declaration import metric_of
from hubbub.manifest import Manifest
from hubbub_server.publication import publish
from hubbub_server.store.opening import open_sqlite

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "metrics.json").read_text("utf-8")
)
ATLAS = Manifest(
    app=VECTORS["app"],
    serial=1,
    metrics=tuple(metric_of(vector["name"], vector["manifest"]) for vector in VECTORS["metrics"]),
)


def publish_atlas(database: Path) -> None:
    """Put the manifest in force before a collector runs on the database."""
    store = open_sqlite(database)
    try:
        publish(store.manifests, ATLAS)
    finally:
        store.close()
