"""This file proves who may do what, that no key is kept, and that a revoked one ends."""

import hashlib
import re

import pytest

from hubbub.batch_json import JSON
from hubbub.errors import BusyError, RefusedError
from hubbub.period import DAY, period_at
from hubbub_server import keys as ring
from hubbub_server.keys import KINDS, add_key, day_of, rotate_key
from hubbub_server.store.keys import KeptKeys
from hubbub_server.store.records import StoredKey
from tests.server.site import NOW, Site, batch, code, dark

PUBLIC = {  # what a maker signs, and what this API is, is for everybody
    ("GET", "/healthz"),
    ("GET", "/operations/readyz"),
    ("GET", "/v1/manifests/x/signed"),
    ("GET", "/v1/openapi.json"),
}


def test_every_route_but_health_and_signed_manifests_asks_for_a_key(home: Site) -> None:
    rules = {
        (method, re.sub(r"<[\w:]+>", "x", rule.rule))
        for rule in home.client.application.url_map.iter_rules()
        for method in rule.methods or ()
        if method not in {"HEAD", "OPTIONS"}
    }

    open_to_all = {
        (method, path) for method, path in rules if home.client.open(path, method=method).status_code != 401
    }

    assert open_to_all == PUBLIC
    assert len(rules) > 15


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
    assert made.json["number"] == key.split("_")[2]
    assert made.json["number"] in [each["number"] for each in (listed.json or {})["keys"]]
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

    answer = home.client.post(
        "/operations/v1/keys", data=body, content_type=JSON, headers=home.bearer("admin")
    )

    assert code(answer) == "malformed_json"
    assert len(home.collector.store.keys.all()) == before


