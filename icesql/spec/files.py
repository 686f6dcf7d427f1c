"""What manifests and manifest lists hold, as values. Spec: "Manifests", "Manifest Lists".

These exist for files that survive planning or take part in a commit. Planning itself works on columns (``icesql.io.manifests.columns``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class FileContent(IntEnum):
    DATA = 0
    POSITION_DELETES = 1
    EQUALITY_DELETES = 2


class ManifestContent(IntEnum):
    DATA = 0
    DELETES = 1


class EntryStatus(IntEnum):
    EXISTING = 0
    ADDED = 1
    DELETED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A data or delete file. ``partition`` holds internal-form values in the order of the fields of spec ``spec_id``.

    Metric maps are keyed by field id; an absent map is empty. Bounds are single-value bytes (Spec: appendix D).
    ``file_format`` is lower case: parquet, avro, orc or puffin.
    """

    content: FileContent = FileContent.DATA
    file_path: str
    file_format: str
    spec_id: int = 0
    partition: tuple[object, ...] = ()
    record_count: int
    file_size_in_bytes: int
    column_sizes: Mapping[int, int] = field(default_factory=dict)
    value_counts: Mapping[int, int] = field(default_factory=dict)
    null_value_counts: Mapping[int, int] = field(default_factory=dict)
    nan_value_counts: Mapping[int, int] = field(default_factory=dict)
    lower_bounds: Mapping[int, bytes] = field(default_factory=dict)
    upper_bounds: Mapping[int, bytes] = field(default_factory=dict)
    key_metadata: bytes | None = None
    split_offsets: tuple[int, ...] = ()
    equality_ids: tuple[int, ...] = ()
    sort_order_id: int | None = None
    first_row_id: int | None = None
    referenced_data_file: str | None = None
    content_offset: int | None = None
    content_size_in_bytes: int | None = None

    @property
    def is_deletion_vector(self) -> bool:
        return self.content is FileContent.POSITION_DELETES and self.file_format == "puffin"

    @property
    def key(self) -> tuple[str, int | None]:
        """What tells files apart: the path, and for deletion vectors the offset of the blob in it."""
        return (self.file_path, self.content_offset if self.is_deletion_vector else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestEntry:
    """A file's state in a manifest.

    ``None`` ids and sequence numbers are inherited from the manifest. Spec: "Sequence Number Inheritance".
    """

    status: EntryStatus
    snapshot_id: int | None
    sequence_number: int | None = None
    file_sequence_number: int | None = None
    data_file: DataFile

    @property
    def is_live(self) -> bool:
        return self.status is not EntryStatus.DELETED


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSummary:
    """Summary of one partition field over a manifest. Bounds are single-value bytes, ``None`` where all values are null or NaN."""

    contains_null: bool
    contains_nan: bool | None = None
    lower_bound: bytes | None = None
    upper_bound: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """An entry of a manifest list. Counts are ``None`` where a v1 writer left them out."""

    manifest_path: str
    manifest_length: int
    partition_spec_id: int
    content: ManifestContent = ManifestContent.DATA
    sequence_number: int = 0
    min_sequence_number: int = 0
    added_snapshot_id: int | None = None
    added_files_count: int | None = None
    existing_files_count: int | None = None
    deleted_files_count: int | None = None
    added_rows_count: int | None = None
    existing_rows_count: int | None = None
    deleted_rows_count: int | None = None
    partitions: tuple[FieldSummary, ...] | None = None
    key_metadata: bytes | None = None
    first_row_id: int | None = None  # v3

    @property
    def has_added_files(self) -> bool:
        return self.added_files_count is None or self.added_files_count > 0

    @property
    def has_existing_files(self) -> bool:
        return self.existing_files_count is None or self.existing_files_count > 0

    @property
    def has_deleted_files(self) -> bool:
        return self.deleted_files_count is None or self.deleted_files_count > 0

    @property
    def has_live_files(self) -> bool:
        return self.has_added_files or self.has_existing_files
