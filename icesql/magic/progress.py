"""Progress below a running cell: stages of Spark's jobs, and how far a long CALL is. Gone when the cell is done."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from icesql.session.output.progress_lines import Watch, as_text
from icesql.session.session import Session

_EVERY_SECONDS = 0.3
_FIRST_AFTER_SECONDS = 0.5


@contextmanager
def shown_progress(session: Session, display: Any) -> Iterator[None]:
    """``display``: makes and updates one output (``update(text)``, ``clear()``). Cells that are done at once show nothing."""
    watch = Watch(session.spark)
    stopped = threading.Event()

    def draw() -> None:
        wait = _FIRST_AFTER_SECONDS
        while not stopped.wait(wait):
            wait = _EVERY_SECONDS
            lines = watch.lines()
            if lines:
                display.update(as_text(lines))

    watcher = threading.Thread(target=draw, name="icesql-progress", daemon=True)
    watcher.start()
    try:
        with session.watched_by(watch.told):
            yield
    finally:
        stopped.set()
        watcher.join()
        display.clear()


class CellOutput:
    """One output of the running cell, made when there is something to show."""

    def __init__(self) -> None:
        self._handle: Any = None

    def update(self, text: str) -> None:
        from IPython.display import Pretty, display

        if self._handle is None:
            self._handle = display(Pretty(text), display_id=True)
        else:
            self._handle.update(Pretty(text))

    def clear(self) -> None:
        from IPython.display import Pretty

        if self._handle is not None:
            self._handle.update(Pretty(""))
