"""A node or an operator that a visitor does not know is refused: a guess could skip a file or a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.expr.binding import bind
from icesql.expr.describe import describe
from icesql.expr.evaluate import row_evaluator, value_test
from icesql.expr.expr_json import expression_to_json
from icesql.expr.field_stats import FieldStats, may_match, must_match
from icesql.expr.manifests import manifest_evaluator, partition_evaluator
from icesql.expr.metrics import inclusive_metrics, strict_metrics
from icesql.expr.projection import inclusive_projection, strict_projection
from icesql.expr.residuals import residual
from icesql.expr.rewrite import conjuncts, leaves, map_leaves, push_not, satisfied
from icesql.expr.transform_projection import inclusive_leaf, strict_leaf
from icesql.expr.tree import And, BoundReference, Expression, Not, Op, Or, Predicate, Reference, not_
from icesql.io.arrow.filter import row_mask
from icesql.spec.files import DataFile, FileContent
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import parse_transform
from icesql.spec.types import LongType, NestedField, StringType
from icesql.spec.values.binary import to_bytes
from icesql.table.manifests.column_predicates import fold

ID, TEXT = NestedField(1, "id", LongType()), NestedField(2, "text", StringType())
SCHEMA = Schema((ID, TEXT))


def spec(transform: str, source: NestedField = ID) -> PartitionSpec:
    return PartitionSpec(fields=(PartitionField(source_ids=(source.id,), field_id=1000, transform=parse_transform(transform), name="p"),))


@dataclass(frozen=True, slots=True)
class Xor:
    """A node that no visitor knows."""

    left: Expression
    right: Expression


def unknown_operator() -> Op:
    member = str.__new__(Op, "glob")
    member._name_, member._value_ = "GLOB", "glob"
    return member


LEAF = Predicate(Op.EQ, Reference("id"), (1,))
UNKNOWN: Any = Xor(LEAF, LEAF)


def around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(lambda tree: And(LEAF, tree)),
        inner.map(lambda tree: And(tree, LEAF)),
        inner.map(lambda tree: Or(LEAF, tree)),
        inner.map(lambda tree: Or(tree, LEAF)),
        inner.map(Not),
    )


TREES = st.recursive(st.just(UNKNOWN), around, max_leaves=4)

WHOLE_TREE: dict[str, Callable[[Expression], object]] = {
    "bind": lambda tree: bind(SCHEMA, tree),
    "push_not": push_not,
    "map_leaves": lambda tree: map_leaves(tree, lambda leaf: leaf),
    "leaves": lambda tree: list(leaves(tree)),
    "row_evaluator": lambda tree: row_evaluator(SCHEMA, tree),
    "expression_to_json": expression_to_json,
    "operands": lambda tree: expression_to_json(tree, operands=True),
    "null_safe": lambda tree: expression_to_json(tree, null_safe=True),
    "describe": describe,
    "inclusive_metrics": lambda tree: inclusive_metrics(SCHEMA, tree),
    "strict_metrics": lambda tree: strict_metrics(SCHEMA, tree),
    "manifest_evaluator": lambda tree: manifest_evaluator(spec("identity"), SCHEMA, tree),
    "inclusive_projection": lambda tree: inclusive_projection(SCHEMA, spec("bucket[4]"), tree),
    "strict_projection": lambda tree: strict_projection(SCHEMA, spec("bucket[4]"), tree),
    "residual": lambda tree: residual(spec("identity"), SCHEMA, tree, (1,)),
    "row_mask": lambda tree: row_mask(pa.table({"id": [1], "text": ["a"]}), SCHEMA, tree),
}


@pytest.mark.parametrize("visitor", WHOLE_TREE.values(), ids=WHOLE_TREE)
@given(tree=TREES)
def test_no_visitor_passes_over_an_unknown_node(visitor: Callable[[Expression], object], tree: Expression) -> None:
    with pytest.raises(AssertionError, match="Unknown Xor"):
        visitor(tree)


ONE_NODE: dict[str, Callable[[Expression], object]] = {
    "satisfied": lambda tree: satisfied(tree, lambda leaf: False),
    "conjuncts": conjuncts,
    "not_": not_,
    "fold": lambda tree: fold(tree, lambda leaf: np.zeros(1, bool), 1),
    "partition_evaluator": lambda tree: partition_evaluator(spec("identity"), tree)(None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("visitor", ONE_NODE.values(), ids=ONE_NODE)
def test_bound_trees_too(visitor: Callable[[Expression], object]) -> None:
    with pytest.raises(AssertionError, match="Unknown Xor"):
        visitor(UNKNOWN)


# -- operators ---------------------------------------------------------------------------------------------------
def glob(field: NestedField = ID, literal: object = 1) -> Predicate:
    return Predicate(unknown_operator(), BoundReference(field, field.type, None, field.name), (literal,))


STATS = FieldStats(no_nulls=True, no_nans=True, lower=0, upper=9)
FILE = DataFile(
    content=FileContent.DATA,
    file_path="f",
    file_format="parquet",
    partition=(),
    record_count=10,
    file_size_in_bytes=1,
    value_counts={1: 10},
    null_value_counts={1: 0},
    lower_bounds={1: to_bytes(LongType(), 0)},
    upper_bounds={1: to_bytes(LongType(), 9)},
)

LEAVES: dict[str, Callable[[Predicate], object]] = {
    "value_test": lambda leaf: value_test(leaf)(1),
    "may_match": lambda leaf: may_match(leaf, STATS),
    "must_match": lambda leaf: must_match(leaf, STATS),
    "describe": describe,
    "inclusive_metrics": lambda leaf: inclusive_metrics(SCHEMA, leaf)(FILE),
    "strict_metrics": lambda leaf: strict_metrics(SCHEMA, leaf)(FILE),
    "row_evaluator": lambda leaf: row_evaluator(SCHEMA, leaf)((1, "a")),
    "row_mask": lambda leaf: row_mask(pa.table({"id": [1], "text": ["a"]}), SCHEMA, leaf),
    "residual": lambda leaf: residual(spec("identity"), SCHEMA, leaf, (1,)),
}


@pytest.mark.parametrize("visitor", LEAVES.values(), ids=LEAVES)
def test_no_visitor_guesses_an_unknown_operator(visitor: Callable[[Predicate], object]) -> None:
    with pytest.raises(AssertionError, match="Unknown Op"):
        visitor(glob())


def test_its_negation_is_not_guessed() -> None:
    with pytest.raises(KeyError):
        push_not(Not(glob()))


@pytest.mark.parametrize("transform", ["identity", "bucket[4]", "truncate[3]", "void"])
@pytest.mark.parametrize("project", [inclusive_leaf, strict_leaf])
@pytest.mark.parametrize(("field", "literal"), [(ID, 1), (TEXT, "a")], ids=["number", "text"])
def test_projections_know_nothing_of_it(transform: str, project: Any, field: NestedField, literal: object) -> None:
    """``None`` keeps every file; a leaf with the same operator is refused by whoever tests it."""
    partition_field = spec(transform, field).fields[0]
    target = BoundReference(field, field.type, None, "p")
    try:
        projected = project(glob(field, literal), partition_field, target)
    except AssertionError as error:
        assert "Unknown Op" in str(error)
    else:
        assert projected is None or projected.op == "glob"
