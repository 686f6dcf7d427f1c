"""Steps after a commit must not fail the statement: an error there becomes a notice.

The rows are in the table once metadata is swapped. If an error were raised after that, the caller would run the statement again and write
the rows twice. So everything that follows a commit (listeners, clean-up, the statement's own result) runs in ``after_commit``. Clean-up
after a failed commit does, too: its own errors would hide the one that matters.

KeyboardInterrupt is not caught: pressing Ctrl-C stops the program. Whoever reports it asks the session whether the statement had committed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

logger = logging.getLogger(__name__)


class Listener(Protocol):
    """Hears what happens after commits: the session that runs the statement."""

    def notice(self, text: str) -> None:
        """A step failed; ``text`` is for the user."""

    def committed(self) -> None:
        """A commit has succeeded."""

    def check_wanted(self) -> None:
        """Raises IcesqlError where whoever asked for the statement has cancelled it: nothing is committed then."""


_listener: ContextVar[Listener | None] = ContextVar("icesql_statement", default=None)


@contextmanager
def after_commit(step: str) -> Iterator[None]:
    """Run the block; an error in it becomes a notice. ``step`` is a verb and its object: ``drop temporary view v``."""
    try:
        yield
    except Exception as error:
        logger.warning("Cannot %s", step, exc_info=True)
        listener = _listener.get()
        if listener is not None:
            listener.notice(f"Cannot {step}: {_why(error)}; what was committed stands")


@contextmanager
def telling(listener: Listener) -> Iterator[None]:
    """Within the block, in this thread, ``listener`` hears of commits and of errors after them. Errors are logged in any case."""
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


def check_wanted() -> None:
    """Called before each swap. Raises IcesqlError where the statement was cancelled."""
    listener = _listener.get()
    if listener is not None:
        listener.check_wanted()


def _why(error: Exception) -> str:
    """The first line of the error's message: Spark's messages go on with a plan and the JVM's stack."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
