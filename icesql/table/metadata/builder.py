"""Folding updates into table metadata, with the rules of the reference's ``TableMetadata.Builder``.

The builder copies what it changes and gives frozen values; the one it began with never changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from icesql.errors import CommitFailedError, InvalidArgumentError, ValidationError
from icesql.spec.metadata import SUPPORTED_FORMAT_VERSION, TableMetadata
from icesql.spec.partitioning import PARTITION_FIELD_ID_START, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Snapshot, SnapshotLogEntry, SnapshotRef
from icesql.spec.sorting import SortOrder
from icesql.table.metadata import update_values as u
from icesql.table.metadata.compatibility import check_schema_supported, check_sort_order, check_spec

_T = TypeVar("_T")


class MetadataBuilder:
    """Metadata under change. ``apply`` folds one update; ``build`` gives the value so far and may be called between updates."""

    def __init__(self, base: TableMetadata) -> None:
        self.base = base
        self._metadata = base
        self._changed = False
        self._last_updated_ms: int | None = None
        self._last_added_schema: int | None = None
        self._last_added_spec: int | None = None
        self._last_added_order: int | None = None
        self._snapshots: dict[int, Snapshot] | None = None
        self._added_snapshots: set[int] = set()
        self._intermediate: set[int] = set()
        self._removed_snapshots = False

    # -- results -------------------------------------------------------------------------------------------------
    @property
    def format_version(self) -> int:
        return self._metadata.format_version

    @property
    def folded(self) -> TableMetadata:
        """What is folded so far, unchecked: a table that is being created may still lack its schema."""
        return self._metadata

    def apply_all(self, updates: Iterable[u.Update]) -> MetadataBuilder:
        for update in updates:
            self.apply(update)
        return self

    def build(self, *, now_ms: int | None = None) -> TableMetadata:
        """The metadata with all updates folded; ``base`` itself if none of them changed anything.

        Raises ValidationError if the default spec or sort order lost a source column.
        """
        if not self._changed:
            return self.base
        metadata = self._with_snapshots()
        check_spec(metadata.spec, metadata.schema)
        check_sort_order(metadata.sort_order, metadata.schema)
        if self._last_updated_ms is None:
            self._last_updated_ms = self._not_before_base() if now_ms is None else now_ms
        return replace(metadata, last_updated_ms=self._last_updated_ms, snapshot_log=self._valid_log(metadata))

    def _not_before_base(self) -> int:
        """The time, or the base's if the clock was set back: readers refuse a table older than its own history."""
        return max(_now_ms(), self.base.last_updated_ms)

    def _with_snapshots(self) -> TableMetadata:
        if self._snapshots is None:
            return self._metadata
        self._metadata = replace(self._metadata, snapshots=tuple(self._snapshots.values()))
        return self._metadata

    def _valid_log(self, metadata: TableMetadata) -> tuple[SnapshotLogEntry, ...]:
        """The snapshot log without snapshots that were never current, and without the history before a removed one."""
        passed = {i for i in self._intermediate if i != metadata.current_snapshot_id}
        if not passed and not self._removed_snapshots:
            return metadata.snapshot_log
        log: list[SnapshotLogEntry] = []
        known = metadata.snapshots_by_id
        for entry in metadata.snapshot_log:
            if entry.snapshot_id in known:
                if entry.snapshot_id not in passed:
                    log.append(entry)
            elif self._removed_snapshots:
                log.clear()
        current = metadata.current_snapshot_id
        if current in known and (not log or log[-1].snapshot_id != current):
            raise ValidationError("Cannot set invalid snapshot log: latest entry is not the current snapshot", snapshot_id=current)
        return tuple(log)

    def _set(self, **changes: object) -> None:
        self._metadata = replace(self._metadata, **changes)  # type: ignore[arg-type]
        self._changed = True

    # -- dispatch ------------------------------------------------------------------------------------------------
    def apply(self, update: u.Update) -> None:
        """Fold one update. Raises ValidationError where it cannot hold, CommitFailedError where a refresh could make it hold."""
        match update:
            case u.AssignUuid(uuid=uuid):
                self._assign_uuid(uuid)
            case u.UpgradeFormatVersion(format_version=version):
                self._upgrade(version)
            case u.AddSchema(schema=schema):
                self._add_schema(schema)
            case u.SetCurrentSchema(schema_id=schema_id):
                self._set_current_schema(schema_id)
            case u.AddPartitionSpec(spec=spec):
                self._add_spec(spec)
            case u.SetDefaultSpec(spec_id=spec_id):
                self._set_default_spec(spec_id)
            case u.AddSortOrder(sort_order=order):
                self._add_sort_order(order)
            case u.SetDefaultSortOrder(sort_order_id=order_id):
                self._set_default_sort_order(order_id)
            case u.AddSnapshot(snapshot=snapshot):
                self._add_snapshot(snapshot)
            case u.SetSnapshotRef(name=name, ref=ref):
                self._set_ref(name, ref)
            case u.RemoveSnapshots(snapshot_ids=snapshot_ids):
                self._remove_snapshots(frozenset(snapshot_ids))
            case u.RemoveSnapshotRef(name=name, keeps_log=keeps_log):
                self._remove_ref(name, keeps_log=keeps_log)
            case u.SetLocation(location=location):
                self._set_location(location)
            case u.SetProperties(updates=updates):
                self._set_properties(updates)
            case u.RemoveProperties(removals=removals):
                self._remove_properties(removals)
            case _:
                self._apply_rest(update)

    def _apply_rest(self, update: u.Update) -> None:
        metadata = self._metadata
        match update:
            case u.SetStatistics(statistics=file):
                kept = tuple(s for s in metadata.statistics if s.snapshot_id != file.snapshot_id)
                self._set(statistics=(*kept, file))
            case u.RemoveStatistics(snapshot_id=snapshot_id):
                self._set_if_shorter("statistics", metadata.statistics, lambda s: s.snapshot_id != snapshot_id)
            case u.SetPartitionStatistics(statistics=part_file):
                kept_parts = tuple(s for s in metadata.partition_statistics if s.snapshot_id != part_file.snapshot_id)
                self._set(partition_statistics=(*kept_parts, part_file))
            case u.RemovePartitionStatistics(snapshot_id=snapshot_id):
                self._set_if_shorter("partition_statistics", metadata.partition_statistics, lambda s: s.snapshot_id != snapshot_id)
            case u.RemovePartitionSpecs(spec_ids=spec_ids):
                if metadata.default_spec_id in spec_ids:
                    raise InvalidArgumentError("Cannot remove the default partition spec", spec_id=metadata.default_spec_id)
                self._set_if_shorter("partition_specs", metadata.partition_specs, lambda s: s.spec_id not in spec_ids)
            case u.RemoveSchemas(schema_ids=schema_ids):
                if metadata.current_schema_id in schema_ids:
                    raise InvalidArgumentError("Cannot remove the current schema", schema_id=metadata.current_schema_id)
                self._set_if_shorter("schemas", metadata.schemas, lambda s: s.schema_id not in schema_ids)
            case u.AddEncryptionKey(key=key):
                if all(k.key_id != key.key_id for k in metadata.encryption_keys):
                    self._set(encryption_keys=(*metadata.encryption_keys, key))
            case u.RemoveEncryptionKey(key_id=key_id):
                self._set_if_shorter("encryption_keys", metadata.encryption_keys, lambda k: k.key_id != key_id)
            case _:
                raise InvalidArgumentError(f"Cannot apply update: unknown update: {type(update).__name__}", update=update)

    def _set_if_shorter(self, name: str, items: tuple[_T, ...], keep: Callable[[_T], bool]) -> None:
        kept = tuple(item for item in items if keep(item))
        if len(kept) != len(items):
            self._set(**{name: kept})

    # -- identity and format -------------------------------------------------------------------------------------
    def _assign_uuid(self, uuid: str) -> None:
        if not uuid:
            raise InvalidArgumentError("Cannot set uuid to null")
        if uuid != self._metadata.table_uuid:
            self._set(table_uuid=uuid)

    def _upgrade(self, version: int) -> None:
        current = self._metadata.format_version
        if version > SUPPORTED_FORMAT_VERSION or version < 1:
            raise InvalidArgumentError(
                f"Cannot upgrade table to unsupported format version: v{version} (supported: v{SUPPORTED_FORMAT_VERSION})",
                format_version=version,
            )
        if version < current:
            raise InvalidArgumentError(f"Cannot downgrade v{current} table to v{version}", format_version=version)
        if version > current:
            next_row_id = (self._metadata.next_row_id or 0) if version >= 3 else None
            self._set(format_version=version, next_row_id=next_row_id)

    # -- schemas -------------------------------------------------------------------------------------------------
    def _add_schema(self, schema: Schema) -> None:
        metadata = self._metadata
        check_schema_supported(schema, metadata.format_version)
        known = next((s for s in metadata.schemas if s.same_columns(schema)), None)
        last_column_id = max(metadata.last_column_id, schema.highest_field_id)
        if known is not None:
            self._last_added_schema = known.schema_id
            if last_column_id != metadata.last_column_id:
                self._set(last_column_id=last_column_id)
            return
        schema_id = max((s.schema_id for s in metadata.schemas), default=-1) + 1
        added = replace(schema, schema_id=schema_id)
        self._set(schemas=(*metadata.schemas, added), last_column_id=last_column_id)
        self._last_added_schema = schema_id

    def _set_current_schema(self, schema_id: int) -> None:
        if schema_id == u.LAST_ADDED:
            if self._last_added_schema is None:
                raise ValidationError("Cannot set last added schema: no schema has been added")
            schema_id = self._last_added_schema
        if schema_id == self._metadata.current_schema_id:
            return
        if schema_id not in self._metadata.schemas_by_id:
            raise InvalidArgumentError(f"Cannot set current schema to unknown schema: {schema_id}", schema_id=schema_id)
        self._set(current_schema_id=schema_id)

    # -- specs and sort orders -----------------------------------------------------------------------------------
    def _add_spec(self, spec: PartitionSpec) -> None:
        metadata = self._metadata
        check_spec(spec, metadata.schema)
        known = next((s for s in metadata.partition_specs if _compatible(s, spec)), None)
        if known is not None:
            self._last_added_spec = known.spec_id
            return
        if metadata.format_version == 1 and not _has_sequential_ids(spec):
            raise ValidationError(f"Spec does not use sequential IDs that are required in v1: {spec}", spec=spec)
        spec_id = max((s.spec_id for s in metadata.partition_specs), default=-1) + 1
        self._set(
            partition_specs=(*metadata.partition_specs, replace(spec, spec_id=spec_id)),
            last_partition_id=max(metadata.last_partition_id, spec.last_field_id),
        )
        self._last_added_spec = spec_id

    def _set_default_spec(self, spec_id: int) -> None:
        if spec_id == u.LAST_ADDED:
            if self._last_added_spec is None:
                raise ValidationError("Cannot set last added spec: no spec has been added")
            spec_id = self._last_added_spec
        if spec_id == self._metadata.default_spec_id:
            return
        if spec_id not in self._metadata.specs_by_id:
            raise InvalidArgumentError(f"Cannot set default partition spec to unknown spec: {spec_id}", spec_id=spec_id)
        self._set(default_spec_id=spec_id)

    def _add_sort_order(self, order: SortOrder) -> None:
        metadata = self._metadata
        check_sort_order(order, metadata.schema)
        known = next((o for o in metadata.sort_orders if o.fields == order.fields), None)
        if known is not None:
            self._last_added_order = known.order_id
            return
        order_id = max(0, *(o.order_id for o in metadata.sort_orders), 0) + 1 if order.fields else 0
        self._set(sort_orders=(*metadata.sort_orders, replace(order, order_id=order_id)))
        self._last_added_order = order_id

    def _set_default_sort_order(self, order_id: int) -> None:
        if order_id == u.LAST_ADDED:
            if self._last_added_order is None:
                raise ValidationError("Cannot set last added sort order: no sort order has been added")
            order_id = self._last_added_order
        if order_id == self._metadata.default_sort_order_id:
            return
        if all(order.order_id != order_id for order in self._metadata.sort_orders):
            raise InvalidArgumentError(f"Cannot set default sort order to unknown sort order: {order_id}", order_id=order_id)
        self._set(default_sort_order_id=order_id)

    # -- snapshots and refs --------------------------------------------------------------------------------------
    def _known_snapshots(self) -> dict[int, Snapshot]:
        if self._snapshots is None:
            self._snapshots = dict(self._metadata.snapshots_by_id)
        return self._snapshots

    def _add_snapshot(self, snapshot: Snapshot) -> None:
        metadata, snapshots = self._metadata, self._known_snapshots()
        if snapshot.snapshot_id in snapshots:
            raise InvalidArgumentError(f"Snapshot already exists for id: {snapshot.snapshot_id}", snapshot_id=snapshot.snapshot_id)
        behind = snapshot.sequence_number <= metadata.last_sequence_number
        if metadata.format_version > 1 and behind and snapshot.parent_snapshot_id is not None:
            raise CommitFailedError(
                f"Cannot add snapshot with sequence number {snapshot.sequence_number} older than last sequence number "
                f"{metadata.last_sequence_number}"
            )
        next_row_id = self._row_id_after(snapshot)
        snapshots[snapshot.snapshot_id] = snapshot
        self._added_snapshots.add(snapshot.snapshot_id)
        self._last_updated_ms = snapshot.timestamp_ms
        sequence_number = snapshot.sequence_number if metadata.format_version > 1 else metadata.last_sequence_number
        self._set(last_sequence_number=sequence_number, next_row_id=next_row_id)

    def _row_id_after(self, snapshot: Snapshot) -> int | None:
        """``next-row-id`` after the snapshot's rows got their ids. Spec: "Row Lineage"."""
        metadata = self._metadata
        if metadata.format_version < 3:
            return metadata.next_row_id
        next_row_id = metadata.next_row_id or 0
        if snapshot.first_row_id is None:
            raise ValidationError("Cannot add a snapshot: first-row-id is null", snapshot_id=snapshot.snapshot_id)
        if snapshot.first_row_id < next_row_id:
            raise CommitFailedError(
                f"Cannot add a snapshot, first-row-id is behind table next-row-id: {snapshot.first_row_id} < {next_row_id}"
            )
        return next_row_id + (snapshot.added_rows or 0)

    def _set_ref(self, name: str, ref: SnapshotRef) -> None:
        metadata = self._metadata
        if metadata.refs.get(name) == ref:
            return
        snapshot = self._known_snapshots().get(ref.snapshot_id)
        if snapshot is None:
            raise ValidationError(f"Cannot set {name} to unknown snapshot: {ref.snapshot_id}", snapshot_id=ref.snapshot_id)
        if name == MAIN and not ref.is_branch:
            raise ValidationError("Cannot set main to a tag, main must be a branch", ref=name)
        if ref.snapshot_id in self._added_snapshots:
            self._last_updated_ms = snapshot.timestamp_ms
        refs = {**metadata.refs, name: ref}
        if name == MAIN:
            self._set(refs=refs, current_snapshot_id=ref.snapshot_id, snapshot_log=self._logged(ref.snapshot_id))
        else:
            self._set(refs=refs)

    def _logged(self, snapshot_id: int) -> tuple[SnapshotLogEntry, ...]:
        if self._last_updated_ms is None:
            self._last_updated_ms = self._not_before_base()
        if snapshot_id in self._added_snapshots:
            self._intermediate.add(snapshot_id)
        log = self._metadata.snapshot_log
        return (*log, SnapshotLogEntry(snapshot_id=snapshot_id, timestamp_ms=self._last_updated_ms))

    def _remove_ref(self, name: str, *, keeps_log: bool = False) -> None:
        metadata = self._metadata
        if name not in metadata.refs and not (name == MAIN and metadata.current_snapshot_id is not None):
            return
        refs = {key: ref for key, ref in metadata.refs.items() if key != name}
        if name == MAIN:
            self._set(refs=refs, current_snapshot_id=None, snapshot_log=metadata.snapshot_log if keeps_log else ())
        else:
            self._set(refs=refs)

    def _remove_snapshots(self, snapshot_ids: frozenset[int]) -> None:
        snapshots = self._known_snapshots()
        gone = snapshot_ids & snapshots.keys()
        if not gone:
            return
        self._snapshots = {key: s for key, s in snapshots.items() if key not in gone}
        self._removed_snapshots = True
        metadata = self._metadata
        self._set(
            statistics=tuple(s for s in metadata.statistics if s.snapshot_id not in gone),
            partition_statistics=tuple(s for s in metadata.partition_statistics if s.snapshot_id not in gone),
        )
        for name, ref in metadata.refs.items():
            if ref.snapshot_id in gone:
                self._remove_ref(name)

    # -- location and properties ---------------------------------------------------------------------------------
    def _set_location(self, location: str) -> None:
        if location != self._metadata.location:
            self._set(location=location)

    def _set_properties(self, updates: Mapping[str, str]) -> None:
        properties = {**self._metadata.properties, **updates}
        if properties != self._metadata.properties:
            self._set(properties=properties)

    def _remove_properties(self, removals: Iterable[str]) -> None:
        gone = set(removals) & self._metadata.properties.keys()
        if gone:
            self._set(properties={k: v for k, v in self._metadata.properties.items() if k not in gone})


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _compatible(left: PartitionSpec, right: PartitionSpec) -> bool:
    """Same sources, transforms and names, whatever the field ids."""
    return [(f.source_ids, f.transform, f.name) for f in left.fields] == [(f.source_ids, f.transform, f.name) for f in right.fields]


def _has_sequential_ids(spec: PartitionSpec) -> bool:
    return all(field.field_id == PARTITION_FIELD_ID_START + index for index, field in enumerate(spec.fields))
