"""This file holds the parts of a running collector, which the routes share."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from flask import request

from hubbub_server.catalog import Catalog
from hubbub_server.config import Config
from hubbub_server.keys import KeyRing
from hubbub_server.receiving.intake import Intake
from hubbub_server.receiving.writer import Writer
from hubbub_server.store.opening import open_sqlite
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
    clock: Callable[[], float]

    def require(self, *kinds: str) -> None:
        """Let the current request pass only with a key of one of these kinds.

        Raises RefusedError.
        """
        self.ring.authenticate(request.headers.get("Authorization"), kinds, now=self.clock())

    def close(self) -> None:
        """Write what waits and give back what this process holds open."""
        self.writer.close()
        self.store.close()


def open_collector(config: Config, *, clock: Callable[[], float] = time.time) -> Collector:
    """Open the store of a configuration and put the parts together.

    Raises StorageError.
    """
    store = open_sqlite(config.database)
    catalog = Catalog(store.manifests)
    writer = Writer(store.batches, most_waiting=config.most_waiting, clock=clock)
    intake = Intake(store.batches, catalog, writer.submit, clock)
    return Collector(config, store, catalog, intake, KeyRing(store.keys), writer, clock)
