"""Tables in the queries that sqlglot's grammar reads: hidden from it, put back into its tree.

sqlglot does not read all that Spark takes for a table: names such as ``inner``, ``WITH ('branch' = 'b')``, ``SYSTEM_VERSION AS OF``,
``TABLE a.b``. The scan for references does: each table stands as one made-up name while sqlglot reads, and becomes a Table again behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.sqlglot_source import ParseError, exp
from icesql.parser.dialect.tokens import DialectToken, dialect_tokens, with_text
from icesql.parser.text.names import Place, Span, TableReference
from icesql.parser.text.references import references
from icesql.parser.text.tokens import Kind, tokenize

_HIDDEN = "_icesql_relation_"
_SELECT_ALL_FROM = dialect_tokens("SELECT * FROM", tokenize("SELECT * FROM"))
_BEFORE_A_QUERY = frozenset({"AS", "ALL", "DISTINCT", "UNION", "EXCEPT", "INTERSECT", "MINUS", ")", "FROM", "IN", "EXISTS", "JOIN", ","})


Tables = dict[int, TableReference]  # by where they begin


def tables_of(sql: str) -> Tables:
    """The tables that queries in a text name."""
    return {table.start: table for table in references(sql).tables if table.place is not Place.TARGET and not table.identifier_clause}


def hide_tables(tokens: Sequence[DialectToken], tables: Tables) -> list[DialectToken]:
    """``tokens`` with one made-up name for each table and its clauses; ``TABLE t`` as the query that it is."""
    visible: list[DialectToken] = []
    at = 0
    while at < len(tokens):
        table = tables.get(tokens[at].lexeme.start)
        if table is None or (table.place is Place.TABLE and not _is_query(visible)):
            visible.append(tokens[at])
            at += 1
            continue
        if table.place is Place.TABLE:
            visible[-1:] = _SELECT_ALL_FROM
        behind = at
        while behind < len(tokens) and tokens[behind].lexeme.start < table.clause_end:
            behind += 1
        comments = [comment for token in tokens[at:behind] for comment in token.comments]
        visible.append(with_text(tokens[at], f"{_HIDDEN}{table.start}", comments))
        at = _copy_alias(tokens, behind, table, visible)
    return visible


def _is_query(before: Sequence[DialectToken]) -> bool:
    """Whether TABLE, the token before, begins a query, and is not a function's argument."""
    if not before or before[-1].lexeme.key != "TABLE":
        return False
    keys = [token.lexeme.key for token in before[-3:-1]]
    if not keys or keys[-1] in _BEFORE_A_QUERY - {","}:
        return True
    return keys[-1] == "(" and (len(keys) < 2 or keys[0] in _BEFORE_A_QUERY | {"("})


def _copy_alias(tokens: Sequence[DialectToken], at: int, table: TableReference, visible: list[DialectToken]) -> int:
    """Copy up to the alias, which is a name though it may be a word of sqlglot's."""
    if table.alias is None or table.alias_at is None:
        return at
    while at < len(tokens):
        token = tokens[at]
        at += 1
        is_alias = token.lexeme.start >= table.alias_at and token.lexeme.key != "AS"
        visible.append(with_text(token, token.text, token.comments) if is_alias and token.lexeme.kind is Kind.WORD else token)
        if is_alias:
            break
    return at


def put_tables_back(tree: Any, sql: str, tables: Tables, expression_in: Callable[[Span], Any]) -> None:
    """Make Tables of the made-up names. ``expression_in`` reads an expression of the text.

    Raises sqlglot's ParseError where its grammar took a table for something else.
    """
    for node in [node for node in tree.find_all(exp.Table) if node.name.startswith(_HIDDEN)]:
        table = tables[int(node.name.removeprefix(_HIDDEN))]
        last, *before = (_identifier(part, sql, table) for part in reversed(table.parts))
        node.set("this", last if len(table.parts) <= 3 else exp.Dot.build([*reversed(before[:-2]), last]))
        for arg, part in zip(("db", "catalog"), before if len(table.parts) <= 3 else before[:-3:-1][::-1], strict=False):
            node.set(arg, part)
        if table.time_travel is not None:
            kind, value = table.time_travel.kind.upper(), expression_in(table.time_travel.expression)
            node.set("version", exp.Version(this=kind, kind="AS OF", expression=value))
        if table.options:
            pairs = [exp.Property(this=exp.Literal.string(key), value=exp.Literal.string(value)) for key, value in table.options]
            node.set("hints", [nodes.WriteOptions(expressions=pairs)])
    if any(node.name.startswith(_HIDDEN) for node in tree.find_all(exp.Identifier)):
        raise ParseError("Cannot parse statement: sqlglot takes a table for something else")


def _identifier(part: str, sql: str, table: TableReference) -> Any:
    return exp.Identifier(this=part, quoted=f"`{part.replace('`', '``')}`" in sql[table.start : table.end])
