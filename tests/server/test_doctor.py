"""This file proves that the doctor finds all that needs care, and nothing in a collector that is well."""

import os
import time
from pathlib import Path

import pytest

from hubbub.errors import StorageFullError
from hubbub.period import DAY
from hubbub_server.catalog import Catalog
from hubbub_server.commands.opened import opened, settings
from hubbub_server.doctor import examine
from hubbub_server.housekeeping import Housekeeping
from hubbub_server.keys import day_of, number_of, rotate_key
from hubbub_server.store.protocol import Store
from hubbub_server.store.records import StoredKey
from hubbub_server.store.sqlite.upkeep import SqliteUpkeep
from tests.server.process import Served, set_up
from tests.server.stopped import run, stopped

EXPIRED = """
format = 1
app = "notepad"
serial = 2

[metrics.dark]
kind = "boolean"
epsilon = "1"
expires = 2026-01-01
"""


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return stopped(tmp_path / "srv")


def cares(served: Served, *, days: int = 0) -> list[str]:
    """Return what needs care some days from now, as lines."""
    remarks = examine(settings(served.directory / "hubbub.toml"), clock=lambda: time.time() + days * DAY)
    return [each.line for each in remarks if each.needs_care]


def key_of(store: Store, kind: str) -> StoredKey:
    return next(key for key in store.keys.all() if key.kind == kind)


def test_a_file_that_is_damaged_is_named_with_the_way_out(served: Served) -> None:
    served.database.write_bytes(served.database.read_bytes()[:5000])

    done = run(served, "doctor")

    assert done.exit_code == 1
    assert f"{served.database} is damaged" in done.output
    assert "hubbub-server restore" in done.output


def test_a_collector_that_is_well_needs_no_care(served: Served) -> None:
    done = run(served, "doctor")

    assert done.exit_code == 0, done.output
    assert "CARE" not in done.output


def test_what_needs_care_is_named_with_the_way_out(served: Served) -> None:
    served.database.chmod(0o644)
    number = run(served, "keys", "list").output.split("ingest")[0].split()[-1]
    run(served, "keys", "revoke", number)

    done = run(served, "doctor")

    assert done.exit_code == 1
    assert "chmod 600" in done.output
    assert "keys add ingest" in done.output


@pytest.mark.parametrize("days", [-400, 400])
def test_a_clock_that_is_far_off_while_devices_come_needs_care(served: Served, days: int) -> None:
    with opened(settings(served.directory / "hubbub.toml")) as store:
        store.keys.use(key_of(store, "ingest").number, day_of(time.time() + days * DAY))

    assert any(each.startswith("CARE  clock: ") for each in cares(served, days=days))


@pytest.mark.parametrize("days", [0, 10, 50])
def test_a_collector_at_rest_needs_no_care(served: Served, days: int) -> None:
    assert cares(served, days=days) == []


def test_a_collector_that_nothing_reaches_any_more_needs_care(served: Served) -> None:
    (care,) = cares(served, days=80)

    assert "reports: the newest period ended " in care
    assert "do devices reach this collector" in care


def test_nothing_is_to_come_of_metrics_that_have_expired_or_are_out_of_force(served: Served) -> None:
    (served.directory / "metrics.toml").write_text(EXPIRED)
    run(served, "publish", str(served.directory / "metrics.toml"))

    assert cares(served, days=80) == []


def test_raw_reports_that_should_be_gone_need_care_and_the_last_retention_is_told(served: Served) -> None:
    (served.directory / "metrics.toml").write_text(EXPIRED)
    run(served, "publish", str(served.directory / "metrics.toml"))
    today = int(time.time() // DAY)

    before = run(served, "doctor").output
    overdue = cares(served, days=150)
    with opened(settings(served.directory / "hubbub.toml")) as store:
        clock, steady = (lambda: (today + 150) * DAY), iter([0.0, DAY, DAY]).__next__
        keeper = Housekeeping(
            store.upkeep, Catalog(store.manifests).add_up, keep_raw_days=90, clock=clock, steady=steady
        )
        while not store.upkeep.noted("retention"):
            keeper.step()

    assert "retention: raw reports are kept for 90 days after their period; the first time is" in before
    assert len(overdue) == 1
    assert "housekeeping failed" in overdue[0]
    assert cares(served, days=150) == []
    ended, day = (day_of((today + number) * DAY) for number in (60, 150))
    assert f"those that ended before {ended} went on {day}" in run(served, "doctor").output


def test_pages_that_were_overwritten_are_found_and_the_rest_is_looked_at(served: Served) -> None:
    with served.database.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(2048 * 4))

    done = run(served, "doctor")

    assert done.exit_code == 1
    assert "CARE  damage: " in done.output
    assert "hubbub-server restore" in done.output
    assert "CARE  retention: " in done.output or "ok    retention: " in done.output


def test_one_fault_keeps_no_other_from_being_told(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise StorageFullError("the disk of the database is full")

    monkeypatch.setattr(SqliteUpkeep, "probe", full)
    served.database.chmod(0o644)

    (mode, writes) = cares(served)

    assert "chmod 600" in mode
    assert writes == "CARE  database: the disk of the database is full"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_told_with_both_users_and_the_way_out(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(served.directory, 10001, 10001)
    monkeypatch.setattr(os, "geteuid", lambda: 10002)

    file, user = cares(served)

    path = served.database
    assert file == f"CARE  file: {path} belongs to root, and the collector is 10001's: chown 10001 {path}"
    assert "this is 10002" in user
    assert "sudo -u 10001" in user


def test_a_collector_that_has_heard_of_nobody_yet_needs_no_care(tmp_path: Path) -> None:
    done = run(set_up(tmp_path), "doctor")

    assert (done.exit_code, "CARE" in done.output) == (0, False), done.output
    assert "none has come yet" in done.output


def test_a_key_that_is_out_of_use_since_its_rotation_is_none(served: Served) -> None:
    with opened(settings(served.directory / "hubbub.toml")) as store:
        number = key_of(store, "ingest").number
        successor, _ = rotate_key(store.keys, number, days=0, now=time.time())
        store.keys.revoke(number_of(successor), day_of(time.time()))

    assert cares(served) == ["CARE  ingest keys: there is none in use; hubbub-server keys add ingest"]


def test_keys_that_were_used_in_the_future_are_told_once(served: Served) -> None:
    with opened(settings(served.directory / "hubbub.toml")) as store:
        for kind in ("analyst", "admin"):
            store.keys.use(key_of(store, kind).number, "2128-01-04")

    (care,) = cares(served)
    assert "a key was last used on 2128-01-04" in care
