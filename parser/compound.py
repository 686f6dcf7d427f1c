"""The statements inside a BEGIN ... END script of Spark's."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.errors import SqlError
from icesql.parser.names import Span
from icesql.parser.parse import parse
from icesql.parser.script import BEFORE_STATEMENT, is_compound
from icesql.parser.statements import Statement
from icesql.parser.tokens import Kind, tokenize


def statements_inside(text: str) -> Iterator[tuple[Span, Statement]]:
    """Each statement of a script and its place; none if the text is no script.

    What is no statement (conditions, declarations, END) comes as ``Other``; what begins like one of ours and is wrong is left out.
    """
    tokens = tokenize(text)
    if not is_compound(tokens):
        return
    for position in range(1, len(tokens)):
        if tokens[position - 1].key not in BEFORE_STATEMENT or not tokens[position].is_identifier:
            continue
        end = position
        while tokens[end].kind is not Kind.END and tokens[end].key != ";":
            end += 1
        span = Span(tokens[position].start, tokens[end - 1].end)
        try:
            yield span, parse(span.of(text))
        except SqlError:
            continue
