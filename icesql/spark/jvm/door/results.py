"""A statement's result as a plan that Spark's parser returns: a query's own plan, or the rows of a command that has run."""

from __future__ import annotations

from pyspark.sql import DataFrame

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.handles import JavaObject


def query_plan(frame: DataFrame) -> JavaObject:
    """The analysed plan; for a command, its rows: it has run when the frame was made. Commands of ours give local rows."""
    plan = frame._jdf.queryExecution().commandExecuted()
    return command_result(frame) if plan.nodeName() == "LocalRelation" else plan


def command_result(frame: DataFrame, shown: DataFrame | None = None) -> JavaObject:
    """The rows of a command that has run, as Spark has them of its own: nobody runs it again, and Spark Connect knows it for a command.

    Spark's shell prints the rows of the physical plan, which are those of ``shown`` where it is given.
    """
    bridge = bridge_of(frame.sparkSession)
    done = frame._jdf.queryExecution()
    plan = done.commandExecuted()
    if plan.nodeName() == "CommandResult":
        return plan
    physical = done.executedPlan()
    rows = [row.copy() for row in physical.executeCollect()]
    printed = physical if shown is None else shown._jdf.queryExecution().executedPlan()
    return bridge.java_class(classes.COMMAND_RESULT)(plan.output(), plan, printed, bridge.seq(*rows))
