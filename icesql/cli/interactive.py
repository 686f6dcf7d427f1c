"""The loop behind ``icesql`` without arguments."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from icesql import __version__
from icesql.cli.commands import Shell
from icesql.cli.prompt import prompt_session
from icesql.cli.runner import Runner
from icesql.session.own_folder import own_file


def interact(runner: Runner) -> int:
    """Prompt, run, show, until Ctrl-D or ``\\q``. Ctrl-C at the prompt drops what was typed."""
    prompt = prompt_session(runner.session, _history())
    shell = Shell(runner)
    if not runner.silent:
        runner.log.write(f"icesql {__version__} on Spark {runner.session.spark.version}. Statements end with ';'. help lists commands.\n")
    while not shell.is_done:
        draft, shell.draft = shell.draft, ""
        try:
            text = prompt.prompt("icesql> ", default=draft)
        except KeyboardInterrupt:
            continue
        except EOFError:
            break
        if text.strip():
            with suppress(KeyboardInterrupt):  # one more Ctrl-C than the statement needed
                shell.enter(text)
    runner.redirect(None)
    return 0


def _history() -> Path | None:
    """The file of what was typed, readable by its user alone; ``None`` where it cannot be kept."""
    try:
        return own_file("history")
    except OSError:
        return None
