"""Trees to values: names, spans, types, transforms, columns, properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.columns import SRIDS
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.frozen.folding import fold
from icesql.parser.statements.ddl import ColumnDefinition, Position, Properties, SortTerm, TransformTerm
from icesql.parser.text.names import NameParts, References, Span, TableName
from icesql.parser.text.references import references_between
from icesql.spec import types as t
from icesql.spec.sorting import NullOrder, SortDirection
from icesql.spec.transforms import DAY, HOUR, IDENTITY, MONTH, YEAR, Transform, bucket, truncate

_BY_NAME = {
    "identity": IDENTITY, "year": YEAR, "years": YEAR, "month": MONTH, "months": MONTH, "day": DAY, "days": DAY, "date": DAY,
    "hour": HOUR, "hours": HOUR, "date_hour": HOUR,
}  # fmt: skip
_WITH_WIDTH: dict[str, Callable[[int], Transform]] = {"bucket": bucket, "truncate": truncate}
_Types = exp.DataType.Type
_SIMPLE: dict[Any, Callable[[], t.Type]] = {
    _Types.BOOLEAN: t.BooleanType, _Types.TINYINT: t.IntegerType, _Types.SMALLINT: t.IntegerType, _Types.INT: t.IntegerType,
    _Types.BIGINT: t.LongType, _Types.FLOAT: t.FloatType, _Types.DOUBLE: t.DoubleType, _Types.DATE: t.DateType, _Types.TIME: t.TimeType,
    _Types.TIMESTAMPLTZ: t.TimestamptzType, _Types.TIMESTAMPNTZ: t.TimestampType, _Types.TIMESTAMP_NS: t.TimestampNanoType,
    _Types.BINARY: t.BinaryType, _Types.UUID: t.UUIDType, _Types.NULL: t.UnknownType, _Types.VARIANT: t.VariantType,
    _Types.TEXT: t.StringType, _Types.CHAR: t.StringType, _Types.VARCHAR: t.StringType,
}  # fmt: skip


def table_name(node: Any) -> TableName:
    return TableName(parts=tuple(part.name for part in node.parts), start=node.meta["start"], end=node.meta["end"] + 1)


def maybe_table_name(node: Any) -> TableName | None:
    return None if node is None else table_name(node)


def parts_of(node: Any) -> NameParts:
    return tuple(part.name for part in node.flatten()) if isinstance(node, exp.Dot) else (node.name,)


def span_of(node: Any) -> Span:
    return Span(node.meta["start"], node.meta["end"] + 1)


def maybe_span(node: Any) -> Span | None:
    return None if node is None else span_of(node)


def text_of(node: Any) -> str | None:
    """The value of a string, or what stands in a piece of text."""
    return None if node is None else str(node.name)


def properties_of(given: Iterable[Any] | None) -> Properties:
    return tuple((node.name, node.args["value"].name) for node in given or ())


def keys_of(given: Iterable[Any] | None) -> tuple[str, ...]:
    return tuple(node.name for node in given or ())


def read_by(text: str, *pieces: Any) -> References:
    """What pieces of the text read."""
    return references_between(text, *(piece if isinstance(piece, Span) else span_of(piece) for piece in pieces if piece is not None))


class ColumnValues:
    """Columns, types and transforms of one statement; ids of nested fields are unique in it.

    ``timestamp_ntz``: the type ``TIMESTAMP`` means one without time zone.
    """

    def __init__(self, text: str, *, timestamp_ntz: bool = False) -> None:
        self.text = text
        self.timestamp_ntz = timestamp_ntz
        self._ids = count(1)

    # -- columns ---------------------------------------------------------------------------------------------------------
    def columns(self, given: Iterable[Any]) -> tuple[ColumnDefinition, ...]:
        return tuple(self.column(node) for node in given)

    def column(self, node: Any) -> ColumnDefinition:
        options = {type(constraint.kind): constraint.kind for constraint in node.args["constraints"]}
        comment, default = options.get(exp.CommentColumnConstraint), options.get(exp.DefaultColumnConstraint)
        default_text = None if default is None else span_of(default.this).of(self.text)
        span, type_ = span_of(node), node.args["kind"]
        return ColumnDefinition(
            path=parts_of(node.this),
            type=self.type(type_),
            type_text=span_of(type_).of(self.text),
            required=exp.NotNullColumnConstraint in options,
            comment=comment and comment.this.name,
            default_text=default_text,
            default=None if default_text is None else fold(default_text),
            generated_text=text_of(options.get(nodes.Generated)),
            position=position_of(node.args.get("position")),
            start=span.start,
            end=span.end,
        )

    # -- types -----------------------------------------------------------------------------------------------------------
    def type(self, node: Any) -> t.Type:
        """Iceberg's type; ids of nested fields in the order in which they open."""
        kind, inner = node.this, node.expressions
        if kind in _SIMPLE:
            return _SIMPLE[kind]()
        if kind == _Types.TIMESTAMP:
            return t.TimestampType() if self.timestamp_ntz else t.TimestamptzType()
        if kind == _Types.DECIMAL:
            precision, scale = (*(int(size.name) for size in inner), *(10, 0)[len(inner) :])
            return t.DecimalType(precision, scale)
        if kind == _Types.ARRAY:
            return t.ListType(next(self._ids), self.type(inner[0]))
        if kind == _Types.MAP:
            key_id, value_id = next(self._ids), next(self._ids)
            return t.MapType(key_id, self.type(inner[0]), value_id, self.type(inner[1]))
        if kind == _Types.STRUCT:
            return t.StructType(tuple(self._field(field) for field in inner))
        if kind == _Types.GEOMETRY:
            return t.GeometryType(_crs(inner))
        if kind == _Types.GEOGRAPHY:
            return t.GeographyType(_crs(inner), inner[1].name if len(inner) > 1 else None)
        return t.FixedType(int(inner[0].name)) if node.args["kind"] == "FIXED" else t.TimestamptzNanoType()

    def _field(self, node: Any) -> t.NestedField:
        options = {type(constraint.kind): constraint.kind for constraint in node.args["constraints"]}
        comment, field_id = options.get(exp.CommentColumnConstraint), next(self._ids)
        required = exp.NotNullColumnConstraint in options
        return t.NestedField(field_id, node.name, self.type(node.args["kind"]), required, comment and comment.this.name)

    # -- transforms ------------------------------------------------------------------------------------------------------
    def term(self, node: Any) -> TransformTerm:
        text = span_of(node).of(self.text)
        if not isinstance(node, nodes.Transform):
            return TransformTerm(transform=IDENTITY, column=parts_of(node), text=text, plain=True)
        numbers = [int(argument.name) for argument in node.expressions if isinstance(argument, exp.Literal)]
        (column,) = (argument for argument in node.expressions if not isinstance(argument, exp.Literal))
        name = node.name.lower()
        transform = _WITH_WIDTH[name](numbers[0]) if name in _WITH_WIDTH else _BY_NAME[name]
        return TransformTerm(transform=transform, column=parts_of(column), text=text, function=node.name)

    def named_term(self, node: Any) -> TransformTerm:
        return replace(self.term(node.this), name=text_of(node.args.get("alias")))

    def sort_term(self, node: Any) -> SortTerm:
        return SortTerm(
            term=self.term(node.this),
            direction=SortDirection.DESC if node.args["desc"] else SortDirection.ASC,
            null_order=NullOrder.NULLS_FIRST if node.args["nulls_first"] else NullOrder.NULLS_LAST,
        )


def position_of(node: Any) -> Position | None:
    return None if node is None else Position(after=text_of(node.args.get("this")))


def _crs(parameters: list[Any]) -> str | None:
    if not parameters:
        return None
    crs = parameters[0].this
    if isinstance(crs, exp.Literal):
        if crs.is_string:
            return None if crs.name.upper() == "OGC:CRS84" else str(crs.name)
        return SRIDS[int(crs.name)]
    return None if crs.name.upper() in ("OGC:CRS84", "ANY") else str(crs.name)
