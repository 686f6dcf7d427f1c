"""Incremental appends and changelogs, compared with the difference of what two snapshots show."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import InvalidArgumentError
from icesql.expr.tree import TRUE, And, Expression, Op, Predicate, Reference
from icesql.spec.partitioning import UNPARTITIONED
from icesql.table.scan.changelog import ChangelogScan
from icesql.table.scan.incremental import IncrementalAppendScan
from icesql.table.scan.snapshot_ranges import SnapshotRange, append_range, changelog_range
from icesql.table.scan.table_scan import TableScan
from tests.table.test_arrow_scan import BY_P, SCHEMA, RealForge, rows


def changes(forge: RealForge, after: int | None, to: int | None, where: Expression = TRUE, **more: Any) -> list[tuple[Any, ...]]:
    scan = ChangelogScan(forge.io, forge.metadata, SnapshotRange(after, to), where, **more)
    found = scan.to_arrow().to_pylist()
    return sorted((row["_commit_snapshot_id"], row["_change_ordinal"], row["_change_type"], row["id"]) for row in found)


def shown(forge: RealForge, snapshot_id: int | None) -> Counter[int]:
    if snapshot_id is None:
        return Counter()
    return Counter(TableScan(forge.io, forge.metadata, snapshot_id=snapshot_id).to_arrow().column("id").to_pylist())


def check_every_snapshot(forge: RealForge) -> None:
    """The changelog of each snapshot takes its parent's rows to its own."""
    for snapshot in forge.metadata.snapshots:
        state = shown(forge, snapshot.parent_snapshot_id)
        for _, _, change, row_id in changes(forge, snapshot.parent_snapshot_id, snapshot.snapshot_id):
            state[row_id] += 1 if change == "INSERT" else -1
        assert +state == shown(forge, snapshot.snapshot_id), snapshot
        assert all(count >= 0 for count in state.values())


def merge_on_read(tmp_path: Path) -> RealForge:
    forge = RealForge(tmp_path, SCHEMA, BY_P)
    forge.commit([forge.file("a1", rows(0, 10), ("a",)), forge.file("b1", rows(10, 15, "b"), ("b",))])
    forge.commit([forge.position_file("pd1", {"a1": [0, 9]}, ("a",))], operation="delete")
    forge.commit(
        [forge.file("a2", rows(20, 22), ("a",))], [forge.equality_file("eq", (1,), [{"id": 0}, {"id": 5}, {"id": 20}], ("a",))],
        operation="overwrite",
    )  # fmt: skip
    return forge


def test_merge_on_read_changes(tmp_path: Path) -> None:
    forge = merge_on_read(tmp_path)
    check_every_snapshot(forge)
    assert changes(forge, 100, 101) == [(101, 0, "DELETE", 0), (101, 0, "DELETE", 9)]
    assert changes(forge, 101, 102) == [(102, 0, "DELETE", 5), (102, 0, "INSERT", 20), (102, 0, "INSERT", 21)], "row 0 was gone before"
    assert [ordinal for _, ordinal, _, _ in changes(forge, 100, 102)] == [0, 0, 1, 1, 1]


def test_removed_files_show_only_rows_that_were_there(tmp_path: Path) -> None:
    forge = merge_on_read(tmp_path)
    a1 = next(e for m in forge.manifests for e in entries(forge, m) if "a1" in e.data_file.file_path)
    kept = [m for m in forge.manifests if not any("a1" in e.data_file.file_path for e in entries(forge, m))]
    forge.commit([forge.deleted(a1, 1), forge.file("a3", [*rows(1, 5), *rows(6, 9)], ("a",))], operation="replace", keep=kept)
    assert changes(forge, 102, 103) == [], "a rewrite changes nothing"
    forge.metadata = with_operation(forge, 103, "overwrite")
    found = changes(forge, 102, 103)
    assert [r for _, _, c, r in found if c == "DELETE"] == [1, 2, 3, 4, 6, 7, 8] == [r for _, _, c, r in found if c == "INSERT"]


def entries(forge: RealForge, manifest: Any) -> Any:
    from icesql.io.manifests.entries import read_manifest

    return read_manifest(forge.io, manifest, forge.metadata.specs_by_id)


def with_operation(forge: RealForge, snapshot_id: int, operation: str) -> Any:
    from dataclasses import replace

    made = tuple(replace(s, summary={"operation": operation}) if s.snapshot_id == snapshot_id else s for s in forge.metadata.snapshots)
    return replace(forge.metadata, snapshots=made)


