"""``system.bucket``, ``truncate``, ``years``, ``months``, ``days``, ``hours`` and ``iceberg_version`` as functions of a Spark session.

They are registered under names of our own at first use; the session writes those names into the text. Spark calls back while it analyses
a query, with arguments whose types are known, and gets an expression that it can compile and that filters are pushed through.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from icesql import __version__
from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.spark.functions.transforms import day_as_date, transform_column
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.callback_errors import guarded
from icesql.spark.jvm.expressions import integer_constant
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.session_catalog import register_function
from icesql.spec import types as I
from icesql.spec.case_folding import fold
from icesql.spec.transforms import DAY, HOUR, MONTH, YEAR, Transform, bucket, truncate

FUNCTIONS = ("bucket", "days", "hours", "iceberg_version", "months", "truncate", "years")
_PREFIX = "_icesql_"
_registered: weakref.WeakKeyDictionary[SparkSession, list[_Builder]] = weakref.WeakKeyDictionary()

_WHOLE = {"tinyint": 8, "smallint": 16, "int": 32}
_SOURCES: dict[str, I.Type] = {
    "tinyint": I.IntegerType(), "smallint": I.IntegerType(), "int": I.IntegerType(), "bigint": I.LongType(), "date": I.DateType(),
    "timestamp": I.TimestamptzType(), "timestamp_ntz": I.TimestampType(), "string": I.StringType(), "binary": I.BinaryType(),
}  # fmt: skip
_TIME = {"years": YEAR, "months": MONTH, "days": DAY, "hours": HOUR}
_TIME_SOURCES = ("date", "timestamp", "timestamp_ntz")
_BUCKETED = (*_SOURCES, "decimal")
_TRUNCATED = ("tinyint", "smallint", "int", "bigint", "decimal", "string", "binary")


def registered_name(spark: SparkSession, function: str) -> str:
    """The name by which this session calls one of ``FUNCTIONS`` (in any case); registers all of them at first use."""
    if spark not in _registered:
        builders = [(name, _Builder(spark, name)) for name in FUNCTIONS]
        for name, builder in builders:
            register_function(bridge_of(spark), _PREFIX + name, builder)
        _registered[spark] = [builder for _, builder in builders]
    return _PREFIX + fold(function)


class _Builder:
    """What Spark's registry asks for an expression: a Scala function of the arguments."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark, self._name = weakref.ref(spark), name
        self.apply = guarded(self._apply)

    def _apply(self, arguments: JavaObject) -> JavaObject:
        spark = self._spark()
        if spark is None:
            raise UnsupportedError("Cannot use Spark session: it was closed")
        column = _column(spark, self._name, [arguments.apply(i) for i in range(arguments.size())])
        return bridge_of(spark).resolved_expression(column)

    def toString(self) -> str:
        return f"icesql {self._name}"

    class Java:
        implements = ["scala.Function1"]


def _column(spark: SparkSession, name: str, arguments: list[JavaObject]) -> Column:
    bridge = bridge_of(spark)
    types = [str(argument.dataType().simpleString()) for argument in arguments]

    def refuse(why: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"Function '{name}' cannot process input: ({', '.join(types)}): {why}")

    if name == "iceberg_version":
        if arguments:
            raise refuse("Cannot bind: iceberg_version does not accept arguments")
        return F.lit(_version())
    if name in _TIME:
        return _time(spark, bridge, name, arguments, types, refuse)
    return _sized(spark, bridge, name, arguments, types, refuse)


Refuse = Callable[[str], InvalidArgumentError]


def _version() -> str:
    return f"icesql {__version__}"


def _time(spark: SparkSession, bridge: Bridge, name: str, arguments: list[JavaObject], types: list[str], refuse: Refuse) -> Column:
    if len(arguments) != 1:
        raise refuse("Wrong number of inputs (expected value)")
    if types[0] not in _TIME_SOURCES or (name == "hours" and types[0] == "date"):
        raise refuse(f"Expected value to be {'timestamp' if name == 'hours' else 'date or timestamp'}: {types[0]}")
    source, column = _SOURCES[types[0]], bridge.column(arguments[0])
    if name == "days":
        return day_as_date(spark, source, column)
    return transform_column(spark, _TIME[name], source, column)


def _sized(spark: SparkSession, bridge: Bridge, name: str, arguments: list[JavaObject], types: list[str], refuse: Refuse) -> Column:
    buckets = name == "bucket"
    if len(arguments) != 2:
        raise refuse(f"Wrong number of inputs (expected {'numBuckets' if buckets else 'width'} and value)")
    if types[0] not in _WHOLE:
        raise refuse(f"Expected {'number of buckets' if buckets else 'truncation width'} to be tinyint, shortint or int")
    kind = types[1].partition("(")[0]
    if kind not in (_BUCKETED if buckets else _TRUNCATED):
        raise refuse(
            "Expected column to be date, tinyint, smallint, int, bigint, decimal, timestamp, string, or binary"
            if buckets
            else "Expected truncation col to be tinyint, shortint, int, bigint, decimal, string, or binary"
        )
    width = _constant(bridge, arguments[0], refuse)
    if width is None:
        return F.lit(None).cast("int" if buckets else types[1])
    transform: Transform = bucket(width) if buckets else truncate(width)
    column = transform_column(spark, transform, _source(kind, types[1]), bridge.column(arguments[1]))
    return column if buckets else _as_given(column, kind, types[1])


def _source(kind: str, text: str) -> I.Type:
    if kind == "decimal":
        precision, scale = text[len("decimal(") : -1].split(",")
        return I.DecimalType(int(precision), int(scale))
    return _SOURCES[kind]


def _constant(bridge: Bridge, argument: JavaObject, refuse: Refuse) -> int | None:
    try:
        return integer_constant(bridge, argument)
    except ValueError:
        raise refuse("a number of buckets or a width that is no constant is not supported") from None


def _as_given(column: Column, kind: str, text: str) -> Column:
    """The result in the argument's own type. A truncated tinyint or smallint wraps below its minimum, as in Java."""
    if kind == "decimal":
        return column.cast(text)
    if kind not in ("tinyint", "smallint"):
        return column
    half = 1 << (_WHOLE[kind] - 1)
    return ((column + F.lit(half)).bitwiseAND(F.lit(2 * half - 1)) - F.lit(half)).cast(kind)
