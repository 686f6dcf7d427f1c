"""From one version of a table to another as updates of the REST protocol: what a catalog that folds them itself is sent.

A catalog that swaps files needs the metadata only; a REST catalog is told what changes, and what must still hold for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from icesql.spec.metadata import TableMetadata
from icesql.table.metadata import update_values as u
from icesql.table.metadata.requirements import AssertRefSnapshotId, Requirement, requirements_for


def updates_between(base: TableMetadata | None, metadata: TableMetadata) -> tuple[u.Update, ...]:
    """Updates that make ``metadata`` of ``base`` (``None``: of nothing), in an order in which each can be folded.

    What follows from folding is left out: sequence numbers, logs, times, the highest ids. Ids of schemas, specs and sort orders come out
    as they are in ``metadata`` if the catalog gives the next free one, as it must.
    """
    return (
        *_identity(base, metadata),
        *_schemas(base, metadata),
        *_specs(base, metadata),
        *_orders(base, metadata),
        *_place(base, metadata),
        *_keys(base, metadata),
        *_snapshots(base, metadata),
        *_statistics(base, metadata),
        *_removed_definitions(base, metadata),
    )


def requirements_between(base: TableMetadata | None, updates: Iterable[u.Update]) -> tuple[Requirement, ...]:
    """What must hold for the updates to be folded on another version than ``base``: as the reference asks, and, where snapshots or refs are
    removed, that every ref they were chosen by is where it was."""
    listed = tuple(updates)
    asked = dict.fromkeys(requirements_for(base, listed))
    if base is not None and any(isinstance(update, u.RemoveSnapshots | u.RemoveSnapshotRef) for update in listed):
        asked |= dict.fromkeys(AssertRefSnapshotId(name, ref.snapshot_id) for name, ref in base.refs.items())
    return tuple(asked)


def _identity(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    if base is None or base.table_uuid != metadata.table_uuid:
        yield u.AssignUuid(metadata.table_uuid)
    if base is None or base.format_version != metadata.format_version:
        yield u.UpgradeFormatVersion(metadata.format_version)


def _schemas(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    known = {} if base is None else base.schemas_by_id
    current = metadata.current_schema_id
    for schema in metadata.schemas:
        if schema.schema_id not in known:
            yield u.AddSchema(schema)
            if schema.schema_id == current:
                yield u.SetCurrentSchema()
    if base is not None and current in known and current != base.current_schema_id:
        yield u.SetCurrentSchema(current)


def _specs(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    known = {} if base is None else base.specs_by_id
    default = metadata.default_spec_id
    for spec in metadata.partition_specs:
        if spec.spec_id not in known:
            yield u.AddPartitionSpec(spec)
            if spec.spec_id == default:
                yield u.SetDefaultSpec()
    if base is not None and default in known and default != base.default_spec_id:
        yield u.SetDefaultSpec(default)


def _orders(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    known = set() if base is None else {order.order_id for order in base.sort_orders}
    default = metadata.default_sort_order_id
    for order in metadata.sort_orders:
        if order.order_id not in known:
            yield u.AddSortOrder(order)
            if order.order_id == default:
                yield u.SetDefaultSortOrder()
    if base is not None and default in known and default != base.default_sort_order_id:
        yield u.SetDefaultSortOrder(default)


def _place(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    if base is None or base.location != metadata.location:
        yield u.SetLocation(metadata.location)
    before: Mapping[str, str] = {} if base is None else base.properties
    added = {key: value for key, value in metadata.properties.items() if before.get(key) != value}
    removed = tuple(key for key in before if key not in metadata.properties)
    if added:
        yield u.SetProperties(added)
    if removed:
        yield u.RemoveProperties(removed)


def _keys(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    before = {} if base is None else {key.key_id: key for key in base.encryption_keys}
    after = {key.key_id: key for key in metadata.encryption_keys}
    yield from (u.AddEncryptionKey(key) for key_id, key in after.items() if key_id not in before)
    yield from (u.RemoveEncryptionKey(key_id) for key_id in before if key_id not in after)


def _snapshots(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    """Refs move before snapshots go: removing a snapshot removes the refs that still lead to it."""
    if base is not None and base.snapshots is metadata.snapshots and base.refs is metadata.refs:
        return
    before = {} if base is None else base.snapshots_by_id
    refs = {} if base is None else base.refs
    yield from (u.AddSnapshot(snapshot) for snapshot in metadata.snapshots if snapshot.snapshot_id not in before)
    yield from (u.SetSnapshotRef(name, ref) for name, ref in metadata.refs.items() if refs.get(name) != ref)
    yield from (u.RemoveSnapshotRef(name) for name in refs if name not in metadata.refs)
    removed = tuple(snapshot_id for snapshot_id in before if snapshot_id not in metadata.snapshots_by_id)
    if removed:
        yield u.RemoveSnapshots(removed)


def _statistics(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    """Files of snapshots that are gone went with them."""
    before = {} if base is None else {file.snapshot_id: file for file in base.statistics}
    after = {file.snapshot_id: file for file in metadata.statistics}
    yield from (u.SetStatistics(file) for snapshot_id, file in after.items() if before.get(snapshot_id) != file)
    yield from (u.RemoveStatistics(i) for i in before if i not in after and i in metadata.snapshots_by_id)
    before_parts = {} if base is None else {file.snapshot_id: file for file in base.partition_statistics}
    after_parts = {file.snapshot_id: file for file in metadata.partition_statistics}
    yield from (u.SetPartitionStatistics(file) for snapshot_id, file in after_parts.items() if before_parts.get(snapshot_id) != file)
    yield from (u.RemovePartitionStatistics(i) for i in before_parts if i not in after_parts and i in metadata.snapshots_by_id)


def _removed_definitions(base: TableMetadata | None, metadata: TableMetadata) -> Iterator[u.Update]:
    if base is None:
        return
    specs = tuple(spec_id for spec_id in base.specs_by_id if spec_id not in metadata.specs_by_id)
    schemas = tuple(schema_id for schema_id in base.schemas_by_id if schema_id not in metadata.schemas_by_id)
    if specs:
        yield u.RemovePartitionSpecs(specs)
    if schemas:
        yield u.RemoveSchemas(schemas)
