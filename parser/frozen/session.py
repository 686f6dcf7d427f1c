"""Trees of statements that call, look and set to statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.frozen.columns import (
    ColumnValues,
    maybe_span,
    maybe_table_name,
    parts_of,
    properties_of,
    read_by,
    span_of,
    table_name,
    text_of,
)
from icesql.parser.frozen.folding import fold
from icesql.parser.statements import utility as s
from icesql.parser.statements.base import Statement

_TRANSACTIONS: dict[str, type[Statement]] = {
    "BEGIN": s.BeginTransaction,
    "START TRANSACTION": s.BeginTransaction,
    "COMMIT": s.CommitTransaction,
    "ROLLBACK": s.RollbackTransaction,
}


def _call(node: Any, text: str, values: ColumnValues) -> Statement:
    arguments = tuple(_argument(argument, text) for argument in node.expressions)
    spans = (argument.expression for argument in arguments)
    return s.Call(text=text, procedure=table_name(node.this), arguments=arguments, references=read_by(text, *spans))


def _argument(node: Any, text: str) -> s.CallArgument:
    """Constants are folded; other expressions stay spans, for Spark to evaluate."""
    name, value = (node.this.name, node.expression) if isinstance(node, exp.Kwarg) else (None, node)
    return s.CallArgument(name=name, expression=span_of(value), value=fold(span_of(value).of(text)))


# -- SHOW ----------------------------------------------------------------------------------------------------------------
def _show(node: Any, text: str, values: ColumnValues) -> Statement:
    return _SHOWN[node.args["form"].name](node, text)


def _list_of(kind: Callable[..., Statement]) -> Callable[[Any, str], Statement]:
    return lambda node, text: kind(
        text=text, namespace=maybe_table_name(node.args.get("namespace")), pattern=text_of(node.args.get("pattern"))
    )


def _show_table_extended(node: Any, text: str) -> Statement:
    namespace, partition = maybe_table_name(node.args.get("namespace")), maybe_span(node.args.get("partition"))
    return s.ShowTables(text=text, namespace=namespace, pattern=text_of(node.args["pattern"]), extended=True, partition=partition)


def _show_namespaces(node: Any, text: str) -> Statement:
    parent, pattern = maybe_table_name(node.args.get("namespace")), text_of(node.args.get("pattern"))
    return s.ShowNamespaces(text=text, parent=parent, pattern=pattern)


def _show_catalogs(node: Any, text: str) -> Statement:
    return s.ShowCatalogs(text=text, pattern=text_of(node.args.get("pattern")))


def _show_current(node: Any, text: str) -> Statement:
    return s.ShowCurrentNamespace(text=text)


def _show_properties(node: Any, text: str) -> Statement:
    return s.ShowTableProperties(text=text, table=table_name(node.this), key=text_of(node.args.get("key")))


def _show_columns(node: Any, text: str) -> Statement:
    return s.ShowColumns(text=text, table=table_name(node.this), namespace=maybe_table_name(node.args.get("namespace")))


def _show_create_table(node: Any, text: str) -> Statement:
    return s.ShowCreateTable(text=text, table=table_name(node.this), as_serde=node.args["as_serde"])


def _show_partitions(node: Any, text: str) -> Statement:
    return s.ShowPartitions(text=text, table=table_name(node.this), partition=maybe_span(node.args.get("partition")))


def _show_functions(node: Any, text: str) -> Statement:
    namespace, pattern, kind = maybe_table_name(node.args.get("namespace")), text_of(node.args.get("pattern")), node.args["kind"]
    if (old_name := node.args.get("old_name")) is not None:
        name = table_name(old_name)
        pattern = name.parts[-1]
        if namespace is None and len(name.parts) > 1:
            namespace = replace(name, parts=name.parts[:-1])
    return s.ShowFunctions(text=text, kind="ALL" if kind is None else kind.name, namespace=namespace, pattern=pattern)


_SHOWN: dict[str, Callable[[Any, str], Statement]] = {
    "TABLES": _list_of(s.ShowTables),
    "TABLE EXTENDED": _show_table_extended,
    "VIEWS": _list_of(s.ShowViews),
    "NAMESPACES": _show_namespaces,
    "SCHEMAS": _show_namespaces,
    "DATABASES": _show_namespaces,
    "CATALOGS": _show_catalogs,
    "CURRENT": _show_current,
    "TBLPROPERTIES": _show_properties,
    "COLUMNS": _show_columns,
    "CREATE TABLE": _show_create_table,
    "PARTITIONS": _show_partitions,
    "FUNCTIONS": _show_functions,
    "PROCEDURES": _list_of(s.ShowProcedures),
}


# -- DESCRIBE ------------------------------------------------------------------------------------------------------------
def _describe(node: Any, text: str, values: ColumnValues) -> Statement:
    kind, args = node.args["kind"].name, node.args
    extended = bool(args.get("extended"))
    if kind == "QUERY":
        return s.DescribeQuery(text=text, query=span_of(node.this), references=read_by(text, node.this))
    name = table_name(node.this)
    if kind == "FUNCTION":
        return s.DescribeFunction(text=text, function=name, extended=extended)
    if kind == "PROCEDURE":
        return s.DescribeProcedure(text=text, procedure=name)
    if kind != "TABLE":
        return s.DescribeNamespace(text=text, namespace=name, extended=extended)
    column = args.get("column")
    return s.DescribeTable(
        text=text,
        table=name,
        extended=extended,
        column=None if column is None else parts_of(column),
        partition=maybe_span(args.get("partition")),
        as_json=args["as_json"],
    )


# -- the rest ------------------------------------------------------------------------------------------------------------
def _set(node: Any, text: str, values: ColumnValues) -> Statement:
    value = text_of(node.args.get("value"))
    if value is not None and len(value) > 1 and value.startswith("`") and value.endswith("`"):
        value = value[1:-1].replace("``", "`")
    verbose = bool(node.args.get("verbose"))
    return s.SetConfiguration(text=text, key=_key(node.this), value=None if value is None else value.strip(), verbose=verbose)


def _reset(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.ResetConfiguration(text=text, key=_key(node.this))


def _key(node: Any) -> str | None:
    """A key without its back-ticks."""
    key = None if node is None else str(node.name)
    return key[1:-1].replace("``", "`") if key is not None and key.startswith("`") else key


def _refresh(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.RefreshTable(text=text, table=table_name(node.this))


def _cache(node: Any, text: str, values: ColumnValues) -> Statement:
    query = node.expression
    options = properties_of(node.args["options"])
    return s.CacheTable(
        text=text, table=table_name(node.this), lazy=node.args["lazy"], options=options, query=maybe_span(query),
        references=read_by(text, query),
    )  # fmt: skip


def _uncache(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.UncacheTable(text=text, table=table_name(node.this), if_exists=node.args["exists"])


def _analyze(node: Any, text: str, values: ColumnValues) -> Statement:
    if node.args.get("all"):
        return s.AnalyzeTable(text=text, tables_in=maybe_table_name(node.this))
    return s.AnalyzeTable(text=text, table=table_name(node.this))


def _refused_command(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.RefusedTableCommand(text=text, table=table_name(node.this), form=node.args["form"].name)


def _execute(node: Any, text: str, values: ColumnValues) -> Statement:
    sql = node.this.name if isinstance(node.this, exp.Literal) else None
    return s.ExecuteImmediate(text=text, sql=sql, rest=maybe_span(node.args.get("rest")))


def _transaction(node: Any, text: str, values: ColumnValues) -> Statement:
    return _TRANSACTIONS[node.name](text=text)


FORMS: dict[type, Callable[[Any, str, ColumnValues], Statement]] = {
    nodes.Call: _call,
    nodes.Show: _show,
    nodes.Describe: _describe,
    nodes.SetConfiguration: _set,
    nodes.ResetConfiguration: _reset,
    nodes.RefreshTable: _refresh,
    nodes.CacheTable: _cache,
    nodes.UncacheTable: _uncache,
    nodes.AnalyzeTable: _analyze,
    nodes.RefusedTableCommand: _refused_command,
    nodes.ExecuteImmediate: _execute,
    nodes.Transaction: _transaction,
}
