"""This file proves permanent answers: drawn once, paid for at once, kept for good, telling no value.

False alarms: each test under once in 10**6, by chance of the operating system's coins.
"""

import hashlib
import hmac
import json
import random
import signal
import sqlite3
import stat
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.declaration import boolean, choice, number
from hubbub.longitudinal import Longitudinal, Memos
from hubbub.manifest import Manifest
from hubbub_client import Client, Delivery, Policy, Recorded, Skipped
from hubbub_client.answering.system_coins import system_coins
from hubbub_client.storage.memo import Memory
from hubbub_lab.seeded_coins import seeded_coins
from hubbub_server.publication import publish
from tests.client.conftest import DAY, MONDAY, Clock, Running
from tests.client.lives import ALL, KINDS, OPTIONS, SOME, about, alive, asked, memos, quick_directory, start
from tests.client.test_leaks import FORMS, WORD, files, found_in
from tests.statistics import Z

Make = Callable[..., Client]
every = pytest.mark.parametrize("kind", KINDS)
any_changes = pytest.mark.parametrize("changes", [0, SOME, ALL])


def mechanism(client: Client, name: str = "place") -> Longitudinal:
    built = client._session.recorder.questions.question(client._session.metrics[name]).mechanism
    assert isinstance(built, Longitudinal)
    return built


def price(client: Client, name: str = "place") -> Decimal:
    return mechanism(client, name).reservation(client._session.metrics[name].changes) / Decimal(10**6)


def daily(client: Client, clock: Clock, values: Sequence[str], *, since: int = 0) -> list[Recorded | Skipped]:
    """Record one value a day."""
    outcomes = []
    for day, value in enumerate(values, start=since):
        clock.now = MONDAY + day * DAY + 5
        outcomes.append(client.record("place", value))
    return outcomes


def recalled(client: Client, value: int) -> Memos:
    """Return the memo that a device would answer from."""
    recorder = client._session.recorder

    def recall(connection: sqlite3.Connection) -> Memos:
        memory = recorder.questions.question(client._session.metrics["place"]).memory(connection)
        assert isinstance(memory, Memory)
        return memory.recall(value, system_coins())

    return recorder.device.transact(recall)


def reports(client: Client) -> list[bytes]:
    return [entry.batch.columns[0].reports for entry in client.journal()]


@any_changes
@every
def test_the_first_answer_is_charged_for_all_and_every_later_one_is_free(
    make: Make, clock: Clock, kind: str, changes: int
) -> None:
    client = make(manifest=about(asked(kind, changes)))
    whole = price(client)

    outcomes = daily(client, clock, "abbdca")
    again = client.record("place", "d")

    spent = [outcome.spent for outcome in outcomes if isinstance(outcome, Recorded)]
    assert spent == [whole, 0, 0, 0, 0, 0]
    assert whole == min(changes + 1, mechanism(client).states)
    assert [entry.cost for entry in client.journal()] == spent
    assert isinstance(again, Skipped)
    assert again.code == "already_answered"


@pytest.mark.parametrize(
    ("cap", "lowered", "code"),
    [
        *[(cap, None, "budget") for cap in ("source_window", "window", "source_life", "life")],
        ("report", "0.999999", "policy"),
        ("metrics", 0, "policy"),
    ],
)
@any_changes
@every
def test_where_a_cap_is_too_low_the_answer_is_skipped_as_a_whole_and_nothing_is_drawn(  # noqa: PLR0917 - a table's
    make: Make, clock: Clock, kind: str, changes: int, cap: str, lowered: Any, code: str
) -> None:
    generous = make(manifest=about(asked(kind, changes)))
    least: Any = price(generous) - Decimal("0.000001") if lowered is None else lowered
    client = make(manifest=about(asked(kind, changes)), policy=Policy(**{cap: least}))

    outcomes = daily(client, clock, "ab")

    assert [outcome.code for outcome in outcomes if isinstance(outcome, Skipped)] == [code] * 2
    assert (memos(client), list(client.journal())) == ([], [])


