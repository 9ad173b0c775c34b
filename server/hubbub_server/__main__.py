"""This file starts ``hubbub-server``, or says what to install if its parts are missing."""

import sys
from importlib.util import find_spec

PARTS = ("flask", "limits", "prometheus_client", "sqlite_utils", "waitress", "werkzeug")


def main() -> None:
    """Run the command."""
    if not all(map(find_spec, PARTS)):
        print(
            "hubbub-server needs its server parts: pip install '.[server]' in a clone of hubbub",
            file=sys.stderr,
        )
        sys.exit(3)
    from hubbub_server.commands.cli import command  # noqa: PLC0415 - which needs those parts

    command()


if __name__ == "__main__":
    main()
