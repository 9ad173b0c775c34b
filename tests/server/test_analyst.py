"""This file proves that an analyst from afar is told what the collector itself would say."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import trustme
from flask import Flask, Response, request
from waitress.server import create_server
from werkzeug.serving import make_server

from hubbub.errors import DomainError, NotReachableError, RefusedError, StorageError
from hubbub_server.analysis.estimation import estimate
from hubbub_server.analysis.suspicion import suspicion
from hubbub_server.analyst import Analyst, PublishedMetric, Report
from hubbub_server.exporting.cells import Export
from tests.server.site import DARK, PERIOD, Site, batch, dark, seconds, system

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Put apps on free ports of this machine, and return their addresses."""
    running = []

    def start(app: Any, **options: Any) -> str:
        server = make_server("127.0.0.1", 0, app, threaded=True, **options)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        running.append((server, thread))
        scheme = "https" if options else "http"
        return f"{scheme}://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in running:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def waiting() -> Iterator[Callable[..., str]]:
    """Put an app on a free port by the server of the real thing, which ends what breaks off as it must."""
    running = []

    def start(app: Any) -> str:
        server = create_server(app, host="127.0.0.1", port=0)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.effective_port}"

    yield start
    for server, thread in running:
        server.trigger.pull_trigger(server.close)
        thread.join(timeout=10)


@pytest.fixture
def analyst(home: Site, serve: Callable[..., str]) -> Iterator[Analyst]:
    home.post(batch(dark([1, 0, 1] * 40), dark([1, 1] * 30, period=PERIOD - 1)))
    home.post(batch(seconds([5, 900], label=0), seconds([6, 7, -2], label=2)))
    home.post(batch(system([0b001, 0b110] * 20)))
    with Analyst(serve(home.client.application), home.keys["analyst"]) as made:
        yield made


def test_suspicion_is_told_from_afar_as_here(home: Site, analyst: Analyst) -> None:
    here = suspicion(home.collector.store.batches, home.collector.catalog, metric="dark", first=str(PERIOD))

    afar = analyst.suspicion("dark", first=PERIOD)

    assert afar == here
    assert [period.n for period in afar.periods] == [120]


@pytest.mark.parametrize(
    "asked",
    [
        {"metric": "dark"},
        {"metric": "dark", "by": "period", "level": 0.9},
        {"metric": "dark", "first": PERIOD, "against": PERIOD - 1},
        {"metric": "dark", "by": "period", "against": "before"},
        {"metric": "seconds", "by": "period,label", "labels": ["version:1.0", "version:other"]},
        {"metric": "system", "view": "norm-sub", "top": 2},
        {"metric": "system", "any_of": ["linux", "mac"], "versions": ["all"]},
        {"metric": "dark", "last": "2027-01-04"},
    ],
    ids=str,
)
def test_what_is_told_from_afar_is_what_the_collector_says(
    home: Site, analyst: Analyst, asked: dict[str, Any]
) -> None:
    here = {key: str(value) if key in ("first", "last", "against") else value for key, value in asked.items()}

    found = analyst.estimate(**asked)

    assert found == estimate(home.collector.store.batches, home.collector.catalog, **here)
    assert found[0].answer.n > 0


def test_a_day_can_be_a_date(analyst: Analyst) -> None:
    found = analyst.estimate("dark", first=date(2027, 1, 4))

    assert found[0].answer.n == 120


def test_a_difference_is_an_estimate_against_something(analyst: Analyst) -> None:
    assert analyst.difference("dark", PERIOD - 1) == analyst.estimate("dark", against=PERIOD - 1)


def test_metrics_are_told_with_their_definitions(analyst: Analyst) -> None:
    metrics = {metric.name: metric for metric in analyst.metrics()}

    assert set(metrics) == {"dark", "seconds", "system"}
    assert isinstance(metrics["dark"], PublishedMetric)
    assert (metrics["dark"].id, metrics["dark"].serial) == (DARK.id.hex(), 1)
    assert metrics["dark"].definition["epsilon"] == "1"


