"""The nodes of Iceberg's statements that sqlglot has none for, or none that is old enough.

CREATE TABLE is a sqlglot ``Create``; INSERT, DELETE, UPDATE and MERGE are its own ``Insert``, ``Delete``, ``Update`` and ``Merge``.
``meta["start"]`` and ``meta["end"]`` (included) of a node that a statement keeps as a piece of text enclose it.
"""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect.sqlglot_source import exp


def arguments(*names: str, needed: tuple[str, ...] = ("this",)) -> dict[str, bool]:
    """``arg_types`` of a node."""
    return {**dict.fromkeys(needed, True), **dict.fromkeys(names, False)}


class Verbatim(exp.Expression):
    """A piece of Spark's SQL as it was written; Spark will judge it. ``this`` is its text."""


# -- tables and columns --------------------------------------------------------------------------------------------------
Transform = exp.Anonymous
"""A column under a partition transform, ``bucket(16, id)``: ``this`` is the name as written, ``expressions`` its arguments.

Also in sort orders. A plain column stands for itself, without a Transform.
"""


class NamedField(exp.Expression):
    """A partition field of ALTER TABLE: ``this`` a column or Transform, ``alias`` its name."""

    arg_types = arguments("alias")


class SortTerm(exp.Expression):
    """``term [ASC | DESC] [NULLS FIRST | LAST]``; ``desc`` and ``nulls_first`` are said even where the SQL does not."""

    arg_types = arguments("desc", "nulls_first")


class PartitionedBy(exp.Property):
    """PARTITIONED BY: columns, transforms, or Hive's definitions of columns."""

    arg_types = arguments(needed=("expressions",))


class ClusteredBy(exp.Property):
    """CLUSTERED BY (columns) INTO buckets BUCKETS."""

    arg_types = arguments(needed=("expressions", "buckets"))


class Options(exp.Property):
    arg_types = arguments(needed=("expressions",))


class Collation(exp.Property):
    """DEFAULT COLLATION."""


class StoredAs(exp.Property):
    """STORED AS a format, or INPUTFORMAT ``this`` OUTPUTFORMAT ``output``."""

    arg_types = arguments("output")


class RowFormat(exp.Property):
    """ROW FORMAT SERDE ``serde`` WITH SERDEPROPERTIES ``expressions``, or DELIMITED with its delimiters."""

    arg_types = arguments("serde", "expressions", "fields", "escaped", "items", "keys", "lines", "null", needed=())


class Generated(exp.Expression):
    """GENERATED ... of a column, as it was written."""


class CreateTable(exp.Create):
    """CREATE TABLE and CREATE OR REPLACE TABLE: sqlglot's Create, whose clauses are ours."""


class ReplaceTable(CreateTable):
    """REPLACE TABLE, which unlike CREATE OR REPLACE TABLE needs the table to exist."""


class EvolvingMerge(exp.Merge):
    """MERGE WITH SCHEMA EVOLUTION."""


class WriteOptions(exp.Expression):
    """WITH ('k' = 'v') behind the table that an INSERT writes."""

    arg_types = arguments(needed=("expressions",))


# -- ALTER TABLE: ``this`` is the table ----------------------------------------------------------------------------------
class Alteration(exp.Expression):
    """ALTER TABLE, one class for each form."""


class AddColumns(Alteration):
    arg_types = arguments("expressions")


class DropColumns(Alteration):
    arg_types = arguments("expressions", "exists")


class RenameColumn(Alteration):
    arg_types = arguments("column", "to")


class ReplaceColumns(Alteration):
    arg_types = arguments("expressions")


class AlterColumns(Alteration):
    """``expressions``: ColumnChange."""

    arg_types = arguments("expressions")


class ColumnChange(exp.Expression):
    """What happens to the column ``this``: one argument is given. ``definition``: Hive's CHANGE COLUMN, the whole column anew."""

    arg_types = arguments("dtype", "comment", "position", "set_not_null", "drop_not_null", "default", "drop_default", "definition")


class Position(exp.Expression):
    """AFTER ``this``, or FIRST where there is none."""

    arg_types = arguments("this", needed=())


class SetTableProperties(Alteration):
    arg_types = arguments("expressions")


class UnsetTableProperties(Alteration):
    arg_types = arguments("expressions", "exists")


class RenameTable(Alteration):
    arg_types = arguments("to")


class SetTableLocation(Alteration):
    arg_types = arguments("location", "partition")


class SetDefaultCollation(Alteration):
    arg_types = arguments("collation")


class RefusedAlter(Alteration):
    """A form that Spark parses and Iceberg refuses: ``form`` its words, ``rest`` what follows them."""

    arg_types = arguments("form", "rest")


class AddPartitionField(Alteration):
    arg_types = arguments("field")


class DropPartitionField(Alteration):
    arg_types = arguments("field")


class ReplacePartitionField(Alteration):
    arg_types = arguments("field", "by")


class WriteOrder(Alteration):
    """``ordering``: ORDERED, LOCALLY, UNORDERED or none; ``expressions``: SortTerm."""

    arg_types = arguments("expressions", "ordering", "distributed")


