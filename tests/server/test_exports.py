"""This file proves that each report that is kept comes out once, as it was sent, and not with its batch.

False alarms: comparisons of counts by Z, once in 10**9 each.
"""

import csv
import io
import json
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from hubbub import registry
from hubbub.declaration import choice
from hubbub.errors import StorageError
from hubbub.manifest import Manifest
from hubbub_server.api import reports as route
from hubbub_server.commands.cli import command
from hubbub_server.exporting import shuffling
from hubbub_server.exporting.cells import Export
from hubbub_server.exporting.shuffling import shuffled
from hubbub_server.exporting.writers import FORMATS
from hubbub_server.publication import publish
from hubbub_server.store.sqlite import batches
from tests.server.site import DARK, PERIOD, SECONDS, SYSTEM, Column, Site, batch, code, dark, seconds, system
from tests.statistics import Z

Told = list[tuple[str, dict[str, str], Any]]
FORMS = list(FORMATS)
WIDE = choice("wide", options=[f"o{i}" for i in range(20)], epsilon="1", mechanism="optimized_unary").of(
    "notepad"
)


@pytest.fixture
def full(home: Site) -> Site:
    home.post(batch(seconds([5, -3], label=0), seconds([900], label=2)))
    home.post(batch(seconds([6], label=2), seconds([7], label=1, period=PERIOD - 1), dark([1, 0])))
    home.post(batch(system([0b001, 0b110])))
    return home


def get(home: Site, metric: str, **query: Any) -> bytes:
    answer = home.client.get(
        "/v1/reports", query_string={"metric": metric, **query}, headers=home.bearer("analyst")
    )
    assert answer.status_code == 200, answer.text
    return answer.data


def read(data: bytes, form: str) -> Told:
    """Return reports as period, labels and report, in an order of their own."""
    told: Told = []
    if form == "json":
        told = [(one["period"], one["labels"], one["report"]) for one in json.loads(data)["reports"]]
    elif form == "ndjson":
        told = [(one["period"], one["labels"], one["report"]) for one in map(json.loads, data.splitlines())]
    elif form == "csv":
        for row in csv.DictReader(io.StringIO(data.decode())):
            numbers = [int(number) for number in row.pop("report").split(" ")]
            told.append((row.pop("period"), unprefixed(row), numbers if len(numbers) > 1 else numbers[0]))
    else:
        for row in parquet.read_table(io.BytesIO(data)).to_pylist():
            period, report = row.pop("period").isoformat(), row.pop("report")
            told.append((period, unprefixed(row), report))
    return sorted(told, key=str)


def unprefixed(row: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix("label_"): value for name, value in row.items()}


@pytest.mark.parametrize("form", FORMS)
def test_every_report_comes_out_as_it_was_sent(full: Site, form: str) -> None:
    found = read(get(full, "seconds", format=form), form)

    week, before = "2027-01-04", "2026-12-28"
    assert found == sorted(
        [
            (week, {"version": "1.0"}, 5),
            (week, {"version": "1.0"}, -3),
            (week, {"version": "other"}, 900),
            (week, {"version": "other"}, 6),
            (before, {"version": "1.1"}, 7),
        ],
        key=str,
    )


@pytest.mark.parametrize("form", FORMS)
def test_reports_of_several_integers_and_of_one_are_told_apart_by_their_metric(home: Site, form: str) -> None:
    publish(home.collector.store.manifests, Manifest(app="notepad", serial=2, metrics=(WIDE,)))
    home.post(batch(Column(WIDE.id, PERIOD, (), 2, bytes([1, 2, 3, 255, 0, 15]))))
    home.post(batch(system([0b101])))

    assert [each[2] for each in read(get(home, "wide", format=form), form)] == [[1, 2, 3], [255, 0, 15]]
    (one,) = read(get(home, "system", format=form), form)
    assert one[2] in (5, [5])


@pytest.mark.parametrize("form", FORMS)
def test_whoever_has_the_reports_can_make_the_answer_again(home: Site, form: str) -> None:
    home.post(batch(dark([1] * 30 + [0] * 12)))
    home.post(batch(system([1, 2, 3, 4] * 5)))

    for metric in (DARK, SYSTEM):
        mechanism = registry.build(metric)
        told = np.array([each[2] for each in read(get(home, metric.name, format=form), form)])
        reports = told.astype(mechanism.layout.base).reshape(-1, *mechanism.layout.shape)

        estimate = mechanism.estimate(mechanism.tally(reports))

        asked = json.loads(home.estimate(metric.name).data)["groups"][0]["answer"]
        titled = [
            value
            for row, value in zip(estimate.rows, estimate.values.tolist(), strict=True)
            if metric.domain.title(row.name)
        ]
        assert [row["value"] for row in asked["rows"]] == titled


