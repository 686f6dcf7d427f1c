"""Plans that ask Python something each time Spark optimises them.

Spark evaluates an expression without columns while it optimises, in the driver, and an expression may call an object of Java, which may
be one of Python. So a plan may hold a number that is known only when it runs; and a union may have sides of which only one is there then:

    Union(LeftSemi(side, Filter(<is this side the one?>, one row)), ...)

Before all else the optimiser makes one row, or none, of the filter, drops the joins with a row, and the sides without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

from icesql.spark.jvm.bridge import Bridge, bridge_of, guarded
from icesql.spark.jvm.local_rows import local_frame


@dataclass(frozen=True, slots=True)
class Question:
    """``answer`` is asked in Spark's thread; questions of one ``key`` are one to Spark."""

    key: str
    answer: Callable[[], Any]


def number_asked(bridge: Bridge, question: Question) -> Any:
    """The Catalyst expression of a number; Py4J hands it over as a long only if it is above 2**31."""
    return _asked(bridge, _Number(question), "getAsLong", bridge.type_module("LongType"))


def one_of(spark: SparkSession, sides: Sequence[tuple[Any, Question]]) -> DataFrame:
    """The rows of the one side whose question is answered with True. Sides are analysed logical plans with the same columns."""
    bridge = bridge_of(spark)
    parts = bridge.once(("one of",), lambda: _Parts(bridge))
    plans = [
        parts.if_so(plan, _asked(bridge, _Truth(question), "getAsBoolean", bridge.type_module("BooleanType"))) for plan, question in sides
    ]
    return bridge.frame(parts.union(bridge.seq(*plans), False, False))


def asked_rows(spark: SparkSession, question: Question, schema: StructType) -> DataFrame:
    """A frame of the rows that the answer, a Catalyst array of the JVM, holds."""
    bridge = bridge_of(spark)
    parts = bridge.once(("one of",), lambda: _Parts(bridge))
    rows = bridge.column(_asked(bridge, _Rows(question), "get", bridge.jvm_type(ArrayType(schema, False))))
    return parts.row.select(functions.inline(rows))


class _Parts:
    """What the plans are made of, looked up once."""

    def __init__(self, bridge: Bridge) -> None:
        plans = bridge.jvm.org.apache.spark.sql.catalyst.plans
        self.row = local_frame(bridge.spark, [(1,)], StructType([StructField("one", IntegerType())]))
        self._row = self.row._jdf.queryExecution().analyzed()
        self._filter, self._join, self._none = plans.logical.Filter, plans.logical.Join, bridge.none
        self._semi, self._no_hint = plans.JoinType.apply("leftsemi"), plans.logical.JoinHint.NONE()
        self.union = plans.logical.Union

    def if_so(self, plan: Any, condition: Any) -> Any:
        return self._join(plan, self._filter(condition, self._row), self._semi, self._none, self._no_hint)


class _Asked:
    """A Python object that Java calls; the methods have Java's names."""

    def __init__(self, question: Question) -> None:
        self._key = question.key
        self.getAsLong = self.getAsBoolean = self.get = guarded(question.answer)

    def hashCode(self) -> int:
        return hash(self._key) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self or (other is not None and str(other.toString()) == self._key)

    def toString(self) -> str:
        return self._key


class _Number(_Asked):
    class Java:
        implements = ["java.util.function.LongSupplier"]


class _Truth(_Asked):
    class Java:
        implements = ["java.util.function.BooleanSupplier"]


class _Rows(_Asked):
    class Java:
        implements = ["java.util.function.Supplier"]


def _asked(bridge: Bridge, asked: _Number | _Truth | _Rows, method: str, type_: Any) -> Any:
    target = bridge.literal_class(asked, bridge.object_type(asked.Java.implements[0]))
    return bridge.invoke(target, method, type_)
