"""Expressions of UPDATE, DELETE and MERGE that Spark refuses, though a query that finds the same rows would take them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from icesql.errors import SqlError
from icesql.parser import statements as s
from icesql.parser.text.names import Span
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.session.rewrite.merge_scope import outside_subqueries
from icesql.spark_errors import spark_message

_PLANS = {s.Delete: "DeleteFromTable", s.Update: "UpdateTable", s.Merge: "MergeIntoTable"}
_GENERATORS = frozenset({"EXPLODE", "EXPLODE_OUTER", "POSEXPLODE", "POSEXPLODE_OUTER", "INLINE", "INLINE_OUTER", "STACK", "JSON_TUPLE"})


def refuse_expressions(statement: s.Delete | s.Update | s.Merge, mode: str) -> None:
    """Raises SqlError for stars; for generators that are assigned; for window functions where ``mode`` or a MERGE's join has no place for
    them. What stands in subqueries is Spark's to judge."""
    for place in _conditions(statement):
        _refuse_star(statement, place)
        if isinstance(statement, s.Merge) and _has_window(statement, place):
            raise _unsupported(place.of(statement.text))
    only_inserts = isinstance(statement, s.Merge) and all(clause.kind is s.MergeKind.NOT_MATCHED for clause in statement.clauses)
    takes_windows = only_inserts or (isinstance(statement, s.Update) and mode == "copy-on-write")
    for assignment in _assignments(statement):
        text = assignment.value.of(statement.text)
        _refuse_star(statement, assignment.value)
        if any(following.key == "(" and token.key in _GENERATORS for token, following in _pairs(text)):
            name = ".".join(assignment.column)
            raise SqlError(
                spark_message(
                    "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
                    f"Cannot write incompatible data for the table: Cannot assign the rows of a generator to `{name}`: {text}.",
                )
            )
        if not takes_windows and _has_window(statement, assignment.value):
            raise _unsupported(text)


def _conditions(statement: s.Delete | s.Update | s.Merge) -> Iterator[Span]:
    clauses = statement.clauses if isinstance(statement, s.Merge) else ()
    yield from (place for place in (statement.condition, *(clause.condition for clause in clauses)) if place is not None)


def _assignments(statement: s.Delete | s.Update | s.Merge) -> Iterator[s.Assignment]:
    if isinstance(statement, s.Update):
        yield from statement.assignments
    elif isinstance(statement, s.Merge):
        yield from (assignment for clause in statement.clauses for assignment in clause.assignments)


def _refuse_star(statement: s.Delete | s.Update | s.Merge, place: Span) -> None:
    """``struct(*)`` and ``t.*``, but neither a product nor ``count(*)``, which is refused as an aggregate."""
    before: tuple[Token, ...] = ()
    for _, token in outside_subqueries(tokenize(place.of(statement.text))):
        is_star = token.key == "*" and bool(before) and before[-1].key in ("(", ",", ".")
        if is_star and not (len(before) > 1 and before[-2].key == "COUNT"):
            raise SqlError(
                spark_message(
                    "INVALID_USAGE_OF_STAR_OR_REGEX", f"Invalid usage of '*' in {_PLANS[type(statement)]}: {place.of(statement.text)}."
                )
            )
        before = (*before[-1:], token)


def _has_window(statement: s.Delete | s.Update | s.Merge, place: Span) -> bool:
    pairs = _pairs(place.of(statement.text))
    return any(following.key == "OVER" and (token.key == ")" or token.key == "NULLS") for token, following in pairs)


def _pairs(text: str) -> Iterator[tuple[Token, Token]]:
    tokens = [token for _, token in outside_subqueries(tokenize(text)) if token.kind is not Kind.END]
    return itertools.pairwise(tokens)


def _unsupported(text: str) -> SqlError:
    return SqlError(
        spark_message(
            "UNSUPPORTED_EXPR_FOR_OPERATOR",
            "A query operator contains one or more unsupported expressions. Consider to rewrite it to avoid "
            f"window functions, aggregate functions, and generator functions. Invalid expressions: [{text}].",
        )
    )
