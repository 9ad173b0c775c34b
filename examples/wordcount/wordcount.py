"""This program counts words, and asks once, at a terminal, whether it may tell how it is used.

A command lives for a second, so what it recorded mostly leaves in a later run: ``flush`` sends what is due,
for a second at most, and whatever becomes of it, output and exit code are those of counting words.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import platformdirs

from hubbub_client import Client, Delivery
from hubbub_client.consent import State

SETTINGS = platformdirs.user_config_path("wordcount") / "settings.json"
QUESTION = """\
wordcount would like to tell its makers, once in 28 days, how long it took and whether it read files or a
pipe. Both are made noisy on this machine first, so that no answer proves anything about you.
`wordcount --telemetry show` prints what leaves; `--telemetry off` stops it. May it?"""


def make_client() -> Client:
    """Return the client of this user, who may not have been asked yet. Ships with an address and a key."""
    return Client(
        os.environ.get("WORDCOUNT_COLLECTOR", "https://telemetry.example.org"),
        Path(__file__).with_name("metrics.toml"),
        key=os.environ.get("WORDCOUNT_KEY"),
        consent=decision(),
        delivery=Delivery(delay=0) if "WORDCOUNT_SEND_AT_ONCE" in os.environ else None,  # to try it out
    )


def decision() -> State:
    """Return what the user decided in an earlier run."""
    try:
        return "given" if json.loads(SETTINGS.read_text("utf-8"))["telemetry"] is True else "refused"
    except (OSError, ValueError, LookupError, TypeError):
        return "unknown"


def decide(client: Client, *, agreed: bool) -> None:
    """Act on what the user decided, and remember it."""
    if agreed:
        client.consent("given")
        client.check_in()  # from now on silence counts as "not used"
    else:
        client.withdraw()  # what waits never leaves
    SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    SETTINGS.write_text(json.dumps({"telemetry": agreed}), "utf-8")


def show(client: Client) -> None:
    """Print what may leave this machine, and what has."""
    for metric in ("seconds", "input"):
        click.echo(client.explain(metric))
    for entry in client.journal():
        click.echo(f"{entry.metric}: {entry.body.hex()} for epsilon {entry.cost}, {entry.status}")


def count(files: Sequence[str]) -> int:
    """Print how many words each file has, and return the exit code."""
    code = 0
    for name in files or ("-",):
        try:
            with click.open_file(name, encoding="utf-8", errors="replace") as lines:
                click.echo(f"{sum(len(line.split()) for line in lines):>8} {name}")
        except OSError as error:
            click.echo(f"wordcount: {name}: {error.strerror}", err=True)
            code = 1
    return code


@click.command()
@click.argument("files", nargs=-1)
@click.option("--telemetry", type=click.Choice(["on", "off", "show"]), help="Change your mind, or look.")
def main(files: Sequence[str], telemetry: str | None) -> None:
    """Count the words of files, or of what is piped in."""
    with make_client() as client:
        if telemetry == "show":
            return show(client)
        if telemetry:
            return decide(client, agreed=telemetry == "on")
        if decision() == "unknown" and sys.stdin.isatty() and sys.stderr.isatty():
            decide(client, agreed=click.confirm(QUESTION, err=True))
        with client.timed("seconds"):
            code = count(files)
        client.record("input", "pipe" if not files else "one file" if len(files) == 1 else "several files")
        client.flush(timeout=1)
    sys.exit(code)


if __name__ == "__main__":
    main()
