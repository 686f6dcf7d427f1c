"""Where the cursor is in a statement: which clause, which call, which word or string. Knows text only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from icesql.errors import SqlError
from icesql.parser.text.names import Place, TableReference
from icesql.parser.text.references import references
from icesql.parser.text.tokens import Kind, Token, tokenize

_WORD = re.compile(r"[\w.`]*$")
_KEY = re.compile(r"[\w.\-]*$")
_BEHIND_TARGET = frozenset(
    {"USING", "SET", "WHERE", "SELECT", "VALUES", "ADD", "DROP", "RENAME", "ALTER", "CREATE", "WRITE", "REPLACE", "UNSET"}
)
_ENDS_FROM = frozenset({"WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "ON", "SELECT", "SET", "WINDOW", "QUALIFY"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """``start``: what the candidate replaces; ``outer``: the dotted parts before it. ``keys``: of the tokens before the word.

    ``tables`` and ``temporary``: of the whole statement. ``call``: a procedure's name; ``argument``: which one, counted from 0, and
    ``argument_name`` where it is given by name; ``given``: names given so far. ``time_travel``: ``VERSION`` or ``TIMESTAMP`` where what
    the cursor is at says which. ``command``: the first word of a command of the shell.
    """

    start: str
    outer: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    tables: tuple[TableReference, ...] = ()
    temporary: frozenset[str] = frozenset()
    is_in_string: bool = False
    is_in_from: bool = False
    call: str | None = None
    called_catalog: tuple[str, ...] = ()
    called_table: tuple[str, ...] = ()
    is_in_arguments: bool = False
    argument: int = 0
    argument_name: str = ""
    given: frozenset[str] = frozenset()
    time_travel: str | None = None
    time_travelled: tuple[str, ...] = ()
    command: str | None = None

    @property
    def verb(self) -> str:
        return self.keys[0] if self.keys else ""

    @property
    def previous(self) -> str:
        return self.keys[-1] if self.keys else ""

    @property
    def has_equals(self) -> bool:
        return "=" in self.keys

    def quoted(self, text: str) -> str:
        """As a string, unless the cursor is in one."""
        return text if self.is_in_string else f"'{text}'"


def cursor_in(before: str, after: str = "") -> Cursor:
    """The place between two pieces of a text. Raises SqlError where it is in a comment."""
    from icesql.cli.commands import is_command

    if is_command(before) and not after.strip():
        return _in_command(before)
    before = _statement(before)
    string_at = _open_string(before)
    outside = before if string_at is None else before[:string_at]
    start = "" if string_at is None else before[string_at + 1 :]
    outer: tuple[str, ...] = ()
    if string_at is None:
        is_setting = re.match(r"\s*(re)?set\s", before, re.I) is not None
        word = (_KEY if is_setting else _WORD).search(before)
        assert word is not None
        outside = before[: word.start()]
        *parts, start = [word[0]] if is_setting else word[0].replace("`", "").split(".")
        outer = tuple(parts)
    tokens = tokenize(outside)[:-1]
    whole = _closed(outside, after, "" if string_at is None else before[string_at])
    known = references(whole)
    called = _call(tokens)
    travel = _time_travel(tokens)
    return Cursor(
        start=start, outer=outer, keys=tuple(token.key for token in tokens), tables=_with_aliases(whole, known.tables),
        temporary=known.temporary, is_in_string=string_at is not None, is_in_from=_is_in_from(tokens), time_travel=travel[0],
        time_travelled=travel[1], **called,
    )  # fmt: skip


def _in_command(text: str) -> Cursor:
    words = text.lstrip().split(" ")
    if len(words) == 1:
        return Cursor(start=words[0], command=words[0])
    *outer, start = words[-1].split(".") if not words[-1].startswith((".", "\\")) else [words[-1]]
    return Cursor(start=start, outer=tuple(outer), command=words[0])


def _statement(before: str) -> str:
    """What belongs to the statement at the cursor: behind the last ``;`` that is none of a string."""
    try:
        ends = [token.end for token in tokenize(before) if token.key == ";"]
    except SqlError:
        at = _open_string(before)
        ends = [] if at is None else [token.end for token in tokenize(before[:at]) if token.key == ";"]
    return before[ends[-1] :] if ends else before


def _open_string(before: str) -> int | None:
    """Where the string begins that the cursor is in; ``None`` where it is in none. Raises SqlError within a comment."""
    if _is_whole(before):
        tokens = tokenize(before + "x")
        if len(tokens) < 2 or tokens[-2].end <= len(before):
            raise SqlError("the cursor is in a comment")
        return None
    for match in reversed(list(re.finditer(r"['\"]", before))):
        if _is_whole(before[: match.start()]):
            return match.start()
    raise SqlError("the cursor is in a comment or a name")


def _is_whole(text: str) -> bool:
    try:
        tokenize(text)
    except SqlError:
        return False
    return True


def _closed(outside: str, after: str, quote: str) -> str:
    """The statement without the word or string at the cursor, as far as it can be read."""
    rest = after.partition(";")[0]
    if quote:
        rest = "''" + rest.partition(quote)[2]
    return next((text for text in (f"{outside} {rest}", outside) if _is_whole(text)), "")


def _with_aliases(text: str, tables: tuple[TableReference, ...]) -> tuple[TableReference, ...]:
    """Targets with the alias that stands behind them: ``MERGE INTO t AS x``, ``UPDATE t x``."""
    tokens = tokenize(text)
    behind = {token.start: at for at, token in enumerate(tokens)}
    aliased = []
    for table in tables:
        at = next((at for start, at in behind.items() if start >= table.end), None)
        if at is not None and table.place is Place.TARGET and table.alias is None:
            at += tokens[at].key == "AS"
            if tokens[0].key in ("MERGE", "UPDATE", "DELETE") and tokens[at].is_identifier and tokens[at].key not in _BEHIND_TARGET:
                table = replace(table, alias=tokens[at].name)
        aliased.append(table)
    return tuple(aliased)


def _is_in_from(tokens: tuple[Token, ...]) -> bool:
    for token in reversed(tokens):
        if token.key in ("FROM", "JOIN"):
            return True
        if token.key in _ENDS_FROM:
            return False
    return False


def _call(tokens: tuple[Token, ...]) -> dict[str, Any]:
    """What a CALL has so far: its procedure, the argument that the cursor is at, the table among them."""
    if not tokens or tokens[0].key != "CALL":
        return {}
    opening = next((at for at, token in enumerate(tokens) if token.key == "("), None)
    if opening is None or opening < 2:
        return {}
    names = [token.name for token in tokens[1:opening] if token.is_identifier]
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[opening + 1 :]:
        depth += (token.key in ("(", "[")) - (token.key in (")", "]"))
        if token.key == "," and depth == 0:
            arguments.append([])
        elif depth >= 0:
            arguments[-1].append(token)
    return {
        "call": names[-1], "called_catalog": tuple(names[:-2]), "is_in_arguments": depth >= 0, "argument": len(arguments) - 1,
        "argument_name": _argument_name(arguments[-1]), "given": frozenset(map(_argument_name, arguments[:-1])),
        "called_table": _called_table(tuple(names[:-2]), arguments),
    }  # fmt: skip


def _argument_name(argument: list[Token]) -> str:
    return argument[0].name.lower() if len(argument) > 1 and argument[1].key == "=>" else ""


def _called_table(catalog: tuple[str, ...], arguments: list[list[Token]]) -> tuple[str, ...]:
    """The table that a call is about, if that is written before the cursor: its first argument, or the one named table."""
    for number, argument in enumerate(arguments):
        name = _argument_name(argument)
        if argument and argument[-1].kind is Kind.STRING and (name == "table" or (number == 0 and not name)):
            return (*catalog, *argument[-1].string.split("."))
    return ()


def _time_travel(tokens: tuple[Token, ...]) -> tuple[str | None, tuple[str, ...]]:
    keys = [token.key for token in tokens[-3:]]
    if keys[1:] != ["AS", "OF"] or keys[0] not in ("VERSION", "SYSTEM_VERSION", "TIMESTAMP", "SYSTEM_TIME"):
        return None, ()
    names: list[str] = []
    for token in reversed(tokens[:-3]):
        if token.is_identifier and token.key not in ("FOR", "FROM", "JOIN", "TABLE") and (not names or names[-1] == "."):
            names.append(token.name)
        elif token.key == "." and names and names[-1] != ".":
            names.append(".")
        elif token.key != "FOR" or names:
            break
    return ("VERSION" if "VERSION" in keys[0] else "TIMESTAMP"), tuple(name for name in reversed(names) if name != ".")
