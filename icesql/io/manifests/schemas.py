"""The Avro schemas of manifests and manifest lists, per format version. Spec: "Manifests", "Manifest Lists", appendix A.

Field order and names follow the reference implementation; readers go by field id.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from icesql.errors import UnsupportedError
from icesql.io.avro.container import SchemaText
from icesql.spec.avro_schema import struct_to_avro
from icesql.spec.types import BinaryType, FixedType, StructType

MANIFEST_VERSIONS = (1, 2, 3)
V1_BLOCK_SIZE_BYTES = 64 * 1024 * 1024  # a required v1 column that nobody reads

# names -> ids, for files whose writer left the ids out; old spellings included
ENTRY_IDS = {"status": 0, "snapshot_id": 1, "data_file": 2, "sequence_number": 3, "file_sequence_number": 4}
DATA_FILE_IDS = {
    "content": 134,
    "file_path": 100,
    "file_format": 101,
    "partition": 102,
    "record_count": 103,
    "file_size_in_bytes": 104,
    "block_size_in_bytes": 105,
    "column_sizes": 108,
    "value_counts": 109,
    "null_value_counts": 110,
    "nan_value_counts": 137,
    "lower_bounds": 125,
    "upper_bounds": 128,
    "key_metadata": 131,
    "split_offsets": 132,
    "equality_ids": 135,
    "sort_order_id": 140,
    "first_row_id": 142,
    "referenced_data_file": 143,
    "content_offset": 144,
    "content_size_in_bytes": 145,
}
MANIFEST_FILE_IDS = {
    "manifest_path": 500,
    "manifest_length": 501,
    "partition_spec_id": 502,
    "added_snapshot_id": 503,
    "added_files_count": 504,
    "added_data_files_count": 504,
    "existing_files_count": 505,
    "existing_data_files_count": 505,
    "deleted_files_count": 506,
    "deleted_data_files_count": 506,
    "partitions": 507,
    "contains_null": 509,
    "lower_bound": 510,
    "upper_bound": 511,
    "added_rows_count": 512,
    "existing_rows_count": 513,
    "deleted_rows_count": 514,
    "sequence_number": 515,
    "min_sequence_number": 516,
    "content": 517,
    "contains_nan": 518,
    "key_metadata": 519,
    "first_row_id": 520,
}


def check_version(format_version: int) -> None:
    if format_version not in MANIFEST_VERSIONS:
        raise UnsupportedError(f"Cannot write manifest: unsupported format version: {format_version}", format_version=format_version)


def entry_schema(format_version: int, partition: StructType) -> dict[str, Any]:
    """Schema of ``manifest_entry``. Raises UnsupportedError for a version this engine does not write."""
    check_version(format_version)
    fields = [_required(0, "status", "int")]
    if format_version == 1:
        fields.append(_required(1, "snapshot_id", "long"))
    else:
        fields += [
            _optional(1, "snapshot_id", "long"),
            _optional(3, "sequence_number", "long"),
            _optional(4, "file_sequence_number", "long"),
        ]
    fields.append(_required(2, "data_file", data_file_schema(format_version, partition)))
    return {"type": "record", "name": "manifest_entry", "fields": fields}


@lru_cache(maxsize=256)
def entry_schema_text(format_version: int, partition: StructType) -> SchemaText:
    """``entry_schema`` as it is written. Kept: a table's commits write the same again and again."""
    return SchemaText(json.dumps(entry_schema(format_version, partition)))


@cache
def manifest_file_schema_text(format_version: int) -> SchemaText:
    """``manifest_file_schema`` as it is written."""
    return SchemaText(json.dumps(manifest_file_schema(format_version)))


