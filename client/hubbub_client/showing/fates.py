"""This file says in words what became of a report: the same ones in the log, the count and the page."""

from collections.abc import Mapping

from hubbub.spending import WINDOW
from hubbub_client.storage import provenance
from hubbub_client.storage.journal import Entry

_UNSENT = {"dropped": "never sent", "tried": "tried, then given up"}  # the latter may yet have arrived
_BECAME = {
    "waiting": "waits to be sent",
    "sent": "sent",
    "refused": "refused by the collector",
    **_UNSENT,
    "withdrawing": "sent, now being asked back",
    "withdrawn": "sent, then deleted, says the collector",
    "kept": "sent, asked back, and kept",
}
_NOTES = {
    **{code: f"note: {reason}" for code, reason in provenance.REASONS.items()},
    provenance.LOST: "note: counted for every source, for reports that are missing",
    "withdrawn": "note: withdrawn by you",
    "renewed": f"note: {WINDOW} days had passed since the last charge",
}
_SINCE = {
    "withdrawn": "deleted since, says the collector",
    "withdrawing": "being asked back",
    "kept": "asked back, and kept",
}


def fate(entry: Entry) -> str:
    """Say what became of a report, with the reason where there is one, or what a note tells."""
    if entry.status == "note":
        return _NOTES.get(entry.code, entry.code)
    status = "tried" if entry.status == "dropped" and entry.tried else entry.status
    became = _BECAME.get(status, status)
    return f"{became} ({entry.code})" if entry.code else became


def tally(counts: Mapping[tuple[str, str], int]) -> str:
    """Say how many reports left and how many did not; one that was deleted since had left all the same.

    counts: of the journal's rows by status and code.

    >>> tally({("sent", ""): 2, ("withdrawn", ""): 1, ("dropped", "too_old"): 1})
    '3 sent (1 deleted since, says the collector), 0 waiting, 0 refused, 1 never sent'
    """
    by_status = dict.fromkeys(("sent", "waiting", "refused", "dropped"), 0)
    for (status, _), count in counts.items():
        by_status[status] = by_status.get(status, 0) + count
    since = [f"{by_status[status]} {words}" for status, words in _SINCE.items() if status in by_status]
    by_status["sent"] += sum(by_status.pop(status, 0) for status in _SINCE)
    told = [f"{count} {_UNSENT.get(status, status)}" for status, count in by_status.items()]
    told[0] += f" ({'; '.join(since)})" if since else ""
    return ", ".join(told)
