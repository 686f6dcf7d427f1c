"""The interactive prompt: history, statements of several lines, completion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from icesql.cli.commands import is_command
from icesql.cli.completion import StatementCompleter
from icesql.errors import IcesqlError
from icesql.parser.text.script import split
from icesql.session.session import Session


def is_complete(text: str) -> bool:
    """Whether Enter runs the text: it ends in ``;`` outside of strings and comments, or is a command of the shell."""
    stripped = text.strip()
    if not stripped or is_command(text):
        return True
    if not stripped.endswith(";"):
        return False
    try:
        pieces = split(stripped)
        return not pieces or len(split(stripped + " select 1")) > len(pieces)
    except IcesqlError:
        return False


def function_names(session: Session) -> Sequence[str]:
    """Spark's functions and those of the session, those that are no words left out."""
    rows = session.state.spark_sql("SHOW FUNCTIONS").collect()
    return sorted({str(row[0]).rpartition(".")[2] for row in rows if str(row[0]).replace(".", "").isidentifier()})


def setting_names(session: Session) -> Sequence[str]:
    """The settings that Spark documents, and those that the session has."""
    documented = [str(row[0]) for row in session.state.spark_sql("SET -v").collect()]
    return sorted({*documented, *(str(row[0]) for row in session.state.spark_sql("SET").collect())})


def prompt_session(session: Session, history: Path | None) -> PromptSession[str]:
    """A prompt over the user's history file; ``None`` keeps history in memory."""
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    store = InMemoryHistory() if history is None else FileHistory(str(history))
    return PromptSession(
        history=store,
        completer=StatementCompleter(session, lambda: function_names(session), lambda: setting_names(session)),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        lexer=PygmentsLexer(SqlLexer),
        multiline=True,
        key_bindings=keys,
        enable_open_in_editor=True,
        tempfile_suffix=".sql",
        prompt_continuation=lambda width, number, wrapped: " " * (width - 2) + "> ",
    )
