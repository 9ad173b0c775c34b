"""This file gives each test a collector of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.site import Site, site


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path) as running:
        yield running
