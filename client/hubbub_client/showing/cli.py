"""This file holds the command of a device's owner: what was sent, what it cost, and the switch."""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import click

from hubbub.errors import HubbubError, StorageError
from hubbub.manifest import APP
from hubbub.printable import printable
from hubbub.spending import WINDOW
from hubbub_client.location import home
from hubbub_client.showing import lines, owner, statement
from hubbub_client.showing import page as pages
from hubbub_client.showing.owner import App
from hubbub_client.switch import FLAG, VARIABLES, Switch


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
                _echo(f"{app.name}: {_told(error)}", err=True)
                failed = True
        if failed:
            sys.exit(1)

    def show(self, say: Callable[[App], Iterable[str]]) -> None:
        """Print what there is to say about each, and exit with 1 if one can't be read or isn't there."""

        def echo(app: App) -> None:
            if not app.is_known:
                raise StorageError(lines.unknown(app))
            switched_off = f"{app.name}: {lines.unknown(app)}; off ({lines.off(app)})"
            for line in say(app) if app.device.exists else (switched_off,):
                _echo(line)

        self.visit(echo)


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
        _echo(f"no app has kept anything in {home()}{f'; off ({reason})' if reason else ''}")
    selection.show(lines.status)


@command.command()
@click.pass_obj
def budget(selection: Selection) -> None:
    """Show what each source has spent, in the last 28 days and in all."""
    selection.show(lines.budget)


@command.command()
@click.option(
    "--bytes", "with_bytes", is_flag=True, help="And under each the bytes that leave, in hexadecimal."
)
@click.pass_obj
def log(selection: Selection, *, with_bytes: bool) -> None:
    """List every report that left or will: what it cost and what became of it."""
    selection.show(lambda app: lines.log(app, with_bytes=with_bytes))


@command.command()
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Where to put it.")
@click.pass_obj
def page(selection: Selection, output: Path | None) -> None:
    """Make a page of HTML that shows whether each app is on, what it spent, and every report."""
    try:
        if selection.app is not None and not selection.app.is_known:
            raise StorageError(lines.unknown(selection.app))
        shown = [app for app in selection.apps() if app.device.exists or lines.off(app)]
        text = pages.page([statement.of_app(app, lines.off(app)) for app in shown])
        if output is not None:
            owner.write_private(output, text)
    except (HubbubError, OSError) as error:
        raise click.ClickException(printable(f"the page can't be made: {_told(error)}")) from None
    if output is None:
        click.echo(text, nl=False)


@command.command()
@click.pass_obj
def off(selection: Selection) -> None:
    """Switch off: nothing is recorded or sent any more. Without --app, for all apps."""
    _switch_off(selection)
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
        _echo(f"Still off: {reason}.", err=True)
        sys.exit(1)
    click.echo("On.")


@command.command()
@click.pass_obj
def withdraw(selection: Selection) -> None:
    """Switch off, and give up every report that waits to be sent. Without --app, for all apps.

    What was sent stays with the collector: only the app knows where that is, and can ask it to delete.
    """
    _switch_off(selection)
    selection.visit(_withdraw)
    click.echo("What was sent before, only the app can ask its collector to delete.")


@command.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--marker-dir",
    metavar="DIR",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Where the marker is, if the app keeps it elsewhere and the database is gone.",
)
@click.pass_obj
def reset(selection: Selection, *, yes: bool, marker_dir: Path | None) -> None:
    """Start one app's files anew, where they are damaged or its clock was wrong; give nothing back.

    The old database is kept. What was spent stays spent as far as it can be read, and the app records nothing
    for 28 days.
    """
    if selection.app is None:
        raise click.UsageError("say which: hubbub-client --app NAME reset")
    if not yes:
        click.confirm(
            f"{printable(selection.app.name)} will then record nothing for {WINDOW} days; what was spent "
            "stays spent. Go on?",
            abort=True,
        )
    selection.visit(lambda app: _reset(app, marker_dir))


def run() -> None:
    """Run the command; what this user may not read or write ends it with one sentence and exit code 1."""
    try:
        command()
    except (HubbubError, OSError) as error:
        _echo(f"hubbub-client: {_told(error)}", err=True)
        sys.exit(1)


def _told(error: HubbubError | OSError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename} can't be used: {error.strerror}"
    return str(error)


def _echo(line: str, *, err: bool = False) -> None:
    """Print a line; what a file on a device says, or a collector said, moves no cursor."""
    click.echo(printable(line), err=err)


def _switch_off(selection: Selection) -> None:
    app = selection.app
    directory = home() if app is None else app.directory
    way_back = f"{'hubbub-client' if app is None else statement.command_of(app)} on"
    try:
        owner.switch_off(directory)
    except OSError as error:
        message = f"{_told(error)}, so nothing is off; set {VARIABLES[0]}=1 where the app is started instead"
        raise StorageError(message) from None
    _echo(
        f"Off: nothing is recorded or sent until you run {way_back}. (The file {directory / FLAG} says so.)"
    )
    if app is not None and not app.device.exists:
        _echo(
            f"{app.name}: {lines.unknown(app)} yet; one that does will be off. Is the name right?", err=True
        )


def _withdraw(app: App) -> None:
    dropped = owner.withdraw(app)
    _echo(f"{app.name}: {dropped} report{'s' * (dropped != 1)} will not leave")


def _reset(app: App, marker_dir: Path | None) -> None:
    kept = owner.reset(app, marker_dir)
    _echo(f"Reset. It records again in {WINDOW} days.{f' The old files are kept: {kept}' if kept else ''}")
