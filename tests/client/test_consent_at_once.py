"""This file proves that no word about consent is lost, wherever another thread or a handler comes between.

Each change is made once for each of its steps, with something happening at that step, and nothing by chance.
"""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from types import FrameType
from typing import Any

import pytest

from hubbub_client.consent import Consents, Permission
from hubbub_client.newest import Newest
from hubbub_client.switch import Switch
from tests.client.conftest import Clock

Change = Callable[[Permission], object]
WITHDRAWN = (7, 1_000_500)  # half a second after everything that is said here
LONG_AGO = (7, 1_000)
TRACED = ("hubbub_client/consent.py", "hubbub_client/newest.py")
CHANGES: dict[str, Change] = {
    "give all": lambda permission: permission.decide("given"),
    "give one": lambda permission: permission.decide("given", ["dark"]),
    "refuse all": lambda permission: permission.decide("refused"),
    "refuse one": lambda permission: permission.decide("refused", ["dark"]),
    "refuse another": lambda permission: permission.decide("refused", ["wide"]),
    "doubt": lambda permission: permission.decide("unknown"),
    "withdraw": lambda permission: permission.hear(WITHDRAWN),
    "hear late": lambda permission: permission.hear(LONG_AGO),
    "lose": lambda permission: permission.obstacle("spoken"),
}
PAIRS = [
    pytest.param(CHANGES[one], CHANGES[other], id=f"{one}-{other}")
    for one, other in product(CHANGES, repeat=2)
]


@pytest.fixture(autouse=True)
def steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """See single steps, of which Python 3.12 shows none to whoever asks first, and let none speak."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with_at_step(0, lambda: None, lambda: after(CHANGES["give all"]))


class HandlerError(Exception):
    """What a signal's handler raises."""


def permission() -> Permission:
    made = Permission(Switch({}, tuple), Consents("unknown"), Clock(1000.0), Clock(5.0))
    made.decide("given")
    made.hear((0, 0))
    made.decide("refused", ["spoken"])
    return made


def after(*changes: Change) -> object:
    made = permission()
    for change in changes:
        change(made)
    return made._known.value


def with_at_step(step: int, act: Callable[[], object], change: Callable[[], object]) -> bool:
    """Make a change, and do something at one of its steps; tell whether it has so many."""
    left = [step]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left[0] -= 1
            if left[0] == 0:
                act()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        change()
    finally:
        sys.settrace(before)
    return left[0] <= 0


def met(one: Change, other: Change) -> list[object]:
    """Return what is known after a change with another at each of its steps."""
    found: list[object] = []
    has_step = True
    while has_step:
        made = permission()
        has_step = with_at_step(len(found) + 1, lambda: other(made), lambda: one(made))  # noqa: B023 - called at once
        found.append(made._known.value)
    return found[:-1]


def raised(one: Change) -> list[object]:
    """Return what is known after a change that a handler ended, for each of its steps, and another one."""

    def handle() -> None:
        raise HandlerError

    found: list[object] = []
    has_step = True
    while has_step:
        made = permission()
        with suppress(HandlerError):
            has_step = with_at_step(len(found) + 1, handle, lambda: one(made))  # noqa: B023 - called at once
        made.decide("refused", ["quiet"])
        found.append(made._known.value)
    return found[:-1]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_changes_at_once_are_one_after_the_other(one: Change, other: Change) -> None:
    found = met(one, other)

    assert len(found) > 20
    assert [known for known in found if known not in (after(one, other), after(other, one))] == []


@pytest.mark.parametrize("one", CHANGES.values(), ids=CHANGES)
def test_a_handler_that_raises_in_a_change_leaves_it_whole_or_unmade(one: Change) -> None:
    def quiet(permission: Permission) -> None:
        permission.decide("refused", ["quiet"])

    found = raised(one)

    assert len(found) > 20
    assert [known for known in found if known not in (after(quiet), after(one, quiet))] == []


@pytest.mark.parametrize(
    ("withdrawal", "holds"), [(WITHDRAWN, False), (LONG_AGO, True)], ids=["later", "before"]
)
def test_who_agrees_while_a_withdrawal_is_heard_is_held_to_when_it_was(
    withdrawal: tuple[int, int], *, holds: bool
) -> None:
    made: list[Permission] = []

    def clock() -> float:
        while made:
            made.pop().hear(withdrawal)
        return 1000.0

    permission = Permission(Switch({}, tuple), Consents("unknown"), clock, Clock(5.0))
    made.append(permission)

    permission.decide("given")

    assert permission.agrees("dark") == holds


def test_many_threads_lose_no_change() -> None:
    count = Newest(0)

    def add() -> None:
        for _ in range(2_000):
            count.change(lambda number: number + 1)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert count.value == 8_000


def test_a_value_that_was_looked_at_long_ago_costs_no_recursion() -> None:
    count = Newest(0)
    long_ago = count._last()

    for _ in range(100_000):
        count.change(lambda number: number + 1)
    del long_ago

    assert count.value == 100_000
