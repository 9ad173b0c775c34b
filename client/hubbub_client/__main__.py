"""This file starts the command of a device's owner, and says what is missing if a part of it is."""

import sys


def main() -> None:
    """Run ``hubbub-client``."""
    try:
        from hubbub_client.showing.cli import run  # noqa: PLC0415 - the entry itself imports the standard library only
    except ModuleNotFoundError as error:
        print(f"hubbub-client needs {error.name}: pip install . in a clone of hubbub", file=sys.stderr)
        sys.exit(3)
    run()


if __name__ == "__main__":
    main()
