"""Rows about manifests, shared by ``manifests`` and ``all_manifests``."""

from __future__ import annotations

from typing import Any

from icesql.spec.files import FieldSummary, ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.transforms import human_string
from icesql.spec.types import BooleanType, ListType, NestedField, StringType, StructType, Type, UnknownType
from icesql.spec.values.binary import from_bytes
from icesql.table.manifests.access import schema_for_spec
from icesql.table.metadata_tables.base import column


def summaries_column(field_id: int, *, required: bool, nan_required: bool) -> NestedField:
    element = StructType(
        (
            column(10, "contains_null", BooleanType(), required=True),
            column(11, "contains_nan", BooleanType(), required=nan_required),
            column(12, "lower_bound", StringType()),
            column(13, "upper_bound", StringType()),
        )
    )
    return column(field_id, "partition_summaries", ListType(9, element, True), required=required)


def manifest_row(metadata: TableMetadata, manifest: ManifestFile, *, nan_required: bool = False) -> dict[str, Any]:
    """Internal values by column name."""
    data = manifest.content is ManifestContent.DATA
    added, existing, deleted = manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count
    return {
        "content": int(manifest.content),
        "path": manifest.manifest_path,
        "length": manifest.manifest_length,
        "partition_spec_id": manifest.partition_spec_id,
        "added_snapshot_id": manifest.added_snapshot_id,
        "added_data_files_count": added if data else 0,
        "existing_data_files_count": existing if data else 0,
        "deleted_data_files_count": deleted if data else 0,
        "added_delete_files_count": 0 if data else added,
        "existing_delete_files_count": 0 if data else existing,
        "deleted_delete_files_count": 0 if data else deleted,
        "partition_summaries": _summaries(metadata, manifest, nan_required),
        "key_metadata": manifest.key_metadata,
    }


def _summaries(metadata: TableMetadata, manifest: ManifestFile, nan_required: bool) -> list[tuple[object, ...]]:
    spec = metadata.specs_by_id.get(manifest.partition_spec_id)
    if spec is None or manifest.partitions is None:
        return []
    schema, fields = schema_for_spec(metadata, spec), spec.fields
    rows: list[tuple[object, ...]] = []
    for field, summary in zip(fields, manifest.partitions, strict=False):
        source = schema.find(field.source_id)
        source_type: Type = UnknownType() if source is None else source.type
        result = UnknownType() if source is None else spec.partition_type(schema).fields[fields.index(field)].type
        nan = bool(summary.contains_nan) if nan_required else summary.contains_nan
        rows.append((summary.contains_null, nan, *_shown(field.transform, source_type, result, summary)))
    return rows


def _shown(transform: Any, source: Type, result: Type, summary: FieldSummary) -> tuple[str, str]:
    def shown(data: bytes | None) -> str:
        if data is None or isinstance(result, UnknownType):
            return "null"
        return human_string(transform, source, from_bytes(result, data))

    return shown(summary.lower_bound), shown(summary.upper_bound)
