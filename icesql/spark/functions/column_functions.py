"""Columns (``F.col("s.id") + 1``, user-defined functions, columns of a DataFrame) inside SQL text: each is a function without arguments
that Spark's analyser replaces by the Column's expression, which it then resolves where the call stands."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.expressions import leaf_kinds, resolved_in, unresolved, unresolved_names
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.plans import analysed_plan
from icesql.spark.jvm.session_catalog import drop_function, register_function
from icesql.table.after_commit import after_commit

_numbers = itertools.count(1)
_PREFIX = "__icesql_column_"


class ColumnFunctions:
    """A with-block: the functions are there until its end."""

    def __init__(self, spark: SparkSession) -> None:
        self._bridge = bridge_of(spark)
        self._names: list[str] = []

    def __enter__(self) -> ColumnFunctions:
        return self

    def __exit__(self, *exception: object) -> None:
        for name in self._names:
            with after_commit(f"drop temporary function {name}"):
                drop_function(self._bridge, name)

    def call(self, expression: JavaObject) -> str:
        """SQL text that stands for a Catalyst expression."""
        name = f"{_PREFIX}{next(_numbers)}"
        register_function(self._bridge, name, self._bridge.empty_map.updated(self._bridge.nil, expression))  # a map is a function
        self._names.append(name)
        return f"{name}()"

    def expression(self, column: Column | str) -> JavaObject:
        """The Catalyst expression of a Column; text is a column's name."""
        return self._bridge.resolved_expression(F.col(column) if isinstance(column, str) else column)

    def leaf_kinds(self, expression: JavaObject) -> frozenset[str]:
        """What the innermost parts of an expression are called in Catalyst: ``UnresolvedAttribute``, ``Literal``, ``ScalarSubquery`` ..."""
        return leaf_kinds(expression)

    def names(self, expression: JavaObject) -> Iterable[tuple[JavaObject, tuple[str, ...]]]:
        """The names in an expression that are not resolved yet, with their parts."""
        return unresolved_names(expression)

    def replaced(self, expression: JavaObject, by: Mapping[JavaObject, JavaObject]) -> JavaObject:
        """The expression with some of its names replaced."""
        rule = self._bridge.empty_map
        for name, instead in by.items():
            rule = rule.updated(name, instead)
        return expression.transform(rule) if by else expression

    def name(self, parts: Sequence[str]) -> JavaObject:
        """A name for Spark to resolve."""
        return unresolved(self._bridge, *parts)

    def column_of(self, frame: DataFrame, parts: Sequence[str]) -> JavaObject:
        """What a name is among the columns of a frame, ``None`` if it is none. Raises Spark's error for an ambiguous one."""
        return resolved_in(self._bridge, analysed_plan(frame), tuple(parts))
