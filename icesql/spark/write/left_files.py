"""Files that a failed write has left, those of its cancelled tasks too: Spark ends these later, and one may begin its file meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

_AGAIN_SECONDS = (3.0, 20.0)  # Spark gives a cancelled Python task 2 seconds, and a busy machine is slow


def remove_left(remove: Callable[[], None], error: BaseException) -> None:
    """``remove`` finds the write's files and removes them: now and, where tasks were cancelled, twice more in a while."""
    remove()
    if isinstance(error, KeyboardInterrupt) or any(word in str(error).lower() for word in ("cancel", "interrupt")):
        for seconds in _AGAIN_SECONDS:
            timer = threading.Timer(seconds, _quietly, (remove,))
            timer.daemon = True
            timer.start()


def _quietly(remove: Callable[[], None]) -> None:
    with suppress(Exception):
        remove()
