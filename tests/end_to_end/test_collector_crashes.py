"""This file kills real collectors at random moments while devices send, lose answers and try again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.senders import assert_all_counted_once, crash_often
from tests.server.process import Served, set_up


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = set_up(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.end()


def test_a_few_kills_lose_nothing_and_count_nothing_twice(served: Served) -> None:
    senders = crash_often([served], kills=3, least=200)

    assert_all_counted_once(senders)
    assert senders.troubles == []
    logged = (served.directory / "stderr.txt").read_text().splitlines()
    assert {line.partition(" ")[0] for line in logged} == {"started", "stopping", "stopped"}


@pytest.mark.torture
def test_fifty_kills_lose_nothing_and_count_nothing_twice(served: Served) -> None:
    senders = crash_often([served], kills=50, least=10_000)

    assert_all_counted_once(senders)
    assert senders.troubles == []
    assert len(senders.lost) > 500
