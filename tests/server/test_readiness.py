"""This file proves that readiness is told by a real write, by room on the disk, and by the writer."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hubbub_server import readiness
from hubbub_server.logs import set_up
from hubbub_server.readiness import STUCK, Readiness
from tests.server.full_disk import fill
from tests.server.site import Site, batch, code, dark, site


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> "Moment":
    """A steady clock that the test sets."""
    clock = Moment()
    monkeypatch.setattr(readiness.time, "monotonic", clock)
    return clock


class Moment:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_collector_that_can_write_is_ready(home: Site) -> None:
    answer = home.client.get("/operations/readyz")

    assert (answer.status_code, answer.json) == (200, {"status": "ready"})


def test_who_asks_makes_it_write(home: Site, moment: Moment) -> None:
    def kept() -> bytes:
        return b"".join(path.read_bytes() for path in sorted(home.database.parent.iterdir()))

    before = kept()
    home.client.get("/operations/readyz")
    first = kept()
    home.client.get("/operations/readyz")
    second = kept()
    moment.now += 1.01
    home.client.get("/operations/readyz")

    assert before != first == second != kept()


def test_a_database_that_takes_no_write_is_not_ready_and_alive(home: Site, moment: Moment) -> None:
    with home.collector.store.upkeep._database.writing() as connection:  # type: ignore[attr-defined]
        connection.execute("PRAGMA query_only = ON")

    refused = home.client.get("/operations/readyz")

    assert (refused.status_code, code(refused)) == (503, "not_ready")
    assert refused.headers["Retry-After"].isdecimal()
    assert home.client.get("/healthz").json == {"status": "ok"}
    home.collector.store.close()  # with the connection that can't write
    moment.now += 1.01
    assert home.client.get("/operations/readyz").status_code == 200


def test_a_full_disk_is_not_ready(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    home.collector.store.close()
    fill(monkeypatch)

    fault = home.collector.readiness.fault()

    assert fault in {"", "the disk of the database is full"}


def test_a_database_that_was_moved_away_is_told_once_with_its_place_and_the_way_out(
    home: Site, moment: Moment, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(form="text", level="info")
    away = home.database.with_name("away")

    def look() -> int:
        moment.now += 1.01
        return home.client.get("/operations/readyz").status_code

    statuses = [look()]
    home.database.rename(away)
    statuses += [look(), look()]
    away.rename(home.database)
    statuses += [look()]
    home.database.rename(away)
    statuses += [look()]

    told = (
        f"not ready fault=the database {home.database} was moved, deleted or replaced; "
        "put it back, or restart on the right one"
    )
    assert statuses == [200, 503, 503, 200, 503]
    assert capsys.readouterr().err.splitlines() == [told, "ready again", told]


@pytest.mark.parametrize("side", ["-wal", "-shm"])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_collector_whose_log_is_gone_acknowledges_nothing_and_says_why_until_it_starts_again(
    tmp_path: Path, moment: Moment, capsys: pytest.CaptureFixture[str], side: str, replaced: bool
) -> None:
    with site(tmp_path) as home:
        set_up(form="text", level="info")
        home.post(batch(dark([1])))
        path = Path(f"{home.database}{side}")
        away = path.rename(path.with_name("away"))
        if replaced:
            path.write_bytes(away.read_bytes())

        answers = [home.post(batch(dark([1]))).status_code for _ in range(3)]
        ready = home.client.get("/operations/readyz").status_code

        assert (answers, ready) == ([503] * 3, 503)
        assert f"not ready fault=the log {home.database}-wal or its index" in capsys.readouterr().err
    with site(tmp_path) as home:
        assert home.counted("dark") == 1
        assert home.post(batch(dark([1]))).status_code == 200


def test_too_little_room_is_not_ready(tmp_path: Path) -> None:
    with site(tmp_path, least_room=2**50) as home:
        answer = home.client.get("/operations/readyz")

    assert (answer.status_code, code(answer)) == (503, "not_ready")
    assert b"bytes are free on the disk" in answer.data


@pytest.mark.parametrize(("waited", "status"), [(STUCK, 200), (STUCK + 0.1, 503)])
def test_a_writer_that_keeps_a_batch_waiting_is_not_ready(
    home: Site, monkeypatch: pytest.MonkeyPatch, waited: float, status: int
) -> None:
    monkeypatch.setattr(home.collector.readiness, "_longest_wait", lambda: waited)

    assert home.client.get("/operations/readyz").status_code == status


def test_a_database_that_hangs_holds_up_one_who_asks(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "PATIENCE", 0.05)
    entered, gate = threading.Event(), threading.Event()

    def hang(_: object) -> None:
        entered.set()
        assert gate.wait(30)

    monkeypatch.setattr(type(home.collector.store.upkeep), "probe", hang)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(home.collector.readiness.fault)
        entered.wait(30)

        others = [home.collector.readiness.fault() for _ in range(3)]

        gate.set()
    assert {other.partition(" for ")[0] for other in others} == {"the database has kept a write waiting"}
    assert first.result() == home.collector.readiness.fault() == ""


def test_a_collector_that_stops_is_not_ready_without_a_write() -> None:
    stopped = Readiness(None, least_room=0, longest_wait=lambda: 0.0)  # type: ignore[arg-type]

    stopped.stop()

    assert stopped.fault() == "the collector is stopping"


def test_a_collector_whose_directory_is_gone_is_not_ready(home: Site) -> None:
    directory = home.database.parent
    directory.rename(directory.with_name("elsewhere"))

    answer = home.client.get("/operations/readyz")

    directory.with_name("elsewhere").rename(directory)
    assert (answer.status_code, code(answer)) == (503, "not_ready")
