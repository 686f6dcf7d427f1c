"""Progress below a running cell: stages of Spark's jobs, and how far a long CALL is. Gone when the cell is done."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from icesql.procedures.progress import Progress
from icesql.session.output.pruning_line import progress_line
from icesql.session.session import Session

_EVERY_SECONDS = 0.3
_FIRST_AFTER_SECONDS = 0.5


@contextmanager
def shown_progress(session: Session, display: Any) -> Iterator[None]:
    """``display``: makes and updates one output (``update(text)``, ``clear()``). Cells that are done at once show nothing."""
    told: list[Progress] = []
    stopped = threading.Event()

    def watch() -> None:
        tracker = session.spark.sparkContext.statusTracker()
        wait = _FIRST_AFTER_SECONDS
        while not stopped.wait(wait):
            wait = _EVERY_SECONDS
            lines = [progress_line(progress) for progress in told[-1:]] + stage_lines(tracker)
            if lines:
                display.update("\n".join(lines))

    watcher = threading.Thread(target=watch, name="icesql-progress", daemon=True)
    watcher.start()
    try:
        with session.watched_by(told.append):
            yield
    finally:
        stopped.set()
        watcher.join()
        display.clear()


def stage_lines(tracker: Any) -> list[str]:
    """``stage 3: 12 of 200 tasks`` for each stage that runs now."""
    lines = []
    for number in sorted(tracker.getActiveStageIds()):
        stage = tracker.getStageInfo(number)
        if stage is not None and stage.numTasks > 0:
            lines.append(f"stage {number}: {stage.numCompletedTasks:,} of {stage.numTasks:,} tasks")
    return lines


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
