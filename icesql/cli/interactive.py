"""The loop behind ``icesql`` without arguments."""

from __future__ import annotations

from pathlib import Path

from icesql import __version__
from icesql.cli.prompt import QUIT, prompt_session
from icesql.cli.runner import Runner
from icesql.session.own_folder import own_file


def interact(runner: Runner) -> int:
    """Prompt, run, show, until Ctrl-D or ``quit``. Ctrl-C at the prompt drops what was typed."""
    prompt = prompt_session(runner.session, _history())
    if not runner.silent:
        runner.log.write(f"icesql {__version__} on Spark {runner.session.spark.version}. Statements end with ';'. Ctrl-D leaves.\n")
    while True:
        try:
            text = prompt.prompt("icesql> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0
        if text.strip().lower() in QUIT:
            return 0
        if text.strip():
            runner.run(text)


def _history() -> Path | None:
    """The file of what was typed, readable by its user alone; ``None`` where it cannot be kept."""
    try:
        return own_file("history")
    except OSError:
        return None
