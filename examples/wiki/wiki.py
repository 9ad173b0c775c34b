"""This program is a wiki whose makers hear, if its operator agrees, how such wikis are used.

    flask --app wiki telemetry on
    gunicorn --preload --workers 4 'wiki:create_app()'

A directory of hubbub's is one device. Here it is this installation, however many workers serve it and people
use it: each metric is a fact about the wiki, and all workers together answer it once. What a person does is
that person's, whose device has a budget of its own: a server that recorded it here would report about whoever
came first, and the rest would not count.
"""

import json
import os
import sys
from pathlib import Path

import click
import platformdirs
from flask import Flask, Response, request, send_from_directory

from hubbub_client import Client, Delivery
from hubbub_client.consent import State


def create_app() -> Flask:
    """Return the wiki of this user. Settings come from the environment: WIKI_COLLECTOR, WIKI_KEY."""
    app = Flask("wiki", instance_path=str(platformdirs.user_data_path("wiki")))
    pages = Path(app.instance_path) / "pages"
    pages.mkdir(parents=True, exist_ok=True)
    client = make_client(Path(app.instance_path))
    client.prepare()  # with --preload this is before the fork, so that no worker imports it all again
    client.record("python", f"3.{sys.version_info.minor}")

    @app.put("/pages/<name>")
    def save(name: str) -> tuple[str, int]:
        (pages / f"{name}.txt").write_bytes(request.get_data())
        client.record("pages", sum(1 for _ in pages.iterdir()))
        return "", 204

    @app.get("/pages/<name>")
    def show(name: str) -> Response:
        return send_from_directory(pages, f"{name}.txt", mimetype="text/plain")

    @app.get("/search/<word>")
    def search(word: str) -> list[str]:
        client.record("searched", True)
        return sorted(page.stem for page in pages.iterdir() if word in page.read_text("utf-8", "replace"))

    @app.cli.command()
    @click.argument("decision", type=click.Choice(["on", "off", "show"]))
    def telemetry(decision: str) -> None:
        """Decide, for this installation, or print a page of all that leaves it: show > telemetry.html."""
        if decision == "show":
            click.echo(client.page())
        else:
            decide(client, Path(app.instance_path), agreed=decision == "on")

    return app


def make_client(folder: Path) -> Client:
    """Return the one client of this process and its children."""
    state = decision(folder)
    if state == "unknown":
        print("May this wiki tell its makers how it is used? flask --app wiki telemetry on | off | show")
    return Client(
        os.environ.get("WIKI_COLLECTOR", "https://telemetry.example.org"),
        Path(__file__).with_name("metrics.toml"),
        key=os.environ.get("WIKI_KEY"),
        data_dir=folder / "telemetry",
        consent=state,
        delivery=Delivery(delay=0) if "WIKI_SEND_AT_ONCE" in os.environ else None,  # to try it out
    )


def decision(folder: Path) -> State:
    """Return what the operator decided."""
    try:
        return "given" if json.loads((folder / "telemetry.json").read_text("utf-8")) is True else "refused"
    except (OSError, ValueError):
        return "unknown"


def decide(client: Client, folder: Path, *, agreed: bool) -> None:
    """Remember what the operator decided, for the workers' next start."""
    if not agreed:
        client.withdraw()  # what waits never leaves
    (folder / "telemetry.json").write_text(json.dumps(agreed), "utf-8")
