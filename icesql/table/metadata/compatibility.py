"""Whether a schema, a partition spec and a sort order fit together. Error messages are the reference's."""

from __future__ import annotations

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.sorting import SortOrder
from icesql.spec.transforms import Transform, can_transform
from icesql.spec.types import (
    GeographyType,
    GeometryType,
    ListType,
    MapType,
    StructType,
    TimestampNanoType,
    TimestamptzNanoType,
    Type,
    UnknownType,
    VariantType,
)

_NESTED = (StructType, ListType, MapType)
_V3_TYPES = (TimestampNanoType, TimestamptzNanoType, UnknownType, VariantType, GeometryType, GeographyType)
DEFAULT_VALUES_MIN_FORMAT_VERSION = 3


def check_schema_supported(schema: Schema, format_version: int) -> None:
    """Raises InvalidArgumentError that lists every type and default the format version lacks. Spec: appendix E.

    Also raises it for a required field of type unknown, such as a map's key, whose values would all be null. Spec: "Primitive Types".
    """
    problems = []
    for name, field, _ in schema.walk():
        if field.required and isinstance(field.type, UnknownType):
            raise InvalidArgumentError(f"Cannot create required field with unknown type: {field.name}", column=name)
        if isinstance(field.type, _V3_TYPES) and format_version < 3:
            problems.append(f"Invalid type for {name}: {field.type} is not supported until v3")
        if field.initial_default is not None and format_version < DEFAULT_VALUES_MIN_FORMAT_VERSION:
            problems.append(f"Invalid initial default for {name}: non-null default ({field.initial_default}) is not supported until v3")
    if problems:
        lines = "\n- ".join(problems)
        raise InvalidArgumentError(f"Invalid schema for v{format_version}:\n- {lines}", schema=schema)


def check_spec(spec: PartitionSpec, schema: Schema) -> None:
    """Raises ValidationError if a partition field (void ones aside) lost its source, cannot take its type, or is in a list or map."""
    for field in spec.fields:
        if field.transform.is_void:
            continue
        for source_id in field.source_ids:
            source = schema.find(source_id)
            if source is None:
                described = f"{field.field_id}: {field.name}: {field.transform}({source_id})"
                raise ValidationError(f"Cannot find source column for partition field: {described}", field=field)
            check_partition_source(source.type)
            _refuse_repeated_source(source_id, schema, field)
            check_transform(field.transform, source.type)


def check_partition_source(source: Type) -> None:
    """Raises ValidationError for structs, lists and maps."""
    if isinstance(source, _NESTED):
        raise ValidationError(f"Cannot partition by non-primitive source field: {source}")


def _refuse_repeated_source(source_id: int, schema: Schema, field: PartitionField) -> None:
    """Raises ValidationError for a source inside a list or map, which has many values a row. Spec: "Partitioning"."""
    while (parent_id := schema.parents.get(source_id)) is not None:
        parent = schema.fields_by_id[parent_id]
        if not isinstance(parent.type, StructType):
            raise ValidationError(f"Invalid partition field parent: {parent.type}", field=field)
        source_id = parent_id


def check_sort_order(order: SortOrder, schema: Schema) -> None:
    """Raises ValidationError if a sort field lost its source column or cannot take its type."""
    for field in order.fields:
        for source_id in field.source_ids:
            source = schema.find(source_id)
            if source is None:
                described = f"{field.transform}({source_id}) {field.direction.name} {field.null_order.name.replace('_', ' ')}"
                raise ValidationError(f"Cannot find source column for sort field: {described}", field=field)
            if isinstance(source.type, _NESTED):
                raise ValidationError(f"Cannot sort by non-primitive source field: {source.type}", field=field)
            check_transform(field.transform, source.type)


def check_transform(transform: Transform, source: Type) -> None:
    if not can_transform(transform, source):
        raise ValidationError(f"Invalid source type {source} for transform: {transform}", transform=transform)


def check_term(transform: Transform, source: Type, name: str) -> None:
    """As ``check_transform``, for a column that a change of the spec or the sort order names. Accepts nested types: ``check_spec`` and
    ``check_sort_order`` refuse them with messages of their own.
    """
    if not (transform.is_identity and isinstance(source, _NESTED)) and not can_transform(transform, source):
        raise ValidationError(f"Cannot bind: {transform} cannot transform {source} values from '{name}'", transform=transform, column=name)


def check_partition_name(field: PartitionField, schema: Schema) -> None:
    """A partition name may equal a column's only for the identity of that column, or for another transform of that very column."""
    column = schema.find(field.name)
    if column is None or field.transform.is_void:
        return
    if field.transform.is_identity:
        if column.id != field.source_id:
            raise InvalidArgumentError(
                f"Cannot create identity partition sourced from different field in schema: {field.name}", name=field.name
            )
    elif column.id != field.source_id:
        raise InvalidArgumentError(f"Cannot create partition from name that exists in schema: {field.name}", name=field.name)


def describe(field: PartitionField) -> str:
    """``1000: ts_day: day(2)``"""
    return f"{field.field_id}: {field.name}: {field.transform}({field.source_id})"
