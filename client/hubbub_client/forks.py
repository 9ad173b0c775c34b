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

    A system without fork has nothing to do here.
    """
    if not hasattr(os, "register_at_fork"):
        return
    reference = weakref.ref(target)

    def calling(method: Callable[[T], None] | None) -> Callable[[], None]:
        def call() -> None:
            alive = reference()
            if alive is not None and method is not None:
                method(alive)

        return call

    os.register_at_fork(
        before=calling(before), after_in_parent=calling(in_parent), after_in_child=calling(in_child)
    )
