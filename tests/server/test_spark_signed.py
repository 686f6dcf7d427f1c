"""Stock Spark with Iceberg's own runtime and no keys: its ``S3FileIO`` has our server sign each request to a real S3 server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from icesql.expr.tree import Op, Predicate, Reference
from tests.oracle.client import Oracle
from tests.server.process import ServerProcess
from tests.server.test_delegated_files import client_of, served, store  # noqa: F401 - fixtures
from tests.stores.s3_server import SECRET_KEY
from tests.stores.test_other_engines import AWS

pytestmark = [pytest.mark.interop, pytest.mark.slow]


@pytest.fixture(scope="module")
def runtime(served: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:  # noqa: F811
    bundles = sorted(str(path) for path in AWS.glob("iceberg-aws-bundle-*.jar"))
    assert bundles, f"nothing in {AWS}: run scripts/fetch_aws_bundle.sh"
    catalog = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "rest",
        ".uri": served.uri,
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        ".header.X-Iceberg-Access-Delegation": "remote-signing",
        ".cache-enabled": "false",
    }
    conf = {f"spark.sql.catalog.signed{key}": value for key, value in catalog.items()}
    conf |= {f"spark.sql.catalog.planned{key}": value for key, value in catalog.items()}
    conf["spark.sql.catalog.planned.scan-planning-mode"] = "server"
    conf |= {"spark.driver.extraClassPath": bundles[-1], "spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC"}
    with Oracle(str(tmp_path_factory.mktemp("oracle") / "wh"), conf) as oracle:
        yield oracle


def test_rows_go_round(runtime: Oracle, served: ServerProcess) -> None:  # noqa: F811
    runtime.sql("CREATE TABLE signed.db.spark (id BIGINT, data STRING) USING iceberg PARTITIONED BY (truncate(2, data)) "
                "TBLPROPERTIES ('format-version'='2', 'write.delete.mode'='merge-on-read')")  # fmt: skip
    runtime.sql("INSERT INTO signed.db.spark VALUES (1, 'aa 1'), (2, 'a/b'), (3, 'per%20cent')")
    runtime.sql("DELETE FROM signed.db.spark WHERE id = 2")
    runtime.sql("UPDATE signed.db.spark SET data = 'c' WHERE id = 3")
    expected = [(1, "aa 1"), (3, "c")]
    for catalog in ("signed", "planned"):
        assert sorted(runtime.rows(f"SELECT * FROM {catalog}.db.spark")) == expected
    assert runtime.rows("SELECT id FROM planned.db.spark WHERE data = 'c'") == [(3,)]
    table = client_of(served).load_table("db.spark")
    assert sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist()) == expected
    table.append(table.scan(Predicate(Op.EQ, Reference("id"), (1,))).to_arrow())
    assert sorted(runtime.rows("SELECT * FROM signed.db.spark")) == [(1, "aa 1"), *expected]
    assert SECRET_KEY not in served.log
