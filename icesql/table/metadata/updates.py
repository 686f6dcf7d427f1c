"""Metadata updates: the values of the REST protocol, and the pure functions that fold them into table metadata."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.spec.metadata import TableMetadata
from icesql.table.metadata.builder import MetadataBuilder
from icesql.table.metadata.update_values import (
    LAST_ADDED,
    AddEncryptionKey,
    AddPartitionSpec,
    AddSchema,
    AddSnapshot,
    AddSortOrder,
    AssignUuid,
    RemoveEncryptionKey,
    RemovePartitionSpecs,
    RemovePartitionStatistics,
    RemoveProperties,
    RemoveSchemas,
    RemoveSnapshotRef,
    RemoveSnapshots,
    RemoveStatistics,
    SetCurrentSchema,
    SetDefaultSortOrder,
    SetDefaultSpec,
    SetLocation,
    SetPartitionStatistics,
    SetProperties,
    SetSnapshotRef,
    SetStatistics,
    Update,
    UpgradeFormatVersion,
)

__all__ = [
    "LAST_ADDED",
    "AddEncryptionKey",
    "AddPartitionSpec",
    "AddSchema",
    "AddSnapshot",
    "AddSortOrder",
    "AssignUuid",
    "RemoveEncryptionKey",
    "RemovePartitionSpecs",
    "RemovePartitionStatistics",
    "RemoveProperties",
    "RemoveSchemas",
    "RemoveSnapshotRef",
    "RemoveSnapshots",
    "RemoveStatistics",
    "SetCurrentSchema",
    "SetDefaultSortOrder",
    "SetDefaultSpec",
    "SetLocation",
    "SetPartitionStatistics",
    "SetProperties",
    "SetSnapshotRef",
    "SetStatistics",
    "Update",
    "UpgradeFormatVersion",
    "apply",
    "fold",
]


def apply(metadata: TableMetadata, update: Update) -> TableMetadata:
    """The metadata with one update done; the same object if the update changes nothing. For ``LAST_ADDED`` ids use ``fold``.

    Raises ValidationError or InvalidArgumentError where the update cannot hold, CommitFailedError where it is based on an older version.
    """
    return fold(metadata, (update,))


def fold(metadata: TableMetadata, updates: Iterable[Update], *, now_ms: int | None = None) -> TableMetadata:
    """The metadata with all updates done in order, as one change; the same object if they change nothing. Raises as ``apply``."""
    return MetadataBuilder(metadata).apply_all(updates).build(now_ms=now_ms)
