"""SQL that Iceberg's runtime refuses and icesql takes: CREATE TABLE LIKE, SHOW PARTITIONS, DEFAULT values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from icesql.errors import AlreadyExistsError, SqlError, UnsupportedError, ValidationError
from icesql.session.session import Session

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    warehouse = tmp_path_factory.mktemp("additions")
    session = Session(spark, {"s": {"type": "sql", "uri": f"sqlite:///{warehouse}/catalog.db", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE s.db")
    yield session
    spark.conf.unset("spark.icesql.column-defaults")


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_create_table_like_takes_the_shape_and_not_the_rows(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.a (id bigint NOT NULL COMMENT 'key', p string) PARTITIONED BY (bucket(4, id), p) TBLPROPERTIES ('k'='v')")
    ice.sql("ALTER TABLE s.db.a WRITE ORDERED BY id DESC")
    ice.sql("INSERT INTO s.db.a VALUES (1, 'x')")
    ice.sql("CREATE TABLE s.db.b LIKE s.db.a TBLPROPERTIES ('mine'='1')")
    source, made = ice.table("s.db.a").metadata, ice.table("s.db.b").metadata
    assert made.schema.fields == source.schema.fields
    assert [(f.name, f.transform) for f in made.spec.fields] == [(f.name, f.transform) for f in source.spec.fields]
    assert made.sort_order.fields == source.sort_order.fields
    assert made.properties["k"] == "v"
    assert made.properties["mine"] == "1"
    assert made.current_snapshot is None
    assert made.table_uuid != source.table_uuid
    with pytest.raises(AlreadyExistsError):
        ice.sql("CREATE TABLE s.db.b LIKE s.db.a")
    ice.sql("CREATE TABLE IF NOT EXISTS s.db.b LIKE s.db.a")
    ice.spark.range(3).selectExpr("id", "CAST(id AS string) AS text").createOrReplaceTempView("of_spark")
    ice.sql("CREATE TABLE s.db.c LIKE of_spark")
    ice.sql("INSERT INTO s.db.c SELECT * FROM of_spark")
    ice.spark.catalog.dropTempView("of_spark")
    assert rows(ice.sql("SELECT * FROM s.db.c")) == [(0, "0"), (1, "1"), (2, "2")]


def test_show_partitions_lists_those_of_every_spec(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.p (id bigint, d date, name string) PARTITIONED BY (days(d), name)")
    ice.sql("INSERT INTO s.db.p VALUES (1, DATE '2024-01-02', 'a b'), (2, DATE '2024-01-02', 'a b'), (3, NULL, 'x=y')")
    wanted = [("d_day=2024-01-02/name=a+b",), ("d_day=null/name=x%3Dy",)]
    assert rows(ice.sql("SHOW PARTITIONS s.db.p")) == wanted
    ice.sql("ALTER TABLE s.db.p DROP PARTITION FIELD name")
    ice.sql("INSERT INTO s.db.p VALUES (4, DATE '2024-01-05', 'z')")
    assert rows(ice.sql("SHOW PARTITIONS s.db.p")) == sorted([*wanted, ("d_day=2024-01-05",)], key=repr)
    ice.sql("DELETE FROM s.db.p WHERE d = DATE '2024-01-02'")
    assert rows(ice.sql("SHOW PARTITIONS s.db.p")) == [("d_day=2024-01-05",), wanted[1]]
    ice.sql("CREATE TABLE s.db.flat (id bigint)")
    with pytest.raises(ValidationError, match="not partitioned"):
        ice.sql("SHOW PARTITIONS s.db.flat")


def test_defaults_fill_old_rows_and_new_ones(ice: Session) -> None:
    with pytest.raises(UnsupportedError, match="default"):
        ice.sql("CREATE TABLE s.db.d (id bigint, n int DEFAULT 7) TBLPROPERTIES ('format-version'='3')")
    ice.spark.conf.set("spark.icesql.column-defaults", "true")
    ice.sql("CREATE TABLE s.db.d (id bigint, n int DEFAULT 7) TBLPROPERTIES ('format-version'='3')")
    ice.sql("INSERT INTO s.db.d (id) VALUES (1)")
    ice.sql("INSERT INTO s.db.d VALUES (2, DEFAULT), (3, 30)")
    ice.sql("ALTER TABLE s.db.d ADD COLUMN t string DEFAULT 'old'")
    assert rows(ice.sql("SELECT * FROM s.db.d")) == [(1, 7, "old"), (2, 7, "old"), (3, 30, "old")]
    assert rows(ice.sql("SELECT id FROM s.db.d WHERE t = 'old' AND n = 7")) == [(1,), (2,)]
    ice.sql("ALTER TABLE s.db.d ALTER COLUMN t SET DEFAULT 'new'")
    ice.sql("INSERT INTO s.db.d (id) VALUES (4)")
    ice.sql("UPDATE s.db.d SET n = DEFAULT WHERE id = 3")
    ice.sql("MERGE INTO s.db.d t USING (SELECT 5 AS id) v ON t.id = v.id WHEN NOT MATCHED THEN INSERT (id, t) VALUES (v.id, DEFAULT)")
    assert rows(ice.sql("SELECT * FROM s.db.d WHERE id > 2")) == [(3, 7, "old"), (4, 7, "new"), (5, 7, "new")]
    with pytest.raises(SqlError, match="not a constant"):
        ice.sql("ALTER TABLE s.db.d ADD COLUMN r double DEFAULT rand()")
    ice.sql("CREATE TABLE s.db.d2 (id bigint) TBLPROPERTIES ('format-version'='2')")
    with pytest.raises(Exception, match=r"v3|version 3"):
        ice.sql("ALTER TABLE s.db.d2 ADD COLUMN n int DEFAULT 7")


def test_a_column_cannot_be_dropped_twice(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.twice (id bigint, a int)")
    with pytest.raises(SqlError, match="named twice"):
        ice.sql("ALTER TABLE s.db.twice DROP COLUMNS a, a")
    assert ice.table("s.db.twice").metadata.schema.names_by_id == {1: "id", 2: "a"}
