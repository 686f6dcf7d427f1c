"""Partition transforms as JVM expressions, equal value for value to ``icesql.spec.transforms``. Spec: appendix B.

Results keep the internal form of the transform's result type (days are a number), so a partition value can go into metadata as it is.
Everything is built from expressions Spark ships and propagates nulls by itself, so it takes part in whole-stage code generation and
the optimiser leaves its shape alone: ``recognise`` finds the transform again in a pushed filter.
"""

from __future__ import annotations

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from icesql.errors import UnsupportedError
from icesql.expr.tree import Reference
from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.catalyst_tree import Node, column_name
from icesql.spark.jvm.expressions import internal_long, time_type
from icesql.spark.jvm.handles import JavaObject
from icesql.spec import types as I
from icesql.spec.transforms import DAY, HOUR, MONTH, YEAR, Transform, bucket, truncate

_INT_MAX = 0x7FFFFFFF
_MICROS_PER_DAY, _MICROS_PER_HOUR = 86_400_000_000, 3_600_000_000
_NTZ = (I.TimestampType, I.TimestampNanoType)


def transform_column(spark: SparkSession, transform: Transform, source: I.Type, column: Column) -> Column:
    """The transform of a column whose table type is ``source`` (in Spark uuid is text, fixed is binary). Null in, null out.

    Raises UnsupportedError ``Transform is not supported`` for an unknown transform.
    """
    bridge = bridge_of(spark)
    width = transform.width or 0
    match transform.name:
        case "identity":
            return column
        case "void":
            return F.lit(None).cast("int")
        case "bucket":
            return _hash(bridge, source, column).bitwiseAND(_INT_MAX) % F.lit(width)
        case "truncate":
            return _truncated(bridge, width, source, column)
        case "year":
            return F.year(_date(bridge, source, column)) - F.lit(1970)
        case "month":
            date = _date(bridge, source, column)
            return (F.year(date) - F.lit(1970)) * F.lit(12) + F.month(date) - F.lit(1)
        case "day":
            return F.unix_date(_date(bridge, source, column))
        case "hour":
            return _floor_div(bridge, _micros(bridge, source, column), _MICROS_PER_HOUR).cast("int")
        case _:
            raise UnsupportedError(f"Transform is not supported: {transform}", transform=str(transform))


def day_as_date(spark: SparkSession, source: I.Type, column: Column) -> Column:
    """The day transform as a date, which is what ``system.days`` returns."""
    return _date(bridge_of(spark), source, column)


# -- building -----------------------------------------------------------------------------------------------------------


def _hash(bridge: Bridge, source: I.Type, column: Column) -> Column:
    match source:
        case I.IntegerType() | I.LongType():
            return _hash_long(bridge, column.cast("long"))
        case I.DateType():
            return _hash_long(bridge, F.unix_date(column).cast("long"))
        case I.TimestampType() | I.TimestamptzType() | I.TimestampNanoType() | I.TimestamptzNanoType():
            return _hash_long(bridge, _micros(bridge, source, column))
        case I.TimeType():
            return _hash_long(bridge, _micros_of_day(bridge, column))
        case I.DecimalType():
            big = _object(bridge, bridge.expression(column), "toJavaBigDecimal", "java.math.BigDecimal")
            return _hash_bytes(bridge, _object(bridge, _object(bridge, big, "unscaledValue", "java.math.BigInteger"), "toByteArray", None))
        case I.UUIDType():
            return _hash_bytes(bridge, bridge.expression(F.unhex(F.replace(column, F.lit("-"), F.lit("")))))
        case I.StringType() | I.BinaryType() | I.FixedType():
            return _hash_bytes(bridge, bridge.expression(column.cast("binary")))
        case _:
            raise UnsupportedError(f"Invalid source type {source} for transform: bucket")


def _hash_long(bridge: Bridge, column: Column) -> Column:
    int_type = bridge.type_module("IntegerType")
    seed = bridge.literal_class(0, int_type)
    return bridge.column(bridge.static_invoke(classes.MURMUR3, "hashLong", int_type, bridge.expression(column), seed))