@pytest.mark.parametrize("form", FORMS)
def test_nothing_to_export_is_a_whole_file_of_nothing(home: Site, form: str) -> None:
    assert read(get(home, "seconds", format=form), form) == []


@pytest.mark.parametrize(
    ("query", "reports"),
    [
        ({"label": "version:other"}, [6, 900]),
        ({"label": ["version:1.0", "version:1.1"]}, [-3, 5, 7]),
        ({"from": str(PERIOD)}, [-3, 5, 6, 900]),
        ({"to": "2027-01-04"}, [7]),
        ({"to": "2027-01-04", "label": "version:1.0"}, []),
    ],
    ids=str,
)
def test_periods_and_labels_choose_what_is_exported(
    full: Site, query: dict[str, Any], reports: list[int]
) -> None:
    assert sorted(each[2] for each in read(get(full, "seconds", **query), "json")) == reports


@pytest.mark.parametrize(
    ("query", "status", "reason"),
    [
        ({"metric": "light"}, 404, "not_found"),
        ({}, 400, "bad_query"),
        ({"metric": "dark", "format": "xls"}, 400, "bad_query"),
        ({"metric": "dark", "label": "version:1"}, 400, "bad_query"),
        ({"metric": "dark", "from": "soon"}, 400, "bad_query"),
        ({"metric": ["dark", "system"]}, 400, "bad_query"),
        ({"metric": "dark", "by": "period"}, 400, "bad_query"),
    ],
    ids=str,
)
def test_what_can_not_be_exported_is_refused(
    home: Site, query: dict[str, Any], status: int, reason: str
) -> None:
    answer = home.client.get("/v1/reports", query_string=query, headers=home.bearer("analyst"))

    assert (answer.status_code, code(answer)) == (status, reason)


@pytest.mark.parametrize(("key", "status"), [("ingest", 403), ("analyst", 200), ("admin", 200)])
def test_reports_are_for_analysts(home: Site, key: str, status: int) -> None:
    answer = home.client.get("/v1/reports?metric=dark", headers=home.bearer(key))

    assert answer.status_code == status


@pytest.mark.parametrize("form", FORMS)
def test_an_export_says_what_it_is(full: Site, form: str) -> None:
    answer = full.client.get(f"/v1/reports?metric=dark&format={form}", headers=full.bearer("analyst"))

    assert answer.headers["Content-Disposition"] == f'attachment; filename="dark.{form}"'
    assert answer.content_type == FORMATS[form].media
    assert answer.headers["Cache-Control"] == "no-store"


def test_json_says_how_to_read_the_reports(full: Site) -> None:
    document = json.loads(get(full, "seconds"))

    assert (document["metric"], document["mechanism"], document["type"]) == ("seconds", "laplace", "int16")


def test_parquet_says_of_which_metric_it_is(full: Site) -> None:
    metadata = parquet.read_schema(io.BytesIO(get(full, "dark", format="parquet"))).metadata

    assert metadata[b"hubbub.id"] == DARK.id.hex().encode()


def test_csv_holds_no_formula(home: Site) -> None:
    odd = choice("odd", options=["a", "b"], epsilon="1", labels={"version": ["=1+1", "@sum"]}).of("notepad")
    publish(home.collector.store.manifests, Manifest(app="notepad", serial=2, metrics=(odd,)))
    home.post(batch(Column(odd.id, PERIOD, (0,), 1, b"\0"), Column(odd.id, PERIOD, (1,), 1, b"\1")))

    rows = list(csv.DictReader(io.StringIO(get(home, "odd", format="csv").decode())))

    assert {row["label_version"] for row in rows} == {"'=1+1", "'@sum"}


def test_a_withdrawn_report_is_not_exported(home: Site) -> None:
    sent = batch(dark([1, 1, 1]))
    home.post(sent)
    home.post(batch(dark([0])))

    home.withdraw(sent.id)

    assert [each[2] for each in read(get(home, "dark"), "json")] == [0]


def test_no_export_holds_the_id_of_a_batch(home: Site) -> None:
    sent = batch(dark([1, 0]), id=bytes.fromhex("feedfacecafebeef" * 2))
    home.post(sent)

    for form in FORMS:
        data = get(home, "dark", format=form)
        assert sent.id not in data
        assert sent.id.hex().encode() not in data


def test_reports_of_one_batch_do_not_come_together(home: Site) -> None:
    """They did if blocks came out whole: 2 changes of value then, and about 1,000 in random order."""
    home.post(batch(dark([1] * 1000)))
    home.post(batch(dark([0] * 1000)))

    values = [json.loads(line)["report"] for line in get(home, "dark", format="ndjson").splitlines()]

    changes = sum(one != other for one, other in pairwise(values))
    assert abs(changes - 1000) < Z * np.sqrt(2000 / 4)


