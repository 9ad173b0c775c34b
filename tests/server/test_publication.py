"""This file proves that a serial means one manifest for ever, and that published ids stay known."""

import json
from dataclasses import replace
from typing import Any

import pytest

from hubbub.batch_json import JSON
from hubbub.errors import ManifestError
from hubbub.manifest import Manifest
from hubbub_server.publication import publish
from tests.server.site import DARK, MANIFEST, METRICS, SECONDS, Site, batch, code, dark, seconds, system

CHANGED = MANIFEST.replace('epsilon = "1"', 'epsilon = "1.5"', 1)
RAISED = CHANGED.replace("serial = 1", "serial = 2")


def renamed(name: str) -> str:
    return (
        f'(asks what {name} asked; if this is a renaming, write source = "{name}": else devices answer, and '
        "pay, anew)"
    )


def put(home: Site, text: str, *, app: str = "notepad", key: str = "admin") -> Any:
    document = Manifest.from_toml(text).document()
    return home.client.put(f"/operations/v1/manifests/{app}", json=document, headers=home.bearer(key))


def test_the_same_manifest_again_changes_nothing(home: Site) -> None:
    reordered = Manifest(app="notepad", serial=1, metrics=tuple(reversed(METRICS.metrics)))

    published = [publish(home.collector.store.manifests, again) for again in (METRICS, reordered)]

    assert [(one.serial, one.changes) for one in published] == [(1, ())] * 2


def test_a_changed_metric_under_the_same_serial_is_refused_with_the_difference(home: Site) -> None:
    answer = put(home, CHANGED)

    assert (answer.status_code, code(answer)) == (409, "serial_conflict")
    assert answer.json["differences"] == ['- dark.epsilon = "1"', '+ dark.epsilon = "1.5"']
    assert home.collector.catalog.find("dark").metric == DARK


@pytest.mark.parametrize(
    ("before", "after", "differences"),
    [
        (
            'kind = "boolean"',
            'kind = "boolean"\nwhy = "to know"',
            ['- dark.why = ""', '+ dark.why = "to know"'],
        ),
        ("[metrics.dark]", '[metrics.more]\nkind = "boolean"\nepsilon = 1\n[metrics.dark]', ["+ more"]),
        ("[metrics.dark]", "[metrics.light]", ["- dark", f"+ light {renamed('dark')}"]),
        ("[metrics.dark]", '[metrics.light]\nsource = "dark"', ["- dark", "+ light"]),
        (
            '[metrics.dark]\nkind = "boolean"',
            '[metrics.light]\nkind = "text"\nlength = 8',
            ["- dark", "+ light"],
        ),
        (
            '["1.0", "1.1", "other"]',
            '["1.1", "1.0", "other"]',
            [
                '- seconds.labels = [["version", ["1.0", "1.1", "other"]]]',
                '+ seconds.labels = [["version", ["1.1", "1.0", "other"]]]',
            ],
        ),
        ('epsilon = "1"', 'epsilon = "1"\nabsent = true', ["+ dark.absent = true"]),
    ],
)
def test_whatever_differs_is_shown(home: Site, before: str, after: str, differences: list[str]) -> None:
    assert before in MANIFEST

    answer = put(home, MANIFEST.replace(before, after, 1))

    assert answer.json["differences"] == differences


def test_the_order_of_labels_is_a_difference(home: Site) -> None:
    version, channel = 'labels.version = ["1.0", "1.1", "other"]', 'labels.channel = ["a", "b"]'
    raised = MANIFEST.replace("serial = 1", "serial = 2")
    put(home, raised.replace(version, f"{version}\n{channel}"))

    answer = put(home, raised.replace(version, f"{channel}\n{version}"))

    assert code(answer) == "serial_conflict"
    assert len(answer.json["differences"]) == 2


def test_a_raised_serial_puts_the_change_in_force_and_shows_it(home: Site) -> None:
    answer = put(home, RAISED)

    assert answer.json == {
        "app": "notepad",
        "serial": 2,
        "changes": ['- dark.epsilon = "1"', '+ dark.epsilon = "1.5"'],
        "dropped": [],
    }
    current = home.client.get("/v1/manifests/notepad", headers=home.bearer("ingest"))
    assert current.json == Manifest.from_toml(RAISED).document()


def put_toml(home: Site, data: bytes, *, app: str = "notepad") -> Any:
    path = f"/operations/v1/manifests/{app}"
    return home.client.put(path, data=data, content_type="application/toml", headers=home.bearer("admin"))


def test_a_manifest_may_be_sent_as_the_toml_that_a_person_wrote(home: Site) -> None:
    answer = put_toml(home, RAISED.encode())

    assert answer.status_code == 200
    assert put(home, RAISED).json == answer.json | {"changes": []}  # it is the same
    assert answer.json["changes"] == ['- dark.epsilon = "1"', '+ dark.epsilon = "1.5"']


@pytest.mark.parametrize(
    ("data", "app", "words"),
    [
        (RAISED.replace('epsilon = "2"', "epsilon = 2.0").encode(), "notepad", "line 19"),
        (RAISED.encode(), "painter", "for another app than the path"),
        (b"=", "notepad", "not TOML"),
        (b"x = " + b"[" * 100_000, "notepad", "not TOML"),
        (RAISED.replace("notepad", "notep\xe4d").encode("latin-1"), "notepad", "not UTF-8"),
    ],
    ids=["a fault", "another app", "not TOML", "nested", "not UTF-8"],
)
def test_toml_that_is_no_manifest_is_refused(home: Site, data: bytes, app: str, words: str) -> None:
    answer = put_toml(home, data, app=app)

    assert (answer.status_code, code(answer)) == (422, "bad_manifest")
    assert words in answer.json["detail"]


