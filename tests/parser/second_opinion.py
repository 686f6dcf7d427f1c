"""What sqlglot makes of a query: a second opinion on the scan for table names."""

from __future__ import annotations

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from icesql.parser.text.names import NameParts


def sqlglot_tables(text: str) -> list[NameParts] | None:
    """The tables sqlglot finds in a query, CTEs left out, or None where it cannot parse it."""
    try:
        tree = parse_one(text, dialect="spark")
    except (SqlglotError, RecursionError):
        return None
    names: list[NameParts] = []
    for scope in traverse_scope(tree):
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
                names.append(tuple(part.name for part in source.parts))
    return names
