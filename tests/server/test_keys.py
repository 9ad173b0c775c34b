"""This file proves who may do what, that no key is kept, and that a revoked one ends."""

import hashlib
import re

import pytest

from hubbub.errors import RefusedError
from hubbub.period import DAY
from hubbub_server import keys as ring
from hubbub_server.keys import KINDS, add_key, day_of
from tests.server.site import NOW, Site, batch, code

ROUTES = {
    ("GET", "/operations/stats"): {"analyst", "admin"},
    ("POST", "/v1/batches"): {"ingest"},
    ("POST", "/v1/withdrawals"): {"ingest"},
    ("PUT", "/operations/v1/manifests/notepad"): {"admin"},
    ("PUT", "/operations/v1/manifests/notepad/signed"): {"admin"},
    ("GET", "/v1/manifests/notepad"): {"ingest", "analyst", "admin"},
    ("GET", "/v1/metrics"): {"analyst", "admin"},
    ("GET", "/v1/metrics/dark"): {"analyst", "admin"},
    ("GET", "/v1/estimates?metric=dark"): {"analyst", "admin"},
    ("GET", "/operations/v1/keys"): {"admin"},
    ("POST", "/operations/v1/keys"): {"admin"},
    ("DELETE", "/operations/v1/keys/00000000"): {"admin"},
}


PUBLIC = {  # what a maker signs, and what this API is, is for everybody
    ("GET", "/healthz"),
    ("GET", "/operations/readyz"),
    ("GET", "/v1/manifests/x/signed"),
    ("GET", "/v1/openapi.json"),
}


def test_every_route_but_health_and_signed_manifests_asks_for_a_key(home: Site) -> None:
    rules = {
        (method, re.sub(r"<\w+>", "x", rule.rule))
        for rule in home.client.application.url_map.iter_rules()
        for method in rule.methods or ()
        if method not in {"HEAD", "OPTIONS"}
    }

    open_to_all = {
        (method, path) for method, path in rules if home.client.open(path, method=method).status_code != 401
    }

    assert len(rules) == len(ROUTES) + len(PUBLIC)
    assert open_to_all == PUBLIC


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_key_opens_the_routes_of_its_kind_only(home: Site, method: str, path: str, kind: str) -> None:
    answer = home.client.open(path, method=method, headers=home.bearer(kind))

    assert (answer.status_code == 403) == (kind not in ROUTES[method, path])
    assert answer.status_code != 401


def test_the_secret_is_kept_as_a_hash_only(home: Site) -> None:
    key = add_key(home.collector.store.keys, "ingest")

    stored = home.collector.store.keys.find(key.split("_")[2])

    assert stored is not None
    assert stored.secret_hash == hashlib.sha256(key.encode()).digest()
    home.collector.close()
    assert key.split("_")[3].encode() not in home.database.read_bytes()


def test_keys_differ_and_hold_160_random_bits(home: Site) -> None:
    keys = {add_key(home.collector.store.keys, "ingest") for _ in range(20)}

    assert len({key.split("_")[3] for key in keys}) == 20
    assert all(re.fullmatch(r"hb_ingest_[0-9a-f]{8}_[0-9a-f]{40}", key) for key in keys)


@pytest.mark.parametrize("place", [0, 1, 7, 39])
def test_one_wrong_digit_of_the_secret_is_unauthorized(home: Site, place: int) -> None:
    head, _, secret = home.keys["ingest"].rpartition("_")
    wrong = "1" if secret[place] == "0" else "0"

    answer = home.post(batch(), Authorization=f"Bearer {head}_{secret[:place]}{wrong}{secret[place + 1 :]}")

    assert code(answer) == "unauthorized"


def test_a_kind_cannot_be_claimed(home: Site) -> None:
    claimed = home.keys["ingest"].replace("ingest", "admin")

    answer = home.client.get("/operations/v1/keys", headers={"Authorization": f"Bearer {claimed}"})

    assert code(answer) == "unauthorized"


def test_a_key_revoked_here_ends_at_once(home: Site) -> None:
    before = home.post(batch()).status_code
    number = home.keys["ingest"].split("_")[2]

    revoked = home.client.delete(f"/operations/v1/keys/{number}", headers=home.bearer("admin"))

    again = home.client.delete(f"/operations/v1/keys/{number}", headers=home.bearer("admin"))
    assert (before, revoked.json) == (200, {"revoked": True})
    assert code(home.post(batch())) == "unauthorized"
    assert code(again) == "not_found"


def test_a_key_revoked_by_another_process_ends_within_a_second(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(ring.time, "monotonic", lambda: now)
    home.post(batch())
    home.collector.store.keys.revoke(home.keys["ingest"].split("_")[2], "2027-01-05")

    now += 1.001

    assert code(home.post(batch())) == "unauthorized"


def test_an_admin_makes_and_lists_keys_and_sees_the_secret_once(home: Site) -> None:
    made = home.client.post(
        "/operations/v1/keys", json={"kind": "ingest", "note": "phones"}, headers=home.bearer("admin")
    )

    assert made.status_code == 201
    assert made.json is not None
    key = made.json["key"]
    listed = home.client.get("/operations/v1/keys", headers=home.bearer("admin"))
    assert home.post(batch(), Authorization=f"Bearer {key}").status_code == 200
    assert '"phones"' in listed.text
    assert key.split("_")[2] in listed.text
    assert key.split("_")[3] not in listed.text
    assert hashlib.sha256(key.encode()).hexdigest() not in listed.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b'{"kind":"root"}',
        b'{"kind":5}',
        b'{"kind":"ingest","more":1}',
        b'{"kind":"admin","note":"\\u0000"}',
    ],
)
def test_a_key_that_is_asked_for_wrongly_is_not_made(home: Site, body: bytes) -> None:
    before = len(home.collector.store.keys.all())

    answer = home.client.post("/operations/v1/keys", data=body, headers=home.bearer("admin"))

    assert code(answer) == "malformed_json"
    assert len(home.collector.store.keys.all()) == before


def test_a_keys_last_use_is_known_to_the_day_only(home: Site) -> None:
    number = home.keys["ingest"].split("_")[2]
    unused = home.collector.store.keys.find(number)
    home.post(batch())
    home.clock.now += DAY / 2
    home.post(batch())

    used = home.collector.store.keys.find(number)

    assert unused is not None
    assert used is not None
    assert (unused.last_used, used.last_used) == ("", day_of(NOW))


def test_an_unknown_kind_is_refused(home: Site) -> None:
    with pytest.raises(RefusedError, match="ingest, analyst, admin"):
        add_key(home.collector.store.keys, "root")
