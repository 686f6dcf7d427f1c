"""Expiry: what retention keeps, exactly which files go, and that nothing goes without a commit."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from icesql.errors import CommitStateUnknownError, InvalidArgumentError, ValidationError
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, PartitionStatisticsFile, Snapshot, SnapshotLogEntry, SnapshotRef, StatisticsFile
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.delete_files import DeleteFiles
from icesql.table.changes.expire_snapshots import ExpireSnapshots
from icesql.table.changes.manage_snapshots import ManageSnapshots
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.rewrite_manifests import RewriteManifests
from icesql.table.changes.row_delta import RowDelta
from icesql.table.changes.update_properties import UpdateProperties
from icesql.table.changes.update_spec import UpdatePartitionSpec
from icesql.table.changes.update_statistics import UpdateStatistics
from icesql.table.manifests.reachable import reachable, reachable_files
from icesql.table.operations import TableVersion
from tests.table.memory import BY_P, MemoryOperations, data_file, equality_deletes, memory_table, new_table, position_deletes

EVER = 2**60


def chain(t: MemoryOperations, times: list[int]) -> list[int]:
    """Give the table one empty snapshot a time, on main; ids are 1, 2, ... ."""
    version = t.load()
    snapshots = tuple(
        Snapshot(snapshot_id=i + 1, parent_snapshot_id=i or None, sequence_number=i + 1, timestamp_ms=at, summary={"operation": "append"})
        for i, at in enumerate(times)
    )
    log = tuple(SnapshotLogEntry(snapshot_id=s.snapshot_id, timestamp_ms=s.timestamp_ms) for s in snapshots)
    head = len(times)
    metadata = replace(
        version.metadata,
        snapshots=snapshots,
        snapshot_log=log,
        current_snapshot_id=head,
        refs={MAIN: SnapshotRef(snapshot_id=head)},
        last_sequence_number=head,
    )
    t.version = TableVersion(metadata, version.metadata_location)
    return [s.snapshot_id for s in snapshots]


def gone(expire: ExpireSnapshots) -> list[int]:
    return [e.snapshot.snapshot_id for e in expire.plan().snapshots]


def with_refs(t: MemoryOperations, **refs: SnapshotRef) -> None:
    version = t.load()
    t.version = TableVersion(replace(version.metadata, refs={**version.metadata.refs, **refs}), version.metadata_location)


def test_age_and_count_decide_together(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    chain(t, [10, 20, 30, 40, 50])
    assert gone(ExpireSnapshots(t).expire_older_than(35)) == [1, 2, 3]
    assert gone(ExpireSnapshots(t).expire_older_than(EVER)) == [1, 2, 3, 4]
    assert gone(ExpireSnapshots(t).expire_older_than(EVER).retain_last(3)) == [1, 2]
    assert gone(ExpireSnapshots(t).expire_older_than(15).retain_last(1)) == [1]
    assert gone(ExpireSnapshots(t, now_ms=5 * 86_400_000 + 25)) == [1, 2]  # five days are the default


def test_properties_are_the_defaults(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    UpdateProperties(t).set("history.expire.max-snapshot-age-ms", "10").set("history.expire.min-snapshots-to-keep", "2").commit()
    chain(t, [10, 20, 30, 40])
    assert gone(ExpireSnapshots(t, now_ms=1000)) == [1, 2]
    assert gone(ExpireSnapshots(t, now_ms=35)) == [1, 2]


def test_branches_have_retention_of_their_own(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    chain(t, [10, 20, 30, 40, 50])
    with_refs(t, audit=SnapshotRef(snapshot_id=3, min_snapshots_to_keep=2))
    assert gone(ExpireSnapshots(t).expire_older_than(EVER)) == [1, 4]
    with_refs(t, audit=SnapshotRef(snapshot_id=3, max_snapshot_age_ms=85))  # younger than time 15
    assert gone(ExpireSnapshots(t, now_ms=100).expire_older_than(EVER)) == [1, 4]


def test_old_refs_go_but_main_never(tmp_path: Path) -> None:
    for name, limit, refs in [("own", str(2**62), ("audit",)), ("default", "1", ("audit", "kept"))]:
        t = new_table(tmp_path / name)
        UpdateProperties(t).set("history.expire.max-ref-age-ms", limit).commit()
        chain(t, [10, 20, 30])
        with_refs(t, audit=SnapshotRef(snapshot_id=1, max_ref_age_ms=50), kept=SnapshotRef(snapshot_id=2))
        plan = ExpireSnapshots(t, now_ms=100).expire_older_than(EVER).plan()
        assert plan.refs == refs
        assert [e.snapshot.snapshot_id for e in plan.snapshots] == ([1] if name == "own" else [1, 2])


def test_young_staged_snapshots_stay(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    AppendFiles(t).append_file(data_file("a")).commit()
    AppendFiles(t).append_file(data_file("staged")).stage_only().commit()
    staged = t.metadata.snapshots[-1]
    assert gone(ExpireSnapshots(t).expire_older_than(staged.timestamp_ms)) == []
    assert gone(ExpireSnapshots(t).expire_older_than(staged.timestamp_ms + 1)) == [staged.snapshot_id]


def test_ids_go_whatever_their_age_but_never_heads(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    ids = chain(t, [10, 20, 30])
    assert gone(ExpireSnapshots(t).expire_older_than(0).expire_snapshot_id(ids[1])) == [2]
    with pytest.raises(InvalidArgumentError, match=r"Cannot expire 3. Still referenced by refs: \[main\]"):
        ExpireSnapshots(t).expire_snapshot_id(3).commit()
    with pytest.raises(InvalidArgumentError, match="Number of snapshots to retain must be at least 1, cannot be: 0"):
        ExpireSnapshots(t).retain_last(0)


def test_gc_can_be_forbidden(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    UpdateProperties(t).set("gc.enabled", "false").commit()
    with pytest.raises(ValidationError, match="Cannot expire snapshots: GC is disabled"):
        ExpireSnapshots(t)


def noting(deleted: list[str]) -> Callable[[Iterable[str]], list[tuple[str, str]]]:
    """A deleter that only writes down what it is told to delete."""

    def delete(paths: Iterable[str]) -> list[tuple[str, str]]:
        deleted.extend(paths)
        return []

    return delete


def expire_all(t: MemoryOperations) -> tuple[list[str], set[str]]:
    deleted: list[str] = []

    result = ExpireSnapshots(t).expire_older_than(EVER).delete_with(noting(deleted)).commit()
    return deleted, set(result.files.content.all())


def test_exactly_the_unreached_files_go(tmp_path: Path) -> None:
    t = new_table(tmp_path, spec=BY_P)
    UpdateProperties(t).set("write.data.path", "/data").commit()
    a = data_file("a", (1,))
    AppendFiles(t).append_file(a).commit()
    RowDelta(t).add_deletes(position_deletes("d", of=a)).add_deletes(equality_deletes("e", (1,))).commit()
    OverwriteFiles(t).delete_file(a).add_file(data_file("a2", (1,))).commit()
    AppendFiles(t).append_file(data_file("c", (1,))).commit()
    before = reachable(t.io, t.metadata)
    plan = ExpireSnapshots(t).expire_older_than(EVER).plan()
    deleted, content = expire_all(t)
    after = reachable(t.io, t.metadata, live_only=True)
    assert plan.files.all() == deleted
    assert content == {"/data/a.parquet", "/data/d.parquet", "/data/e.parquet"}
    assert plan.files.content.position_deletes == {"/data/d.parquet"}
    assert plan.files.content.equality_deletes == {"/data/e.parquet"}
    kept = set(after.content.all()) | after.manifests | after.manifest_lists
    everything = set(before.content.all()) | before.manifests | before.manifest_lists
    assert set(deleted) == everything - kept


def test_statistics_go_with_their_snapshot(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    for name in "ab":
        AppendFiles(t).append_file(data_file(name)).commit()
    update = UpdateStatistics(t)
    for snapshot in t.metadata.snapshots:
        path = f"{t.metadata.location}/stats/{snapshot.snapshot_id}"
        update.set_statistics(
            StatisticsFile(snapshot_id=snapshot.snapshot_id, statistics_path=path, file_size_in_bytes=1, file_footer_size_in_bytes=1)
        )
    update.commit()
    first = t.metadata.snapshots[0].snapshot_id
    deleted, _ = expire_all(t)
    assert f"{t.metadata.location}/stats/{first}" in deleted
    assert len([path for path in deleted if "/stats/" in path]) == 1


def test_files_stay_where_they_are_if_asked(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    for name in "ab":
        AppendFiles(t).append_file(data_file(name)).commit()
    before = reachable(t.io, t.metadata)
    deleted: list[str] = []
    expire = ExpireSnapshots(t).expire_older_than(EVER).clean_expired_files(False).delete_with(noting(deleted))
    assert not expire.plan().files.all()
    result = expire.commit()
    assert len(t.metadata.snapshots) == 1
    assert (deleted, result.files.counts(), result.failures) == ([], (0,) * 6, ())
    assert before.manifest_lists > reachable(t.io, t.metadata).manifest_lists


def test_statistics_are_detached(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    for name in "ab":
        AppendFiles(t).append_file(data_file(name)).commit()
    update, ids = UpdateStatistics(t), [snapshot.snapshot_id for snapshot in t.metadata.snapshots]
    for i in ids:
        update.set_statistics(StatisticsFile(snapshot_id=i, statistics_path="/s", file_size_in_bytes=1, file_footer_size_in_bytes=1))
        update.set_partition_statistics(PartitionStatisticsFile(snapshot_id=i, statistics_path="/p", file_size_in_bytes=1))
    update.commit()
    UpdateStatistics(t).remove_statistics(ids[0]).remove_partition_statistics(ids[1]).commit()
    assert [file.snapshot_id for file in t.metadata.statistics] == [ids[1]]
    assert [file.snapshot_id for file in t.metadata.partition_statistics] == [ids[0]]


def test_nothing_is_deleted_when_the_outcome_is_unknown(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    for name in "ab":
        AppendFiles(t).append_file(data_file(name)).commit()
    t.fail_next = [CommitStateUnknownError("no answer")]
    deleted: list[str] = []
    with pytest.raises(CommitStateUnknownError):
        ExpireSnapshots(t).expire_older_than(EVER).delete_with(noting(deleted)).commit()
    assert deleted == []


def test_what_a_concurrent_writer_still_needs_stays(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    AppendFiles(t).append_file(data_file("a")).commit()
    first = t.metadata.snapshots[0].snapshot_id
    DeleteFiles(t).delete_file(data_file("a")).commit()
    expire = ExpireSnapshots(t, t.load()).expire_older_than(EVER)
    ManageSnapshots(t).create_tag("keep", first).commit()  # between the plan and the commit
    deleted: list[str] = []
    expire.delete_with(noting(deleted)).commit()
    assert "keep" in t.metadata.refs
    assert deleted == []


def test_unused_specs_and_schemas_go_if_asked(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    AppendFiles(t).append_file(data_file("a")).commit()
    UpdatePartitionSpec(t).add_field("p").commit()
    DeleteFiles(t).delete_file(data_file("a")).commit()
    AppendFiles(t).append_file(data_file("b", (1,), spec_id=1)).commit()
    ExpireSnapshots(t).expire_older_than(EVER).clean_expired_metadata(True).commit()
    assert [s.spec_id for s in t.metadata.partition_specs] == [1]


def test_random_histories_lose_no_file_that_is_reached() -> None:
    rng = random.Random(5)
    for round_ in range(6):
        t, _ = memory_table(f"expire{round_}", spec=BY_P, version=2)
        UpdateProperties(t).set("write.data.path", "/data").commit()
        live: dict[str, DataFile] = {}
        for i in range(12):
            _random_step(rng, t, live, i)
        before = reachable(t.io, t.metadata)
        deleted, _ = expire_all(t)
        after = reachable(t.io, t.metadata, live_only=True)
        kept = set(after.content.all()) | after.manifests | after.manifest_lists
        everything = set(before.content.all()) | before.manifests | before.manifest_lists
        assert set(deleted) == everything - kept
        assert set(live) <= after.content.data
        assert kept <= everything


def _random_step(rng: random.Random, t: MemoryOperations, live: dict[str, DataFile], i: int) -> None:
    choice = rng.choice(["append", "append", "replace", "delete", "rewrite", "rollback", "branch"])
    new = data_file(f"n{i}", (i % 3,))
    if choice == "append" or not live:
        AppendFiles(t).append_file(new).commit()
        live[new.file_path] = new
    elif choice in ("replace", "delete"):
        victim = live.pop(rng.choice(sorted(live)))
        builder = OverwriteFiles(t).delete_file(victim)
        if choice == "replace":
            builder.add_file(new)
            live[new.file_path] = new
        builder.commit()
    elif choice == "rewrite":
        RewriteManifests(t).commit()
    elif choice == "branch":
        ManageSnapshots(t).create_branch(f"b{i}").commit()
    else:
        target = rng.choice(list(t.metadata.ancestors(t.metadata.current_snapshot_id)))
        ManageSnapshots(t).rollback_to(target.snapshot_id).commit()
        live.clear()
        live.update({f.file_path: f for f in _live(t)})


def _live(t: MemoryOperations) -> list[DataFile]:
    from tests.table.test_snapshot_producer import live_files

    return live_files(t)


def test_a_thousand_snapshots_are_planned_fast(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    chain(t, list(range(1, 1001)))
    begin = time.perf_counter()
    updates = ExpireSnapshots(t).expire_older_than(EVER).apply(t.metadata).updates
    assert time.perf_counter() - begin < 2  # retention alone: linear in the snapshots
    assert len(updates) == 1


def test_purge_reaches_every_file(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    AppendFiles(t).append_file(data_file("a")).commit()
    DeleteFiles(t).delete_file(data_file("a")).commit()
    metadata: TableMetadata = t.metadata
    found = list(reachable_files(t.io, metadata, t.load().metadata_location))
    assert len(found) == len(set(found))
    on_disk = {str(path) for path in (tmp_path / "t" / "metadata").iterdir()}
    assert on_disk | {"/data/a.parquet"} == set(found)