@any_changes
@every
def test_answers_go_on_when_the_budget_is_spent_for_life(
    make: Make, clock: Clock, kind: str, changes: int
) -> None:
    whole = price(make(manifest=about(asked(kind, changes))))
    policy = Policy(source_window=whole, window=whole, source_life=whole, life=whole)
    client = make(manifest=about(asked(kind, changes)), policy=policy)

    outcomes = daily(client, clock, OPTIONS * 3)

    assert all(isinstance(outcome, Recorded) for outcome in outcomes)
    assert client.remaining() == client.remaining("place") == 0


@any_changes
@every
def test_a_memo_is_the_same_after_every_start(make: Make, clock: Clock, kind: str, changes: int) -> None:
    manifest = about(asked(kind, changes))
    daily(make(manifest=manifest), clock, "b")
    kept = memos(make(manifest=manifest))

    later = []
    for day in range(1, 6):
        with make(manifest=manifest) as client:
            daily(client, clock, "b", since=day)
            later.append(memos(client))

    assert len(kept) >= 1
    assert later == [kept] * 5


@every
def test_children_of_a_fork_draw_one_memo_and_pay_for_it_once(tmp_path: Path, kind: str) -> None:
    process = start("children", tmp_path / "device", kind)

    out, _ = process.communicate(timeout=120)

    seen = json.loads(out)
    assert seen["costs"] == ["1", *["0"] * (seen["recorded"] - 1)]
    assert seen["memos"] == 1


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.torture)])
def test_a_memo_outlives_kills_at_random_moments(tmp_path: Path, kills: int) -> None:
    moments, kept = random.Random(9), []  # noqa: S311 - moments to kill at are no secret

    for _ in range(kills):
        process = start("go_on", tmp_path / "device", "dbitflip")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moments.uniform(0.0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with alive(tmp_path / "device", "dbitflip", lambda: MONDAY + 5.0) as client:
            client.record("place", "a")  # begins a device that was killed before it had begun
            kept.append(memos(client))

    with alive(tmp_path / "device", "dbitflip", lambda: MONDAY + 5.0) as client:
        costs = [entry.cost for entry in client.journal()]
        told = set(reports(client))
    assert kept == [kept[0]] * kills
    assert sum(costs) == costs[0] == 1
    assert told == {kept[0][0][2]}  # every report of dBitFlip is its memo


@every
def test_each_period_has_a_report_of_its_own_from_the_memo_but_dbitflip_repeats_it(
    make: Make, clock: Clock, kind: str
) -> None:
    client = make(manifest=about(asked(kind, 0)))

    daily(client, clock, "b" * 40)

    # all alike by chance: the likeliest report of a memo, seen 40 times, below 1e-6
    assert (len(set(reports(client))) == 1) == (kind == "dbitflip")


@every
def test_where_no_change_is_allowed_another_value_leaves_nothing_but_its_report(
    make: Make, clock: Clock, tmp_path: Path, kind: str
) -> None:
    client = make(manifest=about(asked(kind, 0)))
    daily(client, clock, "a")
    before = tables(client), len(files(tmp_path / "device")["device.sqlite3"])

    daily(client, clock, "bcd", since=1)

    assert (tables(client), len(files(tmp_path / "device")["device.sqlite3"])) == before
    assert [row[1] for row in memos(client)] == [b""]


def tables(client: Client) -> dict[str, list[tuple[Any, ...]]]:
    """Read everything in a database but the journal."""

    def read(connection: sqlite3.Connection | None) -> dict[str, list[tuple[Any, ...]]]:
        assert connection is not None
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608 - of our own tables
            for (name,) in names
            if name != "journal"
        }

    return client._session.recorder.device.read(read)


