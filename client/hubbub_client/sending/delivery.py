"""This file holds the rules of delivery: when a batch may leave, what an answer means, how long to wait."""

import json
from dataclasses import dataclass
from typing import Literal

from hubbub.errors import DomainError
from hubbub.period import DAY, GRACE
from hubbub_client.sending.transport import Answer

HOUR = 3600
# The codes of a collector that has judged the letter itself. What else may answer, at a wrong address or on
# the way, knows nothing of it, so that it waits, and all others with it.
FINAL = {
    "refused": (
        *("malformed_batch", "unknown_version", "id_conflict", "withdrawn"),
        *("too_large", "wrong_labels", "wrong_width", "period_closed"),
    ),
    "kept": ("already_folded",),
}
NOT_JUDGED = (401, 403, 408, 429)  # nor is anything with one of these, or with any 5xx
NOT_YET = (413, 425)  # this letter can't be sent, others can, and time may mend it
LONGEST_PAUSE = 24 * HOUR
LONGEST_ERRAND = 7 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """When batches leave, and how much may wait.

    delay: None sends each batch at a random time within its period, so that sending tells nothing about when
    it was recorded; and after its period for a metric with an absent value, so that it tells nothing about
    whether it was. A number sends it after a random part of so many seconds, 0 at once.
    background: whether a thread sends what is due; without it only ``flush`` does.
    most_batches, most_bytes: with so much in line already, ``record`` skips ("paused") and charges nothing.
    request_timeout: seconds that one request may take, from the connection to the end of the answer.
    """

    delay: float | None = None
    background: bool = True
    most_batches: int = 1000
    most_bytes: int = 4_000_000
    request_timeout: float = 10.0

    def __post_init__(self) -> None:
        if self.delay is not None and not 0 <= self.delay < 2**31:
            raise DomainError("delay must be None or a number of seconds, 0 or more")
        if not 0 < self.request_timeout <= 20:
            raise DomainError("request_timeout must be above 0 and at most 20 seconds")

    def due(self, now: int, period: tuple[int, int], chance: float, *, has_absent: bool) -> int:
        """Return when a batch made now may leave.

        period: its start and end. chance: from 0 to 1, at random. has_absent: whether silence is reported.

        >>> Delivery().due(1000, (0, 5600), 0.5, has_absent=False)
        3300
        >>> Delivery().due(1000, (0, 5600), 0.5, has_absent=True)
        8400
        """
        starts, ends = period
        if self.delay is not None:
            return now + int(self.delay * chance)
        if has_absent:
            return ends + int(min(ends - starts, GRACE // 2) * chance)
        return now + int(max(ends - now, HOUR) * chance)

    def due_back(self, now: int, closes: int, chance: float) -> int:
        """Return when a request to have a batch back may leave: at random within a week.

        closes: when a collector may have forgotten the batch. chance: from 0 to 1, at random.

        >>> Delivery().due_back(1000, 2000, 0.5), Delivery(delay=0).due_back(1000, 2000, 0.5)
        (1500, 1000)
        """
        longest = min(LONGEST_ERRAND, closes - now) if self.delay is None else self.delay
        return now + int(longest * chance)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means for a letter.

    status: "sent" and "refused" are final for a batch, "withdrawn" and "kept" for the wish to have one back.
    "waiting": nothing can be sent now. "postponed": this letter can't, others can. code: the collector's, or
    why. pause: seconds that it asks to be left alone, or None.
    """

    status: Literal["sent", "refused", "withdrawn", "kept", "waiting", "postponed"]
    code: str = ""
    pause: float | None = None


def judge_batch(answer: Answer) -> Verdict:
    """Tell what an answer to a batch means.

    A 200 that isn't the collector's own, such as a captive portal's page, is no acknowledgement. A batch is
    one report, so one that is too large has no halves to send: it is refused like any other.

    >>> judge_batch(Answer(409, b'{"code": "id_conflict"}'))
    Verdict(status='refused', code='id_conflict', pause=None)
    >>> judge_batch(Answer(404, b'{"code": "not_found"}'))
    Verdict(status='waiting', code='not_found', pause=None)
    """
    document = _object(answer.body)
    if answer.status == 200 and isinstance(document.get("accepted"), int):
        refused = document.get("refused")
        first = refused[0] if isinstance(refused, list) and refused else None
        return Verdict("sent") if first is None else Verdict("refused", _code(first, "refused"))
    return _problem(answer, document, "refused")


def judge_withdrawal(answer: Answer) -> Verdict:
    """Tell what an answer to the wish to have a batch back means.

    >>> judge_withdrawal(Answer(410, b'{"code": "already_folded"}'))
    Verdict(status='kept', code='already_folded', pause=None)
    """
    document = _object(answer.body)
    if answer.status == 200 and document.get("withdrawn") is True:
        return Verdict("withdrawn")
    return _problem(answer, document, "kept")


def _problem(answer: Answer, document: dict[str, object], final: Literal["refused", "kept"]) -> Verdict:
    code = _code(document, f"http_{answer.status}")
    if code in FINAL[final] and 400 <= answer.status < 500 and answer.status not in NOT_JUDGED:
        return Verdict(final, code)
    if answer.status in NOT_YET or code == "unknown_metric":
        return Verdict("postponed", code)
    return Verdict("waiting", code, _pause(answer.retry_after))


def backoff(failures: int, chance: float) -> float:
    """Return how many seconds to wait after so many failures in a row: twice as long each time, jittered.

    >>> backoff(1, 0.0), backoff(3, 1.0), backoff(60, 1.0)
    (1.0, 8.0, 3600.0)
    """
    longest = min(2.0 ** min(failures, 12), HOUR)
    return longest / 2 + chance * longest / 2


def _object(body: bytes) -> dict[str, object]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _code(document: object, otherwise: str) -> str:
    code = document.get("code") if isinstance(document, dict) else None
    return code[:64] if isinstance(code, str) and code.isprintable() else otherwise


def _pause(retry_after: str | None) -> float | None:
    """Read Retry-After in seconds, within bounds; the date form depends on clocks and is not followed."""
    if retry_after is None or not retry_after.strip().isdecimal():
        return None
    return float(min(max(int(retry_after.strip()[:9]), 1), LONGEST_PAUSE))
