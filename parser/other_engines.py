"""Iceberg's CREATE TABLE for Trino and Athena, where it has a form there; all else that is Iceberg's in Spark's SQL is refused for them.

https://trino.io/docs/current/connector/iceberg.html and https://docs.aws.amazon.com/athena/latest/ug/querying-iceberg-creating-tables.html
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from icesql.parser.dialect import nodes
from icesql.parser.dialect.sqlglot_source import UnsupportedError, exp, module
from icesql.parser.frozen.columns import ColumnValues, properties_of
from icesql.parser.text.parameters import quoted_string
from icesql.spec import types as t
from icesql.spec.properties import DEFAULT_FILE_FORMAT, FORMAT_VERSION

_SIMPLE: dict[type, tuple[str | None, str | None]] = {  # of Trino, of Athena
    t.BooleanType: ("BOOLEAN", "BOOLEAN"), t.IntegerType: ("INTEGER", "INT"), t.LongType: ("BIGINT", "BIGINT"),
    t.FloatType: ("REAL", "FLOAT"), t.DoubleType: ("DOUBLE", "DOUBLE"), t.DateType: ("DATE", "DATE"), t.TimeType: ("TIME(6)", None),
    t.TimestampType: ("TIMESTAMP(6)", "TIMESTAMP"), t.TimestamptzType: ("TIMESTAMP(6) WITH TIME ZONE", None),
    t.StringType: ("VARCHAR", "STRING"), t.UUIDType: ("UUID", None), t.BinaryType: ("VARBINARY", "BINARY"),
}  # fmt: skip
_TRINO_PROPERTIES = {DEFAULT_FILE_FORMAT: "format", FORMAT_VERSION: "format_version"}
_SINGULAR = {"years": "year", "months": "month", "days": "day", "hours": "hour", "date": "day", "date_hour": "hour"}
_WITHOUT_FORM = (exp.ExternalProperty, exp.LikeProperty, nodes.Options, nodes.StoredAs, nodes.RowFormat, nodes.Collation)


class _Engine:
    """How one engine writes CREATE TABLE; ``sql`` is its generator."""

    name: str
    index: int  # among the types

    def __init__(self, generator: Any) -> None:
        self.sql = generator.sql

    def refuse(self, what: str, instead: str = "") -> NoReturn:
        raise UnsupportedError(f"Cannot print statement for {self.name}: it has no form of {what}{instead and ': '}{instead}")

    def type_name(self, type_: t.Type) -> str:
        match type_:
            case t.DecimalType(precision=precision, scale=scale):
                return f"DECIMAL({precision}, {scale})"
            case t.ListType() | t.MapType() | t.StructType():
                return self.nested(type_)
            case _:
                name = _SIMPLE.get(type(type_), (None, None))[self.index]
                return name or self.refuse(f"the type {type_}", "use TIMESTAMP_NTZ" if isinstance(type_, t.TimestamptzType) else "")

    def nested(self, type_: t.ListType | t.MapType | t.StructType) -> str:
        raise NotImplementedError

    def columns(self, definitions: list[Any]) -> list[str]:
        return [self.column(node) for node in definitions]

    def column(self, node: Any) -> str:
        options = {type(constraint.kind): constraint.kind for constraint in node.args["constraints"]}
        for kind, what in ((nodes.Generated, "generated columns"), (exp.DefaultColumnConstraint, "default values")):
            if kind in options:
                self.refuse(what)
        pieces = [self.sql(node, "this"), self.type_name(ColumnValues("").type(node.args["kind"]))]
        if exp.NotNullColumnConstraint in options:
            pieces.append(self.not_null())
        if exp.CommentColumnConstraint in options:
            pieces.append(f"COMMENT {self.sql(options[exp.CommentColumnConstraint], 'this')}")
        return " ".join(pieces)

    def not_null(self) -> str:
        return "NOT NULL"

    def partition_fields(self, node: Any, *, width_first: bool) -> list[str]:
        """The columns and transforms of PARTITIONED BY and CLUSTERED BY."""
        names: list[str] = []
        for clause in _clauses(node):
            if isinstance(clause, nodes.ClusteredBy):
                names += [self.transform("bucket", clause.args["buckets"].name, column, width_first) for column in clause.expressions]
            elif isinstance(clause, nodes.PartitionedBy):
                names += [self.partition_field(field, width_first) for field in clause.expressions]
        return names

    def partition_field(self, field: Any, width_first: bool) -> str:
        if isinstance(field, exp.ColumnDef):
            return str(self.sql(field, "this"))
        if not isinstance(field, nodes.Transform):
            return str(self.sql(field))
        name = _SINGULAR.get(field.name.lower(), field.name.lower())
        widths = [argument.name for argument in field.expressions if isinstance(argument, exp.Literal)]
        (column,) = (argument for argument in field.expressions if not isinstance(argument, exp.Literal))
        return str(self.sql(column)) if name == "identity" else self.transform(name, widths[0] if widths else None, column, width_first)

    def transform(self, name: str, width: str | None, column: Any, width_first: bool) -> str:
        arguments = [self.sql(column)] if width is None else [width, self.sql(column)]
        return f"{name}({', '.join(arguments if width_first else reversed(arguments))})"

    def head(self, node: Any) -> tuple[str, list[Any]]:
        """``CREATE TABLE name`` and the columns."""
        for clause in _clauses(node):
            if isinstance(clause, _WITHOUT_FORM):
                self.refuse(_shown(clause))
            if isinstance(clause, exp.FileFormatProperty) and clause.name.lower() != "iceberg":
                self.refuse(f"USING {clause.name}")
        schema = node.this if isinstance(node.this, exp.Schema) else None
        columns = list(schema.expressions) if schema is not None else []
        for clause in _clauses(node):
            if isinstance(clause, nodes.PartitionedBy):
                columns += [field for field in clause.expressions if isinstance(field, exp.ColumnDef)]
        exists = "IF NOT EXISTS " if node.args.get("exists") else ""
        return f"TABLE {exists}{self.sql(node.this if schema is None else schema.this)}", columns

    def text(self, node: Any, kind: type) -> str:
        return next((self.sql(clause, "this") for clause in _clauses(node) if isinstance(clause, kind)), "")

    def with_(self, settings: dict[str, str]) -> str:
        return f" WITH ({', '.join(f'{key} = {value}' for key, value in settings.items() if value)})" if any(settings.values()) else ""

    def query(self, node: Any) -> str:
        query = node.args.get("expression")
        return "" if query is None else f" AS {self.sql(query)}"


class _Trino(_Engine):
    name, index = "Trino", 0

    def create_table(self, node: Any) -> str:
        head, columns = self.head(node)
        comment = self.text(node, exp.SchemaCommentProperty)
        fields = [quoted_string(field) for field in self.partition_fields(node, width_first=False)]
        given = dict(_properties(node))
        settings = {own: given.pop(key) for key, own in _TRINO_PROPERTIES.items() if key in given}
        if "format" in settings:
            settings["format"] = quoted_string(settings["format"].upper())
        settings |= {"partitioning": f"ARRAY[{', '.join(fields)}]" if fields else "", "location": self.text(node, exp.LocationProperty)}
        if given:
            keys, values = (", ".join(map(quoted_string, half)) for half in (given, given.values()))
            settings["extra_properties"] = f"MAP(ARRAY[{keys}], ARRAY[{values}])"
        verb = "CREATE OR REPLACE" if node.args.get("replace") else "CREATE"
        shown = f" ({', '.join(self.columns(columns))})" if columns else ""
        return f"{verb} {head}{shown}{comment and ' COMMENT ' + comment}{self.with_(settings)}{self.query(node)}"

    def nested(self, type_: t.ListType | t.MapType | t.StructType) -> str:
        match type_:
            case t.ListType():
                return f"ARRAY({self.type_name(type_.element)})"
            case t.MapType():
                return f"MAP({self.type_name(type_.key)}, {self.type_name(type_.value)})"
            case t.StructType(fields=fields):
                if any(field.required for field in fields):
                    self.refuse("NOT NULL within a type")
                parts = [f"{self.sql(exp.to_identifier(field.name))} {self.type_name(field.type)}" for field in fields]
                return f"ROW({', '.join(parts)})"


class _Athena(_Engine):
    name, index = "Athena", 1

    def create_table(self, node: Any) -> str:
        if node.args.get("replace"):
            self.refuse("OR REPLACE")
        head, columns = self.head(node)
        location = self.text(node, exp.LocationProperty)
        if node.args.get("expression") is not None:
            fields = [quoted_string(field) for field in self.partition_fields(node, width_first=False)]
            settings = {"table_type": "'ICEBERG'", "is_external": "false", "location": location}
            settings |= {"partitioning": f"ARRAY[{', '.join(fields)}]" if fields else ""}
            settings |= {_athena_key(key): quoted_string(value) for key, value in _properties(node)}
            return f"CREATE {head}{self.with_(settings)}{self.query(node)}"
        fields = self.partition_fields(node, width_first=True)
        comment = self.text(node, exp.SchemaCommentProperty)
        pairs = {"table_type": "ICEBERG", **{_athena_key(key): value for key, value in _properties(node)}}
        clauses = (
            f" ({', '.join(self.columns(columns))})",
            comment and f" COMMENT {comment}",
            f" PARTITIONED BY ({', '.join(fields)})" if fields else "",
            location and f" LOCATION {location}",
            f" TBLPROPERTIES ({', '.join(f'{quoted_string(key)} = {quoted_string(value)}' for key, value in pairs.items())})",
        )
        return f"CREATE {head}{''.join(clauses)}"

    def not_null(self) -> str:
        return self.refuse("NOT NULL")

    def nested(self, type_: t.ListType | t.MapType | t.StructType) -> str:
        match type_:
            case t.ListType():
                return f"ARRAY<{self.type_name(type_.element)}>"
            case t.MapType():
                return f"MAP<{self.type_name(type_.key)}, {self.type_name(type_.value)}>"
            case t.StructType(fields=fields):
                if any(field.required for field in fields):
                    self.refuse("NOT NULL within a type")
                parts = [f"{self.sql(exp.to_identifier(field.name))}: {self.type_name(field.type)}" for field in fields]
                return f"STRUCT<{', '.join(parts)}>"


def _clauses(node: Any) -> list[Any]:
    properties = node.args.get("properties")
    return [] if properties is None else list(properties.expressions)


def _properties(node: Any) -> list[tuple[str, str]]:
    return [pair for clause in _clauses(node) if isinstance(clause, exp.Properties) for pair in properties_of(clause.expressions)]


def _athena_key(key: str) -> str:
    return _TRINO_PROPERTIES.get(key, key)


def _refusal(engine: type[_Engine]) -> Callable[[Any, Any], str]:
    words = {
        nodes.AddPartitionField: "set the whole list: ALTER TABLE t SET PROPERTIES partitioning = ARRAY[...]",
        nodes.DropPartitionField: "set the whole list: ALTER TABLE t SET PROPERTIES partitioning = ARRAY[...]",
        nodes.ReplacePartitionField: "set the whole list: ALTER TABLE t SET PROPERTIES partitioning = ARRAY[...]",
    }
    return lambda generator, node: engine(generator).refuse(_shown(node), words.get(type(node), "") if engine is _Trino else "")


def _shown(node: Any) -> str:
    """What is refused, as the user may have written it."""
    return "WITH (...) behind a table" if isinstance(node, nodes.WriteOptions) else str(node.sql("iceberg"))[:100]


def _create_table(engine: Any) -> Callable[[Any, Any], str]:
    return lambda generator, node: str(engine(generator).create_table(node))


@lru_cache(maxsize=1)
def teach_other_engines() -> None:
    """Let the generators of Trino and Athena print or refuse the nodes that are ours."""
    trino, athena = module("dialects.trino").Trino, module("dialects.athena").Athena
    own = [node for node in vars(nodes).values() if isinstance(node, type) and issubclass(node, exp.Expression)]
    taught: list[tuple[Any, type[Any]]] = [(trino.Generator, _Trino)]
    taught += [(generator, _Athena) for generator in _generators_of(athena)]
    for generator, engine in taught:
        printed = {nodes.Verbatim: lambda _, node: str(node.this), nodes.CreateTable: _create_table(engine)}
        refused = {node: _refusal(engine) for node in own if node is not nodes.Transform}
        generator.TRANSFORMS = {**generator.TRANSFORMS, **refused, **printed}
        getattr(module("generator"), "_DISPATCH_CACHE", {}).pop(generator, None)


def _generators_of(athena: Any) -> list[Any]:
    """Athena's own generator, and the two that it hands statements to."""
    classes = [athena.Generator]
    for name in ("dialects.athena", "generators.athena"):
        try:
            holder = module(name)
        except ImportError:
            continue
        inner = (value for value in vars(holder).values() if isinstance(value, type) and value.__module__ == holder.__name__)
        classes += [value for value in inner if hasattr(value, "TRANSFORMS")]
    return list(dict.fromkeys(classes))
