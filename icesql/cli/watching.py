"""Progress of long calls in the terminal: a bar while it is one, a line each where the output is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from icesql.procedures.progress import Progress
from icesql.session.output.pruning_line import progress_line
from icesql.session.session import Session


@contextmanager
def watched(session: Session, log: TextIO, *, silent: bool) -> Iterator[None]:
    """Within the block, what calls tell of their progress goes to ``log``."""
    if silent:
        yield
        return
    if not log.isatty():
        with session.watched_by(lambda progress: _write(log, progress)):
            yield
        return
    bars = _TerminalBars(log)
    try:
        with session.watched_by(bars.show):
            yield
    finally:
        bars.stop()


def _write(log: TextIO, progress: Progress) -> None:
    log.write(f"-- {progress_line(progress)}\n")
    log.flush()


class _TerminalBars:
    """One bar a kind of work; gone when the work is done."""

    def __init__(self, log: TextIO) -> None:
        columns = (TextColumn("-- {task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
        self._bars = Bars(*columns, console=Console(file=log, force_jupyter=False), transient=True)
        self._tasks: dict[str, TaskID] = {}

    def show(self, progress: Progress) -> None:
        if not self._tasks:
            self._bars.start()
        if progress.what not in self._tasks:
            self._tasks[progress.what] = self._bars.add_task(progress.what, total=1.0)
        self._bars.update(self._tasks[progress.what], completed=progress.share, description=progress_line(progress))
        if progress.done >= progress.total:
            self.stop()

    def stop(self) -> None:
        if self._tasks:
            self._bars.stop()
            for task in self._tasks.values():
                self._bars.remove_task(task)
            self._tasks.clear()
