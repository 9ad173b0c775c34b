"""This file publishes manifests: changes are shown line by line, and a serial stays what it is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from hubbub import registry
from hubbub.errors import DomainError, ManifestError, RefusedError
from hubbub.manifest import Manifest
from hubbub.metric import Metric
from hubbub.signed_manifest import SignedManifest
from hubbub_server.store.protocol import Manifests
from hubbub_server.store.records import StoredMetric

Lines = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Published:
    """A manifest that is in force, and the lines in which it differs from the one before.

    dropped: metrics that are not in it, and that devices still send whose app has an older one.
    """

    app: str
    serial: int
    changes: tuple[str, ...]
    dropped: tuple[str, ...]


def publish(manifests: Manifests, manifest: Manifest) -> Published:
    """Put a manifest in force; publishing the same one again changes nothing.

    Raises ManifestError if a mechanism is still open. Raises RefusedError, with the differences, if the
    serial is lower than the one in force, or equal while anything changed.
    """
    if manifest.unresolved:
        raise ManifestError(
            f'mechanism = "best" is still open in {", ".join(manifest.unresolved)}',
            remedy="run hubbub plan --write, or name a mechanism",
        )
    for metric in manifest.metrics:
        _check_mechanism(metric)
    serial, before = _in_force(manifests, manifest.app)
    changes = _differences(_lines(before), _lines(manifest), _renamings(before, manifest))
    if manifest.serial < serial:
        raise RefusedError(
            "serial_conflict",
            f"serial {serial} of {manifest.app} is in force and {manifest.serial} is lower",
            differences=changes,
        )
    if manifest.serial == serial and changes:
        raise RefusedError(
            "serial_conflict",
            f"serial {serial} of {manifest.app} is in force with other content; raise it to {serial + 1}",
            differences=changes,
        )
    if manifest.serial > serial:
        tables = manifest.document()["metrics"]
        metrics = [
            StoredMetric(
                metric.id, manifest.app, metric.name, manifest.serial, json.dumps(tables[metric.name])
            )
            for metric in manifest.metrics
        ]
        document = json.dumps(manifest.document())
        try:
            manifests.publish(manifest.app, manifest.serial, document, metrics, after=serial)
        except RefusedError:  # another was faster, which this is compared with now
            return publish(manifests, manifest)
    ever = {stored.name for stored in manifests.metrics() if stored.app == manifest.app}
    dropped = ever - {metric.name for metric in manifest.metrics}
    return Published(manifest.app, manifest.serial, changes, tuple(sorted(dropped)))


def publish_signed(manifests: Manifests, data: bytes) -> Published:
    """Put a signed manifest in force, and keep its bytes for devices, who check the signature.

    Raises what ``publish`` raises, and ManifestError for what is no signed manifest.
    """
    manifest = SignedManifest.decode(data).manifest()
    published = publish(manifests, manifest)
    manifests.keep_signed(manifest.app, manifest.serial, data)
    return published


def _check_mechanism(metric: Metric) -> None:
    try:
        registry.build(metric)
    except DomainError as error:
        raise ManifestError(f'metric "{metric.name}": {error}', path=(metric.name, "mechanism")) from None


def _in_force(manifests: Manifests, app: str) -> tuple[int, Manifest | None]:
    latest = manifests.latest(app)
    if latest is None:
        return 0, None
    serial, document = latest
    return serial, Manifest.from_document(json.loads(document))


def _renamings(before: Manifest | None, after: Manifest) -> dict[str, Metric]:
    """Return, by the name of a new metric, one that is gone, asked for the same and has another source."""
    if before is None:
        return {}
    known, asked = ({metric.source for metric in each.metrics} for each in (before, after))
    gone = [metric for metric in before.metrics if metric.source not in asked]
    return {
        metric.name: earlier
        for metric in after.metrics
        for earlier in gone
        if metric.source not in known and metric.domain == earlier.domain
    }


def _lines(manifest: Manifest | None) -> Lines:
    """Write each metric as one line a key; the order of labels and options counts, that of metrics not."""
    if manifest is None:
        return {}
    return {
        metric: {key: json.dumps(value, ensure_ascii=False) for key, value in table.items()}
        for metric, table in manifest.document()["metrics"].items()
    }


def _differences(before: Lines, after: Lines, renamings: Mapping[str, Metric]) -> tuple[str, ...]:
    """Return what goes, marked -, and what comes, marked +; a whole metric as its name.

    >>> _differences({"tabs": {"epsilon": '"1"'}}, {"tabs": {"epsilon": '"2"'}, "theme": {}}, {})
    ('- tabs.epsilon = "1"', '+ tabs.epsilon = "2"', '+ theme')
    """
    found: list[str] = []
    for metric in sorted(before.keys() | after.keys()):
        if metric not in before or metric not in after:
            found.append(f"{'+' if metric in after else '-'} {metric}{_hint(renamings.get(metric))}")
            continue
        old, new = before[metric], after[metric]
        for key in sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key)):
            sides = (("-", old), ("+", new))
            found += [f"{sign} {metric}.{key} = {side[key]}" for sign, side in sides if key in side]
    return tuple(found)


def _hint(earlier: Metric | None) -> str:
    if earlier is None:
        return ""
    return (
        f' (asks what {earlier.name} asked; if this is a renaming, write source = "{earlier.source}": else '
        "devices answer, and pay, anew)"
    )