def data_file_schema(format_version: int, partition: StructType) -> dict[str, Any]:
    """Schema of the ``data_file`` record; partition fields are optional whatever the struct says."""
    fields = [] if format_version == 1 else [_required(134, "content", "int")]
    fields += [
        _required(100, "file_path", "string"),
        _required(101, "file_format", "string"),
        _required(102, "partition", _partition_schema(partition)),
        _required(103, "record_count", "long"),
        _required(104, "file_size_in_bytes", "long"),
    ]
    if format_version == 1:
        fields.append(_required(105, "block_size_in_bytes", "long"))
    fields += [
        _optional(108, "column_sizes", _map(117, 118, "long")),
        _optional(109, "value_counts", _map(119, 120, "long")),
        _optional(110, "null_value_counts", _map(121, 122, "long")),
        _optional(137, "nan_value_counts", _map(138, 139, "long")),
        _optional(125, "lower_bounds", _map(126, 127, "bytes")),
        _optional(128, "upper_bounds", _map(129, 130, "bytes")),
        _optional(131, "key_metadata", "bytes"),
        _optional(132, "split_offsets", {"type": "array", "items": "long", "element-id": 133}),
    ]
    if format_version > 1:
        fields.append(_optional(135, "equality_ids", {"type": "array", "items": "int", "element-id": 136}))
    fields.append(_optional(140, "sort_order_id", "int"))
    if format_version == 2:
        fields.append(_optional(143, "referenced_data_file", "string"))
    if format_version >= 3:
        fields += [
            _optional(142, "first_row_id", "long"),
            _optional(143, "referenced_data_file", "string"),
            _optional(144, "content_offset", "long"),
            _optional(145, "content_size_in_bytes", "long"),
        ]
    return {"type": "record", "name": "r2", "fields": fields}


def _partition_schema(partition: StructType) -> Any:
    """Fixed values as ``bytes``: Java reads and writes them with a length, whatever the schema says (see ``java_fixed``)."""
    fields = tuple(replace(f, type=BinaryType()) if isinstance(f.type, FixedType) else f for f in partition.fields)
    return struct_to_avro(StructType(fields), "r102")


def manifest_file_schema(format_version: int) -> dict[str, Any]:
    """Schema of ``manifest_file``, an entry of a manifest list."""
    check_version(format_version)
    need = _optional if format_version == 1 else _required
    summary = {
        "type": "record",
        "name": "r508",
        "fields": [
            _required(509, "contains_null", "boolean"),
            _optional(518, "contains_nan", "boolean"),
            _optional(510, "lower_bound", "bytes"),
            _optional(511, "upper_bound", "bytes"),
        ],
    }
    fields = [
        _required(500, "manifest_path", "string"),
        _required(501, "manifest_length", "long"),
        _required(502, "partition_spec_id", "int"),
    ]
    if format_version > 1:
        fields += [
            _required(517, "content", "int"),
            _required(515, "sequence_number", "long"),
            _required(516, "min_sequence_number", "long"),
        ]
    fields.append(need(503, "added_snapshot_id", "long"))
    fields += [need(504 + i, f"{kind}_files_count", "int") for i, kind in enumerate(("added", "existing", "deleted"))]
    fields += [need(512 + i, f"{kind}_rows_count", "long") for i, kind in enumerate(("added", "existing", "deleted"))]
    fields.append(_optional(507, "partitions", {"type": "array", "items": summary, "element-id": 508}))
    fields.append(_optional(519, "key_metadata", "bytes"))
    if format_version >= 3:
        fields.append(_optional(520, "first_row_id", "long"))
    return {"type": "record", "name": "manifest_file", "fields": fields}


def _required(field_id: int, name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "field-id": field_id}


def _optional(field_id: int, name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", type_], "default": None, "field-id": field_id}


def _map(key_id: int, value_id: int, value: str) -> dict[str, Any]:
    item = {
        "type": "record",
        "name": f"k{key_id}_v{value_id}",
        "fields": [_required(key_id, "key", "int"), _required(value_id, "value", value)],
    }
    return {"type": "array", "logicalType": "map", "items": item}
