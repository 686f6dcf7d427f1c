"""What is done after a commit cannot fail the statement: an error there becomes a notice.

The rows are in the table once metadata is swapped. Were an error raised after that, its caller would run the statement again and have the
rows twice. So all that still has to be done (listeners, clean-up, the statement's own result) goes through ``after_commit``. Clean-up goes
through it where nothing was committed, too: an error of its own would hide the one that matters.

KeyboardInterrupt is no error of a step. Who pressed Ctrl-C wants the program to stop, so it goes on to the caller; who shows it there asks
the session whether the statement had committed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

logger = logging.getLogger(__name__)


class Listener(Protocol):
    """Whoever runs the statement: the session."""

    def notice(self, text: str) -> None:
        """The user should know this."""

    def committed(self) -> None:
        """Something is committed."""


_listener: ContextVar[Listener | None] = ContextVar("icesql_statement", default=None)


@contextmanager
def after_commit(step: str) -> Iterator[None]:
    """Do what the block does, or tell why not. ``step`` is a verb and what it is done to: ``drop temporary view v``."""
    try:
        yield
    except Exception as error:
        logger.warning("Cannot %s", step, exc_info=True)
        listener = _listener.get()
        if listener is not None:
            listener.notice(f"Cannot {step}: {_why(error)}; what was committed stands")


@contextmanager
def telling(listener: Listener) -> Iterator[None]:
    """Within the block, and in its thread, the listener hears of commits, and of errors after them; these are logged in any case."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(text: str) -> None:
    """Something the user should know, that is no error: a notice of the statement, and a line of the log."""
    logger.warning(text)
    listener = _listener.get()
    if listener is not None:
        listener.notice(text)


def tell_committed() -> None:
    listener = _listener.get()
    if listener is not None:
        listener.committed()


def _why(error: Exception) -> str:
    """The first line of what it says: Spark's errors go on with a plan and the JVM's stack."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
