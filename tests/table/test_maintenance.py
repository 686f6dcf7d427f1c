"""Rewrites, imports, statistics and moves of tables, without Spark: rows stay, and every snapshot stays readable."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from icesql.errors import CommitFailedError, IcesqlError, InvalidArgumentError, ValidationError
from icesql.io.puffin import read_blob, read_puffin
from icesql.spec.files import DataFile
from icesql.spec.partitioning import PartitionSpec
from icesql.table.maintenance.dangling_deletes import DanglingDeletes
from icesql.table.maintenance.import_files import ImportFiles, ensure_name_mapping
from icesql.table.maintenance.import_source import source_partitions
from icesql.table.maintenance.orphan_files import (
    PrefixMismatch,
    PrefixRules,
    list_in_threads,
    orphans_among,
    reached_files,
    units_of,
    visible,
)
from icesql.table.maintenance.partition_statistics import compute_partition_statistics, partition_statistics
from icesql.table.maintenance.path_prefix import PathPrefix
from icesql.table.maintenance.rewrite_data_files import Group, RewriteDataFiles
from icesql.table.maintenance.rewrite_options import data_rewrite_options, delete_rewrite_options
from icesql.table.maintenance.rewrite_position_deletes import RewritePositionDeletes
from icesql.table.maintenance.rewrite_table_path import RewriteTablePath
from icesql.table.maintenance.table_statistics import columns_for_statistics, compute_table_statistics
from icesql.table.table import Table
from tests.table.maintained import catalog_in, delete_positions, ids, new_table, paths, read_everything, rows

VERSIONS = (1, 2, 3)


def rewrite(table: Table, **options: str) -> RewriteDataFiles:
    given = {key.replace("_", "-").replace("--", "."): value for key, value in options.items()}
    return RewriteDataFiles(table=table, options=data_rewrite_options(given, table.metadata, "BIN-PACK"))


# -- rewrite_data_files ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
def test_small_files_become_one_and_nothing_else_changes(tmp_path: Path, version: int):
    table = new_table(tmp_path, version=version)
    for i in range(6):
        table.append(rows(2 * i, 2 * i + 1, p=0))
    table.append(rows(100, p=1))
    before = read_everything(table)
    result = rewrite(table).run()
    assert (result.rewritten_files, result.added_files, result.failed_files) == (6, 1, 0)
    assert len(paths(table)) == 2
    assert ids(table) == [*range(12), 100]
    assert read_everything(table).items() >= before.items()
    assert table.current_snapshot is not None and table.current_snapshot.operation == "replace"


@pytest.mark.parametrize("version", [2, 3])
def test_deletes_are_applied_and_vectors_removed(tmp_path: Path, version: int):
    table = new_table(tmp_path, version=version)
    table.append(rows(1, 2, 3))
    table.append(rows(4, 5, 6))
    for path in paths(table):
        delete_positions(table, path, [0])
    kept = ids(table)
    result = rewrite(table, delete_file_threshold="1").run()
    assert result.removed_deletes == (2 if version == 3 else 0)
    assert ids(table) == kept
    assert len(kept) == 4
    if version == 3:
        assert not table.scan().plan_files().has_deletes


def test_rows_keep_their_identity(tmp_path: Path):
    table = new_table(tmp_path, version=3)
    for i in range(3):
        table.append(rows(10 * i, 10 * i + 1))
    lineage = ("id", "_row_id", "_last_updated_sequence_number")

    def identities() -> set[tuple[Any, ...]]:
        return {tuple(row.values()) for row in table.scan(select=lineage).to_arrow().to_pylist()}

    before = identities()
    rewrite(table, rewrite_all="true").run()
    assert len(paths(table)) == 1
    assert identities() == before


def test_files_of_an_older_spec_are_written_under_the_new_one(tmp_path: Path):
    table = new_table(tmp_path, spec=PartitionSpec())
    table.append(pa.concat_tables([rows(1, 2, p=1), rows(3, p=2), rows(4, p=None)]))
    table.update_spec().add_field("p").commit()
    rewrite(table, rewrite_all="true").run()
    found = {task.data_file.partition: task.data_file.record_count for task in table.scan().plan_files().tasks}
    assert found == {(1,): 2, (2,): 1, (None,): 1}
    assert ids(table) == [1, 2, 3, 4]


def test_output_spec_id_sends_files_back(tmp_path: Path):
    table = new_table(tmp_path, spec=PartitionSpec())
    table.append(rows(1, 2, p=1))
    table.update_spec().add_field("p").commit()
    table.append(rows(3, p=2))
    rewrite(table, rewrite_all="true", output_spec_id="0").run()
    assert {task.spec_id for task in table.scan().plan_files().tasks} == {0}
    assert ids(table) == [1, 2, 3]


def test_appends_made_meanwhile_survive(tmp_path: Path):
    table = new_table(tmp_path)
    for i in range(5):
        table.append(rows(i))
    job = rewrite(table)
    assert job.plan.groups
    catalog_in(tmp_path).load_table(("db", "t")).append(rows(50))
    job.run()
    assert ids(table.refresh()) == [0, 1, 2, 3, 4, 50]


def test_deletes_made_meanwhile_are_a_conflict_and_leave_no_files(tmp_path: Path):
    table = new_table(tmp_path)
    for i in range(5):
        table.append(rows(i, i + 100))
    job = rewrite(table)
    assert job.plan.groups
    other = catalog_in(tmp_path).load_table(("db", "t"))
    delete_positions(other, paths(other)[0], [0])
    held = {info.location for info in table.io.list_files(f"{table.location}/data")}
    with pytest.raises(ValidationError):
        job.run()
    assert {info.location for info in table.io.list_files(f"{table.location}/data")} == held
    assert len(ids(table.refresh())) == 9


def test_partial_progress_keeps_what_succeeded(tmp_path: Path):
    table = new_table(tmp_path)
    for p in range(4):
        table.append(rows(p, p=p))
        table.append(rows(p + 10, p=p))
    kept = ids(table)
    job = rewrite(table, rewrite_all="true", partial_progress__enabled="true", partial_progress__max_commits="4")

    def write(group: Group) -> list[DataFile]:
        if group.tasks[0].data_file.partition == (2,):
            raise OSError("no space left on device")
        return job.write_here(group)

    result = job.run(write)
    assert (result.rewritten_files, result.added_files, result.failed_files) == (6, 3, 2)
    assert "no space" in str(result.outcome.failed[0][1])
    assert ids(table) == kept
    assert len(paths(table)) == 5


def test_without_partial_progress_a_failure_changes_nothing(tmp_path: Path):
    table = new_table(tmp_path)
    for p in range(4):
        table.append(rows(p, p=p))
    job, version = rewrite(table, rewrite_all="true"), table.metadata_location
    held = {info.location for info in table.io.list_files(f"{table.location}/data")}

    def write(group: Group) -> list[DataFile]:
        if group.tasks[0].data_file.partition == (2,):
            raise OSError("no space left on device")
        return job.write_here(group)

    with pytest.raises(OSError, match="no space"):
        job.run(write)
    assert table.refresh().metadata_location == version
    assert {info.location for info in table.io.list_files(f"{table.location}/data")} == held


def test_too_many_failed_commits_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    table = new_table(tmp_path)
    for p in range(3):
        table.append(rows(p, p=p))
    job = rewrite(table, rewrite_all="true", partial_progress__enabled="true", partial_progress__max_failed_commits="1")

    def fail(groups: object) -> None:
        raise CommitFailedError("Cannot commit: lost the race")

    monkeypatch.setattr(RewriteDataFiles, "_commit", lambda self, groups: fail(groups))
    with pytest.raises(IcesqlError, match="more than the maximum allowed failures of 1"):
        job.run()


def test_a_dry_run_counts_what_a_run_does(tmp_path: Path):
    table = new_table(tmp_path)
    for i in range(6):
        table.append(rows(i))
    job = rewrite(table)
    guess, real = job.dry_run(), job.run()
    assert (guess.rewritten_files, guess.added_files, guess.rewritten_bytes) == (
        real.rewritten_files,
        real.added_files,
        real.rewritten_bytes,
    )


def test_an_unknown_branch_is_refused(tmp_path: Path):
    table = new_table(tmp_path)
    job = RewriteDataFiles(table=table, options=data_rewrite_options({}, table.metadata, "BIN-PACK"), branch="nope")
    with pytest.raises(InvalidArgumentError, match="branch does not exist"):
        job.run()


def test_dangling_deletes_go_once_nothing_is_older(tmp_path: Path):
    table = new_table(tmp_path)
    table.append(rows(1, 2, p=0))
    table.append(rows(3, 4, p=1))
    for path in paths(table):
        delete_positions(table, path, [0])
    assert not DanglingDeletes(table).find()
    rewrite(table, delete_file_threshold="1", use_starting_sequence_number="false").run()
    assert DanglingDeletes(table).commit()
    assert not any(table.scan().plan_files().delete_files)
    assert ids(table) == [2, 4]
    assert not DanglingDeletes(table).find()


# -- rewrite_position_delete_files ------------------------------------------------------------------------------------------
def rewrite_deletes(table: Table, **options: str) -> RewritePositionDeletes:
    given = {key.replace("_", "-"): value for key, value in options.items()}
    return RewritePositionDeletes(table=table, options=delete_rewrite_options(given, table.metadata))


def test_position_deletes_of_a_file_become_one(tmp_path: Path):
    table = new_table(tmp_path)
    table.append(rows(*range(10)))
    (path,) = paths(table)
    for position in (0, 3, 5):
        delete_positions(table, path, [position])
    job = rewrite_deletes(table, rewrite_all="true")
    assert job.dry_run().added_files == 1
    result = job.run()
    assert (result.rewritten_files, result.added_files) == (3, 1)
    assert ids(table) == [1, 2, 4, 6, 7, 8, 9]
    assert read_everything(table)


def test_position_deletes_of_a_partition_share_a_file_where_the_table_asks_for_it(tmp_path: Path):
    table = new_table(tmp_path)
    table.update_properties().set("write.delete.granularity", "partition").commit()
    table.append(rows(1, 2))
    table.append(rows(3, 4))
    for path in paths(table):
        delete_positions(table, path, [0])
    assert rewrite_deletes(table, rewrite_all="true").run().added_files == 1
    assert ids(table) == [2, 4]


def test_positions_of_files_that_are_gone_are_dropped(tmp_path: Path):
    table = new_table(tmp_path)
    table.append(rows(1, 2))
    table.append(rows(3, 4))
    for path in paths(table):
        delete_positions(table, path, [0])
    table.delete("id > 2")
    kept = ids(table)
    rewrite_deletes(table, rewrite_all="true").run()
    assert ids(table) == kept == [2]
    assert len({file.file_path for files in table.scan().plan_files().delete_files for file in files}) <= 1


def test_after_an_upgrade_positions_become_vectors(tmp_path: Path):
    table = new_table(tmp_path)
    table.append(rows(*range(6)))
    (path,) = paths(table)
    delete_positions(table, path, [1])
    delete_positions(table, path, [4])
    table.update_properties().set("format-version", "3").commit()
    assert rewrite_deletes(table, rewrite_all="true").run().added_files == 1
    ((vector,),) = table.scan().plan_files().delete_files
    assert vector.is_deletion_vector and vector.record_count == 2
    assert ids(table) == [0, 2, 3, 5]


def test_a_filter_chooses_delete_files_by_partition(tmp_path: Path):
    table = new_table(tmp_path)
    table.append(rows(1, 2, p=0))
    table.append(rows(3, 4, p=1))
    for path in paths(table):
        delete_positions(table, path, [0])
    job = RewritePositionDeletes(
        table=table, options=delete_rewrite_options({"rewrite-all": "true"}, table.metadata), where=table.expression("p = 1")
    )
    assert job.run().rewritten_files == 1
    assert ids(table) == [2, 4]


# -- orphans -----------------------------------------------------------------------------------------------------------------
def listing(table: Table) -> list[str]:
    files, folders = units_of(table.io, table.location)
    return [info.location for info in visible([*files, *list_in_threads(table.io, folders)], table.location, frozenset())]


def test_only_what_nothing_reaches_is_an_orphan(tmp_path: Path):
    table = new_table(tmp_path)
    for i in range(3):
        table.append(rows(i, p=i))
    delete_positions(table, paths(table)[0], [0])
    compute_table_statistics(table, table.current_snapshot, columns_for_statistics(table.schema, None))  # type: ignore[arg-type]
    compute_partition_statistics(table, table.current_snapshot)  # type: ignore[arg-type]
    lost = Path(table.location.removeprefix("file:")) / "data" / "p=0" / "lost.parquet"
    lost.write_bytes(b"x")
    (lost.parent / "_temporary").mkdir()
    (lost.parent / "_temporary" / "hidden.parquet").write_bytes(b"x")
    found = orphans_among(listing(table), reached_files(table), PrefixRules())
    assert [Path(path).name for path in found] == ["lost.parquet"]


@pytest.mark.parametrize(
    ("listed", "reached", "rules", "wanted"),
    [
        ("s3a://b/x", "s3://b/x", PrefixRules(), []),
        ("/a/x", "file:/a/x", PrefixRules(), []),
        ("file:///a/x", "/a/x", PrefixRules(), []),
        ("/a//b/x", "file:/a/b/x", PrefixRules(), []),
        ("s3://b/a/x", "s3://b//a//x", PrefixRules(), []),
        ("s3://b/x", "s3://b/y", PrefixRules(), ["s3://b/x"]),
        ("s3://b1/x", "s3://b/x", PrefixRules.of(None, {"b1,b2": "b"}, PrefixMismatch.ERROR), []),
        ("oss://b/x", "s3://b/x", PrefixRules.of({"oss": "s3"}, None, PrefixMismatch.ERROR), []),
        ("oss://b/x", "s3://b/x", PrefixRules.of(None, None, PrefixMismatch.IGNORE), []),
        ("oss://b/x", "s3://b/x", PrefixRules.of(None, None, PrefixMismatch.DELETE), ["oss://b/x"]),
    ],
)
def test_prefixes_may_differ(listed: str, reached: str, rules: PrefixRules, wanted: list[str]):
    assert orphans_among([listed], [reached], rules) == wanted


def test_prefixes_in_conflict_are_an_error_that_names_them():
    with pytest.raises(ValidationError, match=r"Conflicting authorities/schemes: \[\(s3, oss\)\]"):
        orphans_among(["oss://b/x"], ["s3://b/x"], PrefixRules())


# -- imports -----------------------------------------------------------------------------------------------------------------
def test_folders_of_every_format_are_taken_over(tmp_path: Path):
    table = new_table(tmp_path / "warehouse")
    source = tmp_path / "source"
    (source / "p=1").mkdir(parents=True)
    (source / "p=__HIVE_DEFAULT_PARTITION__").mkdir()
    (source / "_logs").mkdir()
    (source / "_logs" / "x.parquet").write_bytes(b"no data")
    plain = rows(1, 2).select(["id", "s"])
    pq.write_table(plain, source / "p=1" / "a.parquet")
    pq.write_table(rows(3).select(["id", "s"]), source / "p=__HIVE_DEFAULT_PARTITION__" / "b.parquet")
    ensure_name_mapping(table)
    partitions = source_partitions(table.io, str(source), "parquet")
    task = ImportFiles(table=table, partitions=partitions)
    assert task.commit(task.files()) == 2
    assert sorted(table.to_arrow().select(["id", "p"]).to_pylist(), key=str) == [
        {"id": 1, "p": 1}, {"id": 2, "p": 1}, {"id": 3, "p": None},
    ]  # fmt: skip
    with pytest.raises(ValidationError, match="already exist within the target table"):
        task.files()
    unpartitioned = new_table(tmp_path / "warehouse", spec=PartitionSpec(), name="u")
    ensure_name_mapping(unpartitioned)
    (tmp_path / "orc").mkdir()
    orc.write_table(plain, tmp_path / "orc" / "a.orc")
    taken = ImportFiles(table=unpartitioned, partitions=source_partitions(table.io, str(tmp_path / "orc"), "orc"))
    assert taken.commit(taken.files()) == 1
    assert ids(unpartitioned) == [1, 2]


def test_partition_columns_must_be_those_of_a_spec(tmp_path: Path):
    table = new_table(tmp_path / "warehouse", spec=PartitionSpec())
    (tmp_path / "source" / "p=1").mkdir(parents=True)
    pq.write_table(rows(1), tmp_path / "source" / "p=1" / "a.parquet")
    partitions = source_partitions(table.io, str(tmp_path / "source"), "parquet")
    with pytest.raises(InvalidArgumentError, match=r"that matches the partition columns \(\[p\]\)"):
        ImportFiles(table=table, partitions=partitions).files()


# -- statistics --------------------------------------------------------------------------------------------------------------
def test_statistics_count_distinct_values_of_live_rows(tmp_path: Path):
    table = new_table(tmp_path)
    table.append(rows(*range(50), p=0))
    table.append(rows(*range(25, 75), p=1))
    delete_positions(table, paths(table)[0], list(range(25)))
    assert table.current_snapshot is not None
    file = compute_table_statistics(table, table.current_snapshot, columns_for_statistics(table.schema, None))
    counts = {blob.fields: int(blob.properties["ndv"]) for blob in file.blob_metadata}
    assert counts == {(1,): len(set(ids(table))), (2,): len(set(ids(table))), (3,): 2}
    (held,) = table.metadata.statistics
    footer = read_puffin(table.io, held.statistics_path)
    assert [blob.fields for blob in footer.blobs] == [(1,), (2,), (3,)]
    assert read_blob(table.io, held.statistics_path, footer.blobs[0])[2] == 3


@pytest.mark.parametrize("version", VERSIONS)
def test_partition_statistics_add_up(tmp_path: Path, version: int):
    table = new_table(tmp_path, version=version)
    table.append(pa.concat_tables([rows(1, 2, p=0), rows(3, p=1), rows(4, p=None)]))
    table.append(rows(5, 6, 7, p=0))
    if version > 1:
        delete_positions(table, paths(table)[0], [0])
    assert table.current_snapshot is not None
    found = partition_statistics(table, table.current_snapshot)
    assert {one.partition: one.counts["data"] for one in found} == {(0,): [5, 2], (1,): [1, 1], (None,): [1, 1]}
    deleted = sum(one.counts["positions"][0] + one.counts["vectors"][0] for one in found)
    assert deleted == (0 if version == 1 else 1)
    file = compute_partition_statistics(table, table.current_snapshot)
    written = pq.read_table(file.statistics_path.removeprefix("file:"))
    assert [row["p"] for row in written["partition"].to_pylist()] == [None, 0, 1]
    assert written["data_record_count"].to_pylist() == [1, 5, 1]
    assert ("dv_count" in written.column_names) is (version == 3)
    assert compute_partition_statistics(table, table.current_snapshot) == file
    assert table.metadata.partition_statistics == (file,)


# -- rewrite_table_path ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
def test_a_copied_table_reads_the_same(tmp_path: Path, version: int):
    table = new_table(tmp_path / "old", version=version)
    table.append(rows(1, 2, 3, p=0))
    table.append(rows(4, 5, p=1))
    if version > 1:
        delete_positions(table, paths(table)[0], [1])
    compute_partition_statistics(table, table.current_snapshot)  # type: ignore[arg-type]
    before = read_everything(table)
    target = f"{tmp_path}/new/db/t"
    result = RewriteTablePath(table=table, prefix=PathPrefix(table.location, target)).run()
    assert result.file_list is not None
    with Path(result.file_list.removeprefix("file:")).open() as lines:
        pairs = [tuple(line) for line in csv.reader(lines)]
    assert sorted(pairs) == sorted(result.copies)
    for source, destination in pairs:
        Path(destination).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source.removeprefix("file:"), destination)
    latest = next(destination for _, destination in pairs if destination.endswith("/" + result.latest_version))
    shutil.rmtree(tmp_path / "old")
    other = catalog_in(tmp_path / "other")
    other.create_namespace(("db",))
    moved = other.register_table(("db", "t"), latest)
    assert read_everything(moved) == before
    assert all(path.startswith(target) for path in paths(moved))


def test_only_what_came_after_a_version_is_listed(tmp_path: Path):
    table = new_table(tmp_path / "old")
    table.append(rows(1))
    start = str(table.metadata_location).rpartition("/")[2]
    old = set(paths(table))
    table.append(rows(2))
    prefix = PathPrefix(table.location, "/elsewhere")
    result = RewriteTablePath(table=table, prefix=prefix, start_version=start).run()
    listed = {source for source, _ in result.copies}
    assert not listed & old
    assert set(paths(table)) - old <= listed
    assert not any(target.endswith("/" + start) for _, target in result.copies)
    with pytest.raises(InvalidArgumentError, match="Cannot find provided version file nope in metadata log"):
        RewriteTablePath(table=table, prefix=prefix, start_version="nope").run()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [("", "/b", r"Source prefix\(''\) cannot be empty"), ("/a", "/a/", "Source prefix cannot be the same as target prefix")],
)
def test_prefixes_must_make_sense(source: str, target: str, message: str):
    with pytest.raises(InvalidArgumentError, match=message):
        PathPrefix(source, target)


def test_files_elsewhere_are_an_error(tmp_path: Path):
    table = new_table(tmp_path)
    table.append(rows(1))
    with pytest.raises(InvalidArgumentError, match=r"does not start with|not under the source prefix"):
        RewriteTablePath(table=table, prefix=PathPrefix("/nowhere", "/elsewhere")).run()
