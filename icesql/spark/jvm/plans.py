"""Catalyst plans: those of a DataFrame, questions to them, and new plans made of them.

An *analysed* plan is what the query says with every name resolved; an *optimised* one is what Spark will run. Making the optimised plan of
a frame fixes what the frame reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.catalyst_tree import Node, catalyst_tree, column_name
from icesql.spark.jvm.handles import JavaObject

_RELATIONS = ("LocalRelation", "LogicalRelation")


def analysed_plan(frame: DataFrame) -> JavaObject:
    return frame._jdf.queryExecution().analyzed()


def optimised_plan(frame: DataFrame) -> JavaObject:
    return frame._jdf.queryExecution().optimizedPlan()


def optimised_apart(frame: DataFrame) -> JavaObject:
    """The optimised plan of the frame's query; that of the frame itself is made when it runs, for what the table has then."""
    return optimised_plan(bridge_of(frame.sparkSession).frame(analysed_plan(frame)))


# -- questions ---------------------------------------------------------------------------------------------------------
def is_deterministic(frame: DataFrame) -> bool:
    """Whether computing the frame twice gives the same, as far as its expressions tell."""
    return bool(analysed_plan(frame).deterministic())


def computes_deterministically(frame: DataFrame, name: str | None = None) -> bool:
    """As ``is_deterministic``, for what the frame computes of a join, or for its column ``name`` alone: what is joined is not looked at."""
    plan = analysed_plan(frame)
    if plan.deterministic():
        return True
    while plan.children().size() == 1:
        expressions = plan.expressions()
        for column in map(expressions.apply, range(expressions.size())):
            is_meant = name is None or (column.nodeName() == "Alias" and column.name() == name)
            if is_meant and not column.deterministic():
                return False
        plan = plan.children().head()
    return True


def is_whole_relation(frame: DataFrame) -> bool:
    """Whether nothing filters, joins or groups the frame's rows, so that its size is what the optimiser takes it to be."""
    return bool(below_projects(optimised_plan(frame)).children().isEmpty())


def below_projects(plan: JavaObject) -> JavaObject:
    """The first node that is no projection."""
    while plan.nodeName() == "Project":
        plan = plan.children().head()
    return plan


def shows_whole(view: DataFrame, table: DataFrame) -> bool:
    """Whether a view shows a table as it is, as Spark's optimiser decides for a DELETE through the view: the view's optimised plan is the
    table's own, with all its rows, and its columns under their names and in their order."""
    plan, wanted = optimised_plan(view), optimised_plan(table)
    return _names(plan) == _names(wanted) and bool(_below_plain_projects(plan).sameResult(_below_plain_projects(wanted)))


def _names(plan: JavaObject) -> list[str]:
    output = plan.output()
    return [str(output.apply(place).name()) for place in range(output.size())]


def _below_plain_projects(plan: JavaObject) -> JavaObject:
    """What is below projections that give columns under their own names."""
    while plan.nodeName() == "Project" and all(map(_keeps_its_name, projected(plan))):
        plan = plan.child()
    return plan


def _keeps_its_name(expression: JavaObject) -> bool:
    inside = expression.child() if expression.nodeName() == "Alias" else expression
    return bool(inside.nodeName() == "AttributeReference" and expression.name() == inside.name())


def projected(project: JavaObject) -> list[JavaObject]:
    """The expressions of a projection."""
    expressions = project.projectList()
    return [expressions.apply(place) for place in range(expressions.size())]


def renames_nothing(plan: JavaObject) -> bool:
    """True if no projection makes or renames a column: an attribute's name is the name of a column of the relation at the bottom."""
    while plan.children().size() == 1:
        if plan.nodeName() == "Project" and any(column.nodeName() != "AttributeReference" for column in projected(plan)):
            return False
        plan = plan.children().head()
    return True


def filter_condition(plan: JavaObject) -> JavaObject | bool:
    """The condition of an optimised plan that is a filter over one relation: an expression, or True where there is no filter, or False
    where the optimiser saw that no row passes. ``None`` where the plan is anything else."""
    plan = below_projects(plan)
    if plan.nodeName() == "LocalRelation":
        return False if plan.data().size() == 0 else None
    if plan.nodeName() != "Filter":
        return True if str(plan.nodeName()).startswith("Relation") or plan.nodeName() == "LogicalRelation" else None
    return None if below_projects(plan.children().head()).children().size() else plan.condition()


def below_global_aggregate(plan: JavaObject) -> JavaObject | None:
    """What an aggregate without GROUP BY is over; ``None`` for any other plan."""
    is_global = plan.nodeName() == "Aggregate" and not plan.groupingExpressions().size()
    return plan.children().head() if is_global else None


def aggregate_columns(aggregate: JavaObject) -> list[Node]:
    """The output columns of an aggregate."""
    expressions = aggregate.aggregateExpressions()
    return [catalyst_tree(expressions.apply(place).toJSON()) for place in range(expressions.size())]


def relations_with_needs(bridge: Bridge, plan: JavaObject) -> Iterator[tuple[str, JavaObject, frozenset[str] | None]]:
    """(text of the file index, filters right above as a Seq, columns used) of each ``mapInArrow`` over files, subqueries included. Columns
    are dotted names, of fields of structs too; ``None``: all.

    ``plan`` is an optimised one: there a projection of the used columns stands right above, below filters at most.
    """
    waiting: list[tuple[JavaObject, JavaObject, frozenset[str] | None]] = [(plan, bridge.nil, None)]
    waiting += [(query, bridge.nil, None) for query in bridge.as_java(plan.subqueriesAll())]
    while waiting:
        node, filters, needed = waiting.pop()
        name = str(node.nodeName())
        if name == "MapInArrow" and (index := _file_index(node)) is not None:
            yield index, filters, needed
        above, columns = bridge.nil, None
        if name == "Filter":
            above = bridge.seq(node.condition())
            columns = None if needed is None else needed | _used(node)
        elif name in ("Project", "Aggregate"):
            columns = _used(node)
        waiting.extend((child, above, columns) for child in bridge.as_java(node.children()))


