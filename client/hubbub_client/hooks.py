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
    """Have methods of ``target`` called around each fork, for as long as it lives.

    Python does not call ``before`` where it was registered while the fork waited for another, and tells of
    what it raises, and goes on. A system without fork has nothing to do here.
    """
    if hasattr(os, "register_at_fork"):
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
