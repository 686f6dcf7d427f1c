"""Maintenance through CALL, in Spark: dry runs change nothing and tell the truth; sorted and Z-ordered rewrites keep all rows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from icesql.catalog.table_operations import MetastoreTableOperations
from icesql.errors import AlreadyExistsError, CommitFailedError, CommitStateUnknownError, NotFoundError, ValidationError

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("maintenance")


@pytest.fixture(scope="module")
def session(spark: Any, folder: Path) -> Any:
    import icesql

    session = icesql.connect(
        spark,
        catalogs={
            "local": {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": str(folder / "warehouse")},
            "spark_catalog": {"type": "sql", "uri": f"sqlite:///{folder}/spark.db", "warehouse": str(folder / "spark")},
        },
    )
    for namespace in ("local.m", "spark_catalog.default"):
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
    return session


def run(session: Any, *statements: str) -> Any:
    frame = None
    for statement in statements:
        frame = session.sql(statement)
    return frame


def rows_of(session: Any, table: str) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, session.sql(f"SELECT * FROM {table}").collect()), key=repr)


def files_in(folder: Path) -> set[str]:
    return {
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".parquet", ".avro", ".json", ".puffin", ".stats", ".orc")
    }


TWO_FILES = [
    "INSERT INTO {t} SELECT id, 's' || id, id % 2 FROM range(0, 10, 1, 1)",
    "INSERT INTO {t} SELECT id, 's' || id, id % 2 FROM range(10, 20, 1, 1)",
]
LOST = (
    "CREATE OR REPLACE TEMPORARY VIEW lost AS SELECT '{location}/data/lost.parquet' AS file_path, TIMESTAMP '2020-01-01' AS last_modified"
)
CASES = {
    "rollback_to_snapshot": (TWO_FILES, "table => '{n}', snapshot_id => {first}"),
    "rollback_to_timestamp": (TWO_FILES, "table => '{n}', timestamp => timestamp_millis({first_ms} + 1)"),
    "set_current_snapshot": (TWO_FILES, "table => '{n}', snapshot_id => {first}"),
    "cherrypick_snapshot": (
        [*TWO_FILES, "CALL local.system.rollback_to_snapshot('{n}', {first})"],
        "table => '{n}', snapshot_id => {last}",
    ),
    "fast_forward": ([*TWO_FILES, "ALTER TABLE {t} CREATE BRANCH b AS OF VERSION {first}"], "table => '{n}', branch => 'b', to => 'main'"),
    "expire_snapshots": (TWO_FILES, "table => '{n}', older_than => TIMESTAMP '2100-01-01'"),
    "rewrite_manifests": (TWO_FILES, "table => '{n}'"),
    "rewrite_data_files": (TWO_FILES, "table => '{n}', options => map('rewrite-all', 'true')"),
    "rewrite_position_delete_files": (
        [
            "ALTER TABLE {t} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition')",
            *TWO_FILES,
            "DELETE FROM {t} WHERE id IN (3, 13)",
            "DELETE FROM {t} WHERE id IN (5, 15)",
        ],
        "table => '{n}', options => map('rewrite-all', 'true')",
    ),
    "remove_orphan_files": ([*TWO_FILES, LOST], "table => '{n}', file_list_view => 'lost'"),
    "add_files": (
        ["INSERT OVERWRITE DIRECTORY '{folder}/src_{name}/p=1' USING parquet SELECT id, 's' || id AS s FROM range(0, 3, 1, 1)"],
        "table => '{n}', source_table => '`parquet`.`{folder}/src_{name}`'",
    ),
    "compute_table_stats": (TWO_FILES, "table => '{n}'"),
    "compute_partition_stats": (TWO_FILES, "table => '{n}'"),
    "rewrite_table_path": (TWO_FILES, "table => '{n}', source_prefix => '{location}', target_prefix => 's3://bucket/moved'"),
    "register_table": (
        [*TWO_FILES, "CREATE TABLE spark_catalog.default.{name} USING iceberg AS SELECT * FROM {t}"],
        "table => 'm.other_{name}', metadata_file => '{elsewhere}'",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_dry_run_changes_nothing_and_foretells_the_real_call(session: Any, folder: Path, name: str) -> None:
    setup, arguments = CASES[name]
    table = f"local.m.dry_{name}"
    session.sql(f"CREATE TABLE {table} (id BIGINT, s STRING, p BIGINT) PARTITIONED BY (p)")
    values: dict[str, Any] = {"t": table, "n": f"m.dry_{name}", "name": name, "folder": folder}

    def filled(text: str) -> str:
        found = session.table(table)
        values.update(location=found.location, metadata=found.metadata_location)
        if "{elsewhere}" in text:
            values["elsewhere"] = session.table(f"spark_catalog.default.{name}").metadata_location
        if found.snapshots:
            first, last = found.snapshots[0], found.snapshots[-1]
            values.update(first=first.snapshot_id, first_ms=first.timestamp_ms, last=last.snapshot_id)
        return text.format(**values)

    for statement in setup:
        session.sql(filled(statement))
    call = filled(f"CALL local.system.{name}({arguments}")
    before, rows, version = files_in(folder), rows_of(session, table), session.table(table).metadata_location
    foretold = session.sql(f"{call}, dry_run => true)").collect()
    plan = session.last_plan
    if name != "add_files":  # a missing name mapping is set in a dry run only, so nothing at all may change
        assert plan, "a dry run that would change something lists what"
    assert all(action.action and action.what for action in plan)
    assert files_in(folder) == before
    assert session.table(table).metadata_location == version
    assert rows_of(session, table) == rows
    real = session.sql(f"{call})").collect()
    assert session.last_plan == ()
    assert [_comparable(row) for row in foretold] == [_comparable(row) for row in real]


def _comparable(row: Any) -> tuple[Any, ...]:
    """Without paths, and without ids of snapshots that only a commit makes, and sizes that only writing tells."""
    return tuple(value if isinstance(value, int) and value < 1000 else type(value) for value in row)


@pytest.mark.parametrize(
    ("version", "sort_order"),
    [
        (2, "id DESC NULLS FIRST"),
        (3, "id DESC NULLS FIRST"),
        (3, "bucket(4, id), s ASC"),
        (2, "zorder(id, s)"),
        (3, "zorder(f, b, d, ts, n)"),
        (2, "hilbert(id, n)"),
        (3, "hilbert(f, b, s, ts)"),
    ],
)
def test_sorted_rewrites_keep_every_row(session: Any, version: int, sort_order: str) -> None:
    table = "local.m.sorted"
    run(
        session,
        f"DROP TABLE IF EXISTS {table}",
        f"CREATE TABLE {table} (id BIGINT, s STRING, f DOUBLE, b BOOLEAN, d DATE, ts TIMESTAMP, n DECIMAL(20, 3), p INT) "
        f"PARTITIONED BY (p) TBLPROPERTIES ('format-version' = '{version}', 'write.delete.mode' = 'merge-on-read')",
        f"INSERT INTO {table} SELECT id, IF(id % 7 = 0, NULL, 's' || id * 37 % 50), IF(id % 5 = 0, double('nan'), -id / 3.0), id % 2 = 0, "
        "date_add(DATE '2000-01-01', int(id)), timestamp_seconds(id * 1000), id / 7.0, id % 2 FROM range(0, 60, 1, 3)",
        f"DELETE FROM {table} WHERE id IN (3, 30)",
    )
    lineage = ", _row_id" if version == 3 else ""
    rows = sorted(map(repr, session.sql(f"SELECT *{lineage} FROM {table}").collect()))
    result = run(
        session,
        f"CALL local.system.rewrite_data_files(table => 'm.sorted', strategy => 'sort', sort_order => '{sort_order}', "
        "options => map('rewrite-all', 'true'))",
    ).collect()[0]
    assert result.added_data_files_count == 2
    assert result.failed_data_files_count == 0
    assert sorted(map(repr, session.sql(f"SELECT *{lineage} FROM {table}").collect())) == rows
    if sort_order.startswith("id DESC"):
        placed = session.sql(f"SELECT _file, _pos, id FROM {table} ORDER BY _file, _pos").collect()
        by_file: dict[str, list[int]] = {}
        for row in placed:
            by_file.setdefault(row[0], []).append(row[2])
        assert all(found == sorted(found, reverse=True) for found in by_file.values())


def test_a_rewrite_that_finds_nothing_says_why(session: Any) -> None:
    run(
        session,
        "CREATE TABLE local.m.quiet (id BIGINT)",
        "INSERT INTO local.m.quiet VALUES (1)",
        "CALL local.system.rewrite_data_files('m.quiet')",
    )
    assert any("below min-input-files (5)" in notice for notice in session.last_notices)


def test_where_takes_what_spark_can_fold(session: Any) -> None:
    table = "local.m.folded"
    run(
        session,
        f"CREATE TABLE {table} (id BIGINT, d DATE) PARTITIONED BY (d)",
        f"INSERT INTO {table} VALUES (1, DATE '2020-01-01'), (2, DATE '2020-01-02')",
        f"INSERT INTO {table} VALUES (3, DATE '2020-01-01'), (4, DATE '2020-01-02')",
    )
    result = run(
        session,
        "CALL local.system.rewrite_data_files(table => 'm.folded', where => \"d = date_add(DATE'2020-01-01', 1)\", "
        "options => map('rewrite-all', 'true'))",
    ).collect()[0]
    assert (result.rewritten_data_files_count, result.added_data_files_count) == (2, 1)
    for where in ("nope = 1", "id +"):
        with pytest.raises(Exception, match="Cannot parse predicates in where option"):
            run(session, f"CALL local.system.rewrite_data_files(table => 'm.folded', where => '{where}')")


def test_files_are_added_to_a_branch(session: Any, folder: Path) -> None:
    run(
        session,
        "CREATE TABLE local.m.branched (id BIGINT)",
        "INSERT INTO local.m.branched VALUES (1)",
        "ALTER TABLE local.m.branched CREATE BRANCH b",
        f"INSERT OVERWRITE DIRECTORY '{folder}/src_branched' USING parquet SELECT id FROM range(7, 8, 1, 1)",
    )
    call = f"CALL local.system.add_files('m.branched.branch_b', '`parquet`.`{folder}/src_branched`')"
    assert run(session, call).collect()[0].added_files_count == 1
    assert rows_of(session, "local.m.branched") == [(1,)]
    assert rows_of(session, "local.m.branched.branch_b") == [(1,), (7,)]
    with pytest.raises(ValidationError, match="already exist within the target table"):
        run(session, call)


def test_added_files_with_ids_may_lack_the_partition_columns(session: Any, folder: Path) -> None:
    source = f"{folder}/src_with_ids"
    numbered = {name: {"parquet.field.id": number} for number, name in enumerate(("id", "p"), 1)}
    rows = session.spark.sql("SELECT id, id % 2 AS p FROM range(4)")
    rows.select(*(rows[name].alias(name, metadata=numbered[name]) for name in rows.columns)).write.partitionBy("p").parquet(source)
    run(
        session,
        "CREATE TABLE local.m.with_ids (id BIGINT, p BIGINT) PARTITIONED BY (p)",
        f"CALL local.system.add_files('m.with_ids', '`parquet`.`{source}`')",
    )
    assert rows_of(session, "local.m.with_ids") == [(0, 0), (1, 1), (2, 0), (3, 1)]
    assert session.sql("SELECT sum(id) FROM local.m.with_ids WHERE p = 1").collect()[0][0] == 4
    assert session.table("local.m.with_ids").scan().to_arrow()["p"].null_count == 0


def test_changes_over_merge_on_read(session: Any) -> None:
    table = "local.m.mor"
    run(
        session,
        f"CREATE TABLE {table} (id BIGINT, s STRING) "
        "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')",
        f"INSERT INTO {table} SELECT id, 's' || id FROM range(0, 5, 1, 1)",
        f"DELETE FROM {table} WHERE id = 1",
        f"UPDATE {table} SET s = 'new' WHERE id = 2",
        f"INSERT INTO {table} VALUES (1, 's1')",
    )
    run(session, "CALL local.system.create_changelog_view(table => 'm.mor', changelog_view => 'mor', identifier_columns => array('id'))")
    found = {tuple(row) for row in session.sql("SELECT id, s, _change_type FROM mor WHERE _change_ordinal > 0").collect()}
    assert found == {(1, "s1", "DELETE"), (2, "s2", "UPDATE_BEFORE"), (2, "new", "UPDATE_AFTER"), (1, "s1", "INSERT")}
    run(session, "CALL local.system.create_changelog_view(table => 'm.mor', changelog_view => 'mor', net_changes => true)")
    net = sorted(tuple(row) for row in session.sql("SELECT id, s, _change_type FROM mor").collect())
    assert net == [(0, "s0", "INSERT"), (1, "s1", "INSERT"), (2, "new", "INSERT"), (3, "s3", "INSERT"), (4, "s4", "INSERT")]


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_changes_of_files_that_spark_cannot_read_itself(session: Any, folder: Path, file_format: str) -> None:
    name = f"m.foreign_{file_format}"
    run(
        session,
        f"CREATE TABLE local.{name} (id BIGINT, s STRING) TBLPROPERTIES ('write.format.default' = '{file_format}')",
        f"INSERT INTO local.{name} VALUES (1, 'own'), (2, 'own')",
        f"INSERT OVERWRITE DIRECTORY '{folder}/src_foreign_{file_format}' USING parquet SELECT id, 'in' AS s FROM range(7, 9, 1, 1)",
        f"CALL local.system.add_files('{name}', '`parquet`.`{folder}/src_foreign_{file_format}`')",
        f"DELETE FROM local.{name} WHERE id IN (1, 7)",
        f"CALL local.system.create_changelog_view('{name}', 'foreign_changes')",
    )
    found = sorted(tuple(row) for row in session.sql("SELECT id, s, _change_type, _change_ordinal FROM foreign_changes").collect())
    added = [(1, "own", "INSERT", 0), (2, "own", "INSERT", 0), (7, "in", "INSERT", 1), (8, "in", "INSERT", 1)]
    assert found == sorted([*added, (1, "own", "DELETE", 2), (7, "in", "DELETE", 2)])


def test_migrate_keeps_the_rows_and_the_old_table(session: Any, folder: Path) -> None:
    source = f"{folder}/migrated"
    run(
        session,
        f"CREATE TABLE spark_catalog.default.migrated (id BIGINT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{source}'",
        "INSERT INTO spark_catalog.default.migrated SELECT id, int(id % 2) FROM range(0, 6, 1, 1)",
    )
    (dry,) = run(session, "CALL spark_catalog.system.migrate(table => 'default.migrated', dry_run => true)").collect()
    assert {action.action for action in session.last_plan} == {"rename table", "create table", "add file"}
    (real,) = run(session, "CALL spark_catalog.system.migrate('default.migrated')").collect()
    assert real == dry == (2,)
    assert sorted(row[0] for row in session.sql("SELECT id FROM spark_catalog.default.migrated").collect()) == list(range(6))
    assert session.table("spark_catalog.default.migrated").properties["migrated"] == "true"
    run(session, "INSERT INTO spark_catalog.default.migrated VALUES (100, 1)")
    assert session.state.spark_sql("SELECT count(*) FROM spark_catalog.default.migrated_BACKUP_").collect()[0][0] >= 6


def test_migrate_drops_the_backup_of_a_managed_table_and_keeps_its_files(session: Any) -> None:
    table = "spark_catalog.default.was_managed"
    run(session, f"CREATE TABLE {table} (id BIGINT) USING parquet", f"INSERT INTO {table} SELECT id FROM range(0, 6, 1, 1)")
    (count,) = run(session, "CALL spark_catalog.system.migrate('default.was_managed', drop_backup => true)").collect()
    assert tuple(count) == (1,)
    assert not session.spark.catalog.tableExists("spark_catalog.default.was_managed_BACKUP_")
    run(session, f"INSERT INTO {table} VALUES (6)")
    assert sorted(row[0] for row in session.sql(f"SELECT id FROM {table}").collect()) == list(range(7))


@pytest.mark.parametrize("error", [CommitFailedError("lost"), CommitStateUnknownError("no answer")])
def test_a_migrate_that_fails_leaves_the_old_table_and_may_be_called_again(
    session: Any, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"hesitant_{type(error).__name__}".lower()
    table = f"spark_catalog.default.{name}"
    run(session, f"CREATE TABLE {table} (id BIGINT) USING parquet", f"INSERT INTO {table} VALUES (1)")

    def lost(self: MetastoreTableOperations, *arguments: Any) -> None:
        raise error

    monkeypatch.setattr(MetastoreTableOperations, "commit", lost)
    with pytest.raises(type(error)):
        run(session, f"CALL spark_catalog.system.migrate('default.{name}')")
    monkeypatch.undo()
    assert rows_of(session, table) == [(1,)]
    run(session, f"CALL spark_catalog.system.migrate('default.{name}')")
    run(session, f"INSERT INTO {table} VALUES (2)", f"DROP TABLE spark_catalog.default.{name}_BACKUP_")
    assert rows_of(session, table) == [(1,), (2,)]


def test_partitions_without_a_folder_are_passed_by_if_asked(session: Any, folder: Path) -> None:
    table = "spark_catalog.default.incomplete"
    run(
        session,
        f"CREATE TABLE {table} (id BIGINT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{folder}/incomplete'",
        f"INSERT INTO {table} SELECT id, int(id % 3) FROM range(0, 6, 1, 1)",
        f"ALTER TABLE {table} ADD PARTITION (p = 7)",
    )
    shutil.rmtree(folder / "incomplete" / "p=1")
    snapshot = f"CALL local.system.snapshot('{table}', 'local.m.of_incomplete'"
    for call in (f"{snapshot})", "CALL spark_catalog.system.migrate('default.incomplete', ignore_missing_files => false)"):
        with pytest.raises(NotFoundError, match=r"ignore_missing_files => true passes by: .*p=1"):
            run(session, call)
    assert run(session, f"{snapshot}, ignore_missing_files => true)").collect() == [(2,)]
    assert run(session, "CALL spark_catalog.system.migrate('default.incomplete', ignore_missing_files => true)").collect() == [(2,)]
    for name in ("local.m.of_incomplete", table):
        assert sorted(row[0] for row in session.sql(f"SELECT id FROM {name}").collect()) == [0, 2, 3, 5]


def test_migrate_refuses_a_backup_name_that_is_taken_before_it_does_anything(session: Any) -> None:
    run(session, "CREATE TABLE spark_catalog.default.taken (id BIGINT) USING parquet")
    run(session, "CREATE TABLE spark_catalog.default.in_use (id BIGINT) USING parquet")
    with pytest.raises(AlreadyExistsError, match="The backup table already exists"):
        run(session, "CALL spark_catalog.system.migrate('default.taken', backup_table_name => 'in_use')")
    assert not session.catalog("spark_catalog").table_exists(("default", "taken"))


def test_a_copied_table_opens_at_its_new_place(session: Any, folder: Path) -> None:
    import csv
    import shutil

    table = "local.m.moving"
    run(
        session,
        f"CREATE TABLE {table} (id BIGINT) TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')",
        f"INSERT INTO {table} SELECT id FROM range(0, 10, 1, 1)",
        f"DELETE FROM {table} WHERE id = 4",
    )
    location, target = session.table(table).location, f"{folder}/elsewhere/moving"
    (row,) = run(
        session,
        f"CALL local.system.rewrite_table_path(table => 'm.moving', source_prefix => '{location}', target_prefix => '{target}')",
    ).collect()
    with Path(row.file_list_location.removeprefix("file:")).open() as lines:
        for source, destination in csv.reader(lines):
            Path(destination).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source.removeprefix("file:"), destination)
    run(session, f"CALL local.system.register_table('m.moved', '{target}/metadata/{row.latest_version}')")
    assert rows_of(session, "local.m.moved") == rows_of(session, table)
