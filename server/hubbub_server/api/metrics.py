"""This file shows the metrics: every version that was ever published."""

import msgspec
from flask import Blueprint, Response

from hubbub.errors import RefusedError
from hubbub_server.api.documents import MetricDocument, MetricsDocument
from hubbub_server.api.metric_table import MetricTable
from hubbub_server.api.reply import tagged
from hubbub_server.collector import Collector
from hubbub_server.store.records import StoredMetric


def routes(collector: Collector) -> Blueprint:
    """Return the routes for metrics."""
    blueprint = Blueprint("metrics", __name__)
    manifests = collector.store.manifests

    @blueprint.get("/v1/metrics")
    def every() -> Response:
        collector.require("analyst", "admin")
        return tagged(MetricsDocument([_document(stored) for stored in manifests.metrics()]))

    @blueprint.get("/v1/metrics/<path:metric>")
    def one(metric: str) -> Response:
        collector.require("analyst", "admin")
        stored = manifests.metric(collector.catalog.find(metric).metric.id)
        if stored is None:
            raise RefusedError("not_found", "no metric of this id or name is published here")
        return tagged(_document(stored))

    return blueprint


def _document(stored: StoredMetric) -> MetricDocument:
    definition = msgspec.json.decode(stored.definition, type=MetricTable)
    return MetricDocument(stored.id.hex(), stored.app, stored.name, stored.serial, definition)
