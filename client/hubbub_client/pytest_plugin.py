"""This file is a plugin for pytest that an app's tests ask for: one fixture, and no cost to anybody else.

pytest_plugins = ["hubbub_client.pytest_plugin"]  # in conftest.py
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hubbub_client.witness import Witness


@pytest.fixture
def hubbub(tmp_path: Path) -> Iterator["Witness"]:
    """Make clients on a directory of this test, without a network, and see what they record."""
    from hubbub_client.witness import Witness  # noqa: PLC0415 - for the tests that use it

    witness = Witness(tmp_path / "hubbub")
    yield witness
    witness.close()
