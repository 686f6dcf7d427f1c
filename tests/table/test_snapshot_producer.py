"""What a commit writes: manifests, lists, summaries, numbers; and what it leaves behind when it fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from icesql.errors import CommitFailedError, CommitStateUnknownError, InvalidArgumentError, ValidationError
from icesql.expr.tree import TRUE, Op, Predicate, Reference
from icesql.io.manifests.entries import read_manifest
from icesql.spec.files import DataFile, EntryStatus, ManifestContent
from icesql.spec.snapshots import RefType
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.delete_files import DeleteFiles
from icesql.table.changes.manage_snapshots import ManageSnapshots
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.replace_partitions import ReplacePartitions
from icesql.table.changes.rewrite_files import RewriteFiles
from icesql.table.changes.row_delta import RowDelta
from icesql.table.changes.update_properties import UpdateProperties
from icesql.table.changes.update_spec import UpdatePartitionSpec
from icesql.table.manifests.access import live_entries, manifests_of
from tests.table.memory import BY_P, MemoryOperations, data_file, deletion_vector, equality_deletes, new_table, position_deletes

VERSIONS = pytest.mark.parametrize("version", [1, 2, 3])


def live_files(operations: MemoryOperations, content: ManifestContent = ManifestContent.DATA, branch: str = "main") -> list[DataFile]:
    metadata = operations.metadata
    manifests = [m for m in manifests_of(operations.io, metadata.head(branch)) if m.content is content]
    return sorted((e.data_file for m in manifests for e in live_entries(operations.io, m, metadata.specs_by_id)), key=lambda f: f.file_path)


def names(files: list[DataFile]) -> list[str]:
    return [Path(f.file_path).stem for f in files]


def metadata_files(operations: MemoryOperations) -> set[str]:
    return {path.name for path in (operations.folder / "t" / "metadata").glob("*.avro")}


def referenced_files(operations: MemoryOperations) -> set[str]:
    found = set()
    for snapshot in operations.metadata.snapshots:
        assert snapshot.manifest_list is not None
        found.add(Path(snapshot.manifest_list).name)
        found |= {Path(m.manifest_path).name for m in manifests_of(operations.io, snapshot)}
    return found


@VERSIONS
def test_appends_add_up_and_pyiceberg_reads_them(tmp_path: Path, version: int) -> None:
    from pyiceberg.table import StaticTable

    operations = new_table(tmp_path, spec=BY_P, version=version)
    AppendFiles(operations).append_files([data_file("a", (1,)), data_file("b", (None,))]).commit()
    AppendFiles(operations).append_file(data_file("c", (2,))).commit()
    snapshot = operations.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.summary["operation"] == "append"
    assert {k: snapshot.summary[k] for k in ("added-data-files", "total-data-files", "total-records", "changed-partition-count")} == {
        "added-data-files": "1",
        "total-data-files": "3",
        "total-records": "30",
        "changed-partition-count": "1",
    }
    assert (snapshot.summary["manifests-created"], snapshot.summary["manifests-kept"]) == ("1", "1")
    location = operations.load().metadata_location
    assert location is not None
    planned = StaticTable.from_metadata(location).scan().plan_files()
    assert {(task.file.file_path, task.file.partition[0]) for task in planned} == {
        ("/data/a.parquet", 1),
        ("/data/b.parquet", None),
        ("/data/c.parquet", 2),
    }


def test_sequence_numbers_are_inherited_and_kept(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    UpdateProperties(operations).set("commit.manifest.min-count-to-merge", "2").commit()
    for name in "abc":
        AppendFiles(operations).append_file(data_file(name)).commit()
    entries = {
        Path(e.data_file.file_path).stem: e
        for m in manifests_of(operations.io, operations.metadata.current_snapshot)
        for e in live_entries(operations.io, m, operations.metadata.specs_by_id)
    }
    assert {name: e.sequence_number for name, e in entries.items()} == {"a": 1, "b": 2, "c": 3}
    assert [s.sequence_number for s in operations.metadata.snapshots] == [1, 2, 3]


def test_small_manifests_merge_once_enough_have_piled_up(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    UpdateProperties(operations).set("commit.manifest.min-count-to-merge", "4").commit()
    for i in range(4):
        AppendFiles(operations).append_file(data_file(f"f{i}")).commit()
    snapshot = operations.metadata.current_snapshot
    assert snapshot is not None
    (merged,) = manifests_of(operations.io, snapshot)
    assert (merged.added_files_count, merged.existing_files_count, merged.min_sequence_number, merged.sequence_number) == (1, 3, 1, 4)
    assert snapshot.summary["manifests-replaced"] == "3"
    by_status = {Path(e.data_file.file_path).stem: (e.status, e.sequence_number) for e in read_manifest(operations.io, merged)}
    assert by_status["f3"] == (EntryStatus.ADDED, 4)
    assert by_status["f0"] == (EntryStatus.EXISTING, 1)
    AppendFiles(operations, fast=True).append_file(data_file("fast")).commit()
    assert len(manifests_of(operations.io, operations.metadata.current_snapshot)) == 2


def test_merging_can_be_switched_off_and_bins_have_a_size(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    UpdateProperties(operations).set("commit.manifest.min-count-to-merge", "2").set("commit.manifest-merge.enabled", "false").commit()
    for i in range(3):
        AppendFiles(operations).append_file(data_file(f"f{i}")).commit()
    assert len(manifests_of(operations.io, operations.metadata.current_snapshot)) == 3
    size = manifests_of(operations.io, operations.metadata.current_snapshot)[0].manifest_length
    target = str(int(size * 2.5))
    UpdateProperties(operations).set("commit.manifest-merge.enabled", "true").set("commit.manifest.target-size-bytes", target).commit()
    AppendFiles(operations).append_file(data_file("f3")).commit()
    assert sorted(len(read_manifest(operations.io, m)) for m in manifests_of(operations.io, operations.metadata.current_snapshot)) == [2, 2]


def test_files_of_each_spec_get_their_own_manifest(tmp_path: Path) -> None:
    operations = new_table(tmp_path, spec=BY_P)
    UpdatePartitionSpec(operations).remove_field("p").commit()
    spec_id = operations.metadata.default_spec_id
    AppendFiles(operations).append_files([data_file("old", (7,)), data_file("new", spec_id=spec_id)]).commit()
    assert sorted(m.partition_spec_id for m in manifests_of(operations.io, operations.metadata.current_snapshot)) == [0, spec_id]
    with pytest.raises(Exception, match="Cannot find partition spec 9 for data file"):
        AppendFiles(operations).append_file(data_file("x", spec_id=9)).commit()


@VERSIONS
def test_removed_files_are_gone_and_the_rest_stays(tmp_path: Path, version: int) -> None:
    operations = new_table(tmp_path, spec=BY_P, version=version)
    a, b, c = data_file("a", (1,)), data_file("b", (2,)), data_file("c", (1,))
    AppendFiles(operations).append_files([a, b]).commit()
    AppendFiles(operations).append_file(c).commit()
    DeleteFiles(operations).delete_file(a).commit()
    assert names(live_files(operations)) == ["b", "c"]
    summary = operations.metadata.current_snapshot.summary
    assert (summary["deleted-data-files"], summary["total-data-files"], summary["manifests-replaced"]) == ("1", "2", "1")
    DeleteFiles(operations).delete_file("/data/b.parquet").commit()
    assert names(live_files(operations)) == ["c"]
    with pytest.raises(ValidationError, match=r"Missing required files to delete: /data/b.parquet"):
        DeleteFiles(operations).delete_file(b).validate_files_exist().commit()
    DeleteFiles(operations).delete_file(b).commit()
    assert operations.metadata.current_snapshot.summary["manifests-replaced"] == "0"


def test_a_row_filter_removes_whole_files_only(tmp_path: Path) -> None:
    operations = new_table(tmp_path, spec=BY_P)
    AppendFiles(operations).append_files([data_file("a", (1,), ids=(0, 9)), data_file("b", (2,), ids=(10, 19))]).commit()
    with pytest.raises(ValidationError, match=r"Cannot delete file where some, but not all, rows match filter id > 12: /data/b.parquet"):
        DeleteFiles(operations).delete_from_row_filter(Predicate(Op.GT, Reference("id"), (12,))).commit()
    assert metadata_files(operations) == referenced_files(operations)
    DeleteFiles(operations).delete_from_row_filter(Predicate(Op.GT_EQ, Reference("id"), (10,))).commit()
    assert names(live_files(operations)) == ["a"]
    DeleteFiles(operations).delete_from_row_filter(Predicate(Op.EQ, Reference("p"), (1,))).commit()
    assert live_files(operations) == []
    DeleteFiles(operations).delete_from_row_filter(TRUE).commit()
    assert operations.metadata.current_snapshot.operation == "delete"


def test_manifests_without_live_files_do_not_stay(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    AppendFiles(operations).append_file(data_file("a")).commit()
    DeleteFiles(operations).delete_file(data_file("a")).commit()
    assert len(manifests_of(operations.io, operations.metadata.current_snapshot)) == 1  # says what was deleted
    AppendFiles(operations).append_file(data_file("b")).commit()
    assert len(manifests_of(operations.io, operations.metadata.current_snapshot)) == 1


def test_partitions_are_replaced_as_a_whole(tmp_path: Path) -> None:
    operations = new_table(tmp_path, spec=BY_P)
    AppendFiles(operations).append_files([data_file("a", (1,)), data_file("b", (2,)), data_file("n", (None,))]).commit()
    ReplacePartitions(operations).add_file(data_file("a2", (1,))).add_file(data_file("n2", (None,))).commit()
    assert names(live_files(operations)) == ["a2", "b", "n2"]
    snapshot = operations.metadata.current_snapshot
    assert snapshot is not None
    assert (snapshot.operation, snapshot.summary["replace-partitions"]) == ("overwrite", "true")
    with pytest.raises(ValidationError, match="Cannot commit file that conflicts with existing partition: p=2"):
        ReplacePartitions(operations).add_file(data_file("b2", (2,))).validate_append_only().commit()
    whole = new_table(tmp_path / "whole")
    AppendFiles(whole).append_file(data_file("a")).commit()
    ReplacePartitions(whole).add_file(data_file("b")).commit()
    assert names(live_files(whole)) == ["b"]


def test_operations_say_what_was_done(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    a, b = data_file("a"), data_file("b")
    assert OverwriteFiles(operations).add_file(a).change().action.value == "append"
    assert OverwriteFiles(operations).delete_file(a).change().action.value == "delete"
    assert OverwriteFiles(operations).overwrite_by_row_filter(TRUE).change().action.value == "delete"
    assert OverwriteFiles(operations).add_file(b).delete_file(a).change().action.value == "overwrite"
    assert RowDelta(operations).add_rows(a).change().action.value == "append"
    assert RowDelta(operations).add_deletes(position_deletes("d", of=a)).change().action.value == "delete"
    assert RowDelta(operations).add_rows(b).add_deletes(position_deletes("d", of=a)).change().action.value == "overwrite"


def test_added_files_must_match_the_overwritten_filter(tmp_path: Path) -> None:
    operations = new_table(tmp_path, spec=BY_P)
    by_p = Predicate(Op.EQ, Reference("p"), (1,))

    def overwrite(file: DataFile) -> OverwriteFiles:
        return OverwriteFiles(operations).overwrite_by_row_filter(by_p).add_file(file).validate_added_files_match_overwrite_filter()

    overwrite(data_file("a", (1,))).commit()
    with pytest.raises(ValidationError, match=r"Cannot append file with rows that do not match filter: p = 1: /data/b.parquet"):
        overwrite(data_file("b", (2,))).commit()


def test_deletes_fit_the_format_version(tmp_path: Path) -> None:
    file = data_file("a")
    for version, delete, words in [
        (1, position_deletes("d", of=file), "Deletes are supported in V2 and above"),
        (2, deletion_vector("d", file), "Must not use DVs for position deletes in V2"),
        (3, position_deletes("d", of=file), "Must use DVs for position deletes in V3"),
    ]:
        operations = new_table(tmp_path / str(version), version=version)
        AppendFiles(operations).append_file(file).commit()
        with pytest.raises(InvalidArgumentError, match=words):
            RowDelta(operations).add_deletes(delete).commit()


def test_vectors_of_removed_files_go_with_them(tmp_path: Path) -> None:
    operations = new_table(tmp_path, version=3)
    a, b = data_file("a"), data_file("b")
    AppendFiles(operations).append_files([a, b]).commit()
    RowDelta(operations).add_deletes(deletion_vector("va", a)).add_deletes(deletion_vector("vb", b, records=3)).commit()
    DeleteFiles(operations).delete_file(a).commit()
    assert names(live_files(operations, ManifestContent.DELETES)) == ["vb"]
    summary = operations.metadata.current_snapshot.summary
    assert (summary["removed-dvs"], summary["total-position-deletes"], summary["total-delete-files"]) == ("1", "3", "1")


def test_deletes_too_old_to_apply_are_dropped(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    a = data_file("a")
    AppendFiles(operations).append_file(a).commit()
    RowDelta(operations).add_deletes(equality_deletes("e")).commit()
    OverwriteFiles(operations).delete_file(a).add_file(data_file("b")).commit()
    assert names(live_files(operations, ManifestContent.DELETES)) == ["e"]  # nothing was older than it when the commit began
    AppendFiles(operations).append_file(data_file("c")).commit()
    assert live_files(operations, ManifestContent.DELETES) == []
    assert operations.metadata.current_snapshot.summary["removed-equality-delete-files"] == "1"


def test_rewrites_keep_rows_and_numbers(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    a, b = data_file("a"), data_file("b")
    AppendFiles(operations).append_files([a, b]).commit()
    RewriteFiles(operations).delete_file(a).delete_file(b).add_file(data_file("ab", records=20)).data_sequence_number(1).commit()
    (manifest,) = [m for m in manifests_of(operations.io, operations.metadata.current_snapshot) if m.has_live_files]
    (entry,) = live_entries(operations.io, manifest, operations.metadata.specs_by_id)
    assert (entry.sequence_number, entry.file_sequence_number, manifest.min_sequence_number) == (1, 2, 1)
    assert operations.metadata.current_snapshot.operation == "replace"
    with pytest.raises(InvalidArgumentError, match="Invalid REPLACE operation: 21 added records > 20 replaced records"):
        RewriteFiles(operations).delete_file(data_file("ab")).add_file(data_file("more", records=21)).commit()
    with pytest.raises(InvalidArgumentError, match="Files to delete cannot be empty"):
        RewriteFiles(operations).add_file(a).commit()
    with pytest.raises(ValidationError, match=r"Missing required files to delete: /data/a.parquet"):
        RewriteFiles(operations).delete_file(a).add_file(b).commit()


def test_row_ids_survive_rewritten_and_merged_manifests(tmp_path: Path) -> None:
    operations = new_table(tmp_path, version=3)
    UpdateProperties(operations).set("commit.manifest.min-count-to-merge", "2").commit()
    a, b, c = data_file("a"), data_file("b"), data_file("c")
    AppendFiles(operations).append_files([a, b]).commit()
    first = {Path(f.file_path).stem: f.first_row_id for f in live_files(operations)}
    assert first == {"a": 0, "b": 10}
    OverwriteFiles(operations).delete_file(a).add_file(c).commit()
    after = {Path(f.file_path).stem: f.first_row_id for f in live_files(operations)}
    assert after["b"] == 10
    assert after["c"] is not None and after["c"] >= 20
    snapshot = operations.metadata.current_snapshot
    assert snapshot is not None and snapshot.first_row_id == 20
    assert operations.metadata.next_row_id == 20 + (snapshot.added_rows or 0)


def test_an_upgraded_table_gives_row_ids_with_the_next_commit(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    AppendFiles(operations).append_file(data_file("a")).commit()
    UpdateProperties(operations).set("format-version", "3").commit()
    assert [f.first_row_id for f in live_files(operations)] == [None]
    AppendFiles(operations).append_file(data_file("b")).commit()
    ids = sorted(f.first_row_id for f in live_files(operations) if f.first_row_id is not None)
    assert ids == [0, 10]
    assert operations.metadata.next_row_id == 20


def test_staging_moves_no_branch_and_a_new_branch_forks_from_main(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    AppendFiles(operations).append_file(data_file("a")).commit()
    main = operations.metadata.current_snapshot_id
    AppendFiles(operations).append_file(data_file("staged")).stage_only().set("wap.id", "w").commit()
    assert operations.metadata.current_snapshot_id == main
    AppendFiles(operations).append_file(data_file("b")).to_branch("audit").commit()
    assert names(live_files(operations, branch="audit")) == ["a", "b"]
    assert names(live_files(operations)) == ["a"]
    ManageSnapshots(operations).create_tag("g").commit()
    assert operations.metadata.refs["g"].type is RefType.TAG
    with pytest.raises(InvalidArgumentError, match=r"g is a tag, not a branch. Tags cannot be targets for producing snapshots"):
        AppendFiles(operations).append_file(data_file("c")).to_branch("g").commit()


def test_partition_summaries_are_written_up_to_a_limit(tmp_path: Path) -> None:
    operations = new_table(tmp_path, spec=BY_P)
    UpdateProperties(operations).set("write.summary.partition-limit", "1").commit()
    AppendFiles(operations).append_file(data_file("a", (1,))).commit()
    summary = operations.metadata.current_snapshot.summary
    assert summary["partition-summaries-included"] == "true"
    assert set(summary["partitions.p=1"].split(",")) == {"added-data-files=1", "added-records=10", "added-files-size=100"}
    AppendFiles(operations).append_files([data_file("b", (1,)), data_file("c", (2,))]).commit()
    assert not any(key.startswith("partitions.") for key in operations.metadata.current_snapshot.summary)


# -- the loop ------------------------------------------------------------------------------------------------------
def test_a_lost_race_is_retried_with_the_manifests_already_written(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    append = AppendFiles(operations, operations.load()).append_file(data_file("late"))
    AppendFiles(operations).append_file(data_file("first")).commit()
    append.commit()
    assert names(live_files(operations)) == ["first", "late"]
    assert metadata_files(operations) == referenced_files(operations)
    assert operations.metadata.last_sequence_number == 2


def test_retries_end_and_leave_nothing(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    UpdateProperties(operations).set("commit.retry.num-retries", "2").commit()
    before = operations.load()
    operations.fail_next = [CommitFailedError("lost")] * 3
    with pytest.raises(CommitFailedError, match="lost"):
        AppendFiles(operations).append_file(data_file("a")).commit()
    assert operations.load() == before
    assert metadata_files(operations) == set()
    assert operations.fail_next == []


def test_after_an_unknown_outcome_nothing_is_removed(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    operations.fail_next = [CommitStateUnknownError("no answer")]
    with pytest.raises(CommitStateUnknownError):
        AppendFiles(operations).append_file(data_file("a")).commit()
    assert names(live_files(operations)) == ["a"]  # it had happened
    assert metadata_files(operations) == referenced_files(operations)


def test_an_error_of_another_kind_is_not_proof_of_failure(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    operations.fail_next = [OSError("connection reset")]
    with pytest.raises(OSError, match="connection reset"):
        AppendFiles(operations).append_file(data_file("a")).commit()
    assert len(metadata_files(operations)) == 2


def test_the_same_file_twice_in_one_append_counts_once(tmp_path: Path) -> None:
    operations = new_table(tmp_path)
    AppendFiles(operations).append_files([data_file("a"), data_file("a"), replace(data_file("a"), record_count=10)]).commit()
    assert names(live_files(operations)) == ["a"]
