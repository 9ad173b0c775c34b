"""This file lets what ends a call pass to the app, without the frames that it ended: they hold the value.

It is what an app's handler of a signal raises, such as Ctrl-C, or whatever else is no Exception.
"""

from typing import TypeVar

T = TypeVar("T")


def bare(error: BaseException) -> BaseException:
    """Return an exception with no way from it to any frame."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def passed(outcome: T | BaseException) -> T:
    """Return an outcome, or raise what came in its place.

    >>> passed(7)
    7
    """
    if isinstance(outcome, BaseException):
        try:
            raise outcome
        finally:
            del outcome  # or else its own traceback would keep it
    return outcome
