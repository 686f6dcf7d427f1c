"""BEGIN ... COMMIT in SQL: DDL, rows, refs and procedures of metadata wait together; what cannot wait is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from icesql.errors import AlreadyExistsError, UnsupportedError
from icesql.io.storage.locations import local_path
from icesql.session.session import Session

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    warehouse = str(tmp_path_factory.mktemp("transactions"))
    session = Session(spark, {"s": {"type": "sql", "warehouse": warehouse}, "h": {"type": "hadoop", "warehouse": f"{warehouse}/h"}})
    for catalog in ("s", "h"):
        session.sql(f"CREATE NAMESPACE {catalog}.db")
    return session


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@pytest.mark.parametrize("catalog", ["s", "h"])
def test_ddl_and_rows_are_one_version(ice: Session, catalog: str) -> None:
    name = f"{catalog}.db.t"
    ice.sql(f"CREATE TABLE {name} (id bigint, p string)")
    ice.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    first = ice.table(name).snapshots[0].snapshot_id
    before = ice.catalog(catalog).load_table("db.t").metadata_location
    for statement in (
        "BEGIN",
        f"ALTER TABLE {name} ADD COLUMN extra int",
        f"ALTER TABLE {name} ADD PARTITION FIELD bucket(4, id)",
        f"ALTER TABLE {name} WRITE ORDERED BY id",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('k' = 'v')",
        f"COMMENT ON TABLE {name} IS 'said inside'",
        f"INSERT INTO {name} VALUES (2, 'b', 20)",
        f"UPDATE {name} SET extra = 10 WHERE id = 1",
        f"ALTER TABLE {name} CREATE TAG kept AS OF VERSION {first}",
        f"ALTER TABLE {name} RENAME COLUMN p TO q",
    ):
        ice.sql(statement)
    inside = [(1, "a", 10), (2, "b", 20)]
    assert rows(ice.sql(f"SELECT id, q, extra FROM {name}")) == inside
    assert rows(ice.sql(f"SELECT id FROM {name} VERSION AS OF 'kept'")) == [(1,)]
    held = ice.catalog(catalog).load_table("db.t")
    assert held.metadata_location == before
    ice.sql("COMMIT")
    after = held.refresh()
    assert rows(ice.sql(f"SELECT id, q, extra FROM {name}")) == inside
    assert after.metadata.metadata_log[-1].metadata_file == before, "one new version"
    assert after.properties["k"] == "v" and after.properties["comment"] == "said inside"
    assert set(after.refs) == {"main", "kept"}
    assert [field.name for field in after.spec.fields] == ["id_bucket_4"]


def test_a_rollback_takes_all_of_it_back(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.back (id bigint)")
    ice.sql("INSERT INTO s.db.back VALUES (1)")
    ice.sql("INSERT INTO s.db.back VALUES (2)")
    first = ice.table("s.db.back").snapshots[0].snapshot_id
    before = ice.catalog("s").load_table("db.back").metadata_location
    ice.sql("BEGIN")
    ice.sql("ALTER TABLE s.db.back ADD COLUMN x int")
    ice.sql(f"CALL s.system.rollback_to_snapshot('db.back', {first})")
    ice.sql("INSERT INTO s.db.back VALUES (3, 4)")
    assert rows(ice.sql("SELECT * FROM s.db.back")) == [(1, None), (3, 4)]
    ice.sql("ROLLBACK")
    assert ice.catalog("s").load_table("db.back").metadata_location == before
    assert rows(ice.sql("SELECT * FROM s.db.back")) == [(1,), (2,)]


def test_what_cannot_wait_is_refused_and_the_rest_goes_on(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.kept (id bigint)")
    with ice.transaction():
        ice.sql("INSERT INTO s.db.kept VALUES (1)")
        for statement in (
            "CREATE OR REPLACE TABLE s.db.kept AS SELECT 1 AS id",
            "DROP TABLE s.db.kept",
            "ALTER TABLE s.db.kept RENAME TO s.db.other",
            "CREATE VIEW s.db.v AS SELECT 1 AS one",
            "CREATE NAMESPACE s.other",
            "DROP NAMESPACE s.db",
            "CALL s.system.expire_snapshots('db.kept')",
            "CALL s.system.rewrite_data_files('db.kept')",
            "CALL s.system.remove_orphan_files('db.kept')",
        ):
            with pytest.raises(UnsupportedError, match="in a transaction"):
                ice.sql(statement)
        ice.sql("CREATE TEMPORARY VIEW only_sparks AS SELECT 1 AS one")
        ice.sql("CALL s.system.rewrite_manifests(table => 'db.kept', dry_run => true)")
    assert rows(ice.sql("SELECT id FROM s.db.kept")) == [(1,)]
    ice.spark.catalog.dropTempView("only_sparks")


def test_tables_are_made_and_filled_with_other_changes_in_one_commit(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.log (id bigint)")
    with ice.transaction():
        ice.sql("CREATE TABLE s.db.plain (id bigint, p string) PARTITIONED BY (p)")
        ice.sql("INSERT INTO s.db.plain VALUES (1, 'a'), (2, 'b')")
        ice.sql("ALTER TABLE s.db.plain ADD COLUMN extra int")
        ice.sql("UPDATE s.db.plain SET extra = 5 WHERE id = 2")
        ice.sql("CREATE TABLE s.db.filled AS SELECT id, extra FROM s.db.plain")
        ice.sql("CREATE TABLE s.db.shaped LIKE s.db.filled")
        ice.sql("CREATE TABLE IF NOT EXISTS s.db.plain (other int)")
        ice.write_to(ice.spark.range(3), "s.db.written").create()
        ice.sql("INSERT INTO s.db.log SELECT id FROM s.db.filled")
        with pytest.raises(AlreadyExistsError):
            ice.sql("CREATE TABLE s.db.filled AS SELECT 1 AS id")
        assert rows(ice.sql("SELECT * FROM s.db.filled")) == [(1, None), (2, 5)]
        assert ice.sql("SELECT * FROM s.db.plain.snapshots").count() == 2
        assert {row[1] for row in ice.sql("SHOW TABLES IN s.db").collect()} >= {"plain", "filled", "shaped", "written", "log"}
        new = ("plain", "filled", "shaped", "written")
        assert not any(ice.catalog("s").table_exists(("db", name)) for name in new)
    assert all(len(ice.catalog("s").load_table(f"db.{name}").metadata.metadata_log) == 0 for name in new), "one version each"
    assert rows(ice.sql("SELECT * FROM s.db.plain")) == [(1, "a", None), (2, "b", 5)]
    assert rows(ice.sql("SELECT * FROM s.db.log")) == [(1,), (2,)]
    assert rows(ice.sql("SELECT * FROM s.db.written")) == [(0,), (1,), (2,)]
    assert ice.table("s.db.shaped").schema.names_by_id == ice.table("s.db.filled").schema.names_by_id


def test_a_table_is_replaced_at_the_end(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.old AS SELECT 1 AS id")
    ice.sql("BEGIN")
    ice.sql("CREATE OR REPLACE TABLE s.db.old PARTITIONED BY (p) AS SELECT id + 1 AS id, 'x' AS p FROM s.db.old")
    ice.sql("INSERT INTO s.db.old VALUES (9, 'y')")
    assert rows(ice.sql("SELECT * FROM s.db.old")) == [(2, "x"), (9, "y")]
    assert [field.name for field in ice.catalog("s").load_table("db.old").schema.fields] == ["id"]
    with pytest.raises(UnsupportedError, match="this one has changed it already"):
        ice.sql("REPLACE TABLE s.db.old (other int)")
    ice.sql("COMMIT")
    assert rows(ice.sql("SELECT * FROM s.db.old")) == [(2, "x"), (9, "y")]
    assert len(ice.table("s.db.old").snapshots) == 3
    with ice.transaction():
        ice.sql("REPLACE TABLE s.db.old (other int)")
        assert rows(ice.sql("SELECT * FROM s.db.old")) == []
    assert [field.name for field in ice.table("s.db.old").schema.fields] == ["other"]


@pytest.mark.parametrize("catalog", ["s", "h"])
def test_a_table_that_is_not_made_leaves_no_file(ice: Session, catalog: str) -> None:
    ice.sql("BEGIN")
    ice.sql(f"CREATE TABLE {catalog}.db.never AS SELECT id FROM range(0, 4, 1, 2)")
    ice.sql(f"INSERT INTO {catalog}.db.never VALUES (7)")
    location = ice.table(f"{catalog}.db.never").location
    assert files_below(location)
    ice.sql("ROLLBACK")
    assert files_below(location) == []
    assert not ice.catalog(catalog).table_exists(("db", "never"))
    with ice.transaction():
        ice.sql(f"CREATE TABLE {catalog}.db.never (id bigint)")
    assert ice.catalog(catalog).table_exists(("db", "never"))


def test_another_who_makes_the_table_first_wins(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.beside (id bigint)")
    ice.sql("BEGIN")
    ice.sql("CREATE TABLE s.db.raced AS SELECT 1 AS id")
    ours = files_below(ice.table("s.db.raced").location)
    ice.sql("INSERT INTO s.db.beside VALUES (1)")
    ice.catalog("s").create_table("db.raced", ice.catalog("s").load_table("db.beside").schema)
    with pytest.raises(AlreadyExistsError, match="already exists"):
        ice.sql("COMMIT")
    assert rows(ice.sql("SELECT * FROM s.db.beside")) == rows(ice.sql("SELECT * FROM s.db.raced")) == []
    assert not set(ours) & set(files_below(ice.table("s.db.raced").location))


def test_file_system_tables_are_made_one_at_a_time(ice: Session) -> None:
    ice.sql("BEGIN")
    ice.sql("CREATE TABLE h.db.one AS SELECT 1 AS id")
    ice.sql("CREATE TABLE h.db.two AS SELECT 1 AS id")
    with pytest.raises(UnsupportedError, match="no transactions over tables"):
        ice.sql("COMMIT")
    assert not any(ice.catalog("h").table_exists(("db", name)) for name in ("one", "two"))


def files_below(location: str) -> list[str]:
    return [str(path) for path in Path(local_path(location)).rglob("*") if path.is_file() and not path.name.startswith(".")]
