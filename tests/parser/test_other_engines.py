"""What Trino and Athena have a form for is printed in it; the rest is refused."""

from __future__ import annotations

import pytest

from icesql.parser.dialect.iceberg import Iceberg
from icesql.parser.dialect.sqlglot_source import UnsupportedError, sqlglot

EVENTS = """CREATE TABLE IF NOT EXISTS lake.events (id BIGINT NOT NULL COMMENT 'key', at {type}, tags ARRAY<STRING>, p STRUCT<x: INT>)
USING iceberg PARTITIONED BY (days(at), bucket(16, id), p.x) LOCATION 's3://b/e' TBLPROPERTIES ('write.format.default' = 'orc')"""


def printed(sql: str, engine: str) -> str:
    (tree,) = Iceberg().parse(sql)
    return tree.sql(engine)


def test_a_table_for_trino() -> None:
    assert printed(EVENTS.format(type="TIMESTAMP"), "trino") == (
        "CREATE TABLE IF NOT EXISTS lake.events (id BIGINT NOT NULL COMMENT 'key', at TIMESTAMP(6) WITH TIME ZONE, tags ARRAY(VARCHAR), "
        "p ROW(x INTEGER)) WITH (format = 'ORC', partitioning = ARRAY['day(at)', 'bucket(id, 16)', 'p.x'], location = 's3://b/e')"
    )


def test_a_table_for_athena() -> None:
    assert printed(EVENTS.format(type="TIMESTAMP_NTZ").replace(" NOT NULL", ""), "athena") == (
        "CREATE TABLE IF NOT EXISTS lake.events (id BIGINT COMMENT 'key', at TIMESTAMP, tags ARRAY<STRING>, p STRUCT<x: INT>) "
        "PARTITIONED BY (day(at), bucket(16, id), p.x) LOCATION 's3://b/e' TBLPROPERTIES ('table_type' = 'ICEBERG', 'format' = 'orc')"
    )


def test_a_table_from_a_query() -> None:
    sql = "CREATE TABLE t USING iceberg PARTITIONED BY (truncate(4, s)) AS SELECT s FROM u"
    assert printed(sql, "trino") == "CREATE TABLE t WITH (partitioning = ARRAY['truncate(s, 4)']) AS SELECT s FROM u"
    expected = (
        "CREATE TABLE t WITH (table_type = 'ICEBERG', is_external = false, partitioning = ARRAY['truncate(s, 4)']) AS SELECT s FROM u"
    )
    assert printed(sql, "athena") == expected


def test_time_travel() -> None:
    assert printed("SELECT * FROM a.b VERSION AS OF 5", "trino") == "SELECT * FROM a.b FOR VERSION AS OF 5"


@pytest.mark.parametrize("engine", ["trino", "athena"])
@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE t ADD PARTITION FIELD bucket(16, id)",
        "ALTER TABLE t CREATE BRANCH b",
        "ALTER TABLE t WRITE ORDERED BY id",
        "CALL local.system.rewrite_manifests('t')",
        "REPLACE TABLE t (id INT)",
        "CREATE TABLE t LIKE u",
        "CREATE TABLE t (v VARIANT)",
        "CREATE TABLE t (s STRUCT<a: INT NOT NULL>)",
        "CREATE TABLE t (id INT DEFAULT 5)",
        "CREATE TABLE t (id INT) USING parquet",
        "SELECT * FROM t WITH ('branch' = 'b')",
        "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *",
    ],
)
def test_what_has_no_form_is_refused(engine: str, sql: str) -> None:
    with pytest.raises(UnsupportedError, match="it has no form of"):
        printed(sql, engine)


def test_a_refusal_shows_what_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="Cannot print statement for Athena: it has no form of ALTER TABLE t CREATE BRANCH b"):
        printed("alter table t create branch b", "athena")


def test_a_partition_field_for_trino_says_what_to_do() -> None:
    with pytest.raises(UnsupportedError, match="SET PROPERTIES partitioning"):
        printed("ALTER TABLE t DROP PARTITION FIELD a", "trino")


def test_transpiling() -> None:
    sql = "INSERT INTO t SELECT a FROM u TIMESTAMP AS OF '2024-01-01'"
    assert sqlglot().transpile(sql, read="iceberg", write="trino") == ["INSERT INTO t SELECT a FROM u FOR TIMESTAMP AS OF '2024-01-01'"]


@pytest.mark.parametrize(
    ("sql", "dialect", "expected"),
    [
        ("INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING", "postgres", "INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING"),
        ("UPDATE t SET a = 1 WHERE b", "trino", "UPDATE t SET a = 1 WHERE b"),
        ("DELETE FROM t USING u WHERE a = b", "postgres", "DELETE FROM t USING u WHERE a = b"),
        ("CREATE TABLE t (a INTEGER, b VARCHAR)", "trino", "CREATE TABLE t (a INT, b STRING)"),
    ],
)
def test_statements_of_other_dialects_lose_nothing(sql: str, dialect: str, expected: str) -> None:
    assert sqlglot().transpile(sql, read=dialect, write="iceberg") == [expected]
