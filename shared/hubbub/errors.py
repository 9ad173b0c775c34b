"""This file draws the tree of everything that hubbub raises.

::

    HubbubError
    ├── DomainError            a parameter, value or report lies outside its range
    ├── ManifestError          a manifest or metric is wrong: where, what, and what to write
    ├── BatchError             bytes that are not a batch
    ├── TooFewReportsError     an estimate was asked of too few reports
    ├── SkippedError           a strict client did not record: carries the code
    ├── StorageError           a file or database that cannot be read or written
    │   ├── BusyError          another process holds it; try again
    │   ├── DatabaseAwayError  its server can't be reached
    │   └── StorageFullError   the disk has no room left
    ├── ConfigError            a setting of the collector is wrong
    ├── MissingExtraError      a part that is not installed: carries the line that installs it
    ├── RefusedError           the collector or a device refuses a request: carries a code
    └── NotReachableError      the collector did not answer

A message is one sentence: what was wrong, what was got, what is allowed, and the way out. A true value is
never part of one.
"""

from hubbub.printable import printable


class HubbubError(Exception):
    """Stand above every error that hubbub raises on purpose."""


class DomainError(HubbubError, ValueError):
    """A parameter, value or report lies outside its range."""


class ManifestError(HubbubError, ValueError):
    """A manifest or metric is wrong.

    problem: what is wrong, as a clause. remedy: what to write instead. where: "metrics.toml, line 7" or "".
    path: the keys that lead to the fault, such as ("uses_dark_mode", "epsilon").
    """

    def __init__(
        self, problem: str, *, remedy: str = "", where: str = "", path: tuple[str, ...] = ()
    ) -> None:
        problem = printable(problem)  # a name may hold anything
        self.problem, self.remedy, self.where, self.path = problem, remedy, where, path
        message = f"{where}: {problem}" if where else problem
        super().__init__(f"{message}; {remedy}" if remedy else message)


class BatchError(HubbubError, ValueError):
    """Bytes that are not a batch.

    code: the problem code of the protocol, for programs.
    """

    def __init__(self, message: str, *, code: str = "malformed_batch") -> None:
        self.code = code
        super().__init__(message)


class TooFewReportsError(HubbubError, ValueError):
    """An estimate was asked of fewer reports than it can be made of.

    n: reports at hand. needed: the least number that gives an answer.
    """

    def __init__(self, n: int, needed: int, what: str) -> None:
        self.n, self.needed = n, needed
        super().__init__(f"{what} needs at least {needed} report{'s' * (needed != 1)}, got {n}")


class SkippedError(HubbubError):
    """A strict client did not record.

    code: the same word as in ``Skipped.code``.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class StorageError(HubbubError):
    """A file or database cannot be read, written or trusted."""


class BusyError(StorageError):
    """Another process holds the database for longer than we wait."""


class DatabaseAwayError(StorageError):
    """The server of the database can't be reached."""


class StorageFullError(StorageError):
    """The disk has no room left."""


class ConfigError(HubbubError, ValueError):
    """A setting of the collector is missing or wrong."""


class MissingExtraError(HubbubError, ImportError):
    """Something needs a part of hubbub that is not installed.

    extra: its name in brackets after hubbub.
    """

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs its {extra} parts: pip install '.[{extra}]' in a clone of hubbub")


class RefusedError(HubbubError):
    """A request is refused.

    code: the problem code of the protocol, for programs. details: more for programs, as plain data.
    """

    def __init__(self, code: str, message: str, **details: object) -> None:
        self.code, self.details = code, details
        super().__init__(message)


class NotReachableError(HubbubError):
    """The collector did not answer."""
