"""The log, on the standard error: a line an entry, as text or as JSON."""

from __future__ import annotations

import datetime
import logging
import sys

import msgspec


class JsonFormatter(logging.Formatter):
    """An object a line: ``time``, ``level``, ``logger``, ``message``, ``exception``, and the ``fields`` that an entry was given."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.datetime.fromtimestamp(record.created, datetime.timezone.utc)
        node = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            node["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(node).decode()


def log_to_stderr(form: str) -> None:
    """``form``: ``text`` or ``json``."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def printable(text: str) -> str:
    """What a client sent, without line ends and other control characters: an entry stays one line, and is no other entry's."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape", "backslashreplace").decode() for letter in text)
