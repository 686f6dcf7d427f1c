"""What must hold between the parts of table metadata, whoever wrote it. Faults name the JSON path of the part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from icesql.spec.json.faults import JsonFault
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import CURRENT_SNAPSHOT_ID
from icesql.spec.snapshots import MAIN
from icesql.spec.transforms import Transform, can_transform
from icesql.spec.types import NestedField

_T = TypeVar("_T")


def check_metadata(metadata: TableMetadata) -> None:
    """Raises CorruptMetadataError (a JsonFault) for the first contradiction found."""
    for check in _CHECKS:
        check(metadata)


def _check_ids(metadata: TableMetadata) -> None:
    _unique(metadata.schemas, lambda schema: schema.schema_id, "schemas", "schema id")
    _unique(metadata.partition_specs, lambda spec: spec.spec_id, "partition-specs", "partition spec id")
    _unique(metadata.sort_orders, lambda order: order.order_id, "sort-orders", "sort order id")


def _unique(items: Sequence[_T], id_of: Callable[[_T], int], name: str, what: str) -> None:
    seen: set[int] = set()
    for position, item in enumerate(items):
        if (item_id := id_of(item)) in seen:
            raise JsonFault(f"{what} used twice: {item_id}", f"{name}[{position}]")
        seen.add(item_id)


def _check_defaults(metadata: TableMetadata) -> None:
    if metadata.current_schema_id not in metadata.schemas_by_id:
        raise JsonFault(f"unknown schema id: {metadata.current_schema_id}", "current-schema-id")
    if metadata.default_spec_id not in metadata.specs_by_id:
        raise JsonFault(f"unknown partition spec id: {metadata.default_spec_id}", "default-spec-id")
    if all(order.order_id != metadata.default_sort_order_id for order in metadata.sort_orders):
        raise JsonFault(f"unknown sort order id: {metadata.default_sort_order_id}", "default-sort-order-id")


def _check_column_ids(metadata: TableMetadata) -> None:
    for position, schema in enumerate(metadata.schemas):
        if schema.highest_field_id > metadata.last_column_id:
            raise JsonFault(f"last-column-id {metadata.last_column_id} is below field id {schema.highest_field_id}", f"schemas[{position}]")


def _check_sources(metadata: TableMetadata) -> None:
    """Only the default spec and order must fit the current schema: older ones may name columns dropped since."""
    spec_at = metadata.partition_specs.index(metadata.spec)
    for position, field in enumerate(metadata.spec.fields):
        if not field.transform.is_void:
            _check_source(metadata, field.transform, field.source_ids, f"partition-specs[{spec_at}].fields[{position}]")
    order_at = metadata.sort_orders.index(metadata.sort_order)
    for position, sort in enumerate(metadata.sort_order.fields):
        _check_source(metadata, sort.transform, sort.source_ids, f"sort-orders[{order_at}].fields[{position}]")


def _check_source(metadata: TableMetadata, transform: Transform, source_ids: tuple[int, ...], path: str) -> None:
    sources: list[NestedField] = []
    for source_id in source_ids:
        if (source := metadata.schema.find(source_id)) is None:
            raise JsonFault(f"unknown source id: {source_id}", f"{path}.source-id")
        sources.append(source)
    if len(sources) == 1 and not can_transform(transform, sources[0].type):
        raise JsonFault(f"invalid source type {sources[0].type} for transform: {transform}", f"{path}.transform")


def _check_snapshots(metadata: TableMetadata) -> None:
    last = metadata.last_sequence_number
    sequence_of = {snapshot.snapshot_id: snapshot.sequence_number for snapshot in metadata.snapshots}
    if len(sequence_of) != len(metadata.snapshots):
        _unique(metadata.snapshots, lambda snapshot: snapshot.snapshot_id, "snapshots", "snapshot id")
    are_ordered = True  # by their sequence numbers
    for position, snapshot in enumerate(metadata.snapshots):
        sequence, parent = snapshot.sequence_number, snapshot.parent_snapshot_id
        of_parent = 0 if parent is None else sequence_of.get(parent, 0)
        if of_parent < sequence <= last:
            continue
        if of_parent == sequence <= last:
            are_ordered = False
            continue
        if sequence < 0:
            why = f"sequence number {sequence} is negative"
        elif sequence > last:
            why = f"sequence number {sequence} is greater than last-sequence-number {last}"
        else:
            why = f"sequence number {sequence} goes back: that of parent {parent} is {of_parent}"
        raise JsonFault(why, f"snapshots[{position}].sequence-number")
    if not are_ordered:
        _check_ancestry(metadata)


def _check_ancestry(metadata: TableMetadata) -> None:
    """No snapshot descends from itself: whoever follows parents must come to an end. Rising sequence numbers say so already."""
    parents = {snapshot.snapshot_id: snapshot.parent_snapshot_id for snapshot in metadata.snapshots}
    ends: set[int | None] = {None}  # snapshots whose ancestry is known to end
    for position, snapshot in enumerate(metadata.snapshots):
        passed: dict[int, None] = {}
        at: int | None = snapshot.snapshot_id
        while at is not None and at not in ends:
            if at in passed:
                raise JsonFault(f"snapshot {at} is its own ancestor", f"snapshots[{position}].parent-snapshot-id")
            passed[at] = None
            at = parents.get(at)
        ends.update(passed)


def _check_snapshot_files(metadata: TableMetadata) -> None:
    if metadata.format_version == 1:
        return
    for position, snapshot in enumerate(metadata.snapshots):
        if snapshot.manifest_list is None and snapshot.sequence_number > 0:
            raise JsonFault("missing required field: manifest-list", f"snapshots[{position}]")


def _check_refs(metadata: TableMetadata) -> None:
    current, known = metadata.current_snapshot_id, metadata.snapshots_by_id
    if current is not None and current not in known:
        raise JsonFault(f"unknown snapshot id: {current}", CURRENT_SNAPSHOT_ID)
    for name, ref in metadata.refs.items():
        if ref.snapshot_id not in known:
            raise JsonFault(f"unknown snapshot id: {ref.snapshot_id}", f"refs.{name}.snapshot-id")
    main = metadata.refs.get(MAIN)
    if main is None:
        return
    if not main.is_branch:
        raise JsonFault("main is not a branch", "refs.main.type")
    if main.snapshot_id != current:
        shown = "not set" if current is None else current
        raise JsonFault(f"main branch {main.snapshot_id} does not match current-snapshot-id, which is {shown}", "refs.main")


def _check_row_ids(metadata: TableMetadata) -> None:
    """Spec: "Row Lineage"."""
    next_row_id = metadata.next_row_id
    if next_row_id is None:
        return
    if next_row_id < 0:
        raise JsonFault(f"next-row-id is negative: {next_row_id}", "next-row-id")
    for position, snapshot in enumerate(metadata.snapshots):
        first, added = snapshot.first_row_id, snapshot.added_rows
        if first is None:
            continue
        if added is None or first < 0 or added < 0:
            raise JsonFault(f"invalid row lineage: first-row-id {first}, added-rows {added}", f"snapshots[{position}]")
        if first + added > next_row_id:
            raise JsonFault(f"rows {first} to {first + added} are beyond next-row-id {next_row_id}", f"snapshots[{position}]")


def _check_location(metadata: TableMetadata) -> None:
    if not metadata.location:
        raise JsonFault("location is empty", "location")
    if metadata.last_sequence_number < 0:
        raise JsonFault(f"last-sequence-number is negative: {metadata.last_sequence_number}", "last-sequence-number")


_CHECKS: tuple[Callable[[TableMetadata], None], ...] = (
    _check_location,
    _check_ids,
    _check_defaults,
    _check_column_ids,
    _check_sources,
    _check_snapshots,
    _check_snapshot_files,
    _check_refs,
    _check_row_ids,
)
