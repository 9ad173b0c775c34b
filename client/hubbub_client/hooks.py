"""This file calls an object's own methods around forks and at the end, without keeping the object alive."""

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def around_fork(
    target: T,
    *,
    before: Callable[[T], None],
    in_parent: Callable[[T], None],
    in_child: Callable[[T], None],
) -> None:
    """Have methods of ``target`` called around each fork, for as long as it lives: twice each.

    What a signal's handler raises ends a call; Python tells of it, makes the next one, and forks all the
    same. Such a signal may well come, while a call waits or the fork is made. Python calls nothing before a
    fork that waited for another while this was registered. A system without fork has nothing to do here.
    """
    if hasattr(os, "register_at_fork"):
        for _ in range(2):
            os.register_at_fork(
                before=_weakly(target, before),
                after_in_parent=_weakly(target, in_parent),
                after_in_child=_weakly(target, in_child),
            )


def at_exit(target: T, act: Callable[[T], None]) -> None:
    """Have a method of ``target`` called at the end of the process, if it lives until then."""
    weakref.finalize(target, _weakly(target, act))


def _weakly(target: T, act: Callable[[T], None]) -> Callable[[], None]:
    reference = weakref.ref(target)

    def call() -> None:
        alive = reference()
        if alive is not None:
            act(alive)

    return call
