"""This file holds the compose file and the image to what a collector of strangers' reports needs."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
COMPOSE = YAML(typ="safe").load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SERVICES = sorted(COMPOSE["services"])
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = COMPOSE["services"][request.param]
    return found


def test_a_service_can_write_to_nothing_but_its_volume_and_memory(service: dict[str, Any]) -> None:
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 - the container's own, in memory
    assert service["volumes"] == ["data:/data"]
    assert list(COMPOSE["volumes"]) == ["data"]


def test_a_service_has_no_power_that_it_does_not_need(service: dict[str, Any]) -> None:
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "network_mode", "pid"} & set(service)
    assert int(service["user"].split(":")[0]) > 0


def test_a_service_is_reached_from_its_own_machine_only(service: dict[str, Any]) -> None:
    exposed = [port for port in service["ports"] if not port.startswith("127.0.0.1:")]

    assert exposed == []


def test_a_service_says_whether_it_is_well_and_comes_back(service: dict[str, Any]) -> None:
    assert "/healthz" in " ".join(service["healthcheck"]["test"])
    assert service["restart"] == "unless-stopped"


def test_a_service_runs_the_version_of_this_repository(service: dict[str, Any]) -> None:
    assert service["image"] == f"hubbub:{VERSION}"


def test_every_base_image_is_pinned_to_a_version() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)

    loose = [base for base in bases if not re.fullmatch(r"python:3\.\d+-slim-[a-z]+", base)]

    assert bases
    assert loose == []


def test_the_image_installs_only_what_has_a_known_hash_or_was_built_from_here() -> None:
    installs = re.findall(r"pip install (.*?)(?= \\$| && |$)", DOCKERFILE, re.MULTILINE)

    open_ended = [line for line in installs if not re.match(r"--require-hashes|--no-deps /wheel", line)]

    assert len(installs) == 3
    assert open_ended == []


def test_the_image_and_the_compose_file_agree_on_user_port_and_command(service: dict[str, Any]) -> None:
    assert f"USER {service['user']}" in DOCKERFILE
    assert f"EXPOSE {service['ports'][0].split(':')[-1]}" in DOCKERFILE
    assert f"CMD {service['command']}".replace("'", '"') in DOCKERFILE
