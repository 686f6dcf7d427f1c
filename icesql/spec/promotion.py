"""Which types a column may change to, and whether data of one schema fits another. Spec: "Schema Evolution"."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import Transform
from icesql.spec.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StructType,
    TimestampNanoType,
    TimestampType,
    Type,
    UnknownType,
)


def can_promote(source: Type, target: Type, format_version: int) -> bool:
    """True if a column of type ``source`` may become ``target`` (equal types included) in that format version.

    Whether a partition field forbids it is ``changes_partitioning``'s question.
    """
    if source == target:
        return isinstance(source, PrimitiveType)
    match source, target:
        case (IntegerType(), LongType()) | (FloatType(), DoubleType()):
            return True
        case DecimalType(), DecimalType():
            return target.scale == source.scale and target.precision >= source.precision
        case DateType(), (TimestampType() | TimestampNanoType()):
            return format_version >= 3
        case UnknownType(), PrimitiveType():
            return format_version >= 3
    return False


def changes_partitioning(transform: Transform, source: Type, target: Type) -> bool:
    """True if the transform gives other values once its source has been promoted; such a promotion is not allowed."""
    if source == target or not isinstance(source, DateType):
        return not transform.is_known and source != target
    return transform.name in ("identity", "bucket")


def partition_field_against(specs: tuple[PartitionSpec, ...], field_id: int, source: Type, target: Type) -> str | None:
    """Name of a partition field of any spec that forbids promoting the column ``field_id``, or ``None``."""
    for spec in specs:
        for field in spec.fields:
            if field_id in field.source_ids and changes_partitioning(field.transform, source, target):
                return field.name
    return None


def write_problems(table: Schema, data: Schema, *, check_nullability: bool = True, check_ordering: bool = False) -> tuple[str, ...]:
    """Why rows of ``data`` (ids as in ``table``) cannot be written to ``table``, one sentence a column; empty if they can.

    ``check_nullability``: optional data does not fit a required column. ``check_ordering``: struct fields must keep the table's order.
    """
    return tuple(_struct_problems(table.as_struct(), data.as_struct(), "", check_nullability, check_ordering))


def _struct_problems(table: StructType, data: StructType, prefix: str, nulls: bool, ordered: bool) -> Iterator[str]:
    given = {field.id: field for field in data.fields}
    positions = {field.id: position for position, field in enumerate(data.fields)}
    last, last_name = -1, ""
    for field in table.fields:
        name = prefix + field.name
        written = given.get(field.id)
        if written is None:
            if field.required and field.write_default is None:
                yield f"{name} is required, but is missing"
            continue
        if ordered and positions[field.id] < last:
            yield f"{name} is out of order, before {last_name}"
        last, last_name = positions[field.id], name
        yield from _field_problems(field, written, name, nulls, ordered)


def _field_problems(field: NestedField, written: NestedField, name: str, nulls: bool, ordered: bool) -> Iterator[str]:
    if nulls and field.required and not written.required:
        yield f"{name} should be required, but is optional"
    match field.type, written.type:
        case StructType() as table, StructType() as data:
            yield from _struct_problems(table, data, name + ".", nulls, ordered)
        case ListType() as table, ListType() as data:
            if nulls and table.element_required and not data.element_required:
                yield f"{name}: elements should be required, but are optional"
            yield from _field_problems(_loose(table.element_field), data.element_field, name + ".element", nulls, ordered)
        case MapType() as table, MapType() as data:
            if nulls and table.value_required and not data.value_required:
                yield f"{name}: values should be required, but are optional"
            yield from _field_problems(_loose(table.key_field), data.key_field, name + ".key", nulls, ordered)
            yield from _field_problems(_loose(table.value_field), data.value_field, name + ".value", nulls, ordered)
        case PrimitiveType() as wanted, PrimitiveType() as given:
            if not can_promote(given, wanted, 2) and not isinstance(given, UnknownType):
                yield f"{name}: {given} cannot be promoted to {wanted}"
        case _:
            yield f"{name}: {_kind(written.type)} cannot be read as a {_kind(field.type)}"


def _loose(field: NestedField) -> NestedField:
    return NestedField(field.id, field.name, field.type)


def _kind(type_: Type) -> str:
    match type_:
        case StructType():
            return "struct"
        case ListType():
            return "list"
        case MapType():
            return "map"
    return str(type_)
