"""How long delete files live: never shorter than a data file they apply to, whatever another engine commits meanwhile."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.errors import InvalidArgumentError, ValidationError
from icesql.expr.tree import Reference
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import write_equality_deletes
from icesql.spec.files import DataFile
from icesql.spec.partitioning import UNPARTITIONED
from icesql.spec.transforms import bucket
from icesql.table.changes.row_delta import RowDelta
from icesql.table.maintenance.dangling_deletes import DanglingDeletes
from icesql.table.maintenance.rewrite_data_files import RewriteDataFiles
from icesql.table.maintenance.rewrite_options import data_rewrite_options, delete_rewrite_options
from icesql.table.maintenance.rewrite_position_deletes import RewritePositionDeletes
from icesql.table.table import Table
from tests.table.maintained import BY_P, catalog_in, delete_positions, ids, new_table, paths, rows


def again(table: Table) -> Table:
    """The same table in another writer's hands."""
    return catalog_in(Path(table.location).parents[1]).load_table(table.identifier)


def delete_equal(table: Table, *values: int) -> None:
    """As Flink commits an equality delete: with no look at the table."""
    spec = table.spec
    partition = () if spec.is_unpartitioned else (0,)
    (file,) = write_equality_deletes(
        table.io, lambda: f"{table.location}/data/{uuid.uuid4()}-eq.parquet", rows(*values), table.schema, [1], spec_id=spec.spec_id,
        partition=partition,
    )  # fmt: skip
    again(table).new_row_delta().add_deletes(file).commit()


def rewrite(table: Table, meanwhile: Callable[[], object], **options: str) -> None:
    """rewrite_data_files, with other writers' commits between its reading and its commit."""
    chosen = data_rewrite_options(
        {"rewrite-all": "true", **{k.replace("_", "-"): v for k, v in options.items()}}, table.metadata, "BIN-PACK"
    )
    job = RewriteDataFiles(table=table, options=chosen)

    def write(group: object) -> list[DataFile]:
        written = job.write_here(group)  # type: ignore[arg-type]
        meanwhile()
        return written

    job.run(write)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("spec", [UNPARTITIONED, BY_P])
def test_a_rewrite_keeps_equality_deletes_that_its_files_are_older_than(tmp_path: Path, version: int, spec: object) -> None:
    table = new_table(tmp_path, version=version, spec=spec)  # type: ignore[arg-type]
    table.append(rows(1, 2, 3))

    def meanwhile() -> None:
        delete_equal(table, 2)
        again(table).append(rows(4))

    rewrite(table, meanwhile)
    assert ids(table.refresh()) == [1, 3, 4]
    again(table).append(rows(5))
    assert ids(table.refresh()) == [1, 3, 4, 5]  # nor did a later commit drop it


@pytest.mark.parametrize("value", [2, 7])
def test_a_rewrite_into_another_spec_is_refused_after_an_equality_delete_of_a_partition(tmp_path: Path, value: int) -> None:
    """Its rows would leave the partition that the delete is about."""
    table = new_table(tmp_path)
    table.append(rows(1, 2, 3))
    table.update_spec().add_field(Reference("id", bucket(4)), "id_bucket").commit()
    old = table.metadata.specs_by_id[0]

    def meanwhile() -> None:
        (file,) = write_equality_deletes(
            table.io, lambda: f"{table.location}/data/{uuid.uuid4()}-eq.parquet", rows(value), table.schema, [1], spec_id=old.spec_id,
            partition=(0,),
        )  # fmt: skip
        again(table).new_row_delta().add_deletes(file).commit()

    if value == 2:
        with pytest.raises(ValidationError, match="new equality delete for rows that the rewrite moves"):
            rewrite(table, meanwhile)
    else:  # its bounds say that it has nothing to do with the rows
        rewrite(table, meanwhile)
    assert ids(table.refresh()) == ([1, 3] if value == 2 else [1, 2, 3])


def rolled_back(tmp_path: Path) -> tuple[Table, int]:
    """A table whose position delete dangles now, and the snapshot in which it does not."""
    table = new_table(tmp_path)
    table.append(rows(1, 2, 3))
    delete_positions(table, paths(table)[0], [0])
    applies = table.refresh().current_snapshot
    assert applies is not None
    rewrite(table, lambda: None, use_starting_sequence_number="false")
    assert ids(table.refresh()) == [2, 3]
    return table, applies.snapshot_id


def test_dangling_deletes_are_looked_up_on_the_version_committed_to(tmp_path: Path) -> None:
    table, applies = rolled_back(tmp_path)
    removal = DanglingDeletes(table)
    assert len(removal.find()) == 1
    again(table).manage_snapshots().rollback_to(applies).commit()
    assert removal.commit() == []
    assert ids(table.refresh()) == [2, 3]


