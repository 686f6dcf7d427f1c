"""What a query needs of the relations that Catalyst cannot see into: the filters right above each, and the columns that are used."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.catalyst_tree import Node, catalyst_tree, column_name
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.plans import file_index_below

Columns = frozenset[str] | None
"""Dotted names of columns, or of fields of structs; ``None``: all."""


def relations_with_needs(bridge: Bridge, plan: JavaObject) -> Iterator[tuple[str, JavaObject, Columns]]:
    """(text of the file index, filters right above as a Seq, columns used) of each ``mapInArrow`` over files, subqueries included.

    ``plan`` is an optimised one: there a projection of the used columns stands right above, below filters at most.
    """
    waiting: list[tuple[JavaObject, JavaObject, Columns]] = [(plan, bridge.nil, None)]
    waiting += [(query, bridge.nil, None) for query in bridge.as_java(plan.subqueriesAll())]
    while waiting:
        node, filters, needed = waiting.pop()
        name = str(node.nodeName())
        if name == "MapInArrow" and (index := file_index_below(node)) is not None:
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
    found: set[str] = set()
    for place in range(expressions.size()):
        expression = expressions.apply(place)
        if not expression.references().isEmpty():
            found.update(_columns(catalyst_tree(expression.toJSON())))
    return frozenset(found)


def _columns(node: Node) -> Iterator[str]:
    name = column_name(node)
    if name is not None:
        yield name
        return
    for child in node.children:
        yield from _columns(child)
