"""Scripts laid out anew: each statement as the dialect prints it, comments and blank lines between statements kept.

A statement whose printed form does not say the same, word for word, stays as it was written: so what sqlglot would put differently
(``nvl`` as ``COALESCE``), what it cannot read and what is Spark's alone.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from icesql.errors import SqlError
from icesql.parser.dialect.iceberg import Iceberg
from icesql.parser.dialect.reader import OWN_FAILURES
from icesql.parser.dialect.sqlglot_source import ErrorLevel, ParseError, TokenError, UnsupportedError, exp
from icesql.parser.dialect.tokens import comments_in
from icesql.parser.parsing import parse_script_statement
from icesql.parser.statements import Explain, Other, Query, Statement
from icesql.parser.text.names import References
from icesql.parser.text.places import sql_error
from icesql.parser.text.references import references
from icesql.parser.text.script import split
from icesql.parser.text.tokens import Kind, tokenize

_ICEBERG = Iceberg()
_LAYOUT: dict[str, Any] = {"pretty": True, "normalize_functions": False, "max_text_width": 100, "unsupported_level": ErrorLevel.RAISE}
_KEYWORDS = frozenset(word for phrase in Iceberg.Tokenizer.KEYWORDS for word in phrase.split())
_SUFFIX = re.compile(r"(?<=\d)[lLsSyYdDfF]$")


def format_script(script: str) -> str:
    """``script`` laid out; formatting the result changes nothing. Raises SqlError for what cannot be a statement, with its place."""
    pieces: list[str] = []
    end = 0
    for statement in split(script):
        pieces.append(_between(script, end, statement.offset))
        parsed = parse_script_statement(statement, script)
        if isinstance(parsed, Other) and isinstance(parsed.error, SqlError) and not parsed.references.tables:
            raise sql_error(parsed.error.message, script, statement.offset)
        pieces.append(format_statement(statement.text, parsed))
        end = statement.offset + len(statement.text)
    script_text = "".join([*pieces, _between(script, end, len(script))]).strip("\n ")
    return script_text + "\n" if script_text else ""


def format_statement(text: str, parsed: Statement) -> str:
    """``text``, the statement ``parsed``, laid out; as it was written where that would not say the same."""
    if isinstance(parsed, Other) or (isinstance(parsed, Explain) and isinstance(parsed.statement, Other)):
        return text
    printed = _printed(text, isinstance(parsed, Query))
    if printed is None or printed == text or _printed(printed, isinstance(parsed, Query)) != printed:
        return text
    return printed if _says(printed) == _says(text) else text


def _printed(text: str, is_query: bool) -> str | None:
    """None also for comments that belong to no part of a statement: at its end they would not be where they are meant."""
    try:
        (tree,) = _ICEBERG.parse(text)
        if tree is None or tree.find(exp.Command) or (tree.comments and not is_query):
            return None
        return str(_ICEBERG.generate(tree, **_LAYOUT))
    except (ParseError, TokenError, UnsupportedError, *OWN_FAILURES):
        return None


def _says(text: str) -> object:
    """What must not change: tables, literals, and all words but the keywords that sqlglot adds and leaves out."""
    tokens = tokenize(text)[:-1]
    words = Counter(token.name.casefold() for token in tokens if token.is_identifier and token.key not in _KEYWORDS)
    strings = Counter(token.string for token in tokens if token.kind is Kind.STRING)
    numbers = Counter(_SUFFIX.sub("", token.text) for token in tokens if token.kind is Kind.NUMBER)
    comments = sorted(comment.strip() for token in _ICEBERG.tokenize(text) for comment in token.comments)
    return words, strings, numbers, comments, _tables(references(text))


def _tables(read: References) -> list[object]:
    return [(table.parts, table.alias, table.options, table.time_travel and table.time_travel.value) for table in read.tables]


def _between(script: str, start: int, end: int) -> str:
    """What stands around and between statements: a semicolon, the comments, at most one blank line in a row."""
    pieces: list[str] = []
    at, blank = start, ""
    for comment_start, comment_end in comments_in(script, start, end):
        before = script[at:comment_start]
        blank += before
        pieces += ["\n" * min(_lines(before), 2) or " ", script[comment_start:comment_end].rstrip()]
        at = comment_end
    blank += script[at:end]
    newlines = min(_lines(script[at:end]), 2)
    return "".join([";" if ";" in blank else "", *pieces, "\n" * (newlines or (end < len(script) and start > 0))])


def _lines(blank: str) -> int:
    """The line ends in blank text, those in front of a semicolon left out where others follow."""
    return blank.rpartition(";")[2].count("\n") or blank.count("\n")
