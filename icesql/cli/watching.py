"""Progress in the terminal: a bar for each stage and each kind of work while it lasts; a line each where the output is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from icesql.procedures.progress import Progress
from icesql.session.output.progress_lines import Line, Watch
from icesql.session.output.pruning_line import progress_line
from icesql.session.session import Session

_FIRST_AFTER_SECONDS = 0.5
_EVERY_SECONDS = 0.25


@contextmanager
def watched(session: Session, log: TextIO, *, silent: bool) -> Iterator[Drawing | None]:
    """Within the block, what statements do goes to ``log``: at a terminal all of it, drawn by what is yielded, else what calls tell."""
    if silent:
        yield None
        return
    if not log.isatty():
        with session.watched_by(lambda progress: _write(log, progress)):
            yield None
        return
    drawing = Drawing(session, log)
    drawing.thread.start()
    try:
        with session.watched_by(drawing.watch.told):
            yield drawing
    finally:
        drawing.stop()


def _write(log: TextIO, progress: Progress) -> None:
    log.write(f"-- {progress_line(progress)}\n")
    log.flush()


class Drawing:
    """Draws what ``watch`` sees below what is on the screen, from a thread of its own."""

    def __init__(self, session: Session, log: TextIO) -> None:
        self.watch = Watch(session.spark)
        self.thread = threading.Thread(target=self._run, name="icesql-progress", daemon=True)
        self._bars = _TerminalBars(log)
        self._stopped, self._lock = threading.Event(), threading.Lock()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The screen is the caller's while the block runs. What is done behind it counts as another statement's."""
        with self._lock:
            self._bars.stop()
            yield
            self.watch.restart()

    def stop(self) -> None:
        self._stopped.set()
        self.thread.join()
        self._bars.stop()

    def _run(self) -> None:
        wait = _FIRST_AFTER_SECONDS
        while not self._stopped.wait(wait):
            wait = _EVERY_SECONDS
            self.show_now()

    def show_now(self) -> None:
        """Draw, unless the screen is someone else's."""
        lines = self.watch.lines()
        if self._lock.acquire(blocking=False):
            try:
                self._bars.show(lines)
            finally:
                self._lock.release()


class _TerminalBars:
    """One bar a line; gone when the work is done."""

    def __init__(self, log: TextIO) -> None:
        columns = (TextColumn("-- {task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
        self._bars = Bars(*columns, console=Console(file=log, force_jupyter=False), transient=True)
        self._tasks: dict[str, TaskID] = {}

    def show(self, lines: list[Line]) -> None:
        if lines and not self._tasks:
            self._bars.start()
        for line in lines:
            if line.key not in self._tasks:
                self._tasks[line.key] = self._bars.add_task(line.text, total=1.0 if line.share is not None else None)
            self._bars.update(self._tasks[line.key], completed=line.share, description=line.text)
        for key in self._tasks.keys() - {line.key for line in lines}:
            self._bars.remove_task(self._tasks.pop(key))

    def stop(self) -> None:
        self._bars.stop()
        while self._tasks:
            self._bars.remove_task(self._tasks.popitem()[1])
