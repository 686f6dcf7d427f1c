"""SQL of a session over Iceberg's own REST server, and turns with stock Spark and the runtime on one table of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import icesql
from tests.oracle.client import Oracle
from tests.rest.conftest import open_catalog
from tests.rest.reference_server import ReferenceServer

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def session(spark: Any, rest_server: ReferenceServer, warehouse: Path) -> Iterator[Any]:
    properties = {"type": "rest", "uri": rest_server.uri, "warehouse": str(warehouse)}
    opened = icesql.connect(spark, catalogs={"lake": properties})
    opened.sql("CREATE NAMESPACE lake.db")
    opened.sql("USE lake.db")
    yield opened
    opened.sql("USE spark_catalog")


def rows(session: Any, text: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in session.sql(text).collect()]


def test_statements_of_every_kind(session: Any) -> None:
    session.sql("CREATE TABLE t (id BIGINT, data STRING) PARTITIONED BY (bucket(4, id)) TBLPROPERTIES ('k' = 'v')")
    session.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    session.sql("MERGE INTO t USING (SELECT 2 AS id, 'B' AS data UNION ALL SELECT 4, 'd') s ON t.id = s.id "
                "WHEN MATCHED THEN UPDATE SET data = s.data WHEN NOT MATCHED THEN INSERT *")  # fmt: skip
    session.sql("UPDATE t SET data = 'x' WHERE id = 1")
    session.sql("DELETE FROM t WHERE id = 3")
    assert rows(session, "SELECT * FROM t ORDER BY id") == [(1, "x"), (2, "B"), (4, "d")]
    session.sql("ALTER TABLE t ADD COLUMN extra INT")
    session.sql("ALTER TABLE t ADD PARTITION FIELD truncate(2, data)")
    session.sql("ALTER TABLE t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    session.sql("ALTER TABLE t CREATE BRANCH audit")
    session.sql("INSERT INTO lake.db.t.branch_audit VALUES (9, 'nine', 9)")
    assert rows(session, "SELECT count(*) FROM lake.db.t.branch_audit") == [(4,)]
    session.sql("CALL lake.system.fast_forward('db.t', 'main', 'audit')")
    session.sql("DELETE FROM t WHERE id = 9")
    assert rows(session, "SELECT id FROM t ORDER BY id") == [(1,), (2,), (4,)]
    before = rows(session, "SELECT count(*) FROM lake.db.t.snapshots")[0][0]
    session.sql("CALL lake.system.expire_snapshots(table => 'db.t', older_than => TIMESTAMP '2999-01-01', retain_last => 1)")
    assert rows(session, "SELECT count(*) FROM lake.db.t.snapshots")[0][0] < before
    session.sql("CALL lake.system.rewrite_data_files('db.t')")
    assert rows(session, "SELECT id FROM t ORDER BY id") == [(1,), (2,), (4,)]
    session.sql("ALTER TABLE t RENAME TO u")
    assert [row[1] for row in rows(session, "SHOW TABLES IN lake.db")] == ["u"]
    session.sql("DROP TABLE u PURGE")
    assert rows(session, "SHOW TABLES IN lake.db") == []


def test_create_as_and_replace_as_are_one_commit(session: Any) -> None:
    session.sql("CREATE TABLE t AS SELECT id, id * 2 AS d FROM range(10)")
    assert rows(session, "SELECT count(*), sum(d) FROM t") == [(10, 90)]
    assert len(rows(session, "SELECT * FROM lake.db.t.metadata_log_entries")) == 1, "the table and its rows came together"
    session.sql("CREATE OR REPLACE TABLE t PARTITIONED BY (b) AS SELECT id, id % 2 AS b FROM range(4)")
    assert rows(session, "SELECT count(*) FROM t") == [(4,)]
    assert len(rows(session, "SELECT * FROM lake.db.t.snapshots")) == 2, "history stays"
    with pytest.raises(Exception, match="already exists"):
        session.sql("CREATE TABLE t AS SELECT 1 AS id")


def test_views_and_transactions(session: Any) -> None:
    session.sql("CREATE TABLE a (id BIGINT)")
    session.sql("CREATE TABLE b (id BIGINT)")
    session.sql("CREATE VIEW v COMMENT 'both' AS SELECT id FROM a UNION ALL SELECT id FROM b")
    session.sql("BEGIN")
    session.sql("INSERT INTO a VALUES (1)")
    session.sql("INSERT INTO b VALUES (2)")
    session.sql("COMMIT")
    assert rows(session, "SELECT * FROM v ORDER BY id") == [(1,), (2,)]
    session.sql("CREATE OR REPLACE VIEW v AS SELECT max(id) AS m FROM a")
    session.sql("ALTER VIEW v SET TBLPROPERTIES ('k' = 'v')")
    assert rows(session, "SELECT * FROM v") == [(1,)]
    assert [row[1] for row in rows(session, "SHOW VIEWS IN lake.db")] == ["v"]
    session.sql("ALTER VIEW v RENAME TO w")
    session.sql("DROP VIEW w")
    assert rows(session, "SHOW VIEWS IN lake.db") == []


@pytest.fixture
def runtime(oracle: Oracle, rest_server: ReferenceServer, warehouse: Path) -> Oracle:
    """Stock Spark with Iceberg's runtime, on the same server."""
    name = f"lake_{rest_server.port}"
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": rest_server.uri, ".cache-enabled": "false"}
    for key, value in settings.items():
        oracle.sql(f"SET `spark.sql.catalog.{name}{key}`={value}")
    oracle.sql(f"USE {name}")
    return oracle


