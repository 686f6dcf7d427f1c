"""CALL."""

from __future__ import annotations

from icesql.parser.cursor import Cursor
from icesql.parser.folding import fold
from icesql.parser.references import references_between
from icesql.parser.utility_statements import Call, CallArgument


def call(cursor: Cursor) -> Call:
    """``CALL catalog.system.procedure(e, name => e, ...)``. Constants are folded; other expressions stay spans, for Spark to evaluate."""
    cursor.expect("CALL")
    procedure = cursor.table_name()
    cursor.expect("(")
    arguments: list[CallArgument] = []
    while not cursor.at(")"):
        if arguments and not cursor.accept(","):
            cursor.mismatch(",", ")")
        arguments.append(_argument(cursor))
    cursor.expect(")")
    cursor.expect_end()
    references = references_between(cursor, *(argument.expression for argument in arguments))
    return Call(text=cursor.text, procedure=procedure, arguments=tuple(arguments), references=references)


def _argument(cursor: Cursor) -> CallArgument:
    name = None
    if cursor.token.is_identifier and cursor.peek().key == "=>":
        name = cursor.identifier()
        cursor.next()
    expression = cursor.expression_until(",")
    return CallArgument(name=name, expression=expression, value=fold(expression.of(cursor.text)))
