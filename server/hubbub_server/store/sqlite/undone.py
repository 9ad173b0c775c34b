"""This file says what is undone when a backup takes the place of a SQLite store: keys, manifests, batches."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hubbub.errors import StorageError
from hubbub_server.store.keys import KeptKeys
from hubbub_server.store.records import StoredKey
from hubbub_server.store.sqlite.database import Database

_SERIALS = "SELECT app, max(serial) FROM manifest GROUP BY app ORDER BY app"
_LOST = """SELECT sum(max(was.n - coalesce(cell.n, 0), 0))
    FROM main.cell AS was LEFT JOIN copy.cell AS cell USING (metric, period, labels)"""
_WITHDRAWN = """SELECT count(*) FROM main.batch AS was JOIN copy.batch AS batch USING (id_hash)
    WHERE was.state = 'withdrawn' AND batch.state = 'kept'"""
_UNSEEN = (
    "keys that were revoked since the backup are in use again, newer ones are gone, and so are newer "
    "manifests: see hubbub-server keys list and metrics"
)


def undone(before: Path, copy: Path, today: str) -> Iterator[str]:
    """Yield what a database has that a backup has not, each in a sentence with what to do about it.

    today: as ISO date.
    """
    if not before.exists():
        yield f"there was none to compare it with; {_UNSEEN}"
        return
    try:
        with closing(Database(before)) as was, closing(Database(copy)) as now:
            yield from _of_keys(KeptKeys(was).all(), KeptKeys(now).all(), today)
            yield from _of_manifests(dict(was.select(_SERIALS)), dict(now.select(_SERIALS)))
            yield from _of_batches(was, copy)
    except StorageError:
        yield f"the one before can't be read in full; {_UNSEEN}"


def _of_keys(before: list[StoredKey], copied: list[StoredKey], today: str) -> Iterator[str]:
    kept = {key.number: key for key in copied}
    for was in before:
        now, name = kept.get(was.number), f"{was.kind} key {was.number}"
        if now is None and was.is_in_use(today):
            yield f"{name} is gone, and whoever has it gets 401: hubbub-server keys add {was.kind}"
        elif now and now.is_in_use(today) and not was.is_in_use(today):
            since = was.revoked or was.expires
            yield f"{name} is in use again, and was not since {since}: hubbub-server keys revoke {was.number}"
        elif now and now.is_in_use(today) and now.expires != was.expires:
            yield f"{name} does not end on {was.expires} any more: hubbub-server keys rotate {was.number}"


def _of_manifests(before: dict[str, int], copied: dict[str, int]) -> Iterator[str]:
    for app, serial in before.items():
        if copied.get(app, 0) < serial:
            now = f"at serial {copied[app]}" if app in copied else "not published"
            yield f"{app} is {now}, and was at {serial}: hubbub-server publish its newer manifest"


def _of_batches(before: Database, copy: Path) -> Iterator[str]:
    with before.reading() as connection:
        connection.execute("ATTACH ? AS copy", (str(copy),))
        ((lost,),) = connection.execute(_LOST).fetchall()
        ((withdrawn,),) = connection.execute(_WITHDRAWN).fetchall()
    if lost:  # which is less than all where as many came as were withdrawn
        least = "at least " if withdrawn else ""
        yield f"lost, since no device sends them again: {least}{lost:,} reports that came since"
    if withdrawn:
        yield f"batches that were withdrawn since and count again: {withdrawn:,}"
