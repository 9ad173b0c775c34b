"""This file gives each test a collector or a store of its own, on SQLite or on either database."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub_server.logs import NAME
from hubbub_server.store.opening import open_store
from hubbub_server.store.protocol import Store
from tests.postgres import Server
from tests.server.site import Site, site


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Leave logging as it was, which a command to serve sets up for its process."""
    logger = logging.getLogger(NAME)
    before = logger.handlers, logger.propagate, logger.level
    yield
    logger.handlers, logger.propagate = before[0], before[1]
    logger.setLevel(before[2])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """The path or URL of a new database; a test that asks for it runs on both."""
    if request.param == "sqlite":
        return tmp_path / "hubbub.sqlite3"
    server: Server = request.getfixturevalue("postgres")
    return server.fresh()


@pytest.fixture
def either(tmp_path: Path, where: Path | str) -> Iterator[Site]:
    """A collector on each database in turn."""
    with site(tmp_path, database=where) as running:
        yield running


@pytest.fixture
def store(where: Path | str) -> Iterator[Store]:
    """A store on each database in turn."""
    opened = open_store(where)
    yield opened
    opened.close()
