"""What is asked of a DataFrame's plans in the JVM, and of Columns and types."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType

from icesql.spark.jvm.bridge import bridge_of


def is_deterministic(frame: DataFrame) -> bool:
    return bool(frame._jdf.queryExecution().analyzed().deterministic())


def plan_physically(frame: DataFrame) -> None:
    """Physical planning, at which scans choose their files: partitions are asked for, no row is read."""
    execution = frame._jdf.queryExecution()
    execution.executedPlan()
    execution.toRdd().getNumPartitions()


def persist(frame: DataFrame, level: Any) -> None:
    """``level``: a JVM storage level."""
    frame._jdf.persist(level)


def constants(frame: DataFrame) -> list[Any]:
    """The columns of a query without tables as Catalyst literals; ``None`` for each that is no constant."""
    columns = frame._jdf.queryExecution().optimizedPlan().expressions()
    values = [columns.apply(place).child() for place in range(columns.size())]
    return [value if value.nodeName() == "Literal" else None for value in values]


def only_constant(frame: DataFrame) -> Any:
    """The Catalyst literal that a query of one column is; ``None`` where it is none, or not of one column."""
    plan = frame._jdf.queryExecution().optimizedPlan()
    expressions = plan.expressions()
    value = expressions.head().child() if plan.nodeName() == "Project" and expressions.size() == 1 else None
    return value if value is not None and value.nodeName() == "Literal" else None


def has_only_aggregates(frame: DataFrame, functions: frozenset[str]) -> bool:
    """Whether the analysed query is one aggregation without groups, perhaps below projections, whose outputs are calls of ``functions``
    (Catalyst's names: ``Count``)."""
    plan = frame._jdf.queryExecution().analyzed()
    while plan.nodeName() != "Aggregate":
        if plan.children().size() != 1:
            return False
        plan = plan.children().head()
    if not plan.groupingExpressions().isEmpty():
        return False
    outputs = plan.aggregateExpressions()
    return all(_aggregate_function(outputs.apply(place)) in functions for place in range(outputs.size()))


def _aggregate_function(output: Any) -> str | None:
    """The function that an output column is a call of; ``None`` where it is more, or none."""
    call = output.children().head() if output.nodeName() == "Alias" else output
    return str(call.aggregateFunction().nodeName()) if call.nodeName() == "AggregateExpression" else None


def column_text(column: Column) -> str:
    """As Spark prints it."""
    return str(column._jc.toString())


# -- types -------------------------------------------------------------------------------------------------------------
def type_ddl(spark: Any, type_: DataType) -> str:
    """A struct's columns as DDL text."""
    return str(bridge_of(spark).jvm_type(type_).toDDL())


def default_size(spark: Any, type_: DataType) -> int:
    """The bytes that Spark takes a value to have when it does not know."""
    return int(bridge_of(spark).jvm_type(type_).defaultSize())


def narrowing(frame: DataFrame, index: int, wanted: DataType) -> tuple[str, str] | None:
    """The SQL of a column's type and of ``wanted`` where values of the first may not fit into the second; else ``None``."""
    bridge = bridge_of(frame.sparkSession)
    given, type_ = frame._jdf.schema().apply(index).dataType(), bridge.jvm_type(wanted)
    if bridge.expressions.Cast.canUpCast(given, type_):
        return None
    return str(given.sql()), str(type_.sql())
