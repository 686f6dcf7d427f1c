"""Statements run and shown: rows, notices, then a line with time, rows and what pruning saved."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from icesql.cli.display import Display
from icesql.cli.watching import watched
from icesql.errors import IcesqlError
from icesql.parser.text.script import ScriptStatement
from icesql.pictures.pruning_steps import size_text
from icesql.session.interrupt import interruptible
from icesql.session.output.pruning_line import pruning_line
from icesql.session.output.pruning_picture import print_picture
from icesql.session.script import ScriptError, place_of, read_script, run_script, substituted
from icesql.session.session import Session


@dataclass(slots=True)
class Runner:
    """``silent``: results only. ``verbose``: each statement is echoed before it runs. ``variables``: for ``${name}`` in the text."""

    session: Session
    out: TextIO = field(default_factory=lambda: sys.stdout)
    log: TextIO = field(default_factory=lambda: sys.stderr)
    display: Display = field(default_factory=Display)
    silent: bool = False
    verbose: bool = False
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, script: str | Path) -> bool:
        """Run all statements of a text or file; ``False`` after the first failure, which is printed with its number, line and column.

        Ctrl-C cancels Spark's jobs and counts as a failure.
        """
        try:
            with interruptible(self.session.spark), watched(self.session, self.log, silent=self.silent) as drawing:
                self._run_all(substituted(read_script(script), self.variables), nullcontext if drawing is None else drawing.paused)
        except KeyboardInterrupt:
            stands = ", after a commit: what was committed stands" if self.session.has_committed else ""
            self.log.write(f"icesql: cancelled{stands}\n")
        except IcesqlError as error:
            self.log.write(f"icesql: {f'{script}: ' if isinstance(script, Path) else ''}{error}\n")
        else:
            return True
        finally:
            self.log.flush()
        return False

    def _run_all(self, text: str, paused: Callable[[], AbstractContextManager[None]]) -> None:
        """``paused``: for as long as something is printed."""
        started: list[tuple[ScriptStatement, float]] = []

        def before(statement: ScriptStatement) -> None:
            started.append((statement, time.perf_counter()))
            if self.verbose:
                self.out.write(statement.text.strip() + "\n")

        for frame in run_script(self.session, text + "\n", {}, before):
            statement, at = started[-1]
            try:
                self._show(frame, at, paused)
            except Exception as error:
                raise ScriptError(statement, *place_of(error, statement), error) from error

    def _show(self, frame: Any, started: float, paused: Callable[[], AbstractContextManager[None]]) -> None:
        columns, limit = frame.columns, self.display.limit
        rows: list[Any] = []
        more = False
        if columns:
            rows = frame.limit(limit + 1).collect() if limit is not None else frame.collect()
            if limit is not None and len(rows) > limit:
                rows, more = rows[:limit], True
        seconds = time.perf_counter() - started
        with paused():
            self.show_rows(columns, rows)
            if self.display.form == "table":
                print_picture(self.session.last_explained, self.out)
            self.out.flush()
            if not self.silent:
                self._tell(len(rows), more, bool(columns), seconds)

    def show_rows(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self.display.rows(names, rows, self.out)
        self.out.flush()

    def redirect(self, path: Path | None) -> None:
        """Results go to a new file from now on; to the standard output with ``None``. Raises OSError where it cannot be written."""
        opened = sys.stdout if path is None else path.open("w", encoding="utf-8")
        if self.out is not sys.stdout:
            self.out.close()
        self.out = opened

    def _tell(self, count: int, more: bool, has_rows: bool, seconds: float) -> None:
        parts = [f"{seconds:.3f} s"] if self.display.has_timing else []
        if has_rows:
            parts.append(f"{count}{'+' if more else ''} row{'' if count == 1 and not more else 's'}")
        pruned = pruning_line(self.session.last_plannings)
        if pruned:
            parts.append(pruned)
        for notice in self.session.last_notices:
            self.log.write(f"-- {notice}\n")
        for action in self.session.last_plan:
            size = "" if action.size_in_bytes is None else f" ({size_text(action.size_in_bytes)})"
            self.log.write(f"-- would {action.action}: {action.what}{size}{': ' + action.reason if action.reason else ''}\n")
        if parts:
            self.log.write(f"-- {', '.join(parts)}\n")
        self.log.flush()