class SetIdentifierFields(Alteration):
    arg_types = arguments("expressions")


class DropIdentifierFields(Alteration):
    arg_types = arguments("expressions")


class CreateRef(Alteration):
    """CREATE, REPLACE or CREATE OR REPLACE of a BRANCH or TAG (``kind``); ``retain`` and ``max_age`` are Duration."""

    arg_types = arguments("kind", "name", "create", "replace", "exists", "version", "retain", "keep", "max_age")


class DropRef(Alteration):
    arg_types = arguments("kind", "name", "exists")


class Duration(exp.Expression):
    """``this``: a number; ``unit``: DAYS, HOURS or MINUTES."""

    arg_types = arguments("unit")


# -- tables, views, namespaces -------------------------------------------------------------------------------------------
class DropTable(exp.Expression):
    arg_types = arguments("exists", "purge")


class TruncateTable(exp.Expression):
    arg_types = arguments("partition")


class CreateView(exp.Expression):
    """``using``: the provider of a temporary view without a query. ``clauses``: others that are read over, as written."""

    arg_types = arguments(
        "replace",
        "temporary",
        "global_temporary",
        "exists",
        "columns",
        "comment",
        "properties",
        "clauses",
        "using",
        "options",
        "expression",
    )


class ViewColumn(exp.Expression):
    arg_types = arguments("comment")


class DropView(exp.Expression):
    arg_types = arguments("exists")


class AlterViewProperties(exp.Expression):
    arg_types = arguments("set", "unset", "exists")


class RenameView(exp.Expression):
    arg_types = arguments("to")


class AlterViewAs(exp.Expression):
    arg_types = arguments("expression")


class CreateNamespace(exp.Expression):
    """``kind``: NAMESPACE, SCHEMA or DATABASE; ``collation``: DEFAULT COLLATION, which is read over."""

    arg_types = arguments("kind", "exists", "comment", "location", "properties", "collation")


class DropNamespace(exp.Expression):
    arg_types = arguments("kind", "exists", "cascade")


class AlterNamespace(exp.Expression):
    arg_types = arguments("kind", "set", "unset", "location")


class CommentOn(exp.Expression):
    """``comment``: a string, or nothing for NULL."""

    arg_types = arguments("kind", "comment")


# -- statements that look, call and set ----------------------------------------------------------------------------------
class Call(exp.Expression):
    """``CALL catalog.system.procedure(e, name => e)``: ``this`` is a Table, named arguments are Kwarg."""

    arg_types = arguments("expressions")


class Explain(exp.Expression):
    """``this``: the statement."""

    arg_types = arguments("mode")


class Use(exp.Expression):
    """``kind``: the word NAMESPACE, SCHEMA or DATABASE, where it was given."""

    arg_types = arguments("kind")


class UseCatalog(exp.Expression):
    """SET CATALOG."""


class Show(exp.Expression):
    """``form``: TABLES, TABLE EXTENDED, VIEWS, ...; ``kind``: of functions; ``old_name``: a function's name in place of a pattern."""

    arg_types = arguments("this", "form", "kind", "namespace", "pattern", "partition", "key", "as_serde", "old_name", needed=())


class Describe(exp.Expression):
    """``kind``: TABLE, NAMESPACE, SCHEMA, DATABASE, FUNCTION, PROCEDURE or QUERY."""

    arg_types = arguments("kind", "extended", "partition", "column", "as_json")


class RefreshTable(exp.Expression):
    pass


class CacheTable(exp.Expression):
    arg_types = arguments("lazy", "options", "expression")


class UncacheTable(exp.Expression):
    arg_types = arguments("exists")


class AnalyzeTable(exp.Expression):
    """``all``: ANALYZE TABLES [IN namespace]; ``partition`` and ``rest`` as they were written."""

    arg_types = arguments("this", "all", "partition", "rest", needed=())


class RefusedTableCommand(exp.Expression):
    """``form``: LOAD DATA or MSCK REPAIR TABLE; ``before`` and ``rest``: what stands around TABLE name, as written."""

    arg_types = arguments("form", "before", "rest")


class SetConfiguration(exp.Expression):
    """``this``: the key, quoted where it was; ``value``: the text behind ``=``."""

    arg_types = arguments("this", "value", "verbose", needed=())


class ResetConfiguration(exp.Expression):
    arg_types = arguments("this", needed=())


class ExecuteImmediate(exp.Expression):
    """``this``: a string, or the expression as written; ``rest``: INTO ... USING ..."""

    arg_types = arguments("rest")


class Transaction(exp.Expression):
    """``this``: BEGIN, START TRANSACTION, COMMIT or ROLLBACK."""


class MultiInsert(exp.Expression):
    """FROM source INSERT ... INSERT ...: ``source`` as written, the parts are Insert."""

    arg_types = arguments("ctes", needed=("source", "expressions"))


def place(node: Any, start: int, end: int) -> Any:
    """``node``, remembering that it was read from ``text[start:end]``."""
    node.meta["start"], node.meta["end"] = start, end - 1
    return node
