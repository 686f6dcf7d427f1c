"""Questions to Spark about a DataFrame, a Column or a type."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DataType

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.plans import analysed_plan, optimised_plan


def plan_physically(frame: DataFrame) -> None:
    """Physical planning, at which scans choose their files: Spark counts their partitions and reads no row."""
    execution = frame._jdf.queryExecution()
    execution.executedPlan()
    execution.toRdd().getNumPartitions()


def persist(frame: DataFrame, level: JavaObject) -> None:
    """``level``: a JVM storage level."""
    frame._jdf.persist(level)


def constants(frame: DataFrame) -> list[JavaObject]:
    """The columns of a query without tables as Catalyst literals; ``None`` for each that is no constant."""
    columns = optimised_plan(frame).expressions()
    values = [columns.apply(place).child() for place in range(columns.size())]
    return [value if value.nodeName() == "Literal" else None for value in values]


def only_constant(frame: DataFrame) -> JavaObject:
    """The Catalyst literal that a query of one column is; ``None`` where it is none, or not of one column."""
    plan = optimised_plan(frame)
    expressions = plan.expressions()
    value = expressions.head().child() if plan.nodeName() == "Project" and expressions.size() == 1 else None
    return value if value is not None and value.nodeName() == "Literal" else None


def has_only_aggregates(frame: DataFrame, functions: frozenset[str]) -> bool:
    """Whether the analysed query is one aggregation without groups, perhaps below projections, whose outputs are calls of ``functions``
    (Catalyst's names: ``Count``)."""
    plan = analysed_plan(frame)
    while plan.nodeName() != "Aggregate":
        if plan.children().size() != 1:
            return False
        plan = plan.children().head()
    if not plan.groupingExpressions().isEmpty():
        return False
    outputs = plan.aggregateExpressions()
    return all(_aggregate_function(outputs.apply(place)) in functions for place in range(outputs.size()))


def _aggregate_function(output: JavaObject) -> str | None:
    """The function that an output column is a call of; ``None`` where it is more, or none."""
    call = output.children().head() if output.nodeName() == "Alias" else output
    return str(call.aggregateFunction().nodeName()) if call.nodeName() == "AggregateExpression" else None


def column_text(column: Column) -> str:
    """As Spark prints it."""
    return str(column._jc.toString())


# -- types -------------------------------------------------------------------------------------------------------------
def type_ddl(spark: SparkSession, type_: DataType) -> str:
    """A struct's columns as DDL text."""
    return str(bridge_of(spark).jvm_type(type_).toDDL())


def default_size(spark: SparkSession, type_: DataType) -> int:
    """The bytes that Spark takes a value to have when it does not know."""
    return int(bridge_of(spark).jvm_type(type_).defaultSize())


def narrowing(frame: DataFrame, index: int, wanted: DataType) -> tuple[str, str] | None:
    """The SQL of a column's type and of ``wanted`` where values of the first may not fit into the second; else ``None``."""
    bridge = bridge_of(frame.sparkSession)
    return _narrowing(bridge, frame._jdf.schema().apply(index).dataType(), bridge.jvm_type(wanted))


def narrowing_to(spark: SparkSession, given: DataType, wanted: str) -> tuple[str, str] | None:
    """As ``narrowing``, for two types, ``wanted`` in SQL. Raises Spark's error where that is no type."""
    bridge = bridge_of(spark)
    return _narrowing(bridge, bridge.jvm_type(given), bridge.java_class(classes.DATA_TYPE).fromDDL(wanted))


def _narrowing(bridge: Bridge, given: JavaObject, wanted: JavaObject) -> tuple[str, str] | None:
    if bridge.java_class(classes.CAST).canUpCast(given, wanted):
        return None
    return str(given.sql()), str(wanted.sql())
