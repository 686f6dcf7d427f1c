"""BEGIN ... COMMIT in SQL: DDL, rows, refs and procedures of metadata wait together; what cannot wait is refused."""

from __future__ import annotations

from typing import Any

import pytest

from icesql.errors import UnsupportedError
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
            "CREATE TABLE s.db.new (id bigint)",
            "CREATE OR REPLACE TABLE s.db.kept AS SELECT 1 AS id",
            "CREATE TABLE s.db.new LIKE s.db.kept",
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
        with pytest.raises(UnsupportedError, match="in a transaction"):
            ice.write_to(ice.spark.range(1), "s.db.new").create()
        ice.sql("CREATE TEMPORARY VIEW only_sparks AS SELECT 1 AS one")
        ice.sql("CALL s.system.rewrite_manifests(table => 'db.kept', dry_run => true)")
    assert rows(ice.sql("SELECT id FROM s.db.kept")) == [(1,)]
    ice.spark.catalog.dropTempView("only_sparks")
