"""This file calls an object's own methods around a fork, without keeping the object alive."""

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def around_fork(
    target: T,
    *,
    before: Callable[[T], None] | None = None,
    in_parent: Callable[[T], None] | None = None,
    in_child: Callable[[T], None] | None = None,
) -> None:
    """Have methods of ``target`` called around each fork, for as long as it lives.

    Python asks none before a fork that was registered while the fork waited for another: then ``in_parent``
    is not called either. A system without fork has nothing to do here.
    """
    if not hasattr(os, "register_at_fork"):
        return
    reference, waiting = weakref.ref(target), list[bool]()

    def call(method: Callable[[T], None] | None) -> None:
        alive = reference()
        if alive is not None and method is not None:
            method(alive)

    def call_before() -> None:
        waiting.append(True)
        call(before)

    def call_in_parent() -> None:
        if waiting:
            waiting.pop()
            call(in_parent)

    def call_in_child() -> None:
        waiting.clear()
        call(in_child)

    os.register_at_fork(before=call_before, after_in_parent=call_in_parent, after_in_child=call_in_child)
