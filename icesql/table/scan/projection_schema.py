"""The columns a read asks for, as a schema."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.errors import NotFoundError, nearest, unknown_case
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import ListType, MapType, NestedField, PrimitiveType, StructType, Type
from icesql.table.scan.metadata_columns import NAMES, metadata_column


def select_columns(schema: Schema, names: Iterable[str] | None, metadata: TableMetadata, *, case_sensitive: bool = True) -> Schema:
    """The columns in the order asked for; ``None`` means all of the table's own. A dotted name selects a nested field, inside its structs.

    A metadata column is selected by name if the table has no column of that name. Raises NotFoundError that names the nearest.
    """
    if names is None:
        return schema
    wanted: set[int] = set()
    order: dict[int, NestedField] = {}
    for name in names:
        field = schema.find(name, case_sensitive=case_sensitive)
        if field is None:
            reserved = metadata_column(metadata, name, case_sensitive=case_sensitive)
            if reserved is None:
                hint = nearest(name, [*schema.ids_by_name, *NAMES])
                raise NotFoundError(f"Cannot find field '{name}' in struct: {schema.as_struct()}.{hint}", field=name)
            order.setdefault(reserved.id, reserved)
            continue
        wanted.add(field.id)
        order.setdefault(_top_level(schema, field.id).id, _top_level(schema, field.id))
    fields = [pruned for field in order.values() if (pruned := _prune(field, wanted)) is not None]
    kept = tuple(i for i in schema.identifier_field_ids if i in {field.id for field in fields})
    return Schema(tuple(fields), schema.schema_id, kept)


def _top_level(schema: Schema, field_id: int) -> NestedField:
    while (parent := schema.parents.get(field_id)) is not None:
        field_id = parent
    return schema.fields_by_id[field_id]


def _prune(field: NestedField, wanted: set[int]) -> NestedField | None:
    """The field with the wanted parts only; whole if it is wanted itself, or is no column of the table."""
    if field.id in wanted or field.name in NAMES:
        return field
    type_ = _prune_type(field.type, wanted)
    if type_ is None:
        return None
    return NestedField(field.id, field.name, type_, field.required, field.doc, field.initial_default, field.write_default)


def _prune_type(type_: Type, wanted: set[int]) -> Type | None:
    match type_:
        case StructType(fields=fields):
            kept = tuple(pruned for field in fields if (pruned := _prune(field, wanted)) is not None)
            return StructType(kept) if kept else None
        case ListType():
            element = _prune(type_.element_field, wanted)
            return None if element is None else ListType(type_.element_id, element.type, type_.element_required)
        case MapType():
            if type_.key_id in wanted:
                return type_
            value = _prune(type_.value_field, wanted)
            return None if value is None else MapType(type_.key_id, type_.key, type_.value_id, value.type, type_.value_required)
        case PrimitiveType():
            return None
        case _:
            raise unknown_case(type_)


def with_columns(schema: Schema, field_ids: Iterable[int], source: Schema) -> Schema:
    """``schema`` and the top-level columns of ``source`` that contain further field ids, whole, so that each is read once."""
    fields = {field.id: field for field in schema.fields}
    for field_id in field_ids:
        if field_id in schema.fields_by_id or field_id not in source.fields_by_id:
            continue
        top = _top_level(source, field_id)
        fields[top.id] = top
    return Schema(tuple(fields.values()), schema.schema_id)
