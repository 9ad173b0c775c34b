"""This file holds the parts of a running collector, which the routes share."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from flask import request

from hubbub.batch import Batch
from hubbub.errors import RefusedError, StorageError
from hubbub_server.catalog import Catalog
from hubbub_server.config import Config
from hubbub_server.housekeeping import Housekeeping
from hubbub_server.keys import KeyRing
from hubbub_server.problems import code_of
from hubbub_server.readiness import Readiness
from hubbub_server.receiving.intake import Intake
from hubbub_server.receiving.limits import Limits
from hubbub_server.receiving.writer import Writer
from hubbub_server.stats import Stats
from hubbub_server.store.opening import open_store
from hubbub_server.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Collector:
    """Settings, store, and what is built on it."""

    config: Config
    store: Store
    catalog: Catalog
    intake: Intake
    ring: KeyRing
    writer: Writer
    limits: Limits
    stats: Stats
    readiness: Readiness
    clock: Callable[[], float]

    def require(self, *kinds: str) -> str:
        """Let the current request pass only with a key of one of these kinds; return the key's number.

        Raises RefusedError.
        """
        key = self.ring.authenticate(request.headers.get("Authorization"), kinds, now=self.clock())
        if key.kind == "ingest":
            self.limits.request(key.number)
        return key.number

    def receive(self, key: str, batch: Batch) -> bytes:
        """Keep a batch that came with a key; return its answer once that is durable.

        Raises RefusedError, or StorageError if it can't be kept.
        """
        sent = sum(column.count for column in batch.columns)
        try:
            self.limits.reports(key, sent)
            taken = self.intake.receive(batch)
        except (RefusedError, StorageError) as error:
            self.stats.refused(code_of(error), sent)
            raise
        self.stats.taken(sent, taken.counted)
        return taken.answer

    def close(self) -> None:
        """Write what waits and give back what this process holds open."""
        self.writer.close()
        self.store.close()


def open_collector(config: Config, *, clock: Callable[[], float] = time.time) -> Collector:
    """Open the store of a configuration and put the parts together.

    Raises StorageError.
    """
    store = open_store(config.database)
    catalog = Catalog(store.manifests)
    housekeeping = Housekeeping(store.upkeep, catalog.add_up, keep_raw_days=config.keep_raw_days, clock=clock)
    writer = Writer(store.batches, most_waiting=config.most_waiting, rest=housekeeping.step)
    stats = Stats(store.upkeep)
    return Collector(
        config,
        store,
        catalog,
        Intake(store.batches, catalog, stats.watch(writer.submit), clock),
        KeyRing(store.keys),
        writer,
        Limits(
            requests_per_minute=config.requests_per_minute,
            reports_per_day=config.reports_per_day,
            instances=store.upkeep.instances,
        ),
        stats,
        Readiness(store.upkeep, least_room=config.least_room, longest_wait=stats.longest_wait),
        clock,
    )
