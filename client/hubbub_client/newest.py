"""This file keeps a value that threads, and handlers of signals, may change at once without losing a change.

It holds no lock, which a fork could copy while it is held, and a handler wait for or leave held: each change
hangs itself behind the one that it saw, in one step of C, or sees that another did and is made once more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
_NEXT = ""


@dataclass(frozen=True, slots=True)
class _Version(Generic[T]):
    """What a value was after some change, and where the next change goes."""

    value: T
    later: "dict[str, _Version[T]]" = field(default_factory=dict)


class Newest(Generic[T]):
    """A value that is replaced, never altered.

    >>> count = Newest(1)
    >>> count.change(lambda number: number + 1)
    >>> count.value
    2
    """

    def __init__(self, value: T) -> None:
        self._version = _Version(value)

    @property
    def value(self) -> T:
        """What the last change left."""
        return self._last().value

    def change(self, changed: Callable[[T], T]) -> None:
        """Replace the value by what is made of it.

        changed: made again of a newer value if there is one by then, so that it must do nothing else.
        """
        while True:
            last = self._last()
            made = _Version(changed(last.value))
            if last.later.setdefault(_NEXT, made) is made:
                return

    def _last(self) -> _Version[T]:
        version = self._version
        while version.later:
            version = version.later[_NEXT]
        self._version = version  # may put an older one back, from which the way is only longer
        return version
