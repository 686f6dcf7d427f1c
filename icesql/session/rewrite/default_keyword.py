"""``DEFAULT`` among the values of an INSERT: Spark resolves it only in commands it plans itself, so it is replaced here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from icesql.parser import statements as s
from icesql.parser.text.edits import Edit
from icesql.parser.text.token_groups import behind_brackets, items
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.spark.functions.literals import sql_literal
from icesql.spec.case_folding import fold
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField


def default_edits(statement: s.Insert, schema: Schema, *, case_sensitive: bool) -> Iterator[Edit]:
    """``DEFAULT`` in VALUES and in a select list, filled in."""
    if "default" not in statement.text.lower():
        return
    tokens = [token for token in tokenize(statement.text) if any(span.start <= token.start < span.end for span in statement.query)]
    columns = _columns(statement, schema, case_sensitive=case_sensitive)
    for group in _lists(tokens):
        for index, item in enumerate(group):
            if len(item) == 1 and item[0].key == "DEFAULT" and index < len(columns):  # Spark refuses one beyond the columns
                field = columns[index]
                yield Edit(item[0].start, item[0].end, sql_literal(field.type, field.write_default))


def _columns(statement: s.Insert, schema: Schema, *, case_sensitive: bool) -> Sequence[NestedField]:
    if statement.columns:
        fields = [schema.find(".".join(path), case_sensitive=case_sensitive) for path in statement.columns]
        return [field for field in fields if field is not None]
    static = {fold(p.column) for p in statement.partition if p.value is not None}
    return [field for field in schema.fields if fold(field.name) not in static]


def _lists(tokens: Sequence[Token]) -> Iterator[list[list[Token]]]:
    """The comma-separated lists behind VALUES (bracketed, or one value a row) and behind SELECT."""
    for at, token in enumerate(tokens):
        if token.kind is Kind.END:
            return
        if token.key == "SELECT":
            yield items(tokens, at + 1, stops={"FROM", "WHERE", "UNION", ";"})
        if token.key == "VALUES":
            yield from _rows(tokens, at + 1)


def _rows(tokens: Sequence[Token], at: int) -> Iterator[list[list[Token]]]:
    while at < len(tokens):
        if tokens[at].key == "(":
            start, at = at + 1, behind_brackets(tokens, at)
            yield items(tokens[start : at - 1])
        else:
            yield [[tokens[at]]]
            at += 1
        if at >= len(tokens) or tokens[at].key != ",":
            return
        at += 1
