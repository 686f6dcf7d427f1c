"""Spark's own rules by which a query's columns are made to fit a table's, with Spark's own errors."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.errors.exceptions import captured
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.plans import analysed_plan


def with_output(frame: DataFrame, expected: StructType, table_name: str, *, by_name: bool, fill: bool) -> DataFrame:
    """The frame with exactly the ``expected`` columns, whose metadata may name their ``CURRENT_DEFAULT``.

    ``fill``: columns that are not given get their defaults. Raises Spark's AnalysisException.
    """
    bridge = bridge_of(frame.sparkSession)
    resolver = bridge.module(classes.TABLE_OUTPUT_RESOLVER)
    filling = _default_filling(bridge, resolver, fill)
    attributes, plan = bridge.attributes(expected), analysed_plan(frame)
    return bridge.frame(resolver.resolveOutputColumns(table_name, attributes, plan, by_name, bridge.state.conf(), filling))


def _default_filling(bridge: Bridge, resolver: JavaObject, fill: bool) -> JavaObject:
    """Whether missing columns get their defaults, as the resolver wants to be told: a boolean up to Spark 4.1, a mode after it."""
    if isinstance(getattr(resolver, "resolveOutputColumns$default$6")(), bool):
        return fill
    modes = bridge.module(classes.DEFAULT_VALUE_FILL_MODE)
    return modes.FILL() if fill else modes.NONE()


def require_strict_policy(bridge: Bridge) -> None:
    """Raises Spark's error for the LEGACY policy, which tables of its second interface do not have."""
    if bridge.state.conf().storeAssignmentPolicy().toString() == "LEGACY":
        raise _raised(bridge.java_class(classes.QUERY_COMPILATION_ERRORS).legacyStoreAssignmentPolicyError())


def wrong_arity(frame: DataFrame, columns: Sequence[str], table_name: str) -> Exception:
    """Spark's error for a column list of another length than the query's output."""
    bridge = bridge_of(frame.sparkSession)
    errors = bridge.java_class(classes.QUERY_COMPILATION_ERRORS)
    is_more = len(frame.columns) > len(columns)
    make = errors.cannotWriteTooManyColumnsToTableError if is_more else errors.cannotWriteNotEnoughColumnsToTableError
    return _raised(make(table_name, bridge.seq(*columns), analysed_plan(frame).output()))


def _raised(throwable: JavaObject) -> Exception:
    """A JVM exception as PySpark raises one that the JVM has thrown."""
    error: Exception = captured.convert_exception(throwable)
    return error
