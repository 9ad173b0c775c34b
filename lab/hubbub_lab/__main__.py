"""This file starts ``hubbub``, or says what to install if its parts are missing."""

import sys


def main() -> None:
    """Run the command."""
    try:
        from hubbub_lab.cli import command  # noqa: PLC0415 - the one import that may fail
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"click", "numpy", "msgspec"}:
            raise
        print("hubbub needs its base parts: pip install . in a clone of hubbub", file=sys.stderr)
        sys.exit(3)
    command()


if __name__ == "__main__":
    main()