@pytest.mark.parametrize("value", range(4))
@every
def test_where_any_change_is_allowed_every_state_has_a_memo_from_the_start(
    make: Make, clock: Clock, kind: str, value: int
) -> None:
    client = make(manifest=about(asked(kind, ALL)))

    daily(client, clock, OPTIONS[value])
    first = memos(client)
    daily(client, clock, "dcbaabcd", since=1)

    of_a_device = np.broadcast_to(recalled(client, 0), (4, *mechanism(client).memo_layout.shape))
    states = sorted(set(mechanism(client).state(np.arange(4), of_a_device).tolist()))
    assert [state for _, state, _ in first] == [state.to_bytes(4, "little") for state in states]
    assert memos(client) == first


@pytest.mark.parametrize("rounds", [800, pytest.param(20_000, marks=pytest.mark.torture)])
@every
def test_memos_of_all_states_have_one_law_whatever_the_value_is(make: Make, kind: str, rounds: int) -> None:
    client = make(manifest=about(asked(kind, ALL)))
    recorder, metric = client._session.recorder, client._session.metrics["place"]
    client.record("place", "a")

    drawn: tuple[Counter[tuple[int, bytes]], ...] = (Counter(), Counter())

    def draw(connection: sqlite3.Connection) -> None:
        for held, at in product((0, 1), range(rounds)):
            connection.execute("DELETE FROM memo")
            Memory(connection, metric, at.to_bytes(32), mechanism(client)).recall(held, system_coins())
            drawn[held].update(connection.execute("SELECT number, memo FROM memo").fetchall())

    recorder.device.transact(draw)

    one, other = (np.array([some[key] for key in {**drawn[0], **drawn[1]}]) for some in drawn)
    assert (np.abs(one - other) / np.sqrt(one + other)).max() < Z


@every
def test_where_some_changes_are_allowed_memos_lie_under_keyed_hashes_of_states(
    make: Make, clock: Clock, kind: str
) -> None:
    client = make(manifest=about(asked(kind, SOME)))

    daily(client, clock, OPTIONS * 2)

    ((_, secret, _),) = tables(client)["device"]
    every_state = [state.to_bytes(4, "little") for state in range(4)]
    mine = client._session.metrics["place"].id
    keyed = {hmac.digest(secret, mine + state, hashlib.sha256) for state in every_state}
    assert len(memos(client)) <= SOME + 1
    assert {state for _, state, _ in memos(client)} <= keyed


@pytest.mark.parametrize("changes", [0, SOME, 2, ALL])
@every
def test_a_state_is_answered_from_its_memo_or_after_the_last_change_from_the_memo_drawn_last(
    make: Make, clock: Clock, kind: str, changes: int
) -> None:
    client = make(manifest=about(asked(kind, changes)))
    daily(client, clock, "a")
    values = [0, 1, 2, 0, 3, 1, 2, 3, 0]

    told = [recalled(client, value) for value in values]

    most = min(changes + 1, mechanism(client).states)
    states = [int(mechanism(client).state(np.array([value]), told[0])[0]) for value in values]
    drawn = list(dict.fromkeys(states))[:most]
    if_all = mechanism(client).states == most
    answering = [state if state in drawn else drawn[-1] for state in states]
    expected = [told[states.index(state)].tobytes() for state in answering]
    assert [memo.tobytes() for memo in told] == expected
    assert len(memos(client)) == len(drawn) or if_all


@every
def test_no_answer_counts_as_the_value_it_stands_for(make: Make, clock: Clock, kind: str) -> None:
    client = make(manifest=about(asked(kind, SOME, absent="d"), boolean("other", epsilon="1", period="1d")))

    for day in range(3):
        clock.now = MONDAY + day * DAY + 5
        client.record("other", True)
    silent = memos(client)
    daily(client, clock, "d", since=4)

    costs = [entry.cost for entry in client.journal() if entry.metric == "place"]
    assert costs == [2, 0, 0, 0]
    assert len(silent) == 1
    assert memos(client) == silent