def test_replaced_deletion_vectors(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, UNPARTITIONED, format_version=3)
    forge.commit([forge.file("a", rows(0, 6))])
    forge.commit([first := forge.vector_file("dv1", "a", [1, 2])], operation="delete")
    data = [m for m in forge.manifests if m.content == 0]
    forge.commit([forge.deleted(first, 2), forge.vector_file("dv2", "a", [1, 2, 4])], operation="delete", keep=data)
    check_every_snapshot(forge)
    assert changes(forge, 101, 102) == [(102, 0, "DELETE", 4)]


def test_rows_come_back_when_deletes_go(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, UNPARTITIONED, format_version=3)
    forge.commit([forge.file("a", rows(0, 6))])
    forge.commit([first := forge.vector_file("dv1", "a", [1, 2])], operation="delete")
    data = [m for m in forge.manifests if m.content == 0]
    forge.commit([forge.deleted(first, 2), forge.vector_file("dv2", "a", [2, 3])], operation="overwrite", keep=data)
    check_every_snapshot(forge)
    assert changes(forge, 101, 102) == [(102, 0, "DELETE", 3), (102, 0, "INSERT", 1)]


def test_filters_reach_the_change_columns(tmp_path: Path) -> None:
    forge = merge_on_read(tmp_path)
    inserts = Predicate(Op.EQ, Reference("_change_type"), ("INSERT",))
    assert {change for _, _, change, _ in changes(forge, None, 102, inserts)} == {"INSERT"}
    assert len(changes(forge, None, 102, inserts)) == 17
    last = Predicate(Op.EQ, Reference("_commit_snapshot_id"), (102,))
    assert changes(forge, None, 102, And(last, Predicate(Op.GT, Reference("id"), (20,)))) == [(102, 2, "INSERT", 21)]
    only = ChangelogScan(forge.io, forge.metadata, SnapshotRange(None, 102), inserts, select=("id",)).to_arrow()
    assert only.column_names == ["id"] and only.num_rows == 17
    first = ChangelogScan(forge.io, forge.metadata, SnapshotRange(None, 100), select=("_change_ordinal",)).to_arrow()
    assert first.column("_change_ordinal").to_pylist() == [0] * 15


def test_incremental_appends_pass_over_other_operations(tmp_path: Path) -> None:
    forge = merge_on_read(tmp_path)
    forge.commit([forge.file("b2", rows(30, 33, "b"), ("b",))])
    forge.commit([forge.file("a4", rows(40, 41), ("a",))])

    def ids(after: int | None, to: int | None, where: Expression = TRUE) -> list[int]:
        return sorted(IncrementalAppendScan(forge.io, forge.metadata, SnapshotRange(after, to), where).to_arrow().column("id").to_pylist())

    assert ids(100, 104) == [30, 31, 32, 40]
    assert ids(None, 103) == [*range(15), 30, 31, 32]
    assert ids(103, 104) == [40] and ids(104, 104) == []
    assert ids(100, 104, Predicate(Op.EQ, Reference("p"), ("b",))) == [30, 31, 32]
    with pytest.raises(InvalidArgumentError, match="is not a parent ancestor of end snapshot"):
        ids(104, 100)


def test_options(tmp_path: Path) -> None:
    metadata = merge_on_read(tmp_path).metadata
    assert append_range(metadata, {}) is None
    assert append_range(metadata, {"start-snapshot-id": "100"}) == SnapshotRange(100, 102)
    with pytest.raises(InvalidArgumentError, match="Cannot set only `end-snapshot-id` for incremental scans"):
        append_range(metadata, {"end-snapshot-id": "101"})
    with pytest.raises(InvalidArgumentError, match="Only changelog scans support `start-timestamp` and `end-timestamp`"):
        append_range(metadata, {"start-timestamp": "1"})
    assert changelog_range(metadata, {}) == SnapshotRange(None, 102)
    assert changelog_range(metadata, {"start-timestamp": "1000"}) == SnapshotRange(100, 102)
    assert changelog_range(metadata, {"start-timestamp": "1001", "end-timestamp": "2999"}) == SnapshotRange(100, 101)
    assert changelog_range(metadata, {"end-timestamp": "10"}).is_empty and changelog_range(metadata, {"start-timestamp": "9999"}).is_empty
    with pytest.raises(InvalidArgumentError, match="Cannot set both start-snapshot-id and start-timestamp for changelogs"):
        changelog_range(metadata, {"start-snapshot-id": "1", "start-timestamp": "1"})
    with pytest.raises(InvalidArgumentError, match="Cannot set start-timestamp to be greater than end-timestamp for changelogs"):
        changelog_range(metadata, {"start-timestamp": "2", "end-timestamp": "1"})
