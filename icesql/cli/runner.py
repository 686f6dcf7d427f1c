"""One statement run and shown: rows, then a line with time, rows and what pruning saved."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from icesql.session.output import print_rows
from icesql.session.pruning_line import pruning_line
from icesql.session.session import Session

JOB_GROUP = "icesql-shell"


@dataclass(slots=True)
class Runner:
    """``silent``: results only. ``verbose``: each statement is echoed before it runs. ``limit``: rows shown of a result, ``None`` for
    all."""

    session: Session
    out: TextIO
    log: TextIO
    form: str = "table"
    silent: bool = False
    verbose: bool = False
    limit: int | None = None

    def echo(self, text: str) -> None:
        if self.verbose:
            self.out.write(text.strip() + "\n")

    def show(self, frame: Any, started: float) -> None:
        """Collect and print. Ctrl-C while Spark works cancels the job and raises KeyboardInterrupt."""
        columns = frame.columns
        rows: list[Any] = []
        more = False
        if columns:
            with interruptible(self.session):
                rows = frame.limit(self.limit + 1).collect() if self.limit is not None else frame.collect()
            if self.limit is not None and len(rows) > self.limit:
                rows, more = rows[: self.limit], True
        print_rows(columns, rows, self.form, self.out)
        self.out.flush()
        if not self.silent:
            self._tell(len(rows), more, bool(columns), time.perf_counter() - started)

    def _tell(self, count: int, more: bool, has_rows: bool, seconds: float) -> None:
        parts = [f"{seconds:.3f} s"]
        if has_rows:
            parts.append(f"{count}{'+' if more else ''} row{'' if count == 1 and not more else 's'}")
        pruned = pruning_line(self.session.frames.reports)
        if pruned:
            parts.append(pruned)
        for notice in self.session.last_notices:
            self.log.write(f"-- {notice}\n")
        for action in self.session.last_plan:
            size = "" if action.size_in_bytes is None else f" ({action.size_in_bytes:,} bytes)"
            self.log.write(f"-- would {action.action}: {action.what}{size}{': ' + action.reason if action.reason else ''}\n")
        self.log.write(f"-- {', '.join(parts)}\n")
        self.log.flush()


@contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """Within the block, Ctrl-C cancels Spark's jobs, then raises KeyboardInterrupt."""
    context = session.spark.sparkContext
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def cancel(number: int, frame: object) -> None:
        context.cancelAllJobs()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
