"""This file proves that a full disk and a crowd are said, and pass without a restart."""

import pytest

from tests.server.full_disk import fill
from tests.server.site import Site, batch, code, dark


def test_a_full_disk_answers_507_and_recovers_without_a_restart(
    home: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.post(batch())
    home.collector.store.close()
    with monkeypatch.context() as disk:
        fill(disk)
        refused = [home.post(batch(dark([1] * 100_000))) for _ in range(3)]
    before = home.counted("dark")

    answer = home.post(batch())

    assert [(one.status_code, code(one)) for one in refused] == [(507, "storage_full")] * 3
    assert all(one.headers["Retry-After"].isdecimal() for one in refused)
    assert (before, answer.status_code, home.counted("dark")) == (3, 200, 6)


def test_an_overloaded_collector_says_when_to_come_again(home: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home.collector.writer, "_most_waiting", 0)

    answer = home.post(batch())

    assert (answer.status_code, code(answer)) == (503, "overloaded")
    assert answer.headers["Retry-After"].isdecimal()
