"""Stock Spark with Iceberg's own runtime, through its REST client, on our server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from icesql.catalog.loading import load_catalog
from tests.oracle.client import Oracle, OracleError
from tests.server.process import ServerProcess
from tests.server.test_pyiceberg import plans_of

pytestmark = [pytest.mark.interop, pytest.mark.slow]


def configure(spark: Any, uri: str) -> None:
    """In the oracle's process: the catalogs ``rest``, and ``planned``, whose scans the server plans."""
    for name in ("rest", "planned"):
        for key, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": uri, ".cache-enabled": "false"}.items():
            spark.conf.set(f"spark.sql.catalog.{name}{key}", value)
    spark.conf.set("spark.sql.catalog.planned.scan-planning-mode", "server")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("served")) as process:
        yield process


@pytest.fixture(scope="module")
def rest(running: ServerProcess, oracle: Oracle) -> Oracle:
    oracle.call("tests.server.test_spark:configure", running.uri)
    oracle.sql("CREATE NAMESPACE rest.db")
    return oracle


def rows(running: ServerProcess, name: str) -> list[tuple[Any, ...]]:
    """As icesql reads them, from the same database."""
    table = load_catalog("local", {"warehouse": str(running.folder / "warehouse")}).load_table(name)
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())


def test_rows_and_their_changes(running: ServerProcess, rest: Oracle) -> None:
    rest.sql("CREATE TABLE rest.db.t (id BIGINT, data STRING) USING iceberg PARTITIONED BY (bucket(4, id))")
    rest.sql("INSERT INTO rest.db.t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    rest.sql("UPDATE rest.db.t SET data = 'x' WHERE id = 2")
    rest.sql("DELETE FROM rest.db.t WHERE id = 1")
    rest.sql("MERGE INTO rest.db.t t USING (SELECT 3L id, 'y' data UNION ALL SELECT 4L, 'z') s ON t.id = s.id "
             "WHEN MATCHED THEN UPDATE SET data = s.data WHEN NOT MATCHED THEN INSERT *")  # fmt: skip
    expected = [(2, "x"), (3, "y"), (4, "z")]
    assert sorted(rest.rows("SELECT * FROM rest.db.t")) == expected == rows(running, "db.t")


def test_merge_on_read_in_version_3(running: ServerProcess, rest: Oracle) -> None:
    rest.sql("CREATE TABLE rest.db.m (id BIGINT) USING iceberg TBLPROPERTIES ('format-version'='3', 'write.delete.mode'='merge-on-read')")
    rest.sql("INSERT INTO rest.db.m SELECT id FROM range(10)")
    rest.sql("DELETE FROM rest.db.m WHERE id IN (3, 4)")
    assert len(rows(running, "db.m")) == 8 == len(rest.rows("SELECT * FROM rest.db.m"))


def test_tables_from_queries(running: ServerProcess, rest: Oracle) -> None:
    rest.sql("CREATE TABLE rest.db.c USING iceberg AS SELECT id FROM range(3)")
    rest.sql("CREATE OR REPLACE TABLE rest.db.c USING iceberg AS SELECT id + 10 AS id FROM range(2)")
    assert rows(running, "db.c") == [(10,), (11,)]
    assert len(rest.rows("SELECT * FROM rest.db.c.snapshots")) == 2
    assert len(rest.rows("SELECT * FROM rest.db.c.history")) == 2


def test_schema_refs_and_procedures(running: ServerProcess, rest: Oracle) -> None:
    rest.sql("CREATE TABLE rest.db.s (id BIGINT) USING iceberg")
    for number in range(3):
        rest.sql(f"INSERT INTO rest.db.s (id) VALUES ({number})")
    rest.sql("ALTER TABLE rest.db.s ADD COLUMN more STRING")
    rest.sql("ALTER TABLE rest.db.s ADD PARTITION FIELD id")
    rest.sql("ALTER TABLE rest.db.s SET TBLPROPERTIES ('a'='1')")
    rest.sql("ALTER TABLE rest.db.s CREATE TAG kept")
    rest.sql("ALTER TABLE rest.db.s CREATE BRANCH dev")
    rest.sql("INSERT INTO rest.db.s.branch_dev VALUES (9, 'z')")
    rest.sql("CALL rest.system.rewrite_data_files(table => 'db.s', options => map('min-input-files', '1', 'rewrite-all', 'true'))")
    rest.sql("CALL rest.system.rewrite_manifests('db.s')")
    assert sorted(rest.rows("SELECT id FROM rest.db.s")) == [(0,), (1,), (2,)]
    assert len(rest.rows("SELECT * FROM rest.db.s VERSION AS OF 'dev'")) == 4
    assert [row[0] for row in rest.rows("SELECT name FROM rest.db.s.refs ORDER BY name")] == ["dev", "kept", "main"]


def test_views(rest: Oracle) -> None:
    rest.sql("CREATE VIEW rest.db.v AS SELECT 1 AS one")
    rest.sql("CREATE OR REPLACE VIEW rest.db.v AS SELECT 2 AS one")
    assert rest.rows("SELECT * FROM rest.db.v") == [(2,)]
    rest.sql("DROP VIEW rest.db.v")
    with pytest.raises(OracleError):
        rest.rows("SELECT * FROM rest.db.v")


def test_names(rest: Oracle) -> None:
    rest.sql("CREATE TABLE rest.db.old (id BIGINT) USING iceberg")
    rest.sql("ALTER TABLE rest.db.old RENAME TO db.new")
    assert ("db", "new", False) in rest.rows("SHOW TABLES IN rest.db")
    with pytest.raises(OracleError, match=r"SCHEMA_NOT_EMPTY|not empty"):
        rest.sql("DROP NAMESPACE rest.db")
    rest.sql("DROP TABLE rest.db.new PURGE")


def test_a_table_is_dropped_with_its_files(running: ServerProcess, rest: Oracle) -> None:
    rest.sql("CREATE TABLE rest.db.gone (id BIGINT) USING iceberg")
    rest.sql("INSERT INTO rest.db.gone VALUES (1)")
    folder = Path(running.folder) / "warehouse" / "db" / "gone"
    assert list(folder.rglob("*.parquet"))
    rest.sql("DROP TABLE rest.db.gone PURGE")
    assert not list(folder.rglob("*.parquet"))


def test_the_server_plans(running: ServerProcess, rest: Oracle) -> None:
    rest.sql("CREATE TABLE planned.db.p (id BIGINT, d DATE, v DECIMAL(9,2), data STRING) USING iceberg "
             "PARTITIONED BY (days(d), bucket(4, id)) "
             "TBLPROPERTIES ('format-version'='3', 'write.delete.mode'='merge-on-read')")  # fmt: skip
    rest.sql("INSERT INTO planned.db.p SELECT id, date_add(DATE'2024-01-01', CAST(id % 5 AS INT)), id + 0.25, 'r' || id % 7 FROM range(60)")
    rest.sql("DELETE FROM planned.db.p WHERE id IN (3, 50)")
    rest.sql("MERGE INTO planned.db.p t USING (SELECT 8L id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
    before = plans_of(running)
    for condition in ("true", "d = DATE'2024-01-03'", "v > 10.5 AND v < 20.25", "id IN (1, 2, 3) OR d IS NULL", "data <> 'r1'"):
        query = f"SELECT id FROM {{}}.db.p WHERE {condition} ORDER BY id"
        assert rest.rows(query.format("planned")) == rest.rows(query.format("rest")), condition
    assert plans_of(running) >= before + 5
