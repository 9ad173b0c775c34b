"""This file does what can wait, one short step at a time: forget ids, add up, delete raw reports.

The writing thread calls it in quiet moments, so it never competes with a batch for the database.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator

from hubbub.errors import StorageError
from hubbub.period import DAY
from hubbub_server.keys import day_of
from hubbub_server.logs import tell, trail
from hubbub_server.store.protocol import Upkeep
from hubbub_server.store.records import AddUp

MOST_COMPACTED = 2**30  # bytes that are written anew by themselves: about ten seconds without a commit
_NOTED_AFTER = 3600.0  # seconds


class Housekeeping:
    """The steps, in turn.

    keep_raw_days: after the end of a period until its raw reports are deleted, and the database is written
    anew without them; 0: never. steady: a clock that nobody sets.
    """

    __slots__ = ("_add_up", "_day", "_expired", "_keep", "_steps", "_sure_day", "_upkeep")

    def __init__(
        self,
        upkeep: Upkeep,
        add_up: AddUp,
        *,
        keep_raw_days: int,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._upkeep, self._add_up, self._keep = upkeep, add_up, keep_raw_days
        self._sure_day = SureDay(upkeep, clock, steady)
        self._day = 0  # the sure day whose work is not done yet; 0 if there is none
        self._expired = False  # whether raw reports were deleted on it
        self._steps = self._rounds()

    def step(self) -> bool:
        """Do one step, and tell whether another is due.

        Nothing is raised: trouble with the database is left for the next batch to meet, and no fault, such
        as a metric that this version can't build, may end the thread that writes.
        """
        try:
            return next(self._steps)
        except Exception as error:
            self._steps = self._rounds()  # what raised is over
            fault = str(error) if isinstance(error, StorageError) else trail(error)
            tell("housekeeping failed", level=logging.WARNING, fault=fault)
            return False

    def _rounds(self) -> Iterator[bool]:
        """Yield after each step whether another is due; what may meet a fault in a metric comes last."""
        while True:
            self._day = self._sure_day.read() or self._day
            while self._upkeep.forget(self._day):
                yield True
            if self._day and self._keep:
                while self._upkeep.expire(self._day - self._keep, self._add_up):
                    self._expired = True
                    yield True
                self._upkeep.note("retention", self._day)
            if self._expired:
                self._write_anew()
            self._day = 0
            while self._upkeep.fold(self._add_up):
                yield True
            yield False

    def _write_anew(self) -> None:
        self._expired = False
        tell("raw reports deleted", of_periods_before=day_of((self._day - self._keep) * DAY))
        if self._upkeep.usage().taken <= MOST_COMPACTED:
            self._upkeep.compact()
            tell("database written anew")


class SureDay:
    """A day that the clock showed, and has not gone back behind for a day: what was due by then may go.

    So a clock that is wrong for some hours makes nothing forgotten that is still needed. Only time while a
    collector runs counts; it is noted, so that one that is started anew every day forgets, too.
    """

    __slots__ = ("_clock", "_day", "_last", "_noted", "_seconds", "_steady", "_upkeep")

    def __init__(self, upkeep: Upkeep, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        self._upkeep, self._clock, self._steady = upkeep, clock, steady
        self._day, self._seconds, self._noted, self._last = math.inf, 0.0, 0.0, math.nan

    def read(self) -> int:
        """Return the day, or 0 while none is sure.

        Raises StorageError.
        """
        today, now = int(self._clock() // DAY), self._steady()
        if math.isnan(self._last):
            self._day = self._upkeep.noted("day") or math.inf
            self._seconds = self._noted = float(self._upkeep.noted("seconds of day"))
            self._last = now
        self._seconds, self._last = self._seconds + now - self._last, now
        sure = int(self._day) if today >= self._day and self._seconds >= DAY else 0
        if sure or today < self._day:
            self._day, self._seconds, self._noted = today, 0.0, -math.inf
        if self._seconds - self._noted >= _NOTED_AFTER:
            self._upkeep.note("day", int(self._day))
            self._upkeep.note("seconds of day", int(self._seconds))
            self._noted = self._seconds
        return sure
