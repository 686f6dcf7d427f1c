"""Folding updates: the rules of the reference's metadata builder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from icesql.errors import CommitFailedError, InvalidArgumentError, ValidationError
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, PartitionStatisticsFile, RefType, Snapshot, SnapshotRef, StatisticsFile
from icesql.spec.sorting import SortField, SortOrder
from icesql.spec.transforms import IDENTITY, bucket
from icesql.spec.types import IntegerType, LongType, NestedField, TimestampNanoType
from icesql.table.metadata import updates as u
from icesql.table.metadata.create import new_metadata
from tests.table.memory import BY_P, SCHEMA


def table(version: int = 2, spec: PartitionSpec = BY_P) -> TableMetadata:
    return new_metadata(SCHEMA, location="/t", spec=spec, format_version=version, now_ms=1)


def snapshot(snapshot_id: int, parent: int | None = None, *, sequence: int = 1, timestamp_ms: int = 10, **more: Any) -> Snapshot:
    return Snapshot(
        snapshot_id=snapshot_id,
        parent_snapshot_id=parent,
        sequence_number=sequence,
        timestamp_ms=timestamp_ms,
        manifest_list=f"/m/{snapshot_id}",
        summary={"operation": "append"},
        schema_id=0,
        **more,
    )


def on_main(metadata: TableMetadata, *ids: int) -> TableMetadata:
    for i in ids:
        parent, sequence = metadata.current_snapshot_id, metadata.last_sequence_number + 1
        added = u.AddSnapshot(snapshot(i, parent, sequence=sequence, timestamp_ms=10 * i))
        metadata = u.fold(metadata, [added, u.SetSnapshotRef(MAIN, SnapshotRef(snapshot_id=i))])
    return metadata


def test_an_update_that_changes_nothing_returns_the_same_metadata() -> None:
    base = table()
    nothing: list[u.Update] = [
        u.SetCurrentSchema(0),
        u.AddSchema(base.schema),
        u.SetLocation("/t"),
        u.RemoveProperties(("absent",)),
        u.UpgradeFormatVersion(2),
        u.RemoveSnapshotRef("absent"),
        u.RemoveSnapshots((7,)),
        u.AddPartitionSpec(base.spec),
        u.AddSortOrder(SortOrder()),
        u.RemoveStatistics(4),
    ]
    assert u.fold(base, nothing) is base


def test_a_schema_equal_to_an_old_one_is_reused() -> None:
    base = table()
    wider = Schema((*base.schema.fields, NestedField(4, "x", LongType())))
    changed = u.fold(base, [u.AddSchema(wider), u.SetCurrentSchema()])
    assert (changed.current_schema_id, changed.last_column_id) == (1, 4)
    back = u.fold(changed, [u.AddSchema(base.schema), u.SetCurrentSchema()])
    assert (back.current_schema_id, len(back.schemas), back.last_column_id) == (0, 2, 4)


def test_last_added_needs_an_addition() -> None:
    for update in (u.SetCurrentSchema(), u.SetDefaultSpec(), u.SetDefaultSortOrder()):
        with pytest.raises(ValidationError, match=r"Cannot set last added .*: no .* has been added"):
            u.apply(table(), update)


def test_unknown_ids_are_refused() -> None:
    for update in (u.SetCurrentSchema(9), u.SetDefaultSpec(9), u.SetDefaultSortOrder(9)):
        with pytest.raises(InvalidArgumentError, match="unknown"):
            u.apply(table(), update)


def test_specs_are_reused_and_partition_ids_never_fall() -> None:
    base = table()
    by_id = PartitionSpec(fields=(PartitionField(source_ids=(1,), field_id=1001, transform=bucket(4), name="id_bucket"),))
    changed = u.fold(base, [u.AddPartitionSpec(by_id), u.SetDefaultSpec()])
    assert (changed.default_spec_id, changed.last_partition_id) == (1, 1001)
    back = u.fold(changed, [u.AddPartitionSpec(base.spec), u.SetDefaultSpec()])
    assert (back.default_spec_id, back.last_partition_id, len(back.partition_specs)) == (0, 1001, 2)


def test_version_1_specs_need_sequential_ids() -> None:
    spec = PartitionSpec(fields=(PartitionField(source_ids=(1,), field_id=1005, transform=bucket(4), name="b"),))
    with pytest.raises(ValidationError, match="sequential IDs that are required in v1"):
        u.apply(table(1), u.AddPartitionSpec(spec))
    assert u.apply(table(2), u.AddPartitionSpec(spec)).last_partition_id == 1005


def test_dropping_the_source_of_a_partition_or_sort_field_is_refused() -> None:
    base = table()
    without_p = Schema(base.schema.fields[:2])
    with pytest.raises(ValidationError, match="Cannot find source column for partition field: 1000: p: identity\\(3\\)"):
        u.fold(base, [u.AddSchema(without_p), u.SetCurrentSchema()])
    order = SortOrder(order_id=1, fields=(SortField(source_ids=(2,), transform=IDENTITY),))
    sorted_ = u.fold(base, [u.AddSortOrder(order), u.SetDefaultSortOrder()])
    assert sorted_.default_sort_order_id == 1
    without_data = Schema((base.schema.fields[0], base.schema.fields[2]))
    with pytest.raises(ValidationError, match="Cannot find source column for sort field"):
        u.fold(sorted_, [u.AddSchema(without_data), u.SetCurrentSchema()])


def test_format_versions_only_rise() -> None:
    third = u.apply(table(1), u.UpgradeFormatVersion(3))
    assert (third.format_version, third.next_row_id) == (3, 0)
    with pytest.raises(InvalidArgumentError, match="Cannot downgrade v3 table to v2"):
        u.apply(third, u.UpgradeFormatVersion(2))
    with pytest.raises(InvalidArgumentError, match="Cannot upgrade table to unsupported format version: v4"):
        u.apply(third, u.UpgradeFormatVersion(4))


def test_types_of_a_later_version_are_refused() -> None:
    later = Schema((*SCHEMA.fields, NestedField(4, "n", TimestampNanoType())))
    with pytest.raises(InvalidArgumentError, match="Invalid schema for v2:\n- Invalid type for n: timestamp_ns is not supported until v3"):
        u.apply(table(), u.AddSchema(later))
    assert u.apply(table(3), u.AddSchema(later)).last_column_id == 4
    defaulted = Schema((*SCHEMA.fields, NestedField(4, "n", IntegerType(), initial_default=1)))
    with pytest.raises(InvalidArgumentError, match="Invalid initial default for n: non-null default"):
        u.apply(table(), u.AddSchema(defaulted))


def test_snapshot_ids_are_unique_and_sequence_numbers_rise() -> None:
    base = on_main(table(), 1)
    with pytest.raises(InvalidArgumentError, match="Snapshot already exists for id: 1"):
        u.apply(base, u.AddSnapshot(snapshot(1, 1, sequence=2)))
    with pytest.raises(CommitFailedError, match="Cannot add snapshot with sequence number 1 older than last sequence number 1"):
        u.apply(base, u.AddSnapshot(snapshot(2, 1, sequence=1)))


def test_row_ids_are_handed_out_once() -> None:
    base = table(3)
    with pytest.raises(ValidationError, match="first-row-id is null"):
        u.apply(base, u.AddSnapshot(snapshot(1)))
    first = u.apply(base, u.AddSnapshot(snapshot(1, first_row_id=0, added_rows=25)))
    assert first.next_row_id == 25
    with pytest.raises(CommitFailedError, match="first-row-id is behind table next-row-id: 24 < 25"):
        u.apply(first, u.AddSnapshot(snapshot(2, 1, sequence=2, first_row_id=24, added_rows=1)))


def test_main_and_the_current_snapshot_are_one() -> None:
    base = on_main(table(), 1, 2)
    assert (base.current_snapshot_id, base.refs[MAIN].snapshot_id) == (2, 2)
    assert [(e.snapshot_id, e.timestamp_ms) for e in base.snapshot_log] == [(1, 10), (2, 20)]
    gone = u.apply(base, u.RemoveSnapshotRef(MAIN))
    assert (gone.current_snapshot_id, dict(gone.refs), gone.snapshot_log) == (None, {}, ())
    with pytest.raises(ValidationError, match="Cannot set b to unknown snapshot: 9"):
        u.apply(base, u.SetSnapshotRef("b", SnapshotRef(snapshot_id=9)))
    with pytest.raises(ValidationError, match="main must be a branch"):
        u.apply(base, u.SetSnapshotRef(MAIN, SnapshotRef(snapshot_id=1, type=RefType.TAG)))


def test_snapshots_passed_over_in_one_change_leave_no_log_entry() -> None:
    updates: list[u.Update] = []
    for i in (1, 2, 3):
        updates += [u.AddSnapshot(snapshot(i, i - 1 or None, sequence=i)), u.SetSnapshotRef(MAIN, SnapshotRef(snapshot_id=i))]
    assert [e.snapshot_id for e in u.fold(table(), updates).snapshot_log] == [3]


def test_removing_a_snapshot_cuts_history_before_it() -> None:
    base = on_main(table(), 1, 2, 3, 4)
    left = u.apply(base, u.RemoveSnapshots((2,)))
    assert [e.snapshot_id for e in left.snapshot_log] == [3, 4]
    assert [s.snapshot_id for s in left.snapshots] == [1, 3, 4]


def test_removing_a_snapshot_takes_its_refs_and_statistics() -> None:
    base = on_main(table(), 1, 2)
    files = [
        u.SetStatistics(StatisticsFile(snapshot_id=i, statistics_path=f"/s/{i}", file_size_in_bytes=1, file_footer_size_in_bytes=1))
        for i in (1, 2)
    ]
    parts = [
        u.SetPartitionStatistics(PartitionStatisticsFile(snapshot_id=i, statistics_path=f"/p/{i}", file_size_in_bytes=1)) for i in (1, 2)
    ]
    base = u.fold(base, [*files, *parts, u.SetSnapshotRef("g", SnapshotRef(snapshot_id=1, type=RefType.TAG))])
    left = u.apply(base, u.RemoveSnapshots((1,)))
    assert (set(left.refs), [s.snapshot_id for s in left.statistics], [s.snapshot_id for s in left.partition_statistics]) == (
        {MAIN},
        [2],
        [2],
    )


def test_statistics_of_a_snapshot_are_replaced() -> None:
    base = on_main(table(), 1)
    one = StatisticsFile(snapshot_id=1, statistics_path="/a", file_size_in_bytes=1, file_footer_size_in_bytes=1)
    both = u.fold(base, [u.SetStatistics(one), u.SetStatistics(replace(one, statistics_path="/b"))])
    assert [s.statistics_path for s in both.statistics] == ["/b"]
    assert u.apply(both, u.RemoveStatistics(1)).statistics == ()


def test_what_is_in_use_cannot_be_removed() -> None:
    with pytest.raises(InvalidArgumentError, match="Cannot remove the default partition spec"):
        u.apply(table(), u.RemovePartitionSpecs((0,)))
    with pytest.raises(InvalidArgumentError, match="Cannot remove the current schema"):
        u.apply(table(), u.RemoveSchemas((0,)))


def test_last_updated_is_the_snapshots_time_or_now() -> None:
    assert u.apply(table(), u.AddSnapshot(snapshot(1, timestamp_ms=77))).last_updated_ms == 77
    assert u.fold(table(), [u.SetProperties({"a": "b"})], now_ms=99).last_updated_ms == 99
