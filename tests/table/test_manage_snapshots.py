"""Branches, tags, retention, rollback and cherry-pick, with the reference's refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import AlreadyExistsError, IcesqlError, InvalidArgumentError, NotFoundError, ValidationError
from icesql.spec.snapshots import MAIN, RefType
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.delete_files import DeleteFiles
from icesql.table.changes.manage_snapshots import ManageSnapshots
from icesql.table.changes.replace_partitions import ReplacePartitions
from icesql.table.changes.row_delta import RowDelta
from tests.table.memory import BY_P, MemoryOperations, data_file, equality_deletes, new_table
from tests.table.test_snapshot_producer import live_files, names


def table(tmp_path: Path, appends: int = 3) -> tuple[MemoryOperations, list[int]]:
    t = new_table(tmp_path)
    for i in range(appends):
        AppendFiles(t).append_file(data_file(f"f{i}")).commit()
    return t, [s.snapshot_id for s in t.metadata.snapshots]


def test_refs_are_made_moved_and_dropped_in_one_commit(tmp_path: Path) -> None:
    t, ids = table(tmp_path)
    commits = t.commits
    manage = ManageSnapshots(t).create_branch("audit").create_tag("first", ids[0]).set_max_ref_age_ms("first", 1000)
    manage.set_min_snapshots_to_keep("audit", 2).set_max_snapshot_age_ms("audit", 5).replace_branch("audit", ids[1]).commit()
    assert t.commits == commits + 1
    audit, first = t.metadata.refs["audit"], t.metadata.refs["first"]
    assert (audit.snapshot_id, audit.min_snapshots_to_keep, audit.max_snapshot_age_ms) == (ids[1], 2, 5)
    assert (first.snapshot_id, first.type, first.max_ref_age_ms) == (ids[0], RefType.TAG, 1000)
    ManageSnapshots(t).rename_branch("audit", "checked").replace_tag("first", ids[2]).fast_forward_branch("checked", MAIN).commit()
    assert {name: ref.snapshot_id for name, ref in t.metadata.refs.items()} == {MAIN: ids[2], "checked": ids[2], "first": ids[2]}
    ManageSnapshots(t).remove_branch("checked").remove_tag("first").commit()
    assert set(t.metadata.refs) == {MAIN}


def test_an_empty_table_can_have_a_branch_but_no_tag(tmp_path: Path) -> None:
    t, _ = table(tmp_path, 0)
    ManageSnapshots(t).create_branch("b").commit()
    assert set(t.metadata.refs) == {"b"}
    assert t.metadata.current_snapshot_id is None
    with pytest.raises(ValidationError, match=r"Cannot complete create or replace tag operation on memory.db.t, main has no snapshot"):
        ManageSnapshots(t).create_tag("g").commit()
    with pytest.raises(ValidationError, match=r"Cannot complete replace branch operation on memory.db.t, main has no snapshot"):
        ManageSnapshots(t).replace_branch("b").commit()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda m, ids: m.create_branch("b"), AlreadyExistsError, "Ref b already exists"),
        (lambda m, ids: m.create_tag("b"), AlreadyExistsError, "Ref b already exists"),
        (lambda m, ids: m.create_branch("x", 77), ValidationError, "Cannot set x to unknown snapshot: 77"),
        (lambda m, ids: m.remove_branch(MAIN), InvalidArgumentError, "Cannot remove main branch"),
        (lambda m, ids: m.remove_branch("nope"), NotFoundError, "Branch does not exist: nope"),
        (lambda m, ids: m.remove_branch("g"), InvalidArgumentError, "Ref g is a tag not a branch"),
        (lambda m, ids: m.remove_tag("nope"), NotFoundError, "Tag does not exist: nope"),
        (lambda m, ids: m.remove_tag("b"), InvalidArgumentError, "Ref b is a branch not a tag"),
        (lambda m, ids: m.rename_branch(MAIN, "x"), InvalidArgumentError, "Cannot rename main branch"),
        (lambda m, ids: m.rename_branch("b", "g"), AlreadyExistsError, "Ref g already exists"),
        (lambda m, ids: m.replace_branch("nope", ids[0]), NotFoundError, "Branch does not exist: nope"),
        (lambda m, ids: m.replace_branch_by("b", "nope"), NotFoundError, "Ref does not exist: nope"),
        (lambda m, ids: m.replace_branch_by("g", MAIN), InvalidArgumentError, "Ref g is a tag not a branch"),
        (lambda m, ids: m.replace_tag("b", ids[0]), InvalidArgumentError, "Ref b is a branch not a tag"),
        (lambda m, ids: m.fast_forward_branch("b", "nope"), NotFoundError, "Ref does not exist: nope"),
        (lambda m, ids: m.fast_forward_branch(MAIN, "b"), InvalidArgumentError, "Cannot fast-forward: main is not an ancestor of b"),
        (lambda m, ids: m.fast_forward_branch("g", MAIN), InvalidArgumentError, "Ref g is a tag not a branch"),
        (lambda m, ids: m.set_min_snapshots_to_keep("g", 1), InvalidArgumentError, "Tags do not support setting minSnapshotsToKeep"),
        (lambda m, ids: m.set_max_snapshot_age_ms("b", 0), InvalidArgumentError, "Max snapshot age must be greater than 0"),
        (lambda m, ids: m.set_max_ref_age_ms("nope", 1), NotFoundError, "Ref does not exist: nope"),
        (lambda m, ids: m.rollback_to(77), ValidationError, "Cannot roll back to unknown snapshot id: 77"),
        (lambda m, ids: m.set_current_snapshot(77), ValidationError, "Cannot roll back to unknown snapshot id: 77"),
        (lambda m, ids: m.set_current_ref("nope"), ValidationError, "Cannot find matching snapshot ID for ref nope"),
        (lambda m, ids: m.rollback_to_time(5), ValidationError, "Cannot roll back, no valid snapshot older than: 5"),
        (lambda m, ids: m.cherrypick(77), ValidationError, "Cannot cherry-pick unknown snapshot ID: 77"),
        (lambda m, ids: m.cherrypick(ids[0]), ValidationError, "already an ancestor"),
        (lambda m, ids: m.publish("nope"), ValidationError, "Cannot apply unknown WAP ID 'nope'"),
    ],
)
def test_refusals(tmp_path: Path, change: Callable[..., Any], error: type[IcesqlError], words: str) -> None:
    t, ids = table(tmp_path)
    ManageSnapshots(t).create_branch("b", ids[1]).create_tag("g", ids[1]).commit()
    before = t.load()
    with pytest.raises(error, match=words):
        change(ManageSnapshots(t), ids).commit()
    assert t.load() == before


def test_a_branch_is_pointed_where_another_ref_points(tmp_path: Path) -> None:
    t, ids = table(tmp_path)
    ManageSnapshots(t).create_tag("old", ids[0]).create_branch("b").set_max_ref_age_ms("b", 9).commit()
    ManageSnapshots(t).replace_branch_by("b", "old").replace_branch_by("new", "old").commit()
    assert [(t.metadata.refs[name].snapshot_id, t.metadata.refs[name].max_ref_age_ms) for name in ("b", "new")] == [
        (ids[0], 9),
        (ids[0], None),
    ]
    assert t.metadata.refs["new"].type is RefType.BRANCH


def test_rolling_back_and_forth(tmp_path: Path) -> None:
    t, ids = table(tmp_path)
    ManageSnapshots(t).rollback_to(ids[0]).commit()
    assert t.metadata.current_snapshot_id == ids[0]
    with pytest.raises(ValidationError, match="Cannot roll back to snapshot, not an ancestor of the current state"):
        ManageSnapshots(t).rollback_to(ids[2]).commit()
    ManageSnapshots(t).set_current_snapshot(ids[2]).commit()
    assert [e.snapshot_id for e in t.metadata.snapshot_log] == [*ids, ids[0], ids[2]]
    later = t.metadata.snapshots[2].timestamp_ms
    older = [s for s in t.metadata.snapshots if s.timestamp_ms < later]
    if older:
        ManageSnapshots(t).rollback_to_time(later).commit()
        assert t.metadata.current_snapshot_id == max(older, key=lambda s: s.timestamp_ms).snapshot_id


def test_staged_appends_are_published_once(tmp_path: Path) -> None:
    t, _ = table(tmp_path, 1)
    AppendFiles(t).append_file(data_file("w")).stage_only().set("wap.id", "job").commit()
    staged = t.metadata.snapshots[-1].snapshot_id
    AppendFiles(t).append_file(data_file("other")).commit()
    ManageSnapshots(t).publish("job").commit()
    assert names(live_files(t)) == ["f0", "other", "w"]
    summary = t.metadata.current_snapshot.summary
    assert (summary["source-snapshot-id"], summary["published-wap-id"], summary["operation"]) == (str(staged), "job", "append")
    with pytest.raises(ValidationError, match="Duplicate request to cherry pick wap id that was published already: job"):
        ManageSnapshots(t).cherrypick(staged).commit()


def test_the_next_snapshot_is_fast_forwarded(tmp_path: Path) -> None:
    t, _ = table(tmp_path, 1)
    RowDelta(t).add_deletes(equality_deletes("e")).stage_only().commit()
    staged = t.metadata.snapshots[-1].snapshot_id
    ManageSnapshots(t).cherrypick(staged).commit()
    assert t.metadata.current_snapshot_id == staged
    DeleteFiles(t).delete_file(data_file("f0")).stage_only().commit()
    other = t.metadata.snapshots[-1].snapshot_id
    AppendFiles(t).append_file(data_file("x")).commit()
    with pytest.raises(ValidationError, match=f"Cannot cherry-pick snapshot {other}: not append, dynamic overwrite, or fast-forward"):
        ManageSnapshots(t).cherrypick(other).commit()


def test_dynamic_overwrites_are_picked_unless_their_partition_changed(tmp_path: Path) -> None:
    t = new_table(tmp_path, spec=BY_P)
    AppendFiles(t).append_files([data_file("a", (1,)), data_file("b", (2,))]).commit()
    ReplacePartitions(t).add_file(data_file("a2", (1,))).stage_only().commit()
    first = t.metadata.snapshots[-1].snapshot_id
    ReplacePartitions(t).add_file(data_file("a3", (1,))).stage_only().commit()
    second = t.metadata.snapshots[-1].snapshot_id
    AppendFiles(t).append_file(data_file("c", (2,))).commit()
    ManageSnapshots(t).cherrypick(first).commit()
    assert names(live_files(t)) == ["a2", "b", "c"]
    with pytest.raises(ValidationError, match=r"Cannot cherry-pick replace partitions with changed partition: PartitionData\{p=1\}"):
        ManageSnapshots(t).cherrypick(second).commit()
    with pytest.raises(ValidationError, match=f"Cannot cherrypick snapshot {first}: already picked to create ancestor"):
        ManageSnapshots(t).cherrypick(first).commit()
