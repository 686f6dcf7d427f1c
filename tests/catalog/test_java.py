"""Java's JdbcCatalog and HadoopCatalog on the same database and folders as ours, at the same time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from icesql.catalog.base import Catalog
from icesql.errors import AlreadyExistsError
from icesql.session.light import connect_catalog
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.oracle.client import Oracle, OracleError
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.spark, pytest.mark.interop]
_numbers = itertools.count()


@dataclass
class Shared:
    """One catalog seen by both: ``ours``, and ``name`` in the oracle's SQL."""

    ours: Catalog
    oracle: Oracle
    name: str

    def ids(self, table: str = "db.t") -> list[int]:
        return sorted(row[0] for row in self.oracle.rows(f"SELECT id FROM {self.name}.{table}"))


@pytest.fixture(params=["sqlite", "postgres", "hadoop"])
def shared(request: pytest.FixtureRequest, oracle: Oracle, tmp_path: Path) -> Iterator[Shared]:
    name = f"shared{next(_numbers)}"
    warehouse = str(tmp_path / "warehouse")
    theirs = {"type": "jdbc", "warehouse": warehouse, "cache-enabled": "false", "jdbc.schema-version": "V1"}
    ours = {"type": "sql", "warehouse": warehouse}
    if request.param == "hadoop":
        theirs = {"type": "hadoop", "warehouse": warehouse, "cache-enabled": "false"}
        ours = {"type": "hadoop", "warehouse": warehouse}
    elif request.param == "sqlite":
        theirs["uri"] = f"jdbc:sqlite:{tmp_path}/c.db?busy_timeout=60000"
        ours["uri"] = f"sqlite:///{tmp_path}/c.db"
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        ours["uri"] = server.new_database(name)
        theirs["uri"] = server.jdbc_uri.replace("/postgres?", f"/{name}?")
    opened = connect_catalog(name, **ours)
    opened.list_namespaces()
    oracle.sql(f"SET `spark.sql.catalog.{name}`=org.apache.iceberg.spark.SparkCatalog")
    for key, value in theirs.items():
        oracle.sql(f"SET `spark.sql.catalog.{name}.{key}`=`{value}`")
    yield Shared(opened, oracle, name)
    opened.close()


def test_java_and_icesql_build_on_each_others_commits(shared: Shared) -> None:
    table = shared.ours.create_table("db.t", SCHEMA, spec=BY_ID)
    table.append(rows(1, 2, 3))
    assert shared.ids() == [1, 2, 3]
    shared.oracle.sql(f"INSERT INTO {shared.name}.db.t VALUES (4, 'j'), (5, 'j')")
    shared.oracle.sql(f"DELETE FROM {shared.name}.db.t WHERE id = 2")
    table.refresh().append(rows(6))
    table.delete("id = 5")
    assert shared.ids() == sorted(table.to_arrow()["id"].to_pylist()) == [1, 3, 4, 6]
    assert shared.oracle.rows(f"SHOW TABLES IN {shared.name}.db")[0][:2] == ("db", "t")


def test_a_table_of_javas_is_ours_too(shared: Shared) -> None:
    shared.oracle.sql(f"CREATE NAMESPACE {shared.name}.a")
    shared.oracle.sql(f"CREATE TABLE {shared.name}.a.t (id bigint, data string) USING iceberg PARTITIONED BY (bucket(4, id))")
    table = shared.ours.load_table("a.t")
    table.append(pa.table({"id": [1, 2], "data": ["x", "y"]}))
    assert shared.ids("a.t") == [1, 2]
    with pytest.raises(AlreadyExistsError):
        shared.ours.create_table("a.t", SCHEMA)
    with pytest.raises(OracleError, match="ALREADY_EXISTS"):
        shared.oracle.sql(f"CREATE TABLE {shared.name}.a.t (id bigint) USING iceberg")
    shared.ours.drop_table(("a", "t"))
    with pytest.raises(OracleError, match="TABLE_OR_VIEW_NOT_FOUND"):
        shared.ids("a.t")


def test_concurrent_writers_of_both_lose_nothing(shared: Shared) -> None:
    properties = {"commit.retry.num-retries": "50", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "100"}
    shared.ours.create_table("db.t", SCHEMA, properties=properties)

    def ours(number: int) -> None:
        for step in range(5):
            shared.ours.load_table("db.t").append(rows(100 * number + step))

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(ours, number) for number in (1, 2)]
        for step in range(5):
            shared.oracle.sql(f"INSERT INTO {shared.name}.db.t VALUES ({step}, 'j')")
        for one in running:
            one.result()
    expected = [*range(5), *range(100, 105), *range(200, 205)]
    assert shared.ids() == sorted(shared.ours.load_table("db.t").to_arrow()["id"].to_pylist()) == expected
    numbers = [snapshot.sequence_number for snapshot in shared.ours.load_table("db.t").snapshots]
    assert numbers == list(range(1, 16))


def test_namespaces_and_views_are_shared(shared: Shared) -> None:
    if not shared.ours.supports_views:
        shared.ours.create_namespace(("n", "m"))
        assert shared.oracle.rows(f"SHOW NAMESPACES IN {shared.name}.n") == [("n.m",)]
        return
    shared.ours.create_namespace(("n",), {"k": "v"})
    assert "(k,v)" in str(shared.oracle.rows(f"DESCRIBE NAMESPACE EXTENDED {shared.name}.n"))
    shared.oracle.sql(f"ALTER NAMESPACE {shared.name}.n SET PROPERTIES ('x' = 'y')")
    assert shared.ours.namespace_properties(("n",))["x"] == "y"
    shared.oracle.sql(f"CREATE VIEW {shared.name}.n.v AS SELECT 1 AS one")
    view = shared.ours.load_view(("n", "v"))
    query = view.current_version.sql_for("spark")
    assert query is not None
    assert query.sql == "SELECT 1 AS one"
    shared.ours.rename_view(("n", "v"), ("n", "w"))
    assert shared.oracle.rows(f"SELECT one FROM {shared.name}.n.w") == [(1,)]
    shared.ours.drop_view(("n", "w"))
    with pytest.raises(OracleError, match="TABLE_OR_VIEW_NOT_FOUND"):
        shared.oracle.rows(f"SELECT one FROM {shared.name}.n.w")
