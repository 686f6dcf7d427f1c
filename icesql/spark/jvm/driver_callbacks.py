"""Driver callbacks: expressions in a plan whose value Python computes each time Spark optimises the plan.

Spark evaluates expressions without columns in the driver while it optimises, and an expression may call a method of a Java object, which
Py4J lets Python implement. So a plan may contain a number that is not known before it runs; and a union of which one side is chosen then:

    Union(LeftSemiJoin(side, Filter(<callback: is this side chosen?>, one row)), ...)

The optimiser first replaces each filter by one row or none. It then drops the join of the chosen side, and the other sides altogether.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.callback_errors import guarded
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.local_rows import local_frame
from icesql.spark.jvm.plans import analysed_plan


@dataclass(frozen=True, slots=True)
class DriverCallback:
    """``compute`` is called in a thread of Spark's. Callbacks of equal ``key`` are equal expressions to Spark."""

    key: str
    compute: Callable[[], Any]


def callback_number(bridge: Bridge, callback: DriverCallback) -> JavaObject:
    """The Catalyst expression of a number that Python gives; it must be above 2**31, or Py4J would hand it over as an Integer."""
    return _called(bridge, _Number(callback), "getAsLong", bridge.type_module("LongType"))


def chosen_side(spark: SparkSession, sides: Sequence[tuple[JavaObject, DriverCallback]]) -> DataFrame:
    """The rows of the one side whose callback gives True. Sides are analysed logical plans with the same columns."""
    bridge = bridge_of(spark)
    parts = bridge.once(("one of",), lambda: _Parts(bridge))
    plans = [
        parts.if_so(plan, _called(bridge, _Truth(callback), "getAsBoolean", bridge.type_module("BooleanType"))) for plan, callback in sides
    ]
    return bridge.frame(parts.union(bridge.seq(*plans), False, False))


def callback_rows(spark: SparkSession, callback: DriverCallback, schema: StructType) -> DataFrame:
    """A frame of the rows that the callback gives, as a Catalyst array."""
    bridge = bridge_of(spark)
    parts = bridge.once(("one of",), lambda: _Parts(bridge))
    rows = bridge.column(_called(bridge, _Rows(callback), "get", bridge.jvm_type(ArrayType(schema, False))))
    return parts.row.select(functions.inline(rows))


class _Parts:
    """What the plans are made of, looked up once."""

    def __init__(self, bridge: Bridge) -> None:
        self.row = local_frame(bridge.spark, [(1,)], StructType([StructField("one", IntegerType())]))
        self._row = analysed_plan(self.row)
        self._filter, self._join, self._none = bridge.java_class(classes.FILTER), bridge.java_class(classes.JOIN), bridge.none
        self._semi = bridge.java_class(classes.JOIN_TYPE).apply("leftsemi")
        self._no_hint = bridge.java_class(classes.JOIN_HINT).NONE()
        self.union = bridge.java_class(classes.UNION)

    def if_so(self, plan: JavaObject, condition: JavaObject) -> JavaObject:
        return self._join(plan, self._filter(condition, self._row), self._semi, self._none, self._no_hint)


class _JavaCallback:
    """A Python object that Java calls; the methods have Java's names."""

    def __init__(self, callback: DriverCallback) -> None:
        self._key = callback.key
        self.getAsLong = self.getAsBoolean = self.get = guarded(callback.compute)

    def hashCode(self) -> int:
        return hash(self._key) & 0x7FFFFFFF

    def equals(self, other: JavaObject) -> bool:
        return other is self or (other is not None and str(other.toString()) == self._key)

    def toString(self) -> str:
        return self._key


class _Number(_JavaCallback):
    class Java:
        implements = ["java.util.function.LongSupplier"]


class _Truth(_JavaCallback):
    class Java:
        implements = ["java.util.function.BooleanSupplier"]


class _Rows(_JavaCallback):
    class Java:
        implements = ["java.util.function.Supplier"]


def _called(bridge: Bridge, java_callback: _Number | _Truth | _Rows, method: str, type_: JavaObject) -> JavaObject:
    target = bridge.literal_class(java_callback, bridge.object_type(java_callback.Java.implements[0]))
    return bridge.invoke(target, method, type_)
