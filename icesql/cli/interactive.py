"""The loop behind ``icesql`` without arguments."""

from __future__ import annotations

from pathlib import Path

from icesql import __version__
from icesql.cli.prompt import QUIT, prompt_session
from icesql.cli.runner import Runner


def interact(runner: Runner) -> int:
    """Prompt, run, show, until Ctrl-D or ``quit``. Ctrl-C at the prompt drops what was typed."""
    folder = Path.home() / ".icesql"
    folder.mkdir(exist_ok=True)
    prompt = prompt_session(runner.session, folder / "history")
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
