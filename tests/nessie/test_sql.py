"""SQL over Nessie: statements of every kind in its warehouse, with keys of our own and with requests that it signs, in tasks too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import icesql
from tests.nessie.conftest import properties
from tests.nessie.nessie_server import NessieServer
from tests.stores.s3_server import S3Server

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(params=["keys", "signing"])
def session(request: pytest.FixtureRequest, spark: Any, nessie: NessieServer, s3: S3Server) -> Iterator[Any]:
    name = f"nessie_{request.param}"
    opened = icesql.connect(spark, catalogs={name: properties(nessie, s3, request.param)})
    opened.sql(f"CREATE NAMESPACE {name}.{request.param}")
    opened.sql(f"USE {name}.{request.param}")
    yield opened
    for table in [row[1] for row in opened.sql("SHOW TABLES").collect()]:
        opened.sql(f"DROP TABLE {table}")
    opened.sql("USE spark_catalog")
    opened.sql(f"DROP NAMESPACE {name}.{request.param}")


def rows(session: Any, text: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.sql(text).collect()]


def test_statements_of_every_kind(session: Any) -> None:
    session.sql(
        "CREATE TABLE t (id BIGINT, data STRING) PARTITIONED BY (bucket(4, id)) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')"
    )
    session.sql("INSERT INTO t SELECT id, concat('r', id) FROM range(100)")
    session.sql("MERGE INTO t USING (SELECT 2 AS id, 'B' AS data UNION ALL SELECT 400, 'd') s ON t.id = s.id "
                "WHEN MATCHED THEN UPDATE SET data = s.data WHEN NOT MATCHED THEN INSERT *")  # fmt: skip
    session.sql("UPDATE t SET data = 'x' WHERE id = 1")
    session.sql("DELETE FROM t WHERE id BETWEEN 10 AND 98")
    assert rows(session, "SELECT * FROM t WHERE id IN (1, 2, 400) ORDER BY id") == [(1, "x"), (2, "B"), (400, "d")]
    assert rows(session, "SELECT count(*) FROM t") == [(12,)]
    session.sql("ALTER TABLE t ADD COLUMN extra INT")
    session.sql("ALTER TABLE t ADD PARTITION FIELD truncate(2, data)")
    session.sql("INSERT INTO t VALUES (500, 'late', 5)")
    assert rows(session, "SELECT id, extra FROM t WHERE extra IS NOT NULL") == [(500, 5)]
    session.sql("CREATE TABLE u PARTITIONED BY (b) AS SELECT id, id % 3 AS b FROM t")
    assert rows(session, "SELECT count(*), count(DISTINCT b) FROM u") == [(13, 3)]
    session.sql("CREATE OR REPLACE TABLE u AS SELECT 1 AS id")
    assert rows(session, "SELECT * FROM u") == [(1,)]
    with pytest.raises(Exception, match="already exists"):
        session.sql("CREATE TABLE u AS SELECT 1 AS id")


def test_a_transaction_over_two_tables(session: Any) -> None:
    session.sql("CREATE TABLE a (id BIGINT)")
    session.sql("CREATE TABLE b (id BIGINT)")
    session.sql("BEGIN")
    session.sql("INSERT INTO a VALUES (1)")
    session.sql("INSERT INTO b VALUES (2)")
    session.sql("COMMIT")
    assert rows(session, "SELECT * FROM a UNION ALL SELECT * FROM b ORDER BY id") == [(1,), (2,)]
