"""The terminal that results are shown on: its size, and a pager for what is larger."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from typing import TextIO

from icesql.session.output.layout import AUTO, Screen

_LESS = "-FRSX"  # leave at once what fits, keep colours, scroll sideways, leave the text on the screen


def is_terminal(out: TextIO) -> bool:
    return hasattr(out, "isatty") and out.isatty()


def size_of(out: TextIO) -> tuple[int, int]:
    """Columns and lines of a terminal: of the environment (COLUMNS, LINES) where it tells, else of the terminal, else 80 by 24."""
    try:
        own = tuple(os.get_terminal_size(out.fileno()))
    except (OSError, ValueError):
        own = (0, 0)
    columns, lines = (own[0] or 80, own[1] or 24)
    told = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
    return int(told[0]) if told[0].isdigit() and int(told[0]) else columns, int(told[1]) if told[1].isdigit() and int(told[1]) else lines


def screen_of(out: TextIO, *, expanded: str = AUTO, pages: bool = False) -> Screen:
    """``pages``: whether what is shown goes through ``show_paged``. What is no terminal takes lines of any length."""
    if not is_terminal(out):
        return Screen(expanded=expanded)
    command = pager() if pages else None
    scrolls = command is not None and os.path.basename(command[0]) == "less"
    return Screen(width=size_of(out)[0], expanded=expanded, scrolls=scrolls, bold="NO_COLOR" not in os.environ)


def pager() -> list[str] | None:
    """The user's pager (ICESQL_PAGER, PAGER), else ``less``; ``None`` where there is none."""
    told = os.environ.get("ICESQL_PAGER", os.environ.get("PAGER", "less"))
    try:
        command = shlex.split(told)
    except ValueError:
        return None
    return command if command and command[0] != "cat" and shutil.which(command[0]) else None


def show_paged(text: str, out: TextIO) -> None:
    """Through the pager where the text has more lines than the screen, or longer ones; else straight to ``out``."""
    command = pager() if is_terminal(out) and _is_larger(text, *size_of(out)) else None
    if command is None or not _paged(command, text, out):
        out.write(text)
        out.flush()


def _is_larger(text: str, columns: int, lines: int) -> bool:
    from rich.cells import cell_len

    shown = text.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
    return len(shown) >= lines or any(len(line) > columns or cell_len(line) > columns for line in shown)


def _paged(command: list[str], text: str, out: TextIO) -> bool:
    """``False`` if the pager could not be started. Ctrl-C is the pager's while it runs."""
    out.flush()
    before = signal.getsignal(signal.SIGINT)
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out.fileno(), env={"LESS": _LESS, **os.environ})
    except OSError:
        return False
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        process.communicate(text.encode())
    finally:
        signal.signal(signal.SIGINT, before)
    return True
