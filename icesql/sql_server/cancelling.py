"""Cancelling what a client's statement does: its jobs are cancelled, and it commits nothing more.

Spark's servers cancel a statement by interrupting its thread in the JVM, which then waits for Python's answer and does not notice. So that
is looked after here, for all statements that run, by one thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

_SECONDS_BETWEEN = 0.25


class Work(Protocol):
    """What a statement does in the JVM."""

    def is_interrupted(self) -> bool: ...

    def cancel_jobs(self) -> None: ...

    def end(self) -> None: ...


class Statement:
    def __init__(self, work: Work) -> None:
        self._work, self._is_cancelled = work, False

    def is_cancelled(self) -> bool:
        """True ever after where it was once."""
        self._is_cancelled = self._is_cancelled or self._work.is_interrupted()
        return self._is_cancelled

    def cancel(self) -> None:
        self._is_cancelled = True

    def cancel_jobs(self) -> None:
        """Where it was cancelled; called again and again, since it may start its next job before it notices."""
        if self.is_cancelled():
            self._work.cancel_jobs()


class Cancelling:
    """The statements that run now."""

    def __init__(self) -> None:
        self._running: list[Statement] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watched(self, work: Work) -> Iterator[Statement]:
        statement = Statement(work)
        with self._changed:
            self._running.append(statement)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="icesql-cancelled-statements", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            yield statement
        finally:
            with self._changed:
                self._running.remove(statement)
            work.end()

    def cancel_all(self) -> None:
        for statement in list(self._running):
            statement.cancel()

    def _watch(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._running)
            time.sleep(_SECONDS_BETWEEN)  # most have ended by then, and nobody asked for them
            for statement in list(self._running):
                try:
                    statement.cancel_jobs()
                except Exception:  # the JVM has ended, or the statement
                    continue
