"""This file holds the command of a device's owner: what was sent, what it cost, and the switch."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from hubbub.delta import HIGHEST, Delta
from hubbub.epsilon import decimal_text
from hubbub.errors import HubbubError
from hubbub.manifest import APP
from hubbub.spending import WINDOW
from hubbub_client import kept_manifests
from hubbub_client.location import home
from hubbub_client.showing import owner, statement
from hubbub_client.showing import page as pages
from hubbub_client.showing.owner import App
from hubbub_client.storage import journal, ledger, provenance
from hubbub_client.switch import FLAG, Switch


@dataclass(frozen=True, slots=True)
class Selection:
    """The apps that a command is about.

    app: None for every app of this user.
    """

    app: App | None

    def apps(self) -> list[App]:
        """List them."""
        return list(owner.apps()) if self.app is None else [self.app]

    def visit(self, act: Callable[[App], None]) -> None:
        """Do something with each, and exit with 1 if one of them can't be read or written."""
        failed = False
        for app in self.apps():
            try:
                act(app)
            except (HubbubError, OSError) as error:
                click.echo(f"{app.name}: {error}", err=True)
                failed = True
        if failed:
            sys.exit(1)


@click.group()
@click.option("--app", metavar="NAME", help="One app; without it, every app found.")
@click.option("--data-dir", metavar="DIR", type=click.Path(path_type=Path), help="One device's directory.")
@click.version_option(package_name="hubbub")
@click.pass_context
def command(context: click.Context, app: str | None, data_dir: Path | None) -> None:
    """See and switch what the apps on this machine report with hubbub."""
    if app is not None and data_dir is not None:
        raise click.UsageError("give --app or --data-dir, not both")
    if app is not None and not APP.fullmatch(app):
        raise click.UsageError("--app takes the name of an app, as its manifest spells it")
    if data_dir is not None:
        context.obj = Selection(App(str(data_dir), data_dir))
    else:
        context.obj = Selection(None if app is None else App(app, home() / app))


@command.command()
@click.pass_obj
def status(selection: Selection) -> None:
    """Say for each app whether it is on, and how many reports were sent or wait."""
    if not selection.apps():
        reason = Switch(os.environ, lambda: (home(),)).reason()
        click.echo(f"no app has kept anything in {home()}{f'; off ({reason})' if reason else ''}")
    selection.visit(_show_status)


@command.command()
@click.pass_obj
def budget(selection: Selection) -> None:
    """Show what each source has spent, in the last 28 days and in all."""
    selection.visit(_show_budget)


@command.command()
@click.pass_obj
def log(selection: Selection) -> None:
    """List every report that left or will: its bytes, its cost and what became of it."""
    selection.visit(_show_log)


@command.command()
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Where to put it.")
@click.pass_obj
def page(selection: Selection, output: Path | None) -> None:
    """Make a page of HTML that shows whether each app is on, what it spent, and every report."""
    try:
        text = pages.page([statement.of_app(app, _off(app)) for app in selection.apps()])
        if output is not None:
            owner.write_private(output, text)
    except (HubbubError, OSError) as error:
        raise click.ClickException(f"the page can't be made: {error}") from None
    if output is None:
        click.echo(text, nl=False)


@command.command()
@click.pass_obj
def off(selection: Selection) -> None:
    """Switch off: nothing is recorded or sent any more. Without --app, for all apps."""
    directory = home() if selection.app is None else selection.app.directory
    owner.switch_off(directory)
    click.echo(f"Off: nothing is recorded or sent until hubbub-client on. ({directory / FLAG} says so.)")
    if selection.app is not None and not selection.app.device.exists:
        click.echo(f"No app has kept anything in {directory} yet; is the name right?", err=True)
    selection.visit(owner.forget_consent)


@command.command()
@click.pass_obj
def on(selection: Selection) -> None:
    """Switch on again. Without --app, for all apps, those that were off one by one included."""
    if selection.app is None:
        owner.switch_on(home())
    selection.visit(lambda app: owner.switch_on(app.directory))
    reason = Switch(os.environ, lambda: (home(),)).reason()
    if reason:
        click.echo(f"Still off: {reason}.", err=True)
        sys.exit(1)
    click.echo("On.")