def test_a_metric_that_a_newer_manifest_lacks_is_told_of_and_still_taken(home: Site) -> None:
    one, both = (
        Manifest(app="notepad", serial=serial, metrics=metrics)
        for serial, metrics in ((2, (SECONDS,)), (4, (SECONDS, DARK)))
    )

    told = [
        publish(home.collector.store.manifests, manifest).dropped
        for manifest in (one, replace(one, serial=3), both)
    ]

    assert told == [("dark", "system"), ("dark", "system"), ("system",)]
    assert home.post(batch(system([1]))).status_code == 200


def test_a_lower_serial_is_refused(home: Site) -> None:
    put(home, RAISED)

    answer = put(home, MANIFEST)

    assert code(answer) == "serial_conflict"
    assert "serial 2 of notepad is in force and 1 is lower" in answer.json["detail"]


def test_every_version_that_was_ever_published_stays_decodable(home: Site) -> None:
    put(home, RAISED)

    answer = home.post(batch(dark([1, 1])))

    assert answer.json is not None
    assert answer.json["accepted"] == 2
    assert home.counted(DARK.id.hex()) == 2
    assert home.counted("dark") == 0


def test_a_metric_that_left_the_manifest_is_found_by_its_name(home: Site) -> None:
    home.post(batch(seconds([5])))
    put(home, RAISED.partition("[metrics.seconds]")[0])

    assert home.counted("seconds") == home.counted(f"notepad/{SECONDS.name}") == 1


def test_a_name_of_two_apps_needs_its_app(home: Site) -> None:
    put(home, MANIFEST.replace("notepad", "calendar"), app="calendar")

    answer = home.estimate("dark")

    assert code(answer) == "bad_query"
    assert home.counted("calendar/dark") == 0


def test_an_open_mechanism_is_refused(home: Site) -> None:
    answer = put(home, RAISED.replace('kind = "boolean"', 'kind = "boolean"\nmechanism = "best"'))

    assert code(answer) == "bad_manifest"
    assert "dark" in answer.json["detail"]
    assert home.collector.store.manifests.latest("notepad") is not None
    with pytest.raises(ManifestError, match="still open in dark"):
        publish(
            home.collector.store.manifests,
            Manifest.from_toml(MANIFEST.replace('kind = "boolean"', 'kind = "boolean"\nmechanism = "best"')),
        )


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"format":1,"format":1}', b'{"format":1.0}', b"\xff"])
def test_what_is_no_manifest_is_refused(home: Site, body: bytes) -> None:
    answer = home.client.put(
        "/operations/v1/manifests/notepad", data=body, content_type=JSON, headers=home.bearer("admin")
    )

    assert answer.status_code in {400, 422}
    assert code(answer) in {"malformed_json", "bad_manifest"}


def test_a_manifest_is_put_under_its_own_app(home: Site) -> None:
    answer = put(home, MANIFEST, app="calendar")

    assert code(answer) == "bad_manifest"
    assert home.client.get("/v1/manifests/calendar", headers=home.bearer("admin")).status_code == 404


@pytest.mark.parametrize("faster", [RAISED, RAISED.replace('"1.5"', '"2"')], ids=["the same", "another"])
def test_who_is_slower_than_another_publisher_is_compared_with_it(
    home: Site, monkeypatch: pytest.MonkeyPatch, faster: str
) -> None:
    manifests = home.collector.store.manifests
    publish_one, others = type(manifests).publish, [Manifest.from_toml(faster)]

    def meanwhile(*values: Any, **more: Any) -> None:
        if others:
            publish(manifests, others.pop())
        publish_one(*values, **more)

    monkeypatch.setattr(type(manifests), "publish", meanwhile)

    answer = put(home, RAISED)

    assert manifests.latest("notepad")[1] == json.dumps(Manifest.from_toml(faster).document())  # type: ignore[index]
    if faster == RAISED:
        assert (answer.status_code, answer.json["changes"]) == (200, [])
    else:
        assert (answer.status_code, code(answer)) == (409, "serial_conflict")
        assert answer.json["differences"] == ['- dark.epsilon = "2"', '+ dark.epsilon = "1.5"']


def test_metrics_are_listed_with_every_version(home: Site) -> None:
    put(home, RAISED)

    listed = home.client.get("/v1/metrics", headers=home.bearer("analyst")).json
    one = home.client.get(f"/v1/metrics/{DARK.id.hex()}", headers=home.bearer("analyst")).json

    assert listed is not None
    named = [(metric["name"], metric["serial"]) for metric in listed["metrics"]]
    assert named == [("dark", 2), ("dark", 1), ("seconds", 2), ("system", 2)]
    assert one in listed["metrics"]


@pytest.mark.parametrize("path", ["dark", "notepad/dark"])
def test_a_metric_is_shown_by_its_name_alone_or_after_its_app(home: Site, path: str) -> None:
    shown = home.client.get(f"/v1/metrics/{path}", headers=home.bearer("analyst")).json

    assert shown is not None
    assert shown["id"] == DARK.id.hex()