@every
def test_a_new_name_for_a_source_draws_and_pays_anew(make: Make, clock: Clock, kind: str) -> None:
    daily(make(manifest=about(asked(kind, 0))), clock, "a")
    both = make(manifest=about(asked(kind, 0), asked(kind, 0, name="site", source="place")))

    outcome = both.record("site", "a")

    assert isinstance(outcome, Recorded)
    assert outcome == Recorded(spent=Decimal(1), left=Decimal(6))
    assert len({metric for metric, _, _ in memos(both)}) == len(memos(both)) == 2


@every
def test_a_changed_definition_draws_and_pays_anew(make: Make, clock: Clock, kind: str) -> None:
    daily(make(manifest=about(asked(kind, 0))), clock, "a")
    wider = make(manifest=about(asked(kind, 0, options=[*OPTIONS, "e"])))

    outcomes = daily(wider, clock, "ae", since=1)

    assert [outcome.spent for outcome in outcomes if isinstance(outcome, Recorded)] == [1, 0]
    assert wider.remaining("place") == 6
    assert len(memos(wider)) == 2


@every
def test_a_collector_takes_reports_from_memos(make: Make, clock: Clock, running: Running, kind: str) -> None:
    manifest = Manifest(app="themes", serial=1, metrics=(asked(kind, SOME),))
    publish(running.collector.store.manifests, manifest)
    client = make(manifest=manifest, transport=running.transport, key=running.key)

    daily(client, clock, "abc")
    flushed = client.flush(now=True)

    assert (flushed.sent, flushed.refused, flushed.error) == (3, 0, "")


@pytest.mark.parametrize(("changes", "code"), [(4_095, "recorded"), (4_096, "policy")])
def test_no_more_than_4096_memos_are_ever_kept(make: Make, clock: Clock, changes: int, code: str) -> None:
    many = [f"option {at}" for at in range(changes + 1)]
    low: dict[str, Any] = {"epsilon": "0.0015", "parameters": {"first": "0.001"}}
    client = make(manifest=about(asked("l_grr", changes, options=many, **low)))

    outcome = client.record("place", "option 7")

    assert getattr(outcome, "code", "recorded") == code
    assert len(memos(client)) == {"recorded": 4_096, "policy": 0}[code]


@any_changes
@every
def test_a_memo_holds_nothing_of_the_words_and_is_for_its_owner_alone(
    make: Make, clock: Clock, tmp_path: Path, kind: str, changes: int
) -> None:
    client = make(manifest=about(asked(kind, changes, options=["here", WORD, "there", "other"])))

    daily(client, clock, [WORD, "here", WORD, "other"])

    seen = files(tmp_path / "device")
    unkeyed = {hashlib.sha256(form).digest() for form in (WORD.encode(), b"\1\0\0\0", *FORMS)}
    assert found_in(seen) == []
    assert not any(digest in file for digest in unkeyed for file in seen.values())
    assert {stat.S_IMODE((tmp_path / "device" / name).stat().st_mode) for name in seen} == {0o600}


@pytest.mark.parametrize(("lives", "periods"), [(3, 100), pytest.param(10, 500, marks=pytest.mark.torture)])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "dbitflip"])
def test_the_average_of_a_devices_reports_is_that_of_its_memo_and_not_of_its_value(
    clock: Clock, kind: str, lives: int, periods: int
) -> None:
    more: dict[str, Any] = {"epsilon": "2", "parameters": {"first": "1.5"}}
    with quick_directory() as top:
        directory = next(place for place in (top / str(at) for at in range(200)) if lies(place, kind, more))

        for _ in range(lives):
            with alive(directory, kind, clock, **more) as client:
                for _ in range(periods):
                    clock.now += DAY
                    client.record("place", "b")

        told, kept, memo, law = reports(client), memos(client), recalled(client, 1), mechanism(client)
        client.close()
    n = lives * periods
    found = law.tally(np.frombuffer(b"".join(told[-n:]), law.layout)).cells / n
    many = law.tally(law.report(np.repeat(memo, 400_000, axis=0), seeded_coins(5))).cells / 400_000
    errors = np.sqrt(many * (1 - many) / n)
    assert (len(told), len(kept)) == (n + 1, 1)
    assert (np.abs(found - many) < Z * errors).all()
    assert found[1] + Z * errors[1] < float(law.channel.p)  # type: ignore[attr-defined]