@command.command()
@click.pass_context
def withdraw(context: click.Context) -> None:
    """Switch off, and give up every report that waits to be sent. Without --app, for all apps.

    What was sent stays with the collector: only the app knows where that is, and can ask it to delete.
    """
    context.invoke(off)
    context.obj.visit(_withdraw)
    click.echo("What was sent before, only the app can ask its collector to delete.")


@command.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def reset(selection: Selection, *, yes: bool) -> None:
    """Start one app's files anew, where they are damaged or its clock was wrong; give nothing back.

    The old database is kept. What was spent stays spent as far as it can be read, and the app records nothing
    for 28 days.
    """
    if selection.app is None:
        raise click.UsageError("say which: hubbub-client --app NAME reset")
    if not yes:
        click.confirm(
            f"{selection.app.name} will then record nothing for {WINDOW} days; what was spent stays spent. "
            "Go on?",
            abort=True,
        )
    selection.visit(_reset)


def _withdraw(app: App) -> None:
    dropped = owner.withdraw(app)
    click.echo(f"{app.name}: {dropped} report{'s' * (dropped != 1)} will not leave")


def _reset(app: App) -> None:
    kept = owner.reset(app)
    click.echo(
        f"Reset. It records again in {WINDOW} days.{f' The old files are kept: {kept}' if kept else ''}"
    )


def _off(app: App) -> str:
    return Switch(os.environ, lambda: (app.directory, home())).reason()


def _show_status(app: App) -> None:
    reason = _off(app)
    if not app.device.exists:
        click.echo(f"{app.name}: nothing was kept in {app.directory}{f'; off ({reason})' if reason else ''}")
        return
    with app.device.reading() as connection:
        counts = {} if connection is None else journal.counts(connection)
        silence = provenance.silence(connection, ledger.latest(connection, time.time()))
    by_status = dict.fromkeys(("sent", "waiting", "refused", "dropped"), 0)
    for (name, _), count in counts.items():
        by_status[name] = by_status.get(name, 0) + count
    told = ", ".join(f"{count} {name}" for name, count in by_status.items())
    click.echo(
        f"{app.name}: {f'off ({reason})' if reason else 'on, if it has your consent'}; reports: {told}"
    )
    if silence is not None:
        click.echo(f"  records nothing until {_day(silence[1])}, since {silence[0]}")
    for line in kept_manifests.load(app.directory).lines():
        click.echo(f"  {line}")


def _show_budget(app: App) -> None:
    with app.device.reading() as connection:
        now = ledger.latest(connection, time.time())
        rows = [] if connection is None else ledger.by_source(connection, now)
        delta = Delta(0 if connection is None else min(ledger.delta_spent(connection), HIGHEST))
    click.echo(
        f"{app.name}: epsilon spent in {WINDOW} days and in all; the app's policy sets how much it may"
    )
    total = ("all together", sum(window for _, window, _ in rows), sum(life for *_, life in rows))
    for source, window, life in (*rows, total):
        click.echo(f"  {source or '(every source)':<40} {decimal_text(window):>10} {decimal_text(life):>10}")
    if delta.atto:
        click.echo(f"  and delta {delta} in all: the chance that this protects less than stated")


def _show_log(app: App) -> None:
    click.echo(f"{app.name}: every report as it leaves, noise and all, in hexadecimal")
    click.echo("  number, time, metric, period from, epsilon, status, bytes")
    for entry in journal.entries(app.device, notes=True):
        when = datetime.fromtimestamp(entry.at, tz=UTC).isoformat(timespec="seconds")
        became = f"{entry.status} ({entry.code})" if entry.code else entry.status
        about = [entry.metric or "-", _day(entry.starts) if entry.ends else "-", entry.cost, became]
        click.echo(f"  {entry.number} {when} {' '.join(map(str, about))} {entry.body.hex()}".rstrip())


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, tz=UTC).date().isoformat()
