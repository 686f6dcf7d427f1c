"""Table metadata as one frozen value. Spec: "Table Metadata". Its JSON form is in ``icesql.spec.json.metadata``.

A value never changes: every change is an update folded by ``icesql.table.metadata.updates.apply``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from icesql.errors import CorruptMetadataError, NotFoundError, nearest
from icesql.spec.partitioning import PARTITION_FIELD_ID_START, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import (
    MAIN,
    EncryptedKey,
    MetadataLogEntry,
    PartitionStatisticsFile,
    Snapshot,
    SnapshotLogEntry,
    SnapshotRef,
    StatisticsFile,
)
from icesql.spec.sorting import SortOrder

DEFAULT_FORMAT_VERSION = 2
SUPPORTED_FORMAT_VERSION = 3


@dataclass(frozen=True, kw_only=True)
class TableMetadata:
    """The state of a table. ``refs['main']`` always agrees with ``current_snapshot_id`` (None = no current snapshot)."""

    format_version: int
    table_uuid: str
    location: str
    last_sequence_number: int = 0
    last_updated_ms: int
    last_column_id: int
    current_schema_id: int
    schemas: tuple[Schema, ...]
    default_spec_id: int
    partition_specs: tuple[PartitionSpec, ...]
    last_partition_id: int = PARTITION_FIELD_ID_START - 1
    default_sort_order_id: int = 0
    sort_orders: tuple[SortOrder, ...] = (SortOrder(),)
    properties: Mapping[str, str] = field(default_factory=dict)
    current_snapshot_id: int | None = None
    snapshots: tuple[Snapshot, ...] = ()
    refs: Mapping[str, SnapshotRef] = field(default_factory=dict)
    snapshot_log: tuple[SnapshotLogEntry, ...] = ()
    metadata_log: tuple[MetadataLogEntry, ...] = ()
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[PartitionStatisticsFile, ...] = ()
    next_row_id: int | None = None  # v3
    encryption_keys: tuple[EncryptedKey, ...] = ()  # v3

    # -- lookups -------------------------------------------------------------------------------------------------
    @cached_property
    def schemas_by_id(self) -> dict[int, Schema]:
        return {schema.schema_id: schema for schema in self.schemas}

    @cached_property
    def specs_by_id(self) -> dict[int, PartitionSpec]:
        return {spec.spec_id: spec for spec in self.partition_specs}

    @cached_property
    def snapshots_by_id(self) -> dict[int, Snapshot]:
        return {snapshot.snapshot_id: snapshot for snapshot in self.snapshots}

    @property
    def schema(self) -> Schema:
        return self.schemas_by_id[self.current_schema_id]

    @property
    def spec(self) -> PartitionSpec:
        return self.specs_by_id[self.default_spec_id]

    @cached_property
    def sort_order(self) -> SortOrder:
        return next(order for order in self.sort_orders if order.order_id == self.default_sort_order_id)

    @property
    def current_snapshot(self) -> Snapshot | None:
        return None if self.current_snapshot_id is None else self.snapshots_by_id.get(self.current_snapshot_id)

    def snapshot(self, snapshot_id: int) -> Snapshot:
        """Raises NotFoundError for an unknown id."""
        snapshot = self.snapshots_by_id.get(snapshot_id)
        if snapshot is None:
            raise NotFoundError(f"Cannot find snapshot with ID {snapshot_id}", snapshot_id=snapshot_id)
        return snapshot

    def ref(self, name: str) -> SnapshotRef:
        """Raises NotFoundError that names the nearest branch or tag."""
        reference = self.refs.get(name)
        if reference is None:
            raise NotFoundError(f"Cannot find ref: {name}.{nearest(name, self.refs)}", ref=name)
        return reference

    def head(self, branch: str = MAIN) -> Snapshot | None:
        """The snapshot a branch or tag points to, ``None`` where it does not exist (or main is empty)."""
        ref = self.refs.get(branch)
        return None if ref is None else self.snapshots_by_id.get(ref.snapshot_id)

    def schema_of(self, snapshot: Snapshot) -> Schema:
        """The schema a snapshot was written with; the current one where the snapshot names none."""
        if snapshot.schema_id is None:
            return self.schema
        try:
            return self.schemas_by_id[snapshot.schema_id]
        except KeyError:
            raise CorruptMetadataError(
                f"Cannot find schema of snapshot {snapshot.snapshot_id}: unknown schema id: {snapshot.schema_id}"
            ) from None

    def ancestors(self, snapshot_id: int | None) -> Iterator[Snapshot]:
        """The snapshot and its known ancestors, newest first; stops where a parent was expired."""
        while snapshot_id is not None and (snapshot := self.snapshots_by_id.get(snapshot_id)) is not None:
            yield snapshot
            snapshot_id = snapshot.parent_snapshot_id

    def is_ancestor(self, snapshot_id: int, of: int | None) -> bool:
        return any(s.snapshot_id == snapshot_id for s in self.ancestors(of))