@pytest.mark.parametrize("size", [2**24, 64], ids=["in memory", "scattered over parts of a file"])
def test_every_order_is_as_likely_as_any_other(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(shuffling, "LARGEST", size)
    rounds, n = 200, 200
    portions = [np.arange(first, first + 50, dtype="<u2").tobytes() for first in range(0, n, 50)]

    seen = np.array(
        [np.concatenate(list(shuffled(portions, np.dtype("<u2"), n=n))) for _ in range(rounds)],
        dtype=np.int64,
    )

    assert (np.sort(seen, axis=1) == np.arange(n)).all()
    error = np.sqrt((n**2 - 1) / 12 / rounds)  # of the mean place of each, uniform on 0..n-1
    assert (np.abs(seen.mean(axis=0) - (n - 1) / 2) < Z * error).all()
    neighbours = np.abs(np.diff(seen, axis=1)) == 1
    expected = 2 * (n - 1) / n
    assert abs(neighbours.sum(axis=1).mean() - expected) < Z * np.sqrt(expected / rounds)


def test_without_room_for_temporary_files_an_export_is_refused(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.post(batch(dark([1] * 100)))
    monkeypatch.setattr(shuffling, "LARGEST", 64)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")

    answer = home.client.get("/v1/reports?metric=dark", headers=home.bearer("analyst"))

    assert (answer.status_code, code(answer)) == (503, "storage_failed")


@pytest.mark.parametrize("layout", ["u1", "<u4"])
def test_memory_stays_flat_however_many_reports_a_cell_has(
    monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    monkeypatch.setattr(shuffling, "LARGEST", 2**20)
    monkeypatch.setattr(shuffling, "MOST", 2**16)
    n, portion = 2**22, bytes(2**16 * np.dtype(layout).itemsize)

    tracemalloc.start()
    count = sum(len(some) for some in shuffled((portion for _ in range(64)), np.dtype(layout), n=n))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == n
    assert peak < 8 * 2**20  # all of it is 4 or 16 MiB, and its random numbers 32 more


def test_large_rows_are_read_few_at_a_time(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_AT_ONCE", 1_000_000)
    for _ in range(10):
        home.post(batch(seconds([7] * 250_000)))  # half a megabyte a row

    tracemalloc.start()
    rows = home.collector.store.batches.reports(SECONDS.id, range(2**31))
    size = sum(len(reports) for *_, reports in rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size == 5_000_000
    assert peak < 3_000_000


def test_a_metric_whose_sums_are_large_is_exported_like_any_other(home: Site) -> None:
    table = Manifest.from_toml(
        'format = 1\napp = "words"\nserial = 1\n[metrics.word]\nkind = "text"\nlength = 8\n'
        'epsilon = "4"\nmechanism = "hadamard_sketch"\n'
    )
    publish(home.collector.store.manifests, table)
    home.post(batch(Column(table["word"].id, PERIOD, (), 3, np.array([1, 2, 3], dtype="<u4").tobytes())))

    assert [each[2] for each in read(get(home, "word"), "json")] == [1, 2, 3]


def test_without_pyarrow_parquet_is_said_to_be_not_installed(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    answer = home.client.get("/v1/reports?metric=dark&format=parquet", headers=home.bearer("analyst"))

    assert (answer.status_code, code(answer)) == (501, "not_installed")
    assert "pip install '.[parquet]' in a clone" in answer.text
    assert get(home, "dark", format="csv") == b"period,report\n"


def test_more_exports_at_once_than_a_process_has_threads_for_are_put_off(home: Site) -> None:
    home.post(batch(dark([1] * 10)))
    running = [
        home.client.get("/v1/reports?metric=dark", headers=home.bearer("analyst"), buffered=False)
        for _ in range(route.MOST_AT_ONCE)
    ]

    put_off = home.client.get("/v1/reports?metric=dark", headers=home.bearer("analyst"))
    for answer in running:
        answer.close()
    again = home.client.get("/v1/reports?metric=dark", headers=home.bearer("analyst"))

    assert (put_off.status_code, code(put_off)) == (503, "overloaded")
    assert int(put_off.headers["Retry-After"]) > 0
    assert again.status_code == 200


@pytest.mark.parametrize("form", FORMS)
def test_an_export_that_fails_at_its_start_is_a_problem_and_holds_no_place(
    home: Site, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def failing(_: Export) -> Iterator[Any]:
        raise StorageError("the disk is gone")
        yield

    monkeypatch.setattr(Export, "read", failing)
    answers = [
        home.client.get(f"/v1/reports?metric=dark&format={form}", headers=home.bearer("analyst"))
        for _ in range(route.MOST_AT_ONCE + 1)
    ]

    assert {(answer.status_code, code(answer)) for answer in answers} == {(503, "storage_failed")}


def test_an_export_that_breaks_off_is_told_in_the_log(
    home: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    read = Export.read

    def failing(export: Export) -> Iterator[Any]:
        yield from [*read(export)] * 5
        raise ValueError("s3ntinel")

    home.post(batch())
    monkeypatch.setattr(Export, "read", failing)
    export = home.client.get("/v1/reports?metric=dark", headers=home.bearer("analyst"))

    with pytest.raises(ValueError, match="s3ntinel"):
        export.get_data()

    assert [record.message for record in caplog.records] == ["an export broke off"]
    assert "s3ntinel" not in str(vars(caplog.records[0])["facts"])


def test_batches_are_taken_while_an_export_waits_for_its_reader(home: Site) -> None:
    home.post(batch(dark([1] * 10)))
    export = home.client.get(
        "/v1/reports?metric=dark&format=ndjson", headers=home.bearer("analyst"), buffered=False
    )
    parts = iter(export.iter_encoded())
    first = next(parts)

    taken = home.post(batch(dark([0] * 5)))
    home.collector.store.upkeep.forget(0)

    assert taken.status_code == 200
    assert (first + b"".join(parts)).count(b"\n") == 10
    assert home.counted("dark") == 15


def export(home: Site, *arguments: str) -> Result:
    settings = home.database.parent / "hubbub.toml"
    settings.write_text(f'database = "{home.database}"\n')
    return CliRunner().invoke(command, ["export", *arguments, "--config", str(settings)])


@pytest.mark.parametrize("form", FORMS)
def test_the_command_writes_the_same_into_a_file_of_its_owner(full: Site, tmp_path: Path, form: str) -> None:
    file = tmp_path / "reports"

    done = export(full, "seconds", "--format", form, "--output", str(file), "--label", "version:other")

    assert done.exit_code == 0, done.output
    assert [each[2] for each in read(file.read_bytes(), form)] == [6, 900]
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir() if "reports" in path.name) == ["reports"]


@pytest.mark.parametrize("form", FORMS)
def test_the_name_of_a_file_says_its_format_if_nothing_else_does(
    full: Site, tmp_path: Path, form: str
) -> None:
    told, other = tmp_path / f"reports.{form.upper()}", tmp_path / f"other.{form}"

    export(full, "dark", "--output", str(told))
    export(full, "dark", "--output", str(other), "--format", "csv")

    assert len(read(told.read_bytes(), form)) == len(read(other.read_bytes(), "csv")) == full.counted("dark")


def test_a_file_that_is_there_is_overwritten_by_force_only(full: Site, tmp_path: Path) -> None:
    file = tmp_path / "reports"
    file.write_text("earlier")

    refused = export(full, "dark", "--output", str(file))
    kept = file.read_text()
    forced = export(full, "dark", "--output", str(file), "--force")

    assert (refused.exit_code, kept) == (1, "earlier")
    assert refused.stderr == f"hubbub-server: {file} exists already; --force overwrites it\n"
    assert forced.exit_code == 0
    assert file.read_text().startswith("period,report\n")


def test_the_command_writes_to_standard_output_if_no_file_is_named(full: Site) -> None:
    done = export(full, "dark", "--from", str(PERIOD))

    assert sorted(done.stdout.splitlines()) == ["2027-01-04,0", "2027-01-04,1", "period,report"]


def test_an_export_that_fails_leaves_the_file_as_it_was(
    full: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "reports.csv"
    file.write_text("earlier")
    real = Export.read

    def breaking(self: Export) -> Iterator[Any]:
        yield from real(self)
        raise StorageError("the disk is gone")

    monkeypatch.setattr(Export, "read", breaking)
    done = export(full, "dark", "--output", str(file), "--force")

    assert done.exit_code == 1
    assert file.read_text() == "earlier"
    assert not list(tmp_path.glob("*unfinished*"))


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (["light"], 1, "no metric of this id or name"),
        (["dark", "--label", "version:1"], 1, "labels are none"),
        (["dark", "--format", "xls"], 2, "Invalid value"),
        (["dark", "--output", "/nowhere/file.csv"], 1, "No such file"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_with_an_exit_code(
    home: Site, arguments: list[str], exit_code: int, words: str
) -> None:
    done = export(home, *arguments)

    assert done.exit_code == exit_code
    assert words in done.stderr


def test_the_command_without_pyarrow_ends_with_3(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    done = export(home, "dark", "--format", "parquet")

    assert done.exit_code == 3
    assert "pip install '.[parquet]' in a clone" in done.stderr