def test_reports_come_one_by_one(analyst: Analyst) -> None:
    found = list(analyst.reports("seconds", labels=["version:other"]))

    assert sorted(report.report for report in found if isinstance(report.report, int)) == [-2, 6, 7]
    assert {(report.period, report.labels["version"]) for report in found} == {(date(2027, 1, 4), "other")}
    assert isinstance(found[0], Report)


def test_a_frame_holds_all_rows_of_all_groups(analyst: Analyst) -> None:
    frame = analyst.estimate("seconds", by="label").to_frame()

    assert frame["label_version"].tolist() == ["1.0"] * 3 + ["other"] * 3
    assert frame["name"].tolist() == ["mean", "sum", "variance"] * 2
    assert frame["n"].tolist() == [2] * 3 + [3] * 3


def test_an_answer_that_has_not_changed_is_not_sent_again(home: Site, serve: Callable[..., str]) -> None:
    statuses: list[int] = []
    app = home.client.application
    app.after_request(lambda response: statuses.append(response.status_code) or response)  # type: ignore[func-returns-value]
    with Analyst(serve(app), home.keys["analyst"]) as asking:
        first, again = asking.estimate("dark"), asking.estimate("dark")
        home.post(batch(dark([1])))
        changed, other = asking.estimate("dark"), asking.estimate("dark", level=0.9)

    assert statuses == [200, 304, 200, 200, 200]  # the third is the batch's
    assert first == again
    assert (first[0].answer.n, changed[0].answer.n, other[0].answer.level) == (0, 1, 0.9)


