"""This file proves that the stats count what was done, and tell of nobody and no time."""

import re
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hubbub.errors import BusyError, StorageFullError
from hubbub_server.stats import Stats
from hubbub_server.store.records import Change, Record
from hubbub_server.store.sqlite.batches import SqliteBatches
from tests.server.site import PERIOD, Site, batch, dark, site

Figures = dict[tuple[str, ...], float]


def figures(home: Site) -> Figures:
    """Return every figure by its name and the values of its labels."""
    answer = home.client.get("/operations/stats", headers=home.bearer("analyst"))
    assert answer.status_code == 200, answer.data
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_batches_and_reports_are_counted_by_what_became_of_them(home: Site) -> None:
    kept = batch(dark([1, 0, 1, 7, 9]))
    home.post(kept)
    home.post(kept)
    home.post(batch(dark([1, 1], period=PERIOD - 100)))
    home.post(batch(dark([1], period=PERIOD + 1)))

    found = figures(home)

    assert {key[1:]: value for key, value in found.items() if key[0] == "hubbub_batches_total"} == {
        ("kept",): 1,
        ("known",): 1,
        ("period_closed",): 1,
        ("period_not_started",): 1,
    }
    assert {key[1:]: value for key, value in found.items() if key[0] == "hubbub_reports_total"} == {
        ("kept",): 3,
        ("impossible_report",): 2,
        ("known",): 5,
        ("period_closed",): 2,
        ("period_not_started",): 1,
    }


def test_every_batch_that_was_turned_away_is_counted_by_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site(tmp_path, requests_per_minute=3) as home:
        monkeypatch.setattr(SqliteBatches, "commit", _no_room)
        for _ in range(5):
            home.post(batch(dark([1, 0])))
        home.post_bytes(b"no batch", Authorization=f"Bearer {home.keys['admin']}")

        found = figures(home)

    refused = {"kept": 0, "storage_full": 3, "rate_limited": 2, "forbidden": 1}
    assert {key[1]: value for key, value in found.items() if key[0] == "hubbub_batches_total"} == refused
    assert {key[1]: value for key, value in found.items() if key[0] == "hubbub_reports_total"} == {
        "kept": 0,
        "storage_full": 6,
    }


def test_a_batch_known_by_its_id_is_no_second_one_even_after_its_period(home: Site) -> None:
    kept = batch()
    home.post(kept)
    home.clock.now += 100 * 86400
    home.post(kept)

    found = figures(home)

    assert found["hubbub_batches_total", "kept"] == found["hubbub_batches_total", "known"] == 1


def test_answers_are_counted_by_code_method_route_and_status(home: Site) -> None:
    first, second = batch(), batch()
    home.post(first)
    home.post(second)
    home.withdraw(first.id)
    home.post(first)
    home.post(second, Authorization="Bearer nobody")
    home.client.get("/v1/manifests/notepad/signed")
    home.client.get("/v1/s3ntinel")
    home.client.delete("/healthz")
    home.client.open("/healthz", method="S3NTINEL")

    found = figures(home)

    assert {key[1:]: value for key, value in found.items() if key[0] == "hubbub_requests_total"} == {
        ("", "POST", "/v1/batches", "200"): 2,
        ("", "POST", "/v1/withdrawals", "200"): 1,
        ("withdrawn", "POST", "/v1/batches", "410"): 1,
        ("unauthorized", "POST", "/v1/batches", "401"): 1,
        ("not_found", "GET", "/v1/manifests/<app>/signed", "404"): 1,
        ("not_found", "GET", "none", "404"): 1,
        ("method_not_allowed", "DELETE", "none", "405"): 1,
        ("method_not_allowed", "other", "none", "405"): 1,
    }


def test_what_the_store_takes_and_how_long_commits_take_is_told(home: Site) -> None:
    home.post(batch())
    home.post(batch())

    found = figures(home)

    assert found["hubbub_commit_seconds_count",] == found["hubbub_commit_seconds_bucket", "+Inf"] == 2
    assert 0 < found["hubbub_commit_seconds_sum",] < 60
    assert found["hubbub_database_bytes",] >= home.database.stat().st_size
    assert found["hubbub_disk_free_bytes",] > 2**20
    assert found["hubbub_waiting_changes",] == 0


def test_a_change_that_waits_is_seen_to_wait(home: Site) -> None:
    stats, waits = Stats(home.collector.store.upkeep), list[tuple[float, float]]()
    before = stats.longest_wait()

    def submit(_: Change) -> Record:
        start, first = time.monotonic(), stats.longest_wait()
        while stats.longest_wait() == first:
            pass
        least = time.monotonic() - start
        waits.append((least, stats.longest_wait()))
        return Record(b"", "kept", b"")

    stats.watch(submit)(None)  # type: ignore[arg-type]

    ((least, longest),) = waits
    assert longest >= least > 0
    assert before == stats.longest_wait() == 0


def test_a_change_that_fails_waits_no_longer(home: Site) -> None:
    stats = Stats(home.collector.store.upkeep)

    def submit(_: Change) -> Record:
        raise BusyError("later")

    with pytest.raises(BusyError):
        stats.watch(submit)(None)  # type: ignore[arg-type]

    assert stats.longest_wait() == 0


def test_no_figure_tells_a_time_an_id_or_a_key(home: Site) -> None:
    sent = batch()
    home.post(sent)
    home.withdraw(sent.id)
    home.client.get("/v1/manifests/s3ntinel", headers=home.bearer("ingest") | {"User-Agent": "s3ntinel"})

    text = home.client.get("/operations/stats", headers=home.bearer("admin")).text

    numbers = [key.split("_")[2] for key in home.keys.values()]
    assert "hubbub_requests_total" in text
    assert [
        word for word in ("_created", "s3ntinel", sent.id.hex(), "127.0.0.1", *numbers) if word in text
    ] == []
    times = [float(number) for number in re.findall(r" ([0-9.e+]+)$", text, re.MULTILINE)]
    assert [number for number in times if abs(number - time.time()) < 10 * 86400] == []


def test_two_apps_in_one_process_count_for_themselves(
    home: Site, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with site(tmp_path_factory.mktemp("other")) as other:
        home.post(batch())

        alone = figures(other)

    assert alone["hubbub_batches_total", "kept"] == alone["hubbub_reports_total", "kept"] == 0
    assert figures(home)["hubbub_batches_total", "kept"] == 1


def test_stats_ask_for_a_key(home: Site) -> None:
    assert home.client.get("/operations/stats", headers=home.bearer("ingest")).status_code == 403
    assert home.client.get("/operations/stats").status_code == 401


def _no_room(*_: object) -> None:
    raise StorageFullError("no room")
