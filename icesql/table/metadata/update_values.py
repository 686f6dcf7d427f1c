"""The metadata updates of the REST protocol as frozen values. What each does is in ``icesql.table.metadata.builder``.

A schema, spec or sort order id of ``LAST_ADDED`` (-1) means: the one added by the latest preceding Add* update of the same change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import EncryptedKey, PartitionStatisticsFile, Snapshot, SnapshotRef, StatisticsFile
from icesql.spec.sorting import SortOrder

LAST_ADDED = -1


@dataclass(frozen=True, slots=True)
class AssignUuid:
    uuid: str


@dataclass(frozen=True, slots=True)
class UpgradeFormatVersion:
    format_version: int


@dataclass(frozen=True, slots=True)
class AddSchema:
    """Add a schema, or reuse an equal one; the schema's own id is not kept."""

    schema: Schema


@dataclass(frozen=True, slots=True)
class SetCurrentSchema:
    schema_id: int = LAST_ADDED


@dataclass(frozen=True, slots=True)
class AddPartitionSpec:
    """Add a spec, or reuse a compatible one; the spec's own id is not kept, its field ids are."""

    spec: PartitionSpec


@dataclass(frozen=True, slots=True)
class SetDefaultSpec:
    spec_id: int = LAST_ADDED


@dataclass(frozen=True, slots=True)
class AddSortOrder:
    """Add an order, or reuse an equal one; the order's own id is not kept."""

    sort_order: SortOrder


@dataclass(frozen=True, slots=True)
class SetDefaultSortOrder:
    sort_order_id: int = LAST_ADDED


@dataclass(frozen=True, slots=True)
class AddSnapshot:
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class SetSnapshotRef:
    name: str
    ref: SnapshotRef


@dataclass(frozen=True, slots=True)
class RemoveSnapshots:
    """Drop snapshots, their statistics, and every ref that points to one of them."""

    snapshot_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RemoveSnapshotRef:
    """``keeps_log``: removing main keeps the snapshot log, as REPLACE TABLE needs. The REST protocol cannot express it."""

    name: str
    keeps_log: bool = False


@dataclass(frozen=True, slots=True)
class SetLocation:
    location: str


@dataclass(frozen=True, slots=True)
class SetProperties:
    updates: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RemoveProperties:
    removals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetStatistics:
    statistics: StatisticsFile


@dataclass(frozen=True, slots=True)
class RemoveStatistics:
    snapshot_id: int


@dataclass(frozen=True, slots=True)
class SetPartitionStatistics:
    statistics: PartitionStatisticsFile


@dataclass(frozen=True, slots=True)
class RemovePartitionStatistics:
    snapshot_id: int


@dataclass(frozen=True, slots=True)
class RemovePartitionSpecs:
    spec_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RemoveSchemas:
    schema_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AddEncryptionKey:
    key: EncryptedKey


@dataclass(frozen=True, slots=True)
class RemoveEncryptionKey:
    key_id: str


Update: TypeAlias = (
    AssignUuid
    | UpgradeFormatVersion
    | AddSchema
    | SetCurrentSchema
    | AddPartitionSpec
    | SetDefaultSpec
    | AddSortOrder
    | SetDefaultSortOrder
    | AddSnapshot
    | SetSnapshotRef
    | RemoveSnapshots
    | RemoveSnapshotRef
    | SetLocation
    | SetProperties
    | RemoveProperties
    | SetStatistics
    | RemoveStatistics
    | SetPartitionStatistics
    | RemovePartitionStatistics
    | RemovePartitionSpecs
    | RemoveSchemas
    | AddEncryptionKey
    | RemoveEncryptionKey
)
