"""This file holds the locks to their purpose: all that pyproject asks, pinned, with hashes, from nowhere."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = ["requirements.lock", "requirements-server.lock", "benchmarks/peers.lock"]
PIN = re.compile(r"^([a-z0-9.-]+)==(\S+)( ; .+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


def entries(lock: str) -> list[str]:
    lines = (ROOT / lock).read_text().splitlines()
    return [line for line in lines if not line.lstrip().startswith("#")]


def pins(lock: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for match in filter(None, map(PIN.match, entries(lock))):
        found.setdefault(match[1], set()).add(match[2])
    return found


def asked(*extras: str) -> list[Requirement]:
    lines = PROJECT["dependencies"] + [
        line for extra in extras for line in PROJECT["optional-dependencies"][extra]
    ]
    return [requirement for requirement in map(Requirement, lines) if requirement.name != PROJECT["name"]]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_pins_and_hashes_and_nothing_else(lock: str) -> None:
    lines = entries(lock)

    strange = [line for line in lines if not PIN.match(line) and not HASH.match(line)]

    assert lines
    assert strange == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_of_a_lock_is_followed_by_a_hash(lock: str) -> None:
    lines = entries(lock)

    bare = [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if PIN.match(line) and not HASH.match(after)
    ]

    assert bare == []


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("requirements.lock", tuple(PROJECT["optional-dependencies"])),
        ("requirements-server.lock", ("server",)),
    ],
)
def test_a_lock_pins_what_pyproject_asks_within_its_range(lock: str, extras: tuple[str, ...]) -> None:
    pinned = pins(lock)

    unmet = [
        str(requirement)
        for requirement in asked(*extras)
        if not any(
            requirement.specifier.contains(version, prereleases=True)
            for version in pinned.get(canonicalize_name(requirement.name), ())
        )
    ]

    assert unmet == []


def test_the_image_holds_the_versions_that_were_tested() -> None:
    tested, shipped = pins("requirements.lock"), pins("requirements-server.lock")

    assert {name: versions for name, versions in shipped.items() if tested.get(name) != versions} == {}