def test_answers_are_kept_while_there_is_room(
    home: Site, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: list[int] = []
    app = home.client.application
    app.after_request(lambda response: statuses.append(response.status_code) or response)  # type: ignore[func-returns-value]
    with Analyst(serve(app), home.keys["analyst"]) as asking:
        asking.estimate("dark")
        ((_, body),) = asking._kept.values()

        monkeypatch.setattr("hubbub_server.analyst._ROOM", 2 * len(body) + 9)
        for level in (0.9, 0.9, 0.95, 0.99, 0.95):
            asking.estimate("dark", level=level)

        assert sum(len(kept) for _, kept in asking._kept.values()) <= 2 * len(body) + 9
    assert statuses == [200, 200, 304, 304, 200, 200]


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda analyst: analyst.estimate("light"), "not_found"),
        (lambda analyst: analyst.estimate("dark", level=1.0), "bad_query"),
        (lambda analyst: analyst.estimate("dark", labels=["version:1"]), "bad_query"),
        (lambda analyst: next(analyst.reports("light")), "not_found"),
    ],
)
def test_a_refusal_carries_the_code_of_the_collector(
    analyst: Analyst, ask: Callable[[Analyst], object], code: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        ask(analyst)

    assert refused.value.code == code


def test_a_key_of_another_kind_is_refused(home: Site, serve: Callable[..., str]) -> None:
    url = serve(home.client.application)

    with (
        Analyst(url, home.keys["ingest"]) as asking,
        pytest.raises(RefusedError, match="of kind ") as refused,
    ):
        asking.metrics()

    assert refused.value.code == "forbidden"


def test_a_key_follows_no_redirect(serve: Callable[..., str]) -> None:
    heard: list[str] = []
    elsewhere, here = Flask("elsewhere"), Flask("here")
    elsewhere.route("/<path:_>")(lambda _: heard.append(str(request.headers)) or "{}")
    url = serve(elsewhere)
    here.route("/<path:path>")(lambda path: Response(status=307, headers={"Location": f"{url}/{path}"}))

    with Analyst(serve(here), "hb_analyst_key") as asking, pytest.raises(RefusedError, match="elsewhere"):
        asking.metrics()

    assert heard == []


@pytest.mark.parametrize("body", ["", "<html>", "{}", '{"metrics": [1]}'])
def test_what_is_no_collector_is_told_apart(serve: Callable[..., str], body: str) -> None:
    app = Flask("portal")
    app.route("/<path:_>")(lambda _: body)

    with (
        Analyst(serve(app), "hb_analyst_key") as asking,
        pytest.raises(NotReachableError, match="no collector"),
    ):
        asking.metrics()


def test_another_server_s_refusal_is_told_by_its_status(serve: Callable[..., str]) -> None:
    app = Flask("proxy")
    app.route("/<path:_>")(lambda _: ("<html>", 502))

    with Analyst(serve(app), "hb_analyst_key") as asking, pytest.raises(RefusedError) as refused:
        asking.metrics()

    assert refused.value.code == "http_502"


def test_an_export_that_breaks_off_is_no_end(
    home: Site, waiting: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home.post(batch(dark([1] * 3)))
    real = Export.read

    def breaking(export: Export) -> Iterator[Any]:
        for _ in range(3):
            yield from real(export)
        raise StorageError("the disk is gone")

    monkeypatch.setattr(Export, "read", breaking)
    with Analyst(waiting(home.client.application), home.keys["analyst"]) as asking:
        reports = asking.reports("dark")
        some = [next(reports).report for _ in range(9)]

        with pytest.raises(NotReachableError):
            next(reports)

    assert some == [1] * 9


def test_nobody_there_is_not_reachable(serve: Callable[..., str]) -> None:
    with Analyst("http://127.0.0.1:9", "hb_analyst_key") as asking, pytest.raises(NotReachableError):
        asking.metrics()


def test_a_proxy_does_not_see_what_stays_on_this_machine(
    home: Site, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    with Analyst(serve(home.client.application), home.keys["analyst"]) as asking:
        assert len(asking.metrics()) == 3


def test_a_password_of_netrc_does_not_replace_the_key(
    home: Site, serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    with Analyst(serve(home.client.application), home.keys["analyst"]) as asking:
        asking._session.trust_env = True
        assert len(asking.metrics()) == 3


def test_only_whom_a_known_authority_vouches_for_is_told_the_key(
    home: Site, serve: Callable[..., str], tmp_path: Path
) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    for name, ca in (("ours.pem", authority), ("other.pem", stranger)):
        ca.cert_pem.write_to_path(tmp_path / name)
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    url = serve(home.client.application, ssl_context=(tmp_path / "server.pem", tmp_path / "server.pem"))

    with Analyst(url, home.keys["analyst"], ca=tmp_path / "ours.pem") as asking:
        assert len(asking.metrics()) == 3
    for ca in (tmp_path / "other.pem", None):
        with Analyst(url, "hb_analyst_key", ca=ca) as asking, pytest.raises(NotReachableError, match="SSL"):
            asking.metrics()


@pytest.mark.parametrize(
    "url", ["http://collector.example.org", "ftp://127.0.0.1", "127.0.0.1", "https://a@b"]
)
def test_an_address_that_others_could_listen_to_is_refused(url: str) -> None:
    with pytest.raises(DomainError, match="url must be"):
        Analyst(url, "hb_analyst_key")


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "ключ"])
def test_what_can_be_no_key_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(DomainError) as refused:
        Analyst("https://collector.example.org", key)

    assert key not in str(refused.value) or not key


def test_an_analyst_shows_no_key(home: Site) -> None:
    with Analyst("https://collector.example.org", home.keys["analyst"]) as asking:
        assert home.keys["analyst"] not in repr(asking) + str(asking)


def test_an_analyst_needs_no_parts_of_the_server() -> None:
    parts = {"flask", "pandas", "pyarrow", "sqlite3"}
    code = f"import sys, hubbub_server.analyst; print({parts} & set(sys.modules))"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "set()"