def _hash_bytes(bridge: Bridge, data: JavaObject) -> Column:
    return bridge.column(bridge.static_invoke(classes.MURMUR3_OF_BYTES, "hash32x86", bridge.type_module("IntegerType"), data))


def _object(bridge: Bridge, target: JavaObject, method: str, class_name: str | None) -> JavaObject:
    returns = bridge.type_module("BinaryType") if class_name is None else bridge.object_type(class_name)
    return bridge.invoke(target, method, returns, propagate_null=True)


def _truncated(bridge: Bridge, width: int, source: I.Type, column: Column) -> Column:
    match source:
        case I.StringType():
            return F.substring(column, 1, width)
        case I.BinaryType() | I.FixedType():
            return F.substring(column, 1, width)
        case I.IntegerType():
            return _floored(bridge, "IntegerType", "java.lang.Integer", column.cast("int"), F.lit(width).cast("int"))
        case I.LongType():
            return _floored(bridge, "LongType", "java.lang.Long", column.cast("long"), F.lit(width).cast("long"))
        case I.DecimalType():
            return _floored_decimal(bridge, width, source, column)
        case _:
            raise UnsupportedError(f"Invalid source type {source} for transform: truncate")


def _floored(bridge: Bridge, type_name: str, boxed: str, column: Column, width: Column) -> Column:
    """``v - floorMod(v, width)``, wrapping below the type's minimum as Java does (so ANSI mode must not see a subtraction)."""
    type_ = bridge.type_module(type_name)
    value = bridge.expression(column)
    rest = bridge.column(bridge.static_invoke("java.lang.Math", "floorMod", type_, value, bridge.expression(width)))
    return bridge.column(bridge.static_invoke(boxed, "sum", type_, value, bridge.expression(-rest)))


def _floored_decimal(bridge: Bridge, width: int, source: I.DecimalType, column: Column) -> Column:
    """On the unscaled value; the result may need one digit more than its column has."""
    integer, decimal = "java.math.BigInteger", "java.math.BigDecimal"
    literal = bridge.literal_class(bridge.java_class("java.math.BigInteger").valueOf(width), bridge.object_type(integer))
    unscaled = _object(bridge, _object(bridge, bridge.expression(column), "toJavaBigDecimal", decimal), "unscaledValue", integer)
    rest = bridge.invoke(unscaled, "mod", bridge.object_type(integer), literal, propagate_null=True)
    floor = bridge.invoke(unscaled, "subtract", bridge.object_type(integer), rest, propagate_null=True)
    scale = bridge.literal_class(source.scale, bridge.type_module("IntegerType"))
    big = bridge.construct(decimal, floor, scale, propagate_null=True)
    returns = bridge.decimal_type(min(38, source.precision + 1), source.scale)
    return bridge.column(bridge.static_invoke(classes.DECIMAL, "apply", returns, big))


def _date(bridge: Bridge, source: I.Type, column: Column) -> Column:
    """The day of the value in UTC."""
    if isinstance(source, I.DateType):
        return column
    if isinstance(source, _NTZ):
        return column.cast("date")
    return F.date_from_unix_date(_floor_div(bridge, _micros(bridge, source, column), _MICROS_PER_DAY).cast("int"))


def _micros(bridge: Bridge, source: I.Type, column: Column) -> Column:
    """Microseconds since the epoch, without a time zone in the way."""
    return internal_long(bridge, column, bridge.type_module("TimestampNTZType" if isinstance(source, _NTZ) else "TimestampType"))


def _micros_of_day(bridge: Bridge, column: Column) -> Column:
    """From the nanoseconds that Spark holds; its functions over times want a setting of the session."""
    return _floor_div(bridge, internal_long(bridge, column, time_type(bridge)), 1000)


def _floor_div(bridge: Bridge, column: Column, divisor: int) -> Column:
    long_type = bridge.type_module("LongType")
    return bridge.column(
        bridge.static_invoke(
            "java.lang.Math", "floorDiv", long_type, bridge.expression(column), bridge.expression(F.lit(divisor).cast("long"))
        )
    )


# -- recognising --------------------------------------------------------------------------------------------------------

