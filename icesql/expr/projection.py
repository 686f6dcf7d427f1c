"""Predicates over rows projected onto partition tuples. Spec: "Scan Planning" (inclusive projection), "Partition Transforms".

    inclusive: if a row matches the predicate, its partition tuple matches the projection   (prunes what cannot match)
    strict:    if a partition tuple matches the projection, every row in it matches          (proves that all rows match)

Both hold under three-valued logic: a projection that is null for a tuple counts as not matching.
"""

from __future__ import annotations

from collections.abc import Callable

from icesql.expr.binding import bind
from icesql.expr.rewrite import map_leaves
from icesql.expr.transform_projection import inclusive_leaf, strict_leaf
from icesql.expr.tree import BoundReference, Expression, Predicate, and_, or_
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import result_type
from icesql.spec.types import NestedField, UnknownType


def inclusive_projection(schema: Schema, spec: PartitionSpec, expression: Expression, case_sensitive: bool = True) -> Expression:
    """A bound tree over ``spec.partition_type(schema)`` that no partition tuple of a matching row fails; TRUE where nothing is known."""
    return map_leaves(bind(schema, expression, case_sensitive=case_sensitive), lambda leaf: project_inclusive(schema, spec, leaf))


def strict_projection(schema: Schema, spec: PartitionSpec, expression: Expression, case_sensitive: bool = True) -> Expression:
    """A bound tree over ``spec.partition_type(schema)``: rows of a tuple that matches it all match; FALSE where nothing is known."""
    return map_leaves(bind(schema, expression, case_sensitive=case_sensitive), lambda leaf: project_strict(schema, spec, leaf))


def project_inclusive(schema: Schema, spec: PartitionSpec, leaf: Predicate) -> Expression:
    """The inclusive projection of one bound leaf: the conjunction over all partition fields of its column."""
    return and_(*_projections(schema, spec, leaf, inclusive_leaf))


def project_strict(schema: Schema, spec: PartitionSpec, leaf: Predicate) -> Expression:
    """The strict projection of one bound leaf: the disjunction over all partition fields of its column."""
    return or_(*_projections(schema, spec, leaf, strict_leaf))


LeafProjection = Callable[[Predicate, PartitionField, BoundReference], Expression | None]


def _projections(schema: Schema, spec: PartitionSpec, leaf: Predicate, project: LeafProjection) -> list[Expression]:
    assert isinstance(leaf.term, BoundReference)
    projections = []
    for field in spec.fields:
        if len(field.source_ids) != 1 or field.source_id != leaf.term.field.id:
            continue
        projected = project(leaf, field, partition_reference(schema, field))
        if projected is not None:
            projections.append(projected)
    return projections


def partition_reference(schema: Schema, field: PartitionField) -> BoundReference:
    """The partition field as a column of the partition struct. ``unknown`` where the source column is gone."""
    source = schema.find(field.source_id)
    type_ = UnknownType() if source is None else result_type(field.transform, source.type)
    return BoundReference(NestedField(field.field_id, field.name, type_), type_, None, field.name)
