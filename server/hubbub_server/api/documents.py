"""This file holds the JSON that goes in and out, as types from which it is described to programs, too."""

from typing import Annotated, Literal

import msgspec

from hubbub.batch_json import Hex16, Hex32
from hubbub.manifest import APP
from hubbub.metric import FORMAT
from hubbub_server.analysis.groups import Group
from hubbub_server.api.metric_table import MetricTable
from hubbub_server.keys import KINDS

App = Annotated[str, msgspec.Meta(pattern=f"^{APP.pattern}$")]
Serial = Annotated[int, msgspec.Meta(ge=1, lt=2**31)]
Kind = Annotated[str, msgspec.Meta(extra_json_schema={"enum": list(KINDS)})]
Code = Annotated[str, msgspec.Meta(description="stable, for programs")]


class WithdrawalDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The id of a batch that is to be taken back."""

    id: Hex16


class ManifestDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An app's metrics by name."""

    format: Annotated[int, msgspec.Meta(ge=FORMAT, le=FORMAT)]
    app: App
    serial: Serial
    metrics: dict[str, MetricTable] = {}


class SignedManifestDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A manifest's JSON form as a string, and its maker's signature over that, in base64."""

    manifest: str
    signature: str


class MetricDocument(msgspec.Struct, frozen=True):
    """A version of a metric, with the newest manifest that holds it."""

    id: Hex32
    app: App
    name: str
    serial: Serial
    definition: MetricTable


class MetricsDocument(msgspec.Struct, frozen=True):
    """Every version of every metric that was ever published."""

    metrics: list[MetricDocument]


class ProblemDocument(msgspec.Struct, frozen=True):
    """What went wrong (RFC 9457).

    detail: for people. columns: that can't be taken, of a batch. differences: of a manifest from the one in
    force.
    """

    type: str
    title: str
    status: int
    code: Code
    detail: str = ""
    columns: list[dict[str, int | str]] = []
    differences: list[str] = []


class EstimatesDocument(msgspec.Struct, frozen=True):
    """An answer for each group that was asked for."""

    groups: list[Group]


class ReportDocument(msgspec.Struct, frozen=True):
    """A noisy report: the integer that its bytes are, or those.

    period: the day on which it starts.
    """

    period: str
    labels: dict[str, str]
    report: int | list[int]


class ReportsDocument(msgspec.Struct, frozen=True):
    """Noisy reports of a metric. type: of the integers, as numpy names it."""

    metric: str
    id: Hex32
    mechanism: str
    type: str
    reports: list[ReportDocument]


class ListedKeyDocument(msgspec.Struct, frozen=True):
    """A key without its secret; days are ISO dates, or empty."""

    number: str
    kind: Kind
    note: str
    last_used: str
    revoked: str
    expires: str


class KeysDocument(msgspec.Struct, frozen=True):
    """Every key, revoked ones included."""

    keys: list[ListedKeyDocument]


class NewKeyDocument(msgspec.Struct, frozen=True):
    """A key that was just made, which is never shown again, and the number that it is listed by."""

    key: str
    number: str


class RotatedDocument(msgspec.Struct, frozen=True):
    """A key that was just made in place of another, and the first day on which that one is out of use."""

    key: str
    number: str
    expires: str


class RevokedDocument(msgspec.Struct, frozen=True):
    """A key is out of use."""

    revoked: bool


class HealthDocument(msgspec.Struct, frozen=True):
    """The collector runs."""

    status: Literal["ok"]


class ReadyDocument(msgspec.Struct, frozen=True):
    """The collector can take batches."""

    status: Literal["ready"]