def _used(node: JavaObject) -> frozenset[str]:
    """The columns that a node's expressions are made of."""
    expressions = node.expressions()
    names: set[str] = set()
    for place in range(expressions.size()):
        expression = expressions.apply(place)
        if not expression.references().isEmpty():
            names.update(_columns(catalyst_tree(expression.toJSON())))
    return frozenset(names)


def _columns(node: Node) -> Iterator[str]:
    name = column_name(node)
    if name is not None:
        yield name
        return
    for child in node.children:
        yield from _columns(child)


def _file_index(node: JavaObject) -> str | None:
    """The text of the file index below a node of single children, ``None`` if it is not over files."""
    while node.children().size() == 1:
        node = node.children().head()
    return str(node.relation().location().toString()) if node.getClass().getSimpleName() == "LogicalRelation" else None


def output_attributes(frame: DataFrame) -> list[JavaObject]:
    """The frame's columns as Catalyst knows them, by place, whatever their names."""
    output = analysed_plan(frame).output()
    return [output.apply(place) for place in range(output.size())]


def local_rows(frame: DataFrame) -> JavaObject:
    """The rows of a frame over a local relation, as a Catalyst array."""
    array = bridge_of(frame.sparkSession).java_class(classes.GENERIC_ARRAY_DATA)
    return array(analysed_plan(frame).data())


# -- plans made --------------------------------------------------------------------------------------------------------
def under_name(bridge: Bridge, plan: JavaObject, parts: Sequence[str]) -> JavaObject:
    """The plan under a table's full name: its columns are found as ``c``, ``t.c``, ``db.t.c`` and ``catalog.db.t.c``."""
    identifier = bridge.java_class(classes.ALIAS_IDENTIFIER)(parts[-1], bridge.seq(*parts[:-1]))
    return bridge.java_class(classes.SUBQUERY_ALIAS)(identifier, plan)


def with_new_columns(bridge: Bridge, plan: JavaObject) -> JavaObject:
    """The same rows in columns of their own, analysed.

    Spark tells columns of two DataFrames apart by their ids (``a.join(b, a.id == b.parent)``). A relation gives itself new ones; else
    Spark's analyser does, to the right side of a join of a plan with itself.
    """
    if str(plan.nodeName()) in _RELATIONS:
        renewed = plan.newInstance()
    else:
        join, inner, no_hint, deduplicated = bridge.once(("self join",), lambda: _self_join(bridge))
        renewed = deduplicated(join(plan, plan, inner, bridge.none, no_hint)).right()
    renewed.setAnalyzed()
    return renewed


def _self_join(bridge: Bridge) -> tuple[JavaObject, JavaObject, JavaObject, JavaObject]:
    """What a join is made of, and what gives its right side columns of its own."""
    join_types, hints = bridge.java_class(classes.JOIN_TYPE), bridge.java_class(classes.JOIN_HINT)
    rule = bridge.module(classes.DEDUPLICATE_RELATIONS)
    return bridge.java_class(classes.JOIN), join_types.apply("inner"), hints.NONE(), rule.apply


def with_last_column_equal(bridge: Bridge, relation: JavaObject, value: JavaObject) -> JavaObject:
    """The rows of a relation whose last column equals an expression, without that column."""
    output = relation.output()
    condition = bridge.java_class(classes.EQUAL_TO)(output.last(), value)
    return bridge.java_class(classes.PROJECT)(output.init(), bridge.java_class(classes.FILTER)(condition, relation))


def rebalanced(frame: DataFrame, columns: Sequence[Column], partition_bytes: int) -> DataFrame:
    """Rows of equal columns brought together in partitions of about that size: small ones are merged, skewed ones split."""
    bridge = bridge_of(frame.sparkSession)
    keys = bridge.seq(*(bridge.expression(column) for column in columns))
    rebalance = bridge.java_class(classes.REBALANCE_PARTITIONS)
    return bridge.frame(rebalance(keys, analysed_plan(frame), bridge.none, _some_long(bridge, partition_bytes)))


def range_partitioned(frame: DataFrame, order: Sequence[Column], partition_bytes: int) -> DataFrame:
    """Rows in partitions of about that size by ranges of the order's columns."""
    bridge = bridge_of(frame.sparkSession)
    keys = bridge.seq(*(bridge.resolved_expression(column) for column in order))  # as sort orders, which ``expression`` only wraps
    repartition = bridge.java_class(classes.REPARTITION_BY_EXPRESSION)
    return bridge.frame(repartition(keys, analysed_plan(frame), bridge.none, _some_long(bridge, partition_bytes)))


def _some_long(bridge: Bridge, value: int) -> JavaObject:
    """``Some(value: Long)``; Py4J alone would make it an Integer."""
    optional = bridge.java_class("java.util.OptionalLong").of(value)
    return bridge.java_class(classes.OPTION_CONVERTERS).toScala(optional)


def empty_frame(spark: SparkSession, schema: StructType) -> DataFrame:
    """A frame without rows, in exactly that schema."""
    bridge = bridge_of(spark)
    return DataFrame(bridge.session.createDataFrame(bridge.java_class("java.util.ArrayList")(), bridge.jvm_schema(schema)), spark)


def relation_frame(spark: SparkSession, relation: JavaObject) -> DataFrame:
    """A frame of all columns of a relation of files."""
    return DataFrame(bridge_of(spark).session.baseRelationToDataFrame(relation), spark)
