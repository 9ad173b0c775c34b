"""This file starts ``hubbub-server``, or says what to install if its parts are missing."""

import sys

PARTS = {"flask", "limits", "prometheus_client", "waitress", "werkzeug"}


def main() -> None:
    """Run the command."""
    try:
        from hubbub_server.commands.cli import command  # noqa: PLC0415 - the one import that may fail
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PARTS:
            raise
        print("hubbub-server needs its server parts: pip install 'hubbub[server]'", file=sys.stderr)
        sys.exit(3)
    command()


if __name__ == "__main__":
    main()
