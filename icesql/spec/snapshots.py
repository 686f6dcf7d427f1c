"""Snapshots, refs and the two logs of table metadata. Spec: "Snapshots", "Snapshot References"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

MAIN = "main"


class Operation(str, Enum):
    """What a snapshot did: the ``operation`` of its summary."""

    APPEND = "append"
    REPLACE = "replace"
    OVERWRITE = "overwrite"
    DELETE = "delete"


@dataclass(frozen=True, kw_only=True)  # no slots: readers of large documents set all fields at once (spec.snapshots_json)
class Snapshot:
    """One version of the table's contents. ``summary`` includes the ``operation`` key; v1 tables may have none."""

    snapshot_id: int
    parent_snapshot_id: int | None = None
    sequence_number: int = 0
    timestamp_ms: int = 0
    manifest_list: str | None = None
    manifests: tuple[str, ...] = ()  # v1 only: manifest paths named in the snapshot instead of a list
    summary: Mapping[str, str] = field(default_factory=dict)
    schema_id: int | None = None
    first_row_id: int | None = None  # v3
    added_rows: int | None = None  # v3
    key_id: str | None = None  # v3 encryption

    @property
    def operation(self) -> str | None:
        return self.summary.get("operation")


class RefType(str, Enum):
    BRANCH = "branch"
    TAG = "tag"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRef:
    """A branch or tag; ``None`` retention means the table's properties decide."""

    snapshot_id: int
    type: RefType = RefType.BRANCH
    min_snapshots_to_keep: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None

    @property
    def is_branch(self) -> bool:
        return self.type is RefType.BRANCH


@dataclass(frozen=True, kw_only=True)  # no slots, as Snapshot
class SnapshotLogEntry:
    snapshot_id: int
    timestamp_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataLogEntry:
    metadata_file: str
    timestamp_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobMetadata:
    type: str
    snapshot_id: int
    sequence_number: int
    fields: tuple[int, ...]
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsFile:
    """A Puffin file of table statistics. Spec: "Table Statistics"."""

    snapshot_id: int
    statistics_path: str
    file_size_in_bytes: int
    file_footer_size_in_bytes: int
    blob_metadata: tuple[BlobMetadata, ...] = ()
    key_metadata: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatisticsFile:
    snapshot_id: int
    statistics_path: str
    file_size_in_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptedKey:
    key_id: str
    encrypted_key_metadata: str  # base64
    encrypted_by_id: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
