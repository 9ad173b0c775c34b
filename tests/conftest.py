"""This file sets up what all tests share: a home, the same examples, little waiting, and PostgreSQL."""

import gc
import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

from hubbub_client.switch import VARIABLES
from hubbub_server.store.sqlite import database
from tests.postgres import REQUIRED, Server, programs, running_server

settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests, and every process they start, away from the home and the wishes of whoever runs them."""
    home = tempfile.TemporaryDirectory(prefix="hubbub-home-")
    config.add_cleanup(home.cleanup)
    os.environ["XDG_DATA_HOME"] = home.name
    for name in [*VARIABLES, *(name for name in os.environ if name.startswith("HUBBUB_SERVER_"))]:
        os.environ.pop(name, None)


def pytest_collection() -> None:
    """Look for no garbage while tests are collected: all of it is kept."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later search, so that these and forks are quick."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def pages_of_log() -> Iterator[int]:
    """Have collectors in this process make room for 100 pages in their log, and not for so many as given.

    Writing 16 MiB for each takes longer than most tests; a collector that is a process of its own does.
    """
    with pytest.MonkeyPatch.context() as patch:
        pages = database.PAGES_OF_LOG
        patch.setattr(database, "PAGES_OF_LOG", 100)
        yield pages


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server that all tests of this process share; where there is none they are skipped, or fail."""
    where = programs()
    if where is None:
        missing = "PostgreSQL is NOT tested: install it, as root: apt-get install postgresql"
        pytest.fail(missing) if os.environ.get(REQUIRED) else pytest.skip(missing)
    with running_server(where) as server:
        yield server
