"""The interactive prompt: history, several lines, completion of names, keywords and procedures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from icesql.errors import IcesqlError
from icesql.parser.text.references import table_references
from icesql.parser.text.script import split
from icesql.procedures.registry import NAMES, procedure
from icesql.session.resolve.resolved import CHANGES, ResolvedTable
from icesql.session.resolve.resolver import readable
from icesql.session.session import Session
from icesql.table.metadata_tables.registry import METADATA_TABLES

_KEYWORDS = """
    ADD ALTER AS ASC BEGIN BETWEEN BRANCH BY CALL CASE COLUMN COMMENT COMMIT CREATE DATABASE DAYS DELETE DESC DESCRIBE DISTINCT
    DISTRIBUTED DROP ELSE END EXISTS EXPLAIN EXTENDED FIELD FIELDS FIRST FROM GROUP HAVING IDENTIFIER IF IN INNER INSERT INTO IS JOIN
    LEFT LIKE LIMIT LOCALLY MATCHED MERGE NAMESPACE NAMESPACES NOT NULL ON OR ORDER ORDERED OVERWRITE PARTITION PARTITIONED PROCEDURE
    PROCEDURES PRUNING PURGE RENAME REPLACE RETAIN ROLLBACK SELECT SET SHOW SNAPSHOT SNAPSHOTS TABLE TABLES TAG TBLPROPERTIES THEN
    TIMESTAMP TO TRUNCATE UNION UNSET UPDATE USE USING VALUES VERSION VIEW VIEWS WHEN WHERE WITH WRITE
"""
KEYWORDS = tuple(_KEYWORDS.split())
_WORD = re.compile(r"[\w.`]+")
QUIT = frozenset({"quit", "exit", "quit;", "exit;"})


class NameCompleter(Completer):
    """Completes the dotted word before the cursor from catalogs, namespaces, tables, columns of tables named in the text, and
    procedures."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        word = document.get_word_before_cursor(pattern=_WORD)
        for candidate in self.candidates(document.text_before_cursor, word):
            yield Completion(candidate, start_position=-len(word.rpartition(".")[2]))

    def candidates(self, text: str, word: str) -> list[str]:
        """Last parts of names that may stand for ``word``; never raises for what cannot be listed."""
        *outer, start = word.split(".")
        try:
            known = list(self._known(text, outer))
        except IcesqlError:
            known = []
        return sorted({name for name in known if name.lower().startswith(start.lower())}, key=str.lower)

    def _known(self, text: str, outer: list[str]) -> Iterable[str]:
        call = text.lstrip().lower().startswith("call")
        if call and "(" in text:
            return self._arguments(text)
        names = self._session.state.names
        if not outer:
            return [*KEYWORDS, *self._session.catalogs, *self._inside(None), *self._columns(text)]
        if outer[-1].lower() == "system":
            return NAMES
        where = names.namespace(outer)
        if where is None:
            return []
        listed = list(self._inside(tuple(outer)))
        if call or not listed:
            listed.append("system")
        if readable(self._session.state, outer) is not None:
            listed += [*METADATA_TABLES, CHANGES]
        return listed

    def _inside(self, parts: tuple[str, ...] | None) -> Iterator[str]:
        where = self._session.state.names.namespace(parts)
        if where is None:
            return
        catalog, namespace = where
        try:
            yield from (child[-1] for child in catalog.list_namespaces(namespace))
            yield from (table[-1] for table in catalog.list_tables(namespace))
        except IcesqlError:
            return

    def _columns(self, text: str) -> Iterator[str]:
        for reference in table_references(text):
            table = readable(self._session.state, reference.parts)
            if isinstance(table, ResolvedTable):
                yield from (field.name for field in table.table.schema.fields)

    @staticmethod
    def _arguments(text: str) -> list[str]:
        name = text.partition("(")[0].split()[-1].rpartition(".")[2]
        try:
            return [f"{parameter.name} => " for parameter in procedure(name).signature]
        except IcesqlError:
            return []


def is_complete(text: str) -> bool:
    """Whether Enter runs the text: it ends in ``;`` outside of strings and comments, or is a command of the shell."""
    stripped = text.strip()
    if not stripped or stripped.lower() in QUIT:
        return True
    if not stripped.endswith(";"):
        return False
    try:
        pieces = split(stripped)
        return not pieces or len(split(stripped + " select 1")) > len(pieces)
    except IcesqlError:
        return False


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
        completer=NameCompleter(session),
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
        lexer=PygmentsLexer(SqlLexer),
        multiline=True,
        key_bindings=keys,
        prompt_continuation=lambda width, number, wrapped: " " * (width - 2) + "> ",
    )
