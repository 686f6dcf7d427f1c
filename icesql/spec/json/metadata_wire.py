"""The JSON shapes of table metadata, as msgspec structs: field order and names are the document's. Spec: appendix C, "Table Metadata".

msgspec checks JSON types and ranges while it parses and names the path of a fault, at the speed a document of ten thousand
snapshots needs; schemas, specs and orders stay plain objects here and are read by ``types_json`` and ``specs_json``.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

Int = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Long = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
NO_SUMMARY = Raw(b"")


class _Wire(msgspec.Struct, rename="kebab", omit_defaults=True, gc=False):
    """Absent optional fields are ``None`` and are not written."""


class IdentityWire(_Wire, kw_only=True):
    """What tells one version of a table from another; all else is skipped."""

    table_uuid: str | None = None
    last_updated_ms: Long


class SnapshotWire(_Wire, kw_only=True):
    """``summary`` stays text: parsing thousands of them would take most of the time, and few are ever asked for."""

    sequence_number: Long | None = None
    snapshot_id: Long
    parent_snapshot_id: Long | None = None
    timestamp_ms: Long
    summary: Raw = NO_SUMMARY
    manifest_list: str | None = None
    manifests: list[str] | None = None
    schema_id: Int | None = None
    first_row_id: Long | None = None
    added_rows: Long | None = None
    key_id: str | None = None


class RefWire(_Wire, kw_only=True):
    snapshot_id: Long
    type: str
    min_snapshots_to_keep: Int | None = None
    max_snapshot_age_ms: Long | None = None
    max_ref_age_ms: Long | None = None


class SnapshotLogWire(_Wire, kw_only=True):
    timestamp_ms: Long
    snapshot_id: Long


class MetadataLogWire(_Wire, kw_only=True):
    timestamp_ms: Long
    metadata_file: str


class BlobWire(_Wire, kw_only=True):
    type: str
    snapshot_id: Long
    sequence_number: Long
    fields: list[Int]
    properties: dict[str, str] | None = None


class StatisticsWire(_Wire, kw_only=True):
    snapshot_id: Long
    statistics_path: str
    file_size_in_bytes: Long
    file_footer_size_in_bytes: Long
    key_metadata: str | None = None
    blob_metadata: list[BlobWire]


class PartitionStatisticsWire(_Wire, kw_only=True):
    snapshot_id: Long
    statistics_path: str
    file_size_in_bytes: Long


class EncryptedKeyWire(_Wire, kw_only=True):
    key_id: str
    encrypted_key_metadata: str
    encrypted_by_id: str | None = None
    properties: dict[str, str] | None = None


class VersionWire(_Wire, kw_only=True):
    """Enough of any document to see whether its version is supported."""

    format_version: Int


class TableWire(_Wire, kw_only=True):
    """``current_snapshot_id`` has three states: an id, null (v3: no snapshot) and absent."""

    format_version: Int
    table_uuid: str | None = None
    location: str
    last_sequence_number: Long | None = None
    last_updated_ms: Long
    last_column_id: Int
    schema: Any = None
    current_schema_id: Int | None = None
    schemas: list[Any] | None = None
    partition_spec: list[Any] | None = None
    default_spec_id: Int | None = None
    partition_specs: list[Any] | None = None
    last_partition_id: Int | None = None
    default_sort_order_id: Int | None = None
    sort_orders: list[Any] | None = None
    properties: dict[str, str] | None = None
    current_snapshot_id: Long | UnsetType | None = UNSET
    next_row_id: Long | None = None
    encryption_keys: list[EncryptedKeyWire] | None = None
    refs: dict[str, RefWire] | None = None
    snapshots: list[SnapshotWire] | None = None
    statistics: list[StatisticsWire] | None = None
    partition_statistics: list[PartitionStatisticsWire] | None = None
    snapshot_log: list[SnapshotLogWire] | None = None
    metadata_log: list[MetadataLogWire] | None = None
