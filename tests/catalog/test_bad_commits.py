"""Commits that must be refused, with nothing written or deleted, on every catalog."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from icesql.catalog.base import Catalog
from icesql.errors import CommitFailedError, IcesqlError, NotFoundError, ValidationError
from icesql.table.table import Table
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.table.memory import data_file, deletion_vector, equality_deletes, position_deletes

A = data_file("a", (1,))


def table_with_a(catalog: Catalog) -> Table:
    table = catalog.create_table("db.t", SCHEMA, spec=BY_ID, properties={"commit.retry.num-retries": "0"})
    table.new_append().append_file(A).commit()
    return table


def test_a_dropped_table_takes_no_commit(catalog: Catalog) -> None:
    table = table_with_a(catalog)
    catalog.drop_table(("db", "t"))
    with pytest.raises((NotFoundError, CommitFailedError)):
        table.new_append().append_file(data_file("n", (1,))).commit()
    assert not catalog.table_exists(("db", "t"))


def test_a_table_replaced_by_another_takes_no_commit_meant_for_the_first(catalog: Catalog) -> None:
    table = table_with_a(catalog)
    catalog.drop_table(("db", "t"))
    other = catalog.create_table("db.t", SCHEMA)
    with pytest.raises(IcesqlError, match=r"UUID does not match|stale table metadata|Version \d+ already exists"):
        table.new_append().append_file(data_file("n", (1,))).commit()
    assert catalog.load_table("db.t").metadata.table_uuid == other.metadata.table_uuid
    assert catalog.load_table("db.t").metadata.snapshots == ()


UNKNOWN: dict[str, Callable[[Table], object]] = {
    "rollback": lambda t: t.manage_snapshots().rollback_to(5).commit(),
    "set current": lambda t: t.manage_snapshots().set_current_snapshot(5).commit(),
    "cherry-pick": lambda t: t.manage_snapshots().cherrypick(5).commit(),
    "branch at": lambda t: t.manage_snapshots().create_branch("b", 5).commit(),
    "tag at": lambda t: t.manage_snapshots().create_tag("b", 5).commit(),
    "fast-forward to": lambda t: t.manage_snapshots().fast_forward_branch("main", "nope").commit(),
    "remove branch": lambda t: t.manage_snapshots().remove_branch("nope").commit(),
    "remove tag": lambda t: t.manage_snapshots().remove_tag("nope").commit(),
    "rename": lambda t: t.manage_snapshots().rename_branch("nope", "b").commit(),
    "retention": lambda t: t.manage_snapshots().set_max_ref_age_ms("nope", 1).commit(),
    "publish": lambda t: t.manage_snapshots().publish("nope").commit(),
    "scan of a ref": lambda t: t.scan(ref="nope").plan_files(),
    "scan of a snapshot": lambda t: t.scan(snapshot_id=5).plan_files(),
}
MISFITS: dict[str, Callable[[Table], object]] = {
    "removal of a file that is not there": lambda t: t.new_rewrite_files().delete_file(data_file("x", (1,))).commit(),
    "removal of a path that is not there": lambda t: t.new_delete().delete_file("/data/x.parquet").validate_files_exist().commit(),
    "too few partition values": lambda t: t.new_append().append_file(data_file("x", ())).commit(),
    "too many partition values": lambda t: t.new_append().append_file(data_file("x", (1, 2))).commit(),
    "a partition value of another type": lambda t: t.new_append().append_file(data_file("x", ("one",))).commit(),
    "an unknown spec": lambda t: t.new_append().append_file(data_file("x", (1,), spec_id=9)).commit(),
    "an unknown file format": lambda t: t.new_append().append_file(replace(data_file("x", (1,)), file_format="csv")).commit(),
    "a deletion vector in version 2": lambda t: t.new_row_delta().add_deletes(deletion_vector("v", A)).commit(),
    "deletes of an unknown spec": lambda t: t.new_row_delta().add_deletes(replace(position_deletes("d", (1,)), spec_id=9)).commit(),
    "deletes of another partition type": lambda t: t.new_row_delta().add_deletes(equality_deletes("d", ("one",))).commit(),
    "a commit to a tag": lambda t: t.new_append().append_file(data_file("x", (1,))).to_branch("v1").commit(),
}


@pytest.mark.parametrize("name", [*UNKNOWN, *MISFITS])
def test_what_is_unknown_or_does_not_fit_is_refused(name: str, metastore: Catalog) -> None:
    table = table_with_a(metastore)
    table.manage_snapshots().create_tag("v1").commit()
    before, files = table.metadata_location, all_files(table)
    with pytest.raises(IcesqlError, match=r"\w+ .*(nope|5|/data/|tag)"):
        {**UNKNOWN, **MISFITS}[name](table)
    assert metastore.load_table("db.t").metadata_location == before
    assert all_files(table) == files


def all_files(table: Table) -> set[str]:
    return {str(path) for path in Path(table.location.removeprefix("file:")).rglob("*")}


def test_a_file_listed_twice_is_added_once(metastore: Catalog) -> None:
    table = table_with_a(metastore)
    table.new_append().append_files([data_file("n", (1,)), data_file("n", (1,))]).commit()
    current = table.current_snapshot
    assert current is not None
    assert current.summary["added-data-files"] == "1"


def test_a_file_that_is_in_the_table_is_not_taken_in_again(metastore: Catalog, tmp_path: Path) -> None:
    table = metastore.create_table("db.u", SCHEMA)
    path = tmp_path / "x.parquet"
    pq.write_table(rows(1), path)
    table.add_files([str(path)])
    before = table.metadata_location
    with pytest.raises(ValidationError, match=r"x\.parquet"):
        table.add_files([str(path)])
    assert metastore.load_table("db.u").metadata_location == before


def test_expiry_leaves_files_outside_the_table(metastore: Catalog, tmp_path: Path) -> None:
    table = metastore.create_table("db.u", SCHEMA)
    path = tmp_path / "precious.parquet"
    pq.write_table(rows(1), path)
    table.add_files([str(path)])
    table.append(rows(2))
    table.delete()
    result = table.expire_snapshots().expire_older_than(2**61).retain_last(1).commit()
    assert path.exists()
    assert [failed for failed, why in result.failures if "outside the table's location" in why] == [str(path)]
    assert not list(Path(table.location).rglob("*.parquet"))
