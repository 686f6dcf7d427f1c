"""Rewriting manifests: the same entries, fewer files, ordered by partition."""

from __future__ import annotations

from pathlib import Path

import pytest

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.io.manifests.entries import read_manifest
from icesql.spec.files import EntryStatus, ManifestContent
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.delete_files import DeleteFiles
from icesql.table.changes.rewrite_manifests import RewriteManifests
from icesql.table.changes.row_delta import RowDelta
from icesql.table.manifests.access import manifests_of
from tests.table.memory import BY_P, MemoryOperations, data_file, equality_deletes, new_table


def entries(t: MemoryOperations) -> dict[str, tuple[object, ...]]:
    """Everything about the live files but the status."""
    found: dict[str, tuple[object, ...]] = {}
    for manifest in manifests_of(t.io, t.metadata.current_snapshot):
        for e in read_manifest(t.io, manifest, t.metadata.specs_by_id):
            if e.is_live:
                found[e.data_file.file_path] = (e.snapshot_id, e.sequence_number, e.file_sequence_number, e.data_file)
    return found


def filled(tmp_path: Path, version: int) -> MemoryOperations:
    t = new_table(tmp_path, spec=BY_P, version=version)
    for i in range(6):
        files = [data_file(f"f{i}{p}", (p,), ids=(i, i + p)) for p in (2, 0, 1)] + [data_file(f"n{i}", (None,))]
        AppendFiles(t).append_files(files).commit()
    return t


@pytest.mark.parametrize("version", [1, 2, 3])
def test_entries_stay_as_they_are(tmp_path: Path, version: int) -> None:
    t = filled(tmp_path, version)
    before = entries(t)
    rewrite = RewriteManifests(t)
    rewrite.commit()
    assert (len(rewrite.rewritten), len(rewrite.added)) == (6, 1)
    assert entries(t) == before
    (manifest,) = manifests_of(t.io, t.metadata.current_snapshot)
    read = read_manifest(t.io, manifest, t.metadata.specs_by_id)
    assert all(e.status is EntryStatus.EXISTING for e in read)
    partitions = [e.data_file.partition[0] for e in read]
    assert partitions == [None] * 6 + [0] * 6 + [1] * 6 + [2] * 6
    snapshot = t.metadata.current_snapshot
    assert snapshot is not None
    expected = {
        "operation": "replace",
        "manifests-created": "1",
        "manifests-kept": "0",
        "manifests-replaced": "6",
        "entries-processed": "24",
    }
    assert {key: snapshot.summary[key] for key in expected} == expected
    assert snapshot.summary["total-data-files"] == "24"


def test_compact_manifests_are_left_alone(tmp_path: Path) -> None:
    t = filled(tmp_path, 2)
    RewriteManifests(t).commit()
    snapshot = t.metadata.current_snapshot_id
    again = RewriteManifests(t)
    again.commit()
    assert (again.rewritten, again.added, t.metadata.current_snapshot_id) == ((), (), snapshot)


def test_the_target_size_splits(tmp_path: Path) -> None:
    t = filled(tmp_path, 2)
    total = sum(m.manifest_length for m in manifests_of(t.io, t.metadata.current_snapshot))
    RewriteManifests(t).target_size_bytes(total // 3 + 1).commit()
    manifests = manifests_of(t.io, t.metadata.current_snapshot)
    assert [m.existing_files_count for m in manifests] == [8, 8, 8]
    assert len({m.manifest_path for m in manifests}) == 3


def test_delete_manifests_are_rewritten_too(tmp_path: Path) -> None:
    t = filled(tmp_path, 2)
    for i in range(3):
        RowDelta(t).add_deletes(equality_deletes(f"e{i}", (i,))).commit()
    before = entries(t)
    rewrite = RewriteManifests(t)
    rewrite.commit()
    assert (len(rewrite.rewritten), len(rewrite.added)) == (9, 2)
    assert sorted(m.content for m in manifests_of(t.io, t.metadata.current_snapshot)) == [ManifestContent.DATA, ManifestContent.DELETES]
    assert entries(t) == before


def test_deleted_entries_are_not_carried_on(tmp_path: Path) -> None:
    t = filled(tmp_path, 2)
    DeleteFiles(t).delete_file(data_file("n0", (None,))).commit()
    RewriteManifests(t).commit()
    (manifest,) = manifests_of(t.io, t.metadata.current_snapshot)
    assert (manifest.deleted_files_count, manifest.existing_files_count) == (0, 23)


def test_arguments_are_checked(tmp_path: Path) -> None:
    t = filled(tmp_path, 2)
    with pytest.raises(InvalidArgumentError, match="Invalid spec id 9"):
        RewriteManifests(t).spec_id(9).commit()
    with pytest.raises(InvalidArgumentError, match="sort_by must not be empty when provided"):
        RewriteManifests(t).sort_by([])
    with pytest.raises(InvalidArgumentError, match=r"specified field\(s\) \[nope\] were not found in current partition spec \["):
        RewriteManifests(t).sort_by(["nope"]).commit()


def test_appends_meanwhile_are_kept(tmp_path: Path) -> None:
    t = filled(tmp_path, 2)
    rewrite = RewriteManifests(t, t.load())
    AppendFiles(t).append_file(data_file("late", (9,))).commit()
    rewrite.commit()
    assert "/data/late.parquet" in entries(t)
    assert len(manifests_of(t.io, t.metadata.current_snapshot)) == 1
    on_disk = {p.name for p in (tmp_path / "t" / "metadata").glob("*-m*.avro")}
    held = {Path(m.manifest_path).name for s in t.metadata.snapshots for m in manifests_of(t.io, s)}
    assert on_disk == held


def test_a_manifest_to_replace_must_be_there(tmp_path: Path) -> None:
    from dataclasses import replace

    from icesql.spec.snapshots import Operation
    from icesql.table.commit import commit
    from icesql.table.snapshot.produce import ProduceSnapshot
    from icesql.table.snapshot.producer import SnapshotProducer

    t = filled(tmp_path, 2)
    (first, *_) = manifests_of(t.io, t.metadata.current_snapshot)
    change = ProduceSnapshot(
        action=Operation.REPLACE, remove_manifests=(replace(first, manifest_path="/gone.avro"),), merge_manifests=False
    )
    with pytest.raises(ValidationError, match=r"Manifest is missing: /gone.avro"):
        commit(t, [SnapshotProducer(change, t.io)])