def test_a_rewrite_of_position_deletes_does_not_survive_a_rollback(tmp_path: Path) -> None:
    table, applies = rolled_back(tmp_path)
    job = RewritePositionDeletes(table=table.refresh(), options=delete_rewrite_options({"rewrite-all": "true"}, table.metadata))
    assert len(job.plan.groups) == 1
    again(table).manage_snapshots().rollback_to(applies).commit()
    with pytest.raises(ValidationError, match="Cannot determine history"):
        job.run()
    assert ids(table.refresh()) == [2, 3]


def test_rewritten_position_deletes_reach_no_file_they_did_not_apply_to(tmp_path: Path) -> None:
    """A file that was taken out and added again is newer than the positions once deleted in it."""
    table = new_table(tmp_path)
    table.append(rows(9, p=1))  # old enough to keep the positions listed
    table.append(rows(1, 2, 3))
    first = next(path for path in paths(table) if "p=0" in path)
    delete_positions(table, first, [0])
    table.append(rows(4, 5))
    file = next(task.data_file for task in table.scan().plan_files().tasks if task.data_file.file_path == first)
    table.new_overwrite().delete_file(file).commit()
    table.new_append().append_file(file).commit()
    assert ids(table) == [1, 2, 3, 4, 5, 9]
    second = next(path for path in paths(table) if path != first and "p=0" in path)
    delete_positions(table, second, [0])
    RewritePositionDeletes(table=table, options=delete_rewrite_options({"rewrite-all": "true"}, table.metadata)).run()
    assert ids(table.refresh()) == [1, 2, 3, 5, 9]


# -- one vector a file -------------------------------------------------------------------------------------------------
def vector(table: Table, path: str, *positions: int) -> DataFile:
    task = next(task for task in table.scan().plan_files().tasks if task.data_file.file_path == path)
    location = f"{table.location}/data/{uuid.uuid4()}.puffin"
    return write_dvs(table.io, location, {path: positions}, targets={path: task.data_file})[0]


def test_a_second_vector_of_a_file_needs_the_first_removed(tmp_path: Path) -> None:
    table = new_table(tmp_path, version=3)
    table.append(rows(1, 2, 3))
    (path,) = paths(table)
    first, second = vector(table, path, 0), vector(table, path, 0, 1)
    with pytest.raises(InvalidArgumentError, match="there are 2 for one data file"):
        table.new_row_delta().add_deletes(first).add_deletes(second).commit()
    table.new_row_delta().add_deletes(first).commit()

    def superseding() -> RowDelta:
        assert table.current_snapshot is not None
        return table.new_row_delta().add_deletes(second).validate_from_snapshot(table.current_snapshot.snapshot_id)

    with pytest.raises(ValidationError, match="has one already, which the commit does not remove"):
        superseding().commit()
    with pytest.raises(ValidationError, match="Found concurrently added DV"):
        table.new_row_delta().add_deletes(second).commit()
    assert ids(table.refresh()) == [2, 3]
    superseding().remove_deletes(first).commit()
    assert ids(table.refresh()) == [3]


# -- other things that change between reading and commit ---------------------------------------------------------------
def test_a_branch_dropped_meanwhile_is_not_made_again(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.append(rows(1))
    table.manage_snapshots().create_branch("b").commit()
    stale = again(table)
    again(table).manage_snapshots().remove_branch("b").commit()
    with pytest.raises(ValidationError, match="Cannot commit to branch b: it was dropped meanwhile"):
        stale.append(rows(2), branch="b")
    assert "b" not in table.refresh().refs
    table.append(rows(2), branch="b")  # one that was not there is made, as before
    assert ids(table.refresh(), ref="b") == [1, 2]


def test_expiry_stops_where_collecting_was_forbidden_meanwhile(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.append(rows(1))
    table.overwrite(rows(2))
    stale = again(table).expire_snapshots().expire_older_than(2**60)
    table.update_properties().set("gc.enabled", "false").commit()
    with pytest.raises(ValidationError, match="GC is disabled"):
        stale.commit()
    assert len(table.refresh().snapshots) == 2


def test_a_file_added_twice_at_once_is_added_once(tmp_path: Path) -> None:
    catalog: Catalog = catalog_in(tmp_path)
    table = new_table(tmp_path)
    source = new_table(tmp_path, name="source")
    source.append(rows(1, 2))
    (file,) = paths(source)
    first, second = again(table), again(table)
    first.add_files([file])
    with pytest.raises(ValidationError, match="already exist within the target table"):
        second.add_files([f"file:{file}"])
    assert ids(catalog.load_table(table.identifier)) == [1, 2]
    second.refresh().add_files([file], check_duplicates=False)
    assert ids(second) == [1, 1, 2, 2]