def lies(directory: Path, kind: str, more: Mapping[str, Any]) -> bool:
    """Begin a device that holds "b", and tell whether its memo speaks against that."""
    with alive(directory, kind, lambda: MONDAY + 1.0, **more) as client:
        client.record("place", "b")
        return not mechanism(client).tally(recalled(client, 1)).cells[1]


MIXED = (
    boolean("plain", epsilon="0.5"),
    number("seconds", low=0, high=3, epsilon="0.25", period="1d", absent=0),
    choice("system", options=list(OPTIONS), epsilon="2", once=True),
)
Step = tuple[int, bool, Sequence[bool], tuple[int, int]]
steps = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 1, 1, 2, 6, 30]),  # days that pass
        st.booleans(),  # whether the app starts anew
        st.lists(st.booleans(), min_size=8, max_size=8),  # which metrics are recorded
        st.tuples(st.integers(0, 3), st.integers(0, 3)),  # what the first and the second device hold
    ),
    min_size=4,
    max_size=12,
)


def mixed(changes: int) -> Manifest:
    """Ask every kind of question at once, one of each kind reporting silence."""
    repeated = [asked(kind, changes, name=kind, absent="d") for kind in KINDS[::2]]
    others = [asked(kind, changes, name=kind) for kind in KINDS[1::2]]
    return about(*repeated, *others, *MIXED)


def lived(directory: Path, manifest: Manifest, life: Sequence[Step], which: int) -> dict[str, Any]:
    """Live through steps as one of two devices, and return all that must not depend on values."""
    clock = Clock()
    outcomes: list[str] = []
    for passed, is_new, recorded, held in life:
        clock.now += passed * DAY
        if is_new or not outcomes:
            delivery = Delivery(delay=0, background=False)
            client = Client.for_testing(manifest, data_dir=directory, clock=clock, delivery=delivery)
        for metric in (one for one, is_asked in zip(manifest.metrics, recorded, strict=True) if is_asked):
            value = [OPTIONS[held[which]], bool(held[which] % 2), held[which]]
            kind = ("choice", "boolean", "number").index(metric.domain.kind)
            outcomes.append(repr(client.record(metric.name, value[kind])))
        outcomes.append(repr([client.remaining(), client.stats()]))
    rows = client._session.recorder.device.read(
        lambda connection: [] if connection is None else connection.execute(LASTING).fetchall()
    )
    sizes = {name: len(content) for name, content in files(directory).items()}
    kept = memos(client, "metric, length(state), length(memo)") if rows else []
    return {"outcomes": outcomes, "rows": rows, "sizes": sizes, "memos": kept}


LASTING = """SELECT number, at, source, metric, starts, ends, cost, delta, length(batch), length(chain),
    status, code, due FROM journal ORDER BY number"""


@pytest.mark.parametrize(
    ("changes", "compared"),
    [
        (0, ["outcomes", "rows", "sizes", "memos"]),
        (SOME, ["outcomes", "rows"]),
        (ALL, ["outcomes", "rows", "sizes"]),
    ],
)
@given(life=steps)
@settings(max_examples=12)
def test_two_devices_with_different_values_have_equal_ledgers_answers_and_silences(
    changes: int, compared: Sequence[str], life: Sequence[Step]
) -> None:
    with quick_directory() as top:
        one, other = (lived(top / str(which), mixed(changes), life, which) for which in (0, 1))

    assert [one[part] for part in compared] == [other[part] for part in compared]
