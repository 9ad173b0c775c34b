"""This file lists the routes: who may ask what, what they send, and what they get.

OpenAPI is made from it, and tests hold the app and the protocol's page to it.
"""

from typing import Any

from hubbub.batch import BINARY
from hubbub.batch_json import JSON, BatchDocument
from hubbub_server.analysis.formats import MEDIA
from hubbub_server.analysis.suspicion import Suspicion
from hubbub_server.api.documents import (
    EstimatesDocument,
    HealthDocument,
    KeysDocument,
    ManifestDocument,
    MetricDocument,
    MetricsDocument,
    NewKeyDocument,
    ReadyDocument,
    ReportsDocument,
    RevokedDocument,
    RotatedDocument,
    SignedManifestDocument,
    WithdrawalDocument,
)
from hubbub_server.api.keys import KeyDocument, RotationDocument
from hubbub_server.api.manifests import TOML
from hubbub_server.api.queries import ESTIMATES, REPORTS, SUSPICION
from hubbub_server.api.route import Route
from hubbub_server.exporting.writers import FORMATS
from hubbub_server.keys import KINDS
from hubbub_server.publication import Published
from hubbub_server.receiving.receipt import Receipt, Withdrawn

INGEST, ADMIN, READERS = ("ingest",), ("admin",), ("analyst", "admin")
ANY_KEY: tuple[str, ...] = KINDS
ANYBODY: tuple[str, ...] = ()
OF_COLUMNS = ("unknown_metric", "wrong_labels", "wrong_width", "period_not_started", "period_closed")

TABLE = (
    Route(
        "POST",
        "/v1/batches",
        "Take in a batch; the answer comes once it is durable.",
        INGEST,
        {JSON: Receipt},
        takes={BINARY: bytes, JSON: BatchDocument},
        problems=("malformed_batch", "unknown_version", "id_conflict", "withdrawn", *OF_COLUMNS),
    ),
    Route(
        "POST",
        "/v1/withdrawals",
        "Take a batch back: it is subtracted, and refused if it comes again.",
        INGEST,
        {JSON: Withdrawn},
        takes={JSON: WithdrawalDocument},
        problems=("malformed_json", "already_folded"),
    ),
    Route(
        "GET",
        "/v1/manifests/{app}",
        "Return the manifest in force.",
        ANY_KEY,
        {JSON: ManifestDocument},
        problems=("not_found",),
        has_tag=True,
    ),
    Route(
        "GET",
        "/v1/manifests/{app}/signed",
        "Return the newest signed manifest, as it was signed.",
        ANYBODY,
        {JSON: SignedManifestDocument},
        problems=("not_found",),
        has_tag=True,
    ),
    Route(
        "GET",
        "/v1/metrics",
        "Return every version of every metric.",
        READERS,
        {JSON: MetricsDocument},
        has_tag=True,
    ),
    Route(
        "GET",
        "/v1/metrics/{metric}",
        "Return a metric by its id, name, or app/name.",
        READERS,
        {JSON: MetricDocument},
        problems=("not_found", "bad_query"),
        has_tag=True,
    ),
    Route(
        "GET",
        "/v1/estimates",
        "Answer a metric: unbiased values, with their errors.",
        READERS,
        {JSON: EstimatesDocument} | {media: bytes for name, media in MEDIA.items() if name != "json"},
        query=ESTIMATES,
        problems=("not_found", "bad_query"),
        has_tag=True,
    ),
    Route(
        "GET",
        "/v1/reports",
        "Return the noisy reports of a metric that are still kept, shuffled within period and labels.",
        READERS,
        {JSON: ReportsDocument} | {each.media: bytes for name, each in FORMATS.items() if name != "json"},
        query=REPORTS,
        problems=("not_found", "bad_query", "not_installed"),
    ),
    Route(
        "GET",
        "/v1/suspicion",
        "Test whether the reports of a metric obey the laws of honest ones, period by period.",
        READERS,
        {JSON: Suspicion},
        query=SUSPICION,
        problems=("not_found", "bad_query"),
        has_tag=True,
    ),
    Route(
        "GET",
        "/v1/openapi.json",
        "Return this description.",
        ANYBODY,
        {JSON: dict[str, Any]},
        has_tag=True,
    ),
    Route(
        "GET",
        "/healthz",
        "Tell that the collector runs.",
        ANYBODY,
        {JSON: HealthDocument},
    ),
    Route(
        "GET",
        "/operations/readyz",
        "Tell that the collector can take batches, after writing something.",
        ANYBODY,
        {JSON: ReadyDocument},
        problems=("not_ready",),
    ),
    Route(
        "GET",
        "/operations/stats",
        "Return what this process has done, for Prometheus.",
        READERS,
        {"text/plain": bytes},
    ),
    Route(
        "PUT",
        "/operations/v1/manifests/{app}",
        "Put a manifest in force.",
        ADMIN,
        {JSON: Published},
        takes={JSON: ManifestDocument, TOML: bytes},
        problems=("malformed_json", "malformed_batch", "bad_manifest", "serial_conflict"),
    ),
    Route(
        "PUT",
        "/operations/v1/manifests/{app}/signed",
        "Put a signed manifest in force, and keep it for devices.",
        ADMIN,
        {JSON: Published},
        takes={JSON: SignedManifestDocument},
        problems=("malformed_batch", "bad_manifest", "serial_conflict"),
    ),
    Route("GET", "/operations/v1/keys", "List the access keys.", ADMIN, {JSON: KeysDocument}),
    Route(
        "POST",
        "/operations/v1/keys",
        "Make a key; the answer holds it, once.",
        ADMIN,
        {JSON: NewKeyDocument},
        status=201,
        takes={JSON: KeyDocument},
        problems=("malformed_json",),
    ),
    Route(
        "POST",
        "/operations/v1/keys/{number}/rotation",
        "Make a key in place of another, which is out of use from a day on; the answer holds it, once.",
        ADMIN,
        {JSON: RotatedDocument},
        status=201,
        takes={JSON: RotationDocument},
        problems=("malformed_json", "not_found", "already_replaced"),
    ),
    Route(
        "DELETE",
        "/operations/v1/keys/{number}",
        "Take a key out of use.",
        ADMIN,
        {JSON: RevokedDocument},
        problems=("not_found",),
    ),
)