_CONVERSIONS = ("Cast", "UnixDate", "PreciseTimestampConversion", "Invoke", "Unhex", "StringReplace")


def recognise(node: Node) -> Reference | None:
    """The transform term a pushed Catalyst expression stands for, if ``transform_column`` built it."""
    match = _recognise(node)
    if match is None:
        return None
    transform, source = match
    name = column_name(source)
    return None if name is None else Reference(name, transform)


def _recognise(node: Node) -> tuple[Transform, Node] | None:
    match node.kind:
        case "Remainder":
            return _as_bucket(node)
        case "Substring":
            return _as_prefix(node)
        case "StaticInvoke":
            return _as_floor(node)
        case "DateFromUnixDate":
            return _as_time(node.children[0], DAY, _MICROS_PER_DAY)
        case "Cast":
            return _as_time(node, HOUR, _MICROS_PER_HOUR)
        case "Subtract":
            return _as_year(node) or _as_month(node)
        case _:
            return None


def _integer(node: Node) -> int | None:
    text = node.fields.get("value") if node.kind == "Literal" else None
    return int(text) if isinstance(text, str) and text.lstrip("-").isdigit() else None


def _calls(node: Node, *methods: str) -> bool:
    return node.kind == "StaticInvoke" and node.fields.get("functionName") in methods


def _as_bucket(node: Node) -> tuple[Transform, Node] | None:
    masked, count = node.children[0], _integer(node.children[1])
    if count is None or count <= 0 or masked.kind != "BitwiseAnd" or _integer(masked.children[1]) != _INT_MAX:
        return None
    hashed = masked.children[0]
    return (bucket(count), _unwrapped(hashed.children[0])) if _calls(hashed, "hashLong", "hash32x86") else None


def _unwrapped(node: Node) -> Node:
    """The column under the conversions that hashing puts around it."""
    while node.kind in _CONVERSIONS and node.children:
        node = node.children[0]
    return node


def _as_prefix(node: Node) -> tuple[Transform, Node] | None:
    start, length = _integer(node.children[1]), _integer(node.children[2])
    return (truncate(length), node.children[0]) if start == 1 and length is not None and length > 0 else None


def _as_floor(node: Node) -> tuple[Transform, Node] | None:
    if not _calls(node, "sum"):
        return None
    value, negated = node.children
    rest = negated.children[0] if negated.kind == "UnaryMinus" else negated
    width = _integer(rest.children[1]) if _calls(rest, "floorMod") else None
    return None if width is None or width <= 0 else (truncate(width), _unwrapped(value))


def _as_time(node: Node, transform: Transform, unit: int) -> tuple[Transform, Node] | None:
    inner = node.children[0] if node.kind == "Cast" else node
    if _calls(inner, "floorDiv") and _integer(inner.children[1]) == unit:
        return transform, _unwrapped(inner.children[0])
    return None


def _day_source(node: Node) -> Node | None:
    """The column whose UTC day ``node`` is."""
    if node.kind in ("AttributeReference", "GetStructField"):
        return node
    if node.kind == "Cast" and node.fields.get("dataType") == "date" and node.children[0].fields.get("dataType") == "timestamp_ntz":
        return node.children[0]
    day = _as_time(node.children[0], DAY, _MICROS_PER_DAY) if node.kind == "DateFromUnixDate" else None
    return None if day is None else day[1]


def _years_since_1970(node: Node) -> Node | None:
    if node.kind == "Subtract" and _integer(node.children[1]) == 1970 and node.children[0].kind == "Year":
        return _day_source(node.children[0].children[0])
    return None


def _as_year(node: Node) -> tuple[Transform, Node] | None:
    source = _years_since_1970(node)
    return None if source is None else (YEAR, source)


def _as_month(node: Node) -> tuple[Transform, Node] | None:
    total = node.children[0]
    if _integer(node.children[1]) != 1 or total.kind != "Add" or total.children[1].kind != "Month":
        return None
    years = total.children[0]
    if years.kind != "Multiply" or _integer(years.children[1]) != 12:
        return None
    source = _years_since_1970(years.children[0])
    return None if source is None else (MONTH, source)
