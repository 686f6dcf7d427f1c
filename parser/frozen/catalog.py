"""Trees of what defines tables, views and namespaces to statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.create_rules import clustered_text
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.frozen.columns import (
    ColumnValues,
    keys_of,
    maybe_span,
    parts_of,
    properties_of,
    read_by,
    span_of,
    table_name,
    text_of,
)
from icesql.parser.statements import ddl as s
from icesql.parser.statements.base import Statement
from icesql.parser.statements.dml import TruncateTable
from icesql.parser.statements.utility import Use, UseCatalog
from icesql.parser.text.names import Span
from icesql.spec.transforms import IDENTITY, bucket

_DELIMITERS = {
    "fields": ("option.field.delim", "option.serialization.format"),
    "escaped": ("option.escape.delim",),
    "items": ("option.colelction.delim",),  # spelled as Hive does
    "keys": ("option.mapkey.delim",),
    "lines": ("option.line.delim",),  # NULL DEFINED AS: Spark does not hand it to catalogs
}


# -- tables --------------------------------------------------------------------------------------------------------------
def create_table(node: Any, text: str, values: ColumnValues) -> Statement:
    properties = node.args.get("properties")
    clauses = {type(clause): clause for clause in (properties.expressions if properties is not None else ())}
    provider, location = _of(clauses, exp.FileFormatProperty), _of(clauses, exp.LocationProperty)
    pairs = properties_of(clauses[exp.Properties].expressions if exp.Properties in clauses else ())
    if (like := clauses.get(exp.LikeProperty)) is not None:
        return s.CreateTableLike(
            text=text, table=table_name(node.this), source=table_name(like.this), if_not_exists=node.args["exists"],
            provider=provider, location=location, properties=pairs,
        )  # fmt: skip
    schema = node.this if isinstance(node.this, exp.Schema) else None
    columns = values.columns(schema.expressions) if schema is not None else ()
    partitioned = clauses[nodes.PartitionedBy].expressions if nodes.PartitionedBy in clauses else []
    partition_columns = values.columns(column for column in partitioned if isinstance(column, exp.ColumnDef))
    query = node.expression
    return s.CreateTable(
        text=text,
        table=table_name(node.this if schema is None else schema.this),
        create=not isinstance(node, nodes.ReplaceTable),
        replace=bool(node.args["replace"]) or isinstance(node, nodes.ReplaceTable),
        if_not_exists=node.args["exists"],
        external=exp.ExternalProperty in clauses,
        columns=(*columns, *partition_columns),
        partitioning=tuple(term for clause in clauses.values() for term in _terms(clause, values)),
        partition_columns=tuple(column.name for column in partition_columns),
        provider=provider,
        location=location,
        comment=_of(clauses, exp.SchemaCommentProperty),
        properties=pairs,
        options=_options(clauses.get(nodes.Options)),
        storage=(*_stored_as(clauses.get(nodes.StoredAs)), *_row_format(clauses.get(nodes.RowFormat))),
        collation=_of(clauses, nodes.Collation),
        query=() if query is None else (span_of(query),),
        references=read_by(text, query),
    )


def _of(clauses: dict[type, Any], kind: type) -> str | None:
    return str(clauses[kind].name) if kind in clauses else None


def _terms(clause: Any, values: ColumnValues) -> list[s.TransformTerm]:
    """The partition fields that a clause gives."""
    if isinstance(clause, nodes.ClusteredBy):
        (column,) = clause.expressions
        transform = bucket(int(clause.args["buckets"].name))
        return [s.TransformTerm(transform=transform, column=parts_of(column), text=clustered_text(clause), function="bucket")]
    if not isinstance(clause, nodes.PartitionedBy):
        return []
    return [
        s.TransformTerm(transform=IDENTITY, column=(field.name,), text=field.name, plain=True)
        if isinstance(field, exp.ColumnDef)
        else values.term(field)
        for field in clause.expressions
    ]


def _options(clause: Any) -> s.Options:
    if clause is None:
        return ()
    given = [(option.name, option.args["value"]) for option in clause.expressions]
    return tuple((key, value.name if isinstance(value, exp.Literal) else span_of(value)) for key, value in given)


def _stored_as(clause: Any) -> s.Properties:
    if clause is None:
        return ()
    if (output := clause.args.get("output")) is not None:
        return (("hive.input-format", clause.name), ("hive.output-format", output.name))
    return (("hive.stored-as", clause.name),)


def _row_format(clause: Any) -> s.Properties:
    if clause is None:
        return ()
    if (serde := clause.args.get("serde")) is not None:
        return (("hive.serde", serde.name), *((f"option.{key}", value) for key, value in properties_of(clause.expressions)))
    given = ((keys, clause.args.get(arg)) for arg, keys in _DELIMITERS.items())
    return tuple((key, delimiter.name) for keys, delimiter in given if delimiter is not None for key in keys)


def _drop_table(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.DropTable(text=text, table=table_name(node.this), if_exists=node.args["exists"], purge=node.args["purge"])


def _truncate_table(node: Any, text: str, values: ColumnValues) -> Statement:
    return TruncateTable(text=text, target=table_name(node.this), partition=maybe_span(node.args.get("partition")))


# -- views ---------------------------------------------------------------------------------------------------------------
def _create_view(node: Any, text: str, values: ColumnValues) -> Statement:
    args, query = node.args, node.expression
    span = Span(0, 0) if query is None else span_of(query)
    return s.CreateView(
        text=text,
        view=table_name(node.this),
        replace=args["replace"],
        temporary=args["temporary"],
        global_temporary=args["global_temporary"],
        if_not_exists=args["exists"],
        columns=tuple(s.ViewColumn(name=column.name, comment=text_of(column.args.get("comment"))) for column in args["columns"]),
        comment=text_of(args.get("comment")),
        properties=properties_of(args.get("properties")),
        provider=text_of(args.get("using")),
        options=properties_of(args.get("options")),
        query=span,
        references=read_by(text, span),
    )


def _drop_view(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.DropView(text=text, view=table_name(node.this), if_exists=node.args["exists"])


def _alter_view_properties(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.AlterViewProperties(
        text=text,
        view=table_name(node.this),
        set=properties_of(node.args.get("set")),
        unset=keys_of(node.args.get("unset")),
        if_exists=bool(node.args.get("exists")),
    )


def _rename_view(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.RenameView(text=text, view=table_name(node.this), new_name=table_name(node.args["to"]))


def _alter_view_as(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.AlterViewAs(text=text, view=table_name(node.this), query=span_of(node.expression), references=read_by(text, node.expression))


# -- namespaces ----------------------------------------------------------------------------------------------------------
def _create_namespace(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.CreateNamespace(
        text=text,
        namespace=table_name(node.this),
        if_not_exists=node.args["exists"],
        comment=text_of(node.args.get("comment")),
        location=text_of(node.args.get("location")),
        properties=properties_of(node.args.get("properties")),
    )


def _drop_namespace(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.DropNamespace(text=text, namespace=table_name(node.this), if_exists=node.args["exists"], cascade=node.args["cascade"])


def _alter_namespace(node: Any, text: str, values: ColumnValues) -> Statement:
    return s.AlterNamespace(
        text=text,
        namespace=table_name(node.this),
        set=properties_of(node.args.get("set")),
        unset=keys_of(node.args.get("unset")),
        location=text_of(node.args.get("location")),
    )


def _comment_on(node: Any, text: str, values: ColumnValues) -> Statement:
    kind = "table" if node.args["kind"].name == "TABLE" else "namespace"
    return s.CommentOn(text=text, kind=kind, name=table_name(node.this), comment=text_of(node.args.get("comment")))


def _use(node: Any, text: str, values: ColumnValues) -> Statement:
    return Use(text=text, name=table_name(node.this), namespace_only=node.args["kind"] is not None)


def _use_catalog(node: Any, text: str, values: ColumnValues) -> Statement:
    return UseCatalog(text=text, name=node.name)


FORMS: dict[type, Callable[[Any, str, ColumnValues], Statement]] = {
    nodes.CreateTable: create_table,
    nodes.ReplaceTable: create_table,
    nodes.DropTable: _drop_table,
    nodes.TruncateTable: _truncate_table,
    nodes.CreateView: _create_view,
    nodes.DropView: _drop_view,
    nodes.AlterViewProperties: _alter_view_properties,
    nodes.RenameView: _rename_view,
    nodes.AlterViewAs: _alter_view_as,
    nodes.CreateNamespace: _create_namespace,
    nodes.DropNamespace: _drop_namespace,
    nodes.AlterNamespace: _alter_namespace,
    nodes.CommentOn: _comment_on,
    nodes.Use: _use,
    nodes.UseCatalog: _use_catalog,
}
