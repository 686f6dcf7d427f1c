"""Conflict pairs: one writer works on a snapshot, another commits first. Which of the two the validations let stand, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from icesql.errors import ValidationError
from icesql.expr.tree import TRUE, Op, Predicate, Reference
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.delete_files import DeleteFiles
from icesql.table.changes.expire_snapshots import ExpireSnapshots
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.replace_partitions import ReplacePartitions
from icesql.table.changes.rewrite_files import RewriteFiles
from icesql.table.changes.row_delta import RowDelta
from icesql.table.snapshot.snapshot_update import SnapshotUpdate
from tests.table.memory import BY_P, MemoryOperations, data_file, deletion_vector, equality_deletes, new_table, position_deletes

A, B = data_file("a", (1,), ids=(0, 9)), data_file("b", (2,), ids=(10, 19))
C1, C2 = data_file("c1", (1,), ids=(0, 9)), data_file("c2", (2,), ids=(10, 19))
P1 = Predicate(Op.EQ, Reference("p"), (1,))
ID5 = Predicate(Op.EQ, Reference("id"), (5,))

Writer = Callable[[MemoryOperations, int], SnapshotUpdate]


# -- the one that works on the first snapshot ----------------------------------------------------------------------
def append(t: MemoryOperations, base: int) -> SnapshotUpdate:
    return AppendFiles(t).append_file(data_file("n", (1,)))


def copy_on_write(t: MemoryOperations, base: int) -> SnapshotUpdate:
    builder = OverwriteFiles(t).delete_file(A).add_file(data_file("a2", (1,))).validate_from_snapshot(base)
    return builder.conflict_detection_filter(P1).validate_no_conflicting_data().validate_no_conflicting_deletes()


def copy_on_write_snapshot_isolation(t: MemoryOperations, base: int) -> SnapshotUpdate:
    builder = OverwriteFiles(t).delete_file(A).add_file(data_file("a2", (1,))).validate_from_snapshot(base)
    return builder.conflict_detection_filter(P1).validate_no_conflicting_deletes()


def overwrite_filter(t: MemoryOperations, base: int) -> SnapshotUpdate:
    builder = OverwriteFiles(t).overwrite_by_row_filter(P1).add_file(data_file("a2", (1,))).validate_from_snapshot(base)
    return builder.validate_no_conflicting_data().validate_no_conflicting_deletes()


def dynamic_overwrite(t: MemoryOperations, base: int) -> SnapshotUpdate:
    builder = ReplacePartitions(t).add_file(data_file("a2", (1,))).validate_from_snapshot(base)
    return builder.validate_no_conflicting_data().validate_no_conflicting_deletes()


def merge_on_read(t: MemoryOperations, base: int) -> SnapshotUpdate:
    builder = RowDelta(t).add_deletes(position_deletes("da", of=A)).validate_from_snapshot(base)
    builder.validate_data_files_exist([A.file_path]).validate_deleted_files()
    return builder.conflict_detection_filter(P1).validate_no_conflicting_data_files().validate_no_conflicting_delete_files()


def merge_on_read_delete(t: MemoryOperations, base: int) -> SnapshotUpdate:
    builder = RowDelta(t).add_deletes(position_deletes("da", of=A)).validate_from_snapshot(base)
    return builder.validate_data_files_exist([A.file_path])


def compaction(t: MemoryOperations, base: int) -> SnapshotUpdate:
    return RewriteFiles(t).delete_file(A).add_file(data_file("a2", (1,))).validate_from_snapshot(base)


def compaction_with_number(t: MemoryOperations, base: int) -> SnapshotUpdate:
    return RewriteFiles(t).delete_file(A).add_file(data_file("a2", (1,))).validate_from_snapshot(base).data_sequence_number(1)


# -- the one that commits first ------------------------------------------------------------------------------------
def append_same(t: MemoryOperations) -> None:
    AppendFiles(t).append_file(C1).commit()


def append_other(t: MemoryOperations) -> None:
    AppendFiles(t).append_file(C2).commit()


def delete_same(t: MemoryOperations) -> None:
    DeleteFiles(t).delete_file(A).commit()


def delete_other(t: MemoryOperations) -> None:
    DeleteFiles(t).delete_file(B).commit()


def compact_same(t: MemoryOperations) -> None:
    RewriteFiles(t).delete_file(A).add_file(data_file("a9", (1,), ids=(0, 9))).commit()


def deletes_same(t: MemoryOperations) -> None:
    RowDelta(t).add_deletes(position_deletes("d1", of=A)).commit()


def deletes_other(t: MemoryOperations) -> None:
    RowDelta(t).add_deletes(position_deletes("d2", of=B)).commit()


def equality_same(t: MemoryOperations) -> None:
    RowDelta(t).add_deletes(equality_deletes("e1", (1,))).commit()


DATA = "Found conflicting files that can contain records matching"
DELETES = "Found new conflicting delete files that can apply to records matching"
REPLACED = "Cannot commit, found new delete for replaced data file: /data/a.parquet"
GONE = "Found conflicting deleted files that can"
MISSING = "Missing required files to delete: /data/a.parquet"
NO_DATA_FILE = r"Cannot commit, missing data files: \[/data/a.parquet\]"

PAIRS: list[tuple[Writer, Callable[[MemoryOperations], None], str | None]] = [
    (append, append_same, None),
    (append, delete_same, None),
    (append, compact_same, None),
    (append, equality_same, None),
    (copy_on_write, append_same, DATA),
    (copy_on_write, append_other, None),
    (copy_on_write, delete_same, MISSING),
    (copy_on_write, delete_other, None),
    (copy_on_write, compact_same, MISSING),
    (copy_on_write, deletes_same, REPLACED),
    (copy_on_write, deletes_other, None),
    (copy_on_write, equality_same, REPLACED),
    (copy_on_write_snapshot_isolation, append_same, None),
    (copy_on_write_snapshot_isolation, delete_same, MISSING),
    (copy_on_write_snapshot_isolation, deletes_same, REPLACED),
    (overwrite_filter, append_same, DATA),
    (overwrite_filter, append_other, None),
    (overwrite_filter, delete_same, GONE),
    (overwrite_filter, delete_other, None),
    (overwrite_filter, compact_same, GONE),
    (overwrite_filter, deletes_same, DELETES),
    (overwrite_filter, deletes_other, None),
    (dynamic_overwrite, append_same, r"Found conflicting files that can contain records matching partitions \[p=1\]: \[/data/c1.parquet\]"),
    (dynamic_overwrite, append_other, None),
    (dynamic_overwrite, delete_same, r"Found conflicting deleted files that can apply to records matching \[p=1\]: \[/data/a.parquet\]"),
    (dynamic_overwrite, delete_other, None),
    (dynamic_overwrite, deletes_same, DELETES),
    (dynamic_overwrite, deletes_other, None),
    (merge_on_read, append_same, DATA),
    (merge_on_read, append_other, None),
    (merge_on_read, delete_same, NO_DATA_FILE),
    (merge_on_read, compact_same, NO_DATA_FILE),
    (merge_on_read, deletes_same, DELETES),
    (merge_on_read, deletes_other, None),
    (merge_on_read, equality_same, DELETES),
    (merge_on_read_delete, append_same, None),
    (merge_on_read_delete, delete_same, None),
    (merge_on_read_delete, compact_same, NO_DATA_FILE),
    (merge_on_read_delete, deletes_same, None),
    (compaction, append_same, None),
    (compaction, delete_same, MISSING),
    (compaction, compact_same, MISSING),
    (compaction, deletes_same, REPLACED),
    (compaction, deletes_other, None),
    (compaction, equality_same, REPLACED),
    (compaction_with_number, equality_same, None),
    (compaction_with_number, deletes_same, "Cannot commit, found new position delete for replaced data file: /data/a.parquet"),
]


@pytest.mark.parametrize(("late", "first", "words"), PAIRS, ids=lambda value: getattr(value, "__name__", None))
def test_pairs(tmp_path: Path, late: Writer, first: Callable[[MemoryOperations], None], words: str | None) -> None:
    table = new_table(tmp_path, spec=BY_P)
    AppendFiles(table).append_files([A, B]).commit()
    base = table.metadata.current_snapshot_id
    assert base is not None
    first(table)
    before = table.load()
    if words is None:
        late(table, base).commit()
        assert len(table.metadata.snapshots) == 3
    else:
        with pytest.raises(ValidationError, match=words):
            late(table, base).commit()
        assert table.load() == before


def test_metrics_narrow_a_conflict(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    low, high = data_file("low", ids=(0, 9)), data_file("high", ids=(10, 19))
    AppendFiles(table).append_file(data_file("x", ids=(0, 9))).commit()
    base = table.metadata.current_snapshot_id

    def overwrite(name: str) -> OverwriteFiles:
        builder = OverwriteFiles(table).add_file(data_file(name)).conflict_detection_filter(ID5)
        return builder.validate_from_snapshot(base).validate_no_conflicting_data()

    AppendFiles(table).append_file(high).commit()
    overwrite("n1").commit()
    AppendFiles(table).append_file(low).commit()
    with pytest.raises(
        ValidationError, match=rf"{DATA} id = 5: \[/data/low.parquet, /data/n1.parquet\]|{DATA} id = 5: \[/data/low.parquet\]"
    ):
        overwrite("n2").commit()


def test_a_version_1_table_has_no_deletes_to_conflict_with(tmp_path: Path) -> None:
    table = new_table(tmp_path, spec=BY_P, version=1)
    AppendFiles(table).append_files([A, B]).commit()
    base = table.metadata.current_snapshot_id
    assert base is not None
    append_other(table)
    copy_on_write(table, base).commit()


def test_two_vectors_of_one_file_conflict_whatever_was_asked(tmp_path: Path) -> None:
    table = new_table(tmp_path, version=3)
    a = data_file("a")
    AppendFiles(table).append_file(a).commit()
    base = table.metadata.current_snapshot_id
    RowDelta(table).add_deletes(deletion_vector("v1", a)).commit()
    with pytest.raises(ValidationError, match=r"Found concurrently added DV for /data/a.parquet: /data/v1.puffin"):
        RowDelta(table).add_deletes(deletion_vector("v2", a)).validate_from_snapshot(base).commit()


def test_a_base_that_was_expired_cannot_be_validated_from(tmp_path: Path) -> None:
    table = new_table(tmp_path, spec=BY_P)
    AppendFiles(table).append_files([A, B]).commit()
    base = table.metadata.current_snapshot_id
    assert base is not None
    append_other(table)
    append_same(table)
    ExpireSnapshots(table).expire_older_than(2**60).retain_last(1).commit()
    with pytest.raises(ValidationError, match=f"Cannot determine history between starting snapshot {base} and the last known ancestor"):
        copy_on_write(table, base).commit()


def test_without_a_base_all_history_counts(tmp_path: Path) -> None:
    table = new_table(tmp_path, spec=BY_P)
    AppendFiles(table).append_file(A).commit()
    with pytest.raises(ValidationError, match=DATA):
        OverwriteFiles(table).add_file(C1).conflict_detection_filter(TRUE).validate_no_conflicting_data().commit()


def test_data_and_their_deletes_cannot_come_and_go_together(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    a = data_file("a")
    with pytest.raises(ValidationError, match="that are referenced by new delete files"):
        RowDelta(table).remove_rows(a).add_deletes(position_deletes("d", of=a)).change()
