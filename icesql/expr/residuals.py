"""The part of a predicate still to test inside one partition: leaves that the partition tuple decides become TRUE or FALSE. Spec: "Scan
Planning".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from icesql.expr.binding import bind
from icesql.expr.evaluate import row_evaluator
from icesql.expr.projection import project_inclusive, project_strict
from icesql.expr.rewrite import map_leaves
from icesql.expr.tree import FALSE, TRUE, Expression, Predicate
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema

ResidualFunction = Callable[[Sequence[Any]], Expression]


def residual(
    spec: PartitionSpec, schema: Schema, expression: Expression, partition: Sequence[Any], *, case_sensitive: bool = True
) -> Expression:
    """A bound tree that keeps the same rows of the partition as ``expression``."""
    return residual_function(spec, schema, expression, case_sensitive=case_sensitive)(partition)


def residual_function(spec: PartitionSpec, schema: Schema, expression: Expression, *, case_sensitive: bool = True) -> ResidualFunction:
    """``residual`` for many partitions of one spec; equal partition tuples share one result."""
    bound = bind(schema, expression, case_sensitive=case_sensitive)
    if not spec.fields:
        return lambda partition: bound
    struct = spec.partition_type(schema)
    tests: dict[Predicate, tuple[Any, Any]] = {}

    def decide(leaf: Predicate, partition: Sequence[Any]) -> Expression:
        if leaf not in tests:
            tests[leaf] = (
                row_evaluator(struct, project_strict(schema, spec, leaf)),
                row_evaluator(struct, project_inclusive(schema, spec, leaf)),
            )
        all_match, may_match = tests[leaf]
        if all_match(partition):
            return TRUE
        return leaf if may_match(partition) else FALSE

    known: dict[tuple[Any, ...], Expression] = {}

    def function(partition: Sequence[Any]) -> Expression:
        key = tuple(partition)
        if key not in known:
            known[key] = map_leaves(bound, lambda leaf: decide(leaf, key))
        return known[key]

    return function