def test_a_key_that_is_revoked_while_it_is_looked_up_ends_at_once(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, changed = home.keys["ingest"].split("_")[2], list[str]()
    find = KeptKeys.find

    def find_slowly(store: KeptKeys, asked: str) -> StoredKey | None:
        found = find(store, asked)
        if asked == number and not changed:
            changed.append(asked)
            home.client.delete(f"/operations/v1/keys/{number}", headers=home.bearer("admin"))
        return found

    monkeypatch.setattr(KeptKeys, "find", find_slowly)
    home.post(batch())

    assert home.post(batch()).status_code == 401


def test_what_a_slow_database_said_is_no_longer_believed_than_a_fast_ones(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    find = KeptKeys.find

    def find_slowly(store: KeptKeys, asked: str) -> StoredKey | None:
        nonlocal now
        found = find(store, asked)
        now += 10.0
        return found

    monkeypatch.setattr(ring.time, "monotonic", lambda: now)
    monkeypatch.setattr(KeptKeys, "find", find_slowly)
    home.post(batch())
    home.collector.store.keys.revoke(home.keys["ingest"].split("_")[2], day_of(home.clock.now))

    assert home.post(batch()).status_code == 401


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


def test_a_day_of_use_that_cant_be_noted_turns_nobody_away_and_is_tried_again_later(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds, tried = 100.0, list[str]()
    monkeypatch.setattr(ring.time, "monotonic", lambda: seconds)

    def fail(_: object, number: str, day: str) -> None:
        tried.append(day)
        raise BusyError("later")

    with monkeypatch.context() as trouble:
        trouble.setattr(KeptKeys, "use", fail)
        statuses = []
        for _ in range(5):
            statuses.append(home.post(batch()).status_code)
            seconds += 60
    seconds += ring.NOTED_AGAIN
    home.post(batch())

    used = home.collector.store.keys.find(home.keys["ingest"].split("_")[2])
    assert (statuses, tried) == ([200] * 5, [day_of(NOW)])
    assert used is not None
    assert used.last_used == day_of(NOW)


def test_who_has_only_the_number_of_a_key_does_not_use_it(home: Site) -> None:
    number = home.keys["ingest"].split("_")[2]
    home.post(batch(), Authorization=f"Bearer hb_ingest_{number}_{'0' * 40}")
    home.client.get("/v1/metrics", headers=home.bearer("ingest"))

    unused = home.collector.store.keys.find(number)

    assert unused is not None
    assert unused.last_used == ""


def test_an_unknown_kind_is_refused(home: Site) -> None:
    with pytest.raises(RefusedError, match="ingest, analyst, admin"):
        add_key(home.collector.store.keys, "root")


def test_a_rotated_key_works_until_its_day_and_its_successor_from_now_on(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 100.0
    monkeypatch.setattr(ring.time, "monotonic", lambda: seconds)
    old = home.keys["ingest"]

    made = rotate(home, old.split("_")[2], days=10)

    statuses = {}
    for day in (0, 9, 10):
        home.clock.now, seconds = NOW + day * DAY, seconds + 1.001
        sent = [batch(dark([1], period=period_at(home.clock.now, 7))) for _ in range(2)]
        statuses[day] = [
            home.post(one, Authorization=f"Bearer {key}").status_code
            for one, key in zip(sent, (old, made["key"]), strict=True)
        ]
    assert statuses == {0: [200, 200], 9: [200, 200], 10: [401, 200]}
    assert made["expires"] == day_of(NOW + 10 * DAY)


def test_a_successor_is_of_the_same_kind_and_note(home: Site) -> None:
    key = add_key(home.collector.store.keys, "analyst", note="for Ada")

    made = rotate(home, key.split("_")[2], days=0)

    successor = home.collector.store.keys.find(made["key"].split("_")[2])
    assert successor is not None
    assert (successor.kind, successor.note, successor.expires) == ("analyst", "for Ada", "")
    listed = home.client.get("/operations/v1/keys", headers=home.bearer("admin")).json
    assert listed is not None
    assert [one["expires"] for one in listed["keys"] if one["note"] == "for Ada"].count(day_of(NOW)) == 1


def test_a_key_rotated_for_today_ends_at_once_here(home: Site) -> None:
    assert home.post(batch()).status_code == 200

    rotate(home, home.keys["ingest"].split("_")[2], days=0)

    assert code(home.post(batch())) == "unauthorized"


def test_a_key_rotated_by_another_process_ends_within_a_second(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(ring.time, "monotonic", lambda: now)
    home.post(batch())
    rotate_key(home.collector.store.keys, home.keys["ingest"].split("_")[2], days=0, now=NOW)

    now += 1.001

    assert code(home.post(batch())) == "unauthorized"


def test_an_expired_revoked_or_unknown_key_has_no_successor(home: Site) -> None:
    number = home.keys["ingest"].split("_")[2]
    rotate(home, number, days=1)
    home.clock.now += 2 * DAY
    before = len(home.collector.store.keys.all())

    answers = [
        home.client.post(f"/operations/v1/keys/{one}/rotation", json={}, headers=home.bearer("admin"))
        for one in (number, "00000000", "s3ntinel")
    ]

    assert [code(answer) for answer in answers] == ["not_found"] * 3
    assert len(home.collector.store.keys.all()) == before


def test_a_key_that_has_a_successor_gets_no_second_one_and_ends_on_the_day_that_was_told(home: Site) -> None:
    number = home.keys["ingest"].split("_")[2]
    made = rotate(home, number, days=90)
    before = home.collector.store.keys.all()

    again = home.client.post(f"/operations/v1/keys/{number}/rotation", json={}, headers=home.bearer("admin"))

    assert made["number"] == made["key"].split("_")[2]
    assert (again.status_code, code(again)) == (409, "already_replaced")
    assert home.collector.store.keys.all() == before


def test_of_two_who_rotate_a_key_at_once_one_is_refused(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = home.collector.store.keys
    number = home.keys["ingest"].split("_")[2]
    seen_before = keys.find(number)
    rotate(home, number, days=90)
    before = keys.all()
    monkeypatch.setattr(type(keys), "find", lambda *_: seen_before)

    with pytest.raises(RefusedError, match="successor"):
        rotate_key(keys, number, days=30, now=NOW)

    assert keys.all() == before


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"days":-1}', b'{"days":3651}', b'{"days":1.5}', b'{"day":1}']
)
def test_a_rotation_that_is_asked_for_wrongly_is_not_made(home: Site, body: bytes) -> None:
    number = home.keys["ingest"].split("_")[2]

    answer = home.client.post(
        f"/operations/v1/keys/{number}/rotation",
        data=body,
        content_type=JSON,
        headers=home.bearer("admin"),
    )

    assert code(answer) == "malformed_json"
    assert b"3651" not in body or "0 to 3650 days" in answer.text
    assert len(home.collector.store.keys.all()) == len(KINDS)


def rotate(home: Site, number: str, *, days: int) -> dict[str, str]:
    """Rotate a key as an admin does."""
    answer = home.client.post(
        f"/operations/v1/keys/{number}/rotation", json={"days": days}, headers=home.bearer("admin")
    )
    assert answer.status_code == 201, answer.data
    return dict(answer.json or {})
