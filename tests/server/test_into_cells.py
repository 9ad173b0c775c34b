"""This file proves that a database of version 3 keeps every report, sum and batch through the upgrade.

``databases/version_3.sql`` is the dump of one that the collector of that version wrote, and
``version_3.json`` what it answered then.
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub_server.app import create_app
from hubbub_server.config import Config
from hubbub_server.store.opening import open_sqlite
from tests.server.site import Clock, Site, batch, code, dark, seconds, system

OLD = Path(__file__).parent / "databases" / "version_3.sql"
THEN = json.loads(OLD.with_suffix(".json").read_text())
ASKED = [("dark", ""), ("seconds", "label"), ("system", "period"), ("word", ""), ("word", "label")]


@pytest.fixture
def upgraded(tmp_path: Path) -> Iterator[Site]:
    path = tmp_path / "hubbub.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(OLD.read_text())
    connection.close()
    clock = Clock()
    app = create_app(Config(database=path), clock=clock)
    collector = app.extensions["hubbub"]
    yield Site(collector, app.test_client(), THEN["keys"], clock)
    collector.close()


def answers(house: Site, metric: str, by: str) -> list[dict[str, Any]]:
    query: dict[str, Any] = ({"by": by} if by else {}) | (
        {"candidate": ["linux", "mac"]} if metric == "word" else {}
    )
    groups = json.loads(house.estimate(metric, **query).data)["groups"]
    return [
        {"n": group["answer"]["n"], "values": [row["value"] for row in group["answer"]["rows"]]}
        for group in groups
    ]


@pytest.mark.parametrize(("metric", "by"), ASKED)
def test_an_upgrade_changes_no_answer(upgraded: Site, metric: str, by: str) -> None:
    assert answers(upgraded, metric, by) == THEN[f"{metric} by {by}" if by else metric]


def test_an_upgraded_database_is_whole(upgraded: Site) -> None:
    upkeep = upgraded.collector.store.upkeep

    assert list(upkeep.check(upgraded.collector.catalog.add_up)) == []


def test_a_batch_from_before_is_known_and_can_be_withdrawn(upgraded: Site) -> None:
    sent = batch(dark([1, 0, 1]), seconds([500, 20], label=1), system([3, 5]), id=bytes(16))
    before = upgraded.counted("dark")

    again = upgraded.post(sent)
    counted = upgraded.counted("dark")
    upgraded.withdraw(sent.id)

    assert again.json == {"accepted": 7, "refused": [], "reasons": {}}
    assert (counted, upgraded.counted("dark")) == (before, before - 3)
    assert list(upgraded.collector.store.upkeep.check(upgraded.collector.catalog.add_up)) == []


def test_a_tombstone_from_before_still_stands(upgraded: Site) -> None:
    assert code(upgraded.post(batch(dark([1, 1]), id=b"x" * 16))) == "withdrawn"


def test_an_upgrade_keeps_what_waits_to_be_added_up(upgraded: Site) -> None:
    with sqlite3.connect(upgraded.database) as connection:
        waiting = connection.execute("SELECT unfolded FROM cell WHERE unfolded ORDER BY 1").fetchall()
    connection.close()

    assert waiting == [(20,), (80,)]


def test_an_upgraded_database_has_the_tables_of_a_new_one(upgraded: Site, tmp_path: Path) -> None:
    open_sqlite(tmp_path / "new.sqlite3").close()
    schema = "SELECT name, type FROM sqlite_master ORDER BY name"

    with sqlite3.connect(upgraded.database) as old, sqlite3.connect(tmp_path / "new.sqlite3") as new:
        tables = [connection.execute(schema).fetchall() for connection in (old, new)]
    old.close()
    new.close()

    assert tables[0] == tables[1]
