"""This file writes the log: what began, ended and failed, as lines of text or of JSON.

A line holds no time, since what happened when is about people, too; whatever gathers the lines adds its own.
"""

import json
import logging
import sys

NAME = "hubbub_server"


def tell(event: str, *, level: int = logging.INFO, **facts: object) -> None:
    """Write a line: an event of a few fixed words, and facts that came from nobody outside."""
    logging.getLogger(NAME).log(level, event, extra={"facts": facts})


def set_up(*, form: str, level: str) -> None:
    """Write lines from now on to stderr. form: text or json; level: the least that is written."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    logger = logging.getLogger(NAME)
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(level.upper())
    logging.basicConfig(handlers=[handler])  # for warnings of libraries


def trail(error: BaseException) -> str:
    """Name an error's type and where it was raised, without its message: that could hold what was sent."""
    places = []
    trace = error.__traceback__
    while trace:
        places.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return " < ".join([type(error).__name__, *reversed(places[-5:])])


class TextLines(logging.Formatter):
    """Lines for people; a class of its own because logging asks for one. Errors' own words are left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line."""
        return " ".join([_event(record), *(f"{name}={value}" for name, value in _facts(record).items())])


class JsonLines(logging.Formatter):
    """Lines for programs; a class of its own because logging asks for one. Errors' own words are left out."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one line.

        >>> JsonLines().format(logging.makeLogRecord({"name": NAME, "levelname": "INFO", "msg": "stopped"}))
        '{"level": "info", "event": "stopped"}'
        """
        document = {"level": record.levelname.lower(), "event": _event(record)} | _facts(record)
        return json.dumps(document, default=str)


def _event(record: logging.LogRecord) -> str:
    return record.getMessage() if record.name == NAME else "a library warns"


def _facts(record: logging.LogRecord) -> dict[str, object]:
    """Return what is told beside the event; of a library only its name, since its words may hold anything."""
    facts: dict[str, object] = getattr(record, "facts", {})
    return facts if record.name == NAME else {"library": record.name}
