"""This file proves how much a key may send, alone and where several processes share it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import limits.storage.memory
import limits.strategies
import pytest

from hubbub.errors import RefusedError, StorageError
from hubbub.period import DAY
from hubbub_server.keys import add_key
from hubbub_server.receiving import limits as ours
from hubbub_server.receiving.limits import RECOUNT, Limits
from tests.server.site import NOW, Site, batch, code, dark, site


class Hand:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Hand:
    hand = Hand()
    for module in (limits.storage.memory, limits.strategies, ours):
        monkeypatch.setattr(module, "time", Times(hand))
    return hand


class Times:
    """The module ``time`` as far as limits use it."""

    def __init__(self, hand: Hand) -> None:
        self.time = self.monotonic = hand


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path, requests_per_minute=5, reports_per_day=100) as running:
        yield running


def test_requests_beyond_the_minutes_are_told_when_to_come_again(limited: Site, clock: Hand) -> None:
    answers = [limited.post(batch(dark([1]))) for _ in range(6)]

    clock.now += int(answers[5].headers["Retry-After"])
    later = [limited.post(batch(dark([1]))) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert code(answers[5]) == "rate_limited"
    assert answers[5].json["retry_after"] == int(answers[5].headers["Retry-After"])  # type: ignore[index]
    assert int(answers[5].headers["Retry-After"]) == 60
    assert [answer.status_code for answer in later] == [200] * 5 + [429]
    assert limited.counted("dark") == 10


def test_who_is_idle_for_a_minute_has_the_whole_number_again(clock: Hand) -> None:
    one = Limits(requests_per_minute=10)
    spent = sum(passes(one) for _ in range(11))
    clock.now += 61

    again = sum(passes(one) for _ in range(11))

    assert (spent, again) == (10, 10)


def test_a_minute_begins_with_the_first_request(clock: Hand) -> None:
    one = Limits(requests_per_minute=2)
    passed = []
    for _ in range(7):
        passed.append(passes(one))
        clock.now += 20

    assert passed == [True, True, False, True, True, False, True]


def test_a_clock_that_is_set_back_locks_nobody_out(clock: Hand) -> None:
    one = Limits(requests_per_minute=1)
    before = [passes(one) for _ in range(2)]
    clock.now -= 400 * DAY

    after = [passes(one) for _ in range(2)]

    assert before == after == [True, False]


def test_reports_beyond_the_days_are_not_kept_and_come_another_day(limited: Site, clock: Hand) -> None:
    kept = limited.post(batch(dark([1] * 99)))
    refused = batch(dark([1] * 2))
    answer = limited.post(refused)
    last = limited.post(batch(dark([1])))
    clock.now += 2 * DAY

    again = limited.post(refused)

    assert [one.status_code for one in (kept, answer, last, again)] == [200, 429, 200, 200]
    assert int(answer.headers["Retry-After"]) == DAY
    assert limited.counted("dark") == 102


def test_a_batch_of_more_reports_than_a_day_has_is_told_so_and_uses_nothing_up(limited: Site) -> None:
    answers = [limited.post(batch(dark([1] * reports))) for reports in (101, 100, 1)]

    assert [answer.status_code for answer in answers] == [413, 200, 429]
    assert code(answers[0]) == "too_large"
    assert "100 reports a day" in str(answers[0].json["detail"])  # type: ignore[index]


def test_each_key_has_its_own_share_and_readers_have_no_limit(limited: Site) -> None:
    other = add_key(limited.collector.store.keys, "ingest")
    spent = [limited.post(batch()).status_code for _ in range(6)]

    others = [limited.post(batch(), Authorization=f"Bearer {other}").status_code for _ in range(6)]
    read = [limited.estimate("dark").status_code for _ in range(12)]

    assert spent == others == [200] * 5 + [429]
    assert read == [200] * 12


def test_withdrawals_are_requests_too(limited: Site) -> None:
    statuses = [limited.withdraw(bytes(16)).status_code for _ in range(6)]

    assert statuses == [200] * 5 + [429]


def test_who_has_no_valid_key_uses_up_nothing(limited: Site) -> None:
    wrong = limited.keys["ingest"][:-1] + ("0" if limited.keys["ingest"][-1] != "0" else "1")
    for _ in range(10):
        limited.post(batch(), Authorization=f"Bearer {wrong}")

    assert limited.post(batch()).status_code == 200


def test_without_limits_nothing_is_counted(home: Site) -> None:
    statuses = {home.post(batch()).status_code for _ in range(20)}

    assert statuses == {200}
    assert home.collector.limits._counts == {}


@pytest.mark.parametrize("processes", [1, 2, 3, 4])
def test_processes_on_one_store_share_the_limit(processes: int) -> None:
    running = [Limits(requests_per_minute=12, instances=lambda: processes) for _ in range(processes)]

    passed = sum(passes(one) for one in running for _ in range(20))

    assert passed == 12


def test_of_a_limit_below_their_number_each_process_lets_one_pass() -> None:
    running = [Limits(requests_per_minute=2, instances=lambda: 3) for _ in range(3)]

    passed = [sum(passes(one) for _ in range(5)) for one in running]

    assert passed == [1, 1, 1]


def test_a_process_that_comes_is_known_soon_and_gets_its_share(clock: Hand) -> None:
    live = [1]
    first = Limits(requests_per_minute=12, instances=lambda: live[0])
    alone = sum(passes(first) for _ in range(4))
    live[0] = 2
    clock.now += RECOUNT + 0.1

    shared = sum(passes(first) for _ in range(20))

    assert (alone, shared) == (4, 4)


def test_a_key_takes_one_place_however_long_it_sends_and_no_thread_is_started(clock: Hand) -> None:
    one = Limits(requests_per_minute=10**6)
    passes(one)
    threads = set(threading.enumerate())
    started = set[threading.Thread]()
    for _ in range(200):
        clock.now += 61
        passes(one)
        started |= set(threading.enumerate()) - threads

    (counts,) = one._counts.values()

    assert started == set()
    assert len(counts.storage.expirations) <= 3
    assert len(counts.storage.storage) <= 3


def test_a_store_that_cant_count_leaves_the_share_as_it_was(clock: Hand) -> None:
    counted = iter([2])

    def instances() -> int:
        try:
            return next(counted)
        except StopIteration:
            raise StorageError("gone") from None

    one = Limits(requests_per_minute=12, instances=instances)
    passes(one)
    clock.now += RECOUNT + 0.1

    assert sum(passes(one) for _ in range(20)) == 5


def test_a_store_that_counts_nobody_shares_with_nobody() -> None:
    assert sum(passes(Limits(requests_per_minute=1, instances=lambda: 0)) for _ in range(1)) == 1


def test_nothing_but_the_number_of_a_key_is_held(limited: Site) -> None:
    limited.post(batch(), User_Agent="s3ntinel", X_Forwarded_For="192.0.2.7")

    (counts,) = limited.collector.limits._counts.values()

    held = repr([counts.storage.storage, counts.storage.events, counts.storage.expirations])
    assert limited.keys["ingest"].split("_")[2] in held
    assert [
        word for word in ("s3ntinel", "192.0.2.7", "127.0.0.1", limited.keys["ingest"]) if word in held
    ] == []


def passes(one: Limits) -> bool:
    try:
        one.request("12345678")
    except RefusedError:
        return False
    return True
