"""Columns (``F.col("s.id") + 1``, user-defined functions, columns of a DataFrame) inside SQL text: each is a function without arguments
that Spark's analyser replaces by the Column's expression, which it then resolves where the call stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from icesql.spark.bridge import bridge_of
from icesql.table.after_commit import after_commit

_numbers = itertools.count(1)
_PREFIX = "__icesql_column_"


def drop_function(session: Any, name: str) -> None:
    """By Spark's catalog, which knows what the registry of this version of Spark calls it."""
    session.sessionState().catalog().dropTempFunction(name, True)


class ColumnFunctions:
    """A with-block: the functions are there until its end."""

    def __init__(self, spark: SparkSession) -> None:
        self._bridge = bridge_of(spark)
        self._session: Any = self._bridge.session
        self._registry = self._session.sessionState().functionRegistry()
        self._names: list[str] = []

    def __enter__(self) -> ColumnFunctions:
        return self

    def __exit__(self, *exception: object) -> None:
        for name in self._names:
            with after_commit(f"drop temporary function {name}"):
                drop_function(self._session, name)

    def call(self, expression: Any) -> str:
        """SQL text that stands for a Catalyst expression."""
        name = f"{_PREFIX}{next(_numbers)}"
        builder = self._empty_map().updated(self._bridge.nil, expression)  # a map is a function: from no arguments to the expression
        self._registry.createOrReplaceTempFunction(name, builder, "scala_udf")
        self._names.append(name)
        return f"{name}()"

    def expression(self, column: Any) -> Any:
        """The Catalyst expression of a Column; text is a column's name."""
        return self._session.expression((F.col(column) if isinstance(column, str) else column)._jc)

    def leaf_kinds(self, expression: Any) -> frozenset[str]:
        """What the innermost parts of an expression are called in Catalyst: ``UnresolvedAttribute``, ``Literal``, ``ScalarSubquery`` ..."""
        leaves = expression.collectLeaves()
        return frozenset(str(leaves.apply(place).nodeName()) for place in range(leaves.size()))

    def names(self, expression: Any) -> Iterator[tuple[Any, tuple[str, ...]]]:
        """The names in an expression that are not resolved yet, with their parts."""
        leaves = expression.collectLeaves()
        for place in range(leaves.size()):
            leaf = leaves.apply(place)
            if leaf.nodeName() == "UnresolvedAttribute":
                parts = leaf.nameParts()
                yield leaf, tuple(str(parts.apply(at)) for at in range(parts.size()))

    def replaced(self, expression: Any, by: Mapping[Any, Any]) -> Any:
        """The expression with some of its names replaced."""
        rule = self._empty_map()
        for name, instead in by.items():
            rule = rule.updated(name, instead)
        return expression.transform(rule) if by else expression

    def name(self, parts: Sequence[str]) -> Any:
        """A name for Spark to resolve."""
        return self._bridge.jvm.org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute(self._bridge.seq(*parts))

    def column_of(self, frame: DataFrame, parts: Sequence[str]) -> Any:
        """What a name is among the columns of a frame, ``None`` if it is none. Raises Spark's error for an ambiguous one."""
        plan: Any = frame._jdf.queryExecution().analyzed()
        found = plan.resolve(self._bridge.seq(*parts), self._session.sessionState().conf().resolver())
        if found.isEmpty():
            return None
        column = found.get()
        return column.child() if column.nodeName() == "Alias" else column

    def _empty_map(self) -> Any:
        return self._bridge.module("scala.collection.immutable.Map").empty()
