"""This file proves what the compose file promises: confined services, loopback, health, secrets as files.

It also holds the lines that are given to it, in its own head and in the guide, to what there is.
"""

import ipaddress
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click import Command
from ruamel.yaml import YAML

from hubbub_server.commands.cli import command
from hubbub_server.config import PREFIX, SETTINGS

ROOT = Path(__file__).parents[1]
COMPOSE: dict[str, Any] = YAML(typ="safe").load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
NGINX = (ROOT / "deploy" / "nginx.conf").read_text()
GUIDE = (ROOT / "docs" / "guide-operators.md").read_text("utf-8")
LINES = re.findall(
    r"docker compose [^)\n]*?(?=  |[<>)\n])", GUIDE + (ROOT / "docker-compose.yml").read_text("utf-8")
)
each_service = pytest.mark.parametrize("name", SERVICES)


def profiles(name: str) -> set[str]:
    return set(SERVICES[name].get("profiles", ()))


def test_one_collector_starts_by_default_and_more_by_their_profile() -> None:
    assert {name: profiles(name) for name in SERVICES} == {
        "collector": set(),
        "collector-a": {"scale"},
        "collector-b": {"scale"},
        "postgres": {"scale"},
        "proxy": {"scale"},
    }


@each_service
def test_what_a_service_depends_on_starts_with_it_and_is_healthy_first(name: str) -> None:
    needed = SERVICES[name].get("depends_on", {})

    assert all(profiles(other) <= profiles(name) for other in needed)
    assert all(rule == {"condition": "service_healthy"} for rule in needed.values())
    assert all(SERVICES[other]["healthcheck"] for other in needed)


@each_service
def test_every_service_is_confined(name: str) -> None:
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["restart"] == "unless-stopped"
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    assert "privileged" not in service
    assert "network_mode" not in service
    assert service["healthcheck"]["test"][0] == "CMD"


@each_service
def test_every_image_names_its_version(name: str) -> None:
    tag = SERVICES[name]["image"].partition(":")[2]

    assert re.match(r"\d+\.\d+", tag)


@each_service
def test_ports_are_published_on_loopback_only(name: str) -> None:
    published = [port.rsplit(":", 2)[0] for port in SERVICES[name].get("ports", ())]

    assert all(ipaddress.ip_address(address).is_loopback for address in published)


def test_no_two_services_publish_one_port() -> None:
    ports = [port.split(":")[1] for service in SERVICES.values() for port in service.get("ports", ())]

    assert len(ports) == len(set(ports)) == 2


@each_service
def test_every_secret_is_a_file_that_its_service_is_given(name: str) -> None:
    service = SERVICES[name]
    read = {
        value.removeprefix("/run/secrets/")
        for key, value in service.get("environment", {}).items()
        if key.endswith("_FILE")
    }

    assert read == set(service.get("secrets", ()))
    assert read <= set(COMPOSE["secrets"])
    assert not any(
        "password" in key.lower() and not key.endswith("_FILE") for key in service.get("environment", {})
    )


def test_every_volume_and_secret_is_used() -> None:
    volumes = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    secrets = {secret for service in SERVICES.values() for secret in service.get("secrets", ())}

    assert set(COMPOSE["volumes"]) <= volumes
    assert set(COMPOSE["secrets"]) == secrets
    assert all(Path(secret["file"]).parts[0] == "secrets" for secret in COMPOSE["secrets"].values())
    assert "/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


def test_every_setting_of_a_collector_is_one_that_it_reads() -> None:
    given = {
        key
        for service in SERVICES.values()
        for key in service.get("environment", {})
        if key.startswith(PREFIX)
    }

    assert given
    assert {key.removeprefix(PREFIX).removesuffix("_FILE").lower() for key in given} <= set(SETTINGS)


def test_the_proxy_passes_on_to_every_collector_of_its_profile() -> None:
    behind = set(re.findall(r"server ([\w-]+):8750", NGINX))

    assert (
        behind
        == {name for name in SERVICES if name.startswith("collector-")}
        == set(SERVICES["proxy"]["depends_on"])
    )


def test_the_proxy_writes_nothing_down_and_ends_slow_connections() -> None:
    assert "access_log off;" in NGINX
    assert re.search(r"client_header_timeout \d+s;", NGINX)
    assert re.search(r"client_body_timeout \d+s;", NGINX)
    assert 'proxy_set_header X-Forwarded-For "";' in NGINX
    assert NGINX.count("error_log") == 1


@pytest.mark.parametrize("line", dict.fromkeys(LINES))
def test_a_line_for_compose_names_services_and_commands_that_there_are(line: str) -> None:
    words = shlex.split(line)[2:]
    named = set(words[1:2]) if words[0] == "--profile" else set()
    verb, *rest = words[2:] if named else words
    mounted = [rest.pop(place + 1) for place in range(len(rest) - 1, -1, -1) if rest[place] == "-v"]
    services = [word.partition(":")[0] for word in rest if word.partition(":")[0] in SERVICES]

    assert verb in {"build", "cp", "exec", "run", "stop", "up"}
    assert all(profiles(service) == named for service in services)
    if verb in {"exec", "run"}:
        inside = rest[rest.index(services[0]) + 1 :]
        program, *given = inside if verb == "exec" else ["hubbub-server", *inside]
        assert program in {"hubbub-server", "pg_dump", "pg_restore", "createdb"}
        if program == "hubbub-server":
            _check_command(given, {volume.split(":")[1] for volume in mounted})


def _check_command(words: list[str], mounted: set[str]) -> None:
    """Hold a collector's command to its options, and its files to what is not read-only there."""
    found = command.commands[words[0]]
    options = {option for parameter in found.params for option in parameter.opts}
    places = ("/data", "/tmp", *mounted)  # noqa: S108 - of the container

    assert isinstance(found, Command)
    assert {word for word in words if word.startswith("--")} <= options
    assert all(word.startswith(places) for word in words if word.startswith("/"))
