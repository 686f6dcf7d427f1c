"""The one struct that holds partition tuples of every spec a table had. Java: ``Partitioning.partitionType``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.transforms import result_type
from icesql.spec.types import NestedField, StructType


def union_partition_type(metadata: TableMetadata) -> StructType:
    """Every partition field of every spec once, by field id ascending, under its newest name.

    Fields whose column the current schema lacks, that were void from the start, or whose transform is unknown are left out; a field
    that became void keeps its former type.
    Two fields that would share a name are told apart by their ids (``p_1003``), the newest keeping the name.
    """
    newest_first = sorted(metadata.partition_specs, key=lambda spec: spec.spec_id, reverse=True)
    fields: dict[int, PartitionField] = {}
    names: dict[int, str] = {}
    for spec in newest_first:
        for field in spec.fields:
            if field.source_id not in metadata.schema.fields_by_id:
                continue
            names.setdefault(field.field_id, field.name)
            if field.field_id not in fields or fields[field.field_id].transform.is_void:
                fields[field.field_id] = field
    taken: set[str] = set()
    shown: dict[int, str] = {}
    for field_id in sorted(fields, key=lambda i: (-_newest_spec(metadata, i), i)):
        name = names[field_id]
        shown[field_id] = f"{name}_{field_id}" if name in taken else name
        taken.add(shown[field_id])
    kept = [field for _, field in sorted(fields.items()) if not field.transform.is_void and field.transform.is_known]
    sources = metadata.schema.fields_by_id
    return StructType(tuple(NestedField(f.field_id, shown[f.field_id], result_type(f.transform, sources[f.source_id].type)) for f in kept))


def _newest_spec(metadata: TableMetadata, field_id: int) -> int:
    return max(spec.spec_id for spec in metadata.partition_specs if any(field.field_id == field_id for field in spec.fields))


def coercion(spec: PartitionSpec, union: StructType) -> Callable[[Sequence[object]], tuple[object, ...]]:
    """A function from a tuple of ``spec`` to one of the union struct; fields the spec lacks are null."""
    positions = {field.field_id: place for place, field in enumerate(spec.fields)}
    places = [positions.get(field.id) for field in union.fields]
    return lambda partition: tuple(None if place is None else partition[place] for place in places)
