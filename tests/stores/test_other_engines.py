"""One bucket for three: Iceberg's own runtime (``S3FileIO``), PyIceberg and icesql write to the same tables by turns and read each other's
rows.

The catalog is one SQLite file, which all three open as their JDBC or SQL catalog.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import icesql
from tests.oracle.client import Oracle
from tests.stores.s3_server import S3Server

pytestmark = [pytest.mark.spark, pytest.mark.interop, pytest.mark.slow]
AWS = Path(__file__).resolve().parents[2] / ".oracle" / "aws"


@pytest.fixture(scope="module")
def place(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The warehouse's location, and the catalog's database."""
    return s3.new_bucket("shared") + "/wh", tmp_path_factory.mktemp("shared") / "catalog.db"


@pytest.fixture(scope="module")
def ice(spark: Any, s3: S3Server, place: tuple[str, Path]) -> Any:
    location, database = place
    catalog = {"type": "sql", "uri": f"sqlite:///{database}", "warehouse": location, **s3.properties()}
    session = icesql.connect(spark, catalogs={"lake": catalog})
    session.sql("CREATE NAMESPACE lake.db").collect()
    return session


@pytest.fixture(scope="module")
def runtime(ice: Any, s3: S3Server, place: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    location, database = place
    bundles = sorted(str(path) for path in AWS.glob("iceberg-aws-bundle-*.jar"))
    if not bundles:
        raise RuntimeError(f"Cannot start the oracle on S3: nothing in {AWS}: run scripts/fetch_aws_bundle.sh")
    catalog = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "jdbc",
        ".uri": f"jdbc:sqlite:{database}",
        ".warehouse": location,
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        ".cache-enabled": "false",
        ".client.region": s3.properties()["s3.region"],
        **{f".{key}": value for key, value in s3.properties().items()},
    }
    conf = {f"spark.sql.catalog.lake{key}": value for key, value in catalog.items()}
    conf |= {"spark.driver.extraClassPath": bundles[-1], "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"}
    with Oracle(str(tmp_path_factory.mktemp("oracle") / "wh"), conf) as oracle:
        yield oracle


@pytest.fixture
def pyiceberg(s3: S3Server, place: tuple[str, Path]) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog

    location, database = place
    return SqlCatalog("lake", uri=f"sqlite:///{database}", warehouse=location, **s3.properties())


def test_by_turns(ice: Any, runtime: Oracle, pyiceberg: Any, s3: S3Server) -> None:
    table = "lake.db.turns"

    def check(*expected: tuple[Any, ...]) -> None:
        wanted = sorted(expected)
        query = f"SELECT * FROM {table} ORDER BY id"
        assert [tuple(row) for row in ice.sql(query).collect()] == wanted
        assert runtime.rows(query) == wanted
        rows = pyiceberg.load_table("db.turns").scan().to_arrow().to_pylist()
        assert sorted(tuple(row.values()) for row in rows) == wanted

    ice.sql(f"CREATE TABLE {table} (id bigint, s string) PARTITIONED BY (truncate(2, s)) TBLPROPERTIES ('format-version'='2')").collect()
    ice.sql(f"INSERT INTO {table} VALUES (1, 'a b%2F'), (2, 'ü#&+~')").collect()
    check((1, "a b%2F"), (2, "ü#&+~"))
    runtime.sql(f"INSERT INTO {table} VALUES (3, 'c=d/e')")
    check((1, "a b%2F"), (2, "ü#&+~"), (3, "c=d/e"))
    pyiceberg.load_table("db.turns").append(pa.table({"id": pa.array([4], pa.int64()), "s": ["p y"]}))
    runtime.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read')")
    runtime.sql(f"DELETE FROM {table} WHERE id = 1")
    check((2, "ü#&+~"), (3, "c=d/e"), (4, "p y"))
    ice.sql(f"UPDATE {table} SET s = 'new' WHERE id = 3").collect()
    check((2, "ü#&+~"), (3, "new"), (4, "p y"))
    runtime.sql("CALL lake.system.rewrite_data_files(table => 'db.turns', options => map('rewrite-all', 'true'))")
    ice.sql("CALL lake.system.expire_snapshots(table => 'db.turns', older_than => timestamp'2100-01-01')").collect()
    check((2, "ü#&+~"), (3, "new"), (4, "p y"))
    assert s3.unfinished_uploads("shared") == []


def test_their_tables(ice: Any, runtime: Oracle, pyiceberg: Any, s3: S3Server) -> None:
    runtime.sql("CREATE TABLE lake.db.theirs USING iceberg AS SELECT id, id % 3 AS k, cast(id AS decimal(10, 2)) AS d FROM range(1000)")
    ice.sql("DELETE FROM lake.db.theirs WHERE k = 1").collect()
    query = "SELECT count(*), sum(id), sum(d) FROM lake.db.theirs WHERE d BETWEEN 10 AND 500"
    assert [tuple(row) for row in ice.sql(query).collect()] == runtime.rows(query)
    assert pyiceberg.load_table("db.theirs").scan().count() == 667
    runtime.sql("DROP TABLE lake.db.theirs PURGE")
    assert not [name for name in s3.files("shared") if "/theirs/" in name]