@pytest.mark.interop
def test_turns_with_the_runtime(session: Any, runtime: Oracle, rest_server: ReferenceServer, warehouse: Path) -> None:
    """MERGE, branches, views, evolution and expiry, by turns; after each both see the same rows."""
    name = f"lake_{rest_server.port}.db"

    def both(ours: str | None, theirs: str | None, query: str) -> None:
        if ours is not None:
            session.sql(ours)
        if theirs is not None:
            runtime.sql(theirs)
        mine = sorted(rows(session, query.format("lake.db")))
        yours = sorted(tuple(row) for row in runtime.rows(query.format(name)))
        assert mine == yours, (ours, theirs)

    every = "SELECT * FROM {}.t"
    both("CREATE TABLE t (id BIGINT, data STRING) PARTITIONED BY (bucket(2, id)) TBLPROPERTIES ('format-version' = '2')", None, every)
    both(None, f"INSERT INTO {name}.t VALUES (1, 'a'), (2, 'b'), (3, 'c')", every)
    both("INSERT INTO t VALUES (4, 'd'), (5, 'e')", None, every)
    merge = (
        "MERGE INTO {}.t USING (SELECT {} AS id, '{}' AS data) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET data = s.data WHEN NOT MATCHED THEN INSERT *"
    )
    both(merge.format("lake.db", 1, "ours"), None, every)
    both(None, merge.format(name, 6, "theirs"), every)
    both("ALTER TABLE t ADD COLUMN extra INT", None, every)
    both(None, f"ALTER TABLE {name}.t RENAME COLUMN data TO text", every)
    both("ALTER TABLE t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')", None, every)
    both(None, f"DELETE FROM {name}.t WHERE id = 2", every)
    both("UPDATE t SET text = 'merge on read' WHERE id = 3", None, every)
    both("ALTER TABLE t CREATE BRANCH b", None, "SELECT * FROM {}.t.branch_b")
    both(None, f"INSERT INTO {name}.t.branch_b VALUES (7, 'g', 7)", "SELECT * FROM {}.t.branch_b")
    both("INSERT INTO lake.db.t.branch_b VALUES (8, 'h', 8)", None, "SELECT * FROM {}.t.branch_b")
    both(None, f"CREATE VIEW {name}.v AS SELECT id FROM {name}.t", every)
    assert "v" in [row[1] for row in rows(session, "SHOW VIEWS IN lake.db")]
    session.sql("CREATE VIEW w AS SELECT count(*) AS n FROM lake.db.t")
    assert "w" in [row[1] for row in runtime.rows(f"SHOW VIEWS IN {name}")]
    both("CALL lake.system.expire_snapshots(table => 'db.t', older_than => TIMESTAMP '2999-01-01', retain_last => 1)", None, every)
    both(None, f"CALL lake_{rest_server.port}.system.rewrite_data_files(table => 'db.t')", every)
    both("CREATE OR REPLACE TABLE t AS SELECT id FROM range(3)", None, every)
    both(None, f"CREATE OR REPLACE TABLE {name}.t AS SELECT id, id AS d FROM range(4)", every)
    history = open_catalog(rest_server.uri).load_table("db.t").metadata
    assert len({snapshot.snapshot_id for snapshot in history.snapshots}) == len(history.snapshots)
