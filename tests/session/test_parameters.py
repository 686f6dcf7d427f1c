"""Parameters where Spark 4.1 takes them: wherever a literal may stand. Iceberg's runtime binds none while its extensions are on."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from icesql.errors import IcesqlError
from icesql.session.session import Session

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    warehouse: Path = tmp_path_factory.mktemp("parameters")
    session = Session(spark, {"s": {"type": "sql", "uri": f"sqlite:///{warehouse}/catalog.db", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE s.db")
    session.sql("CREATE TABLE s.db.t (id int, p string)")
    session.sql("INSERT INTO s.db.t VALUES (1, 'a'), (2, 'b')")
    yield session


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def types(ice: Session, table: str) -> list[str]:
    return [field.dataType.simpleString() for field in ice.table(table).to_df().schema.fields]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("SELECT * FROM s.db.t VERSION AS OF :v WHERE id = :i", {"v": "main", "i": 1}),
        ("SELECT * FROM s.db.t VERSION AS OF ? WHERE id = ?", ["main", 1]),
        ("SELECT * FROM s.db.t TIMESTAMP AS OF :v + INTERVAL :n DAY WHERE id < 2", {"v": "2100-01-01 00:00:00", "n": 1}),
        ("SELECT * FROM IDENTIFIER(:t) WHERE IDENTIFIER(:c) = :i", {"t": "s.db.t", "c": "id", "i": 1}),
        ("SELECT * FROM IDENTIFIER(? || '.t') LIMIT ?", ["s.db", 1]),
        ("SELECT * FROM IDENTIFIER(:n).t ORDER BY id LIMIT :l OFFSET :o", {"n": "s.db", "l": 1, "o": 0}),
        ("SELECT * FROM s.db.t WHERE id IN (:a, :b) AND p LIKE :p", {"a": 1, "b": 9, "p": "a%"}),
    ],
)
def test_queries_take_them_in_versions_and_names(ice: Session, text: str, args: Any) -> None:
    assert rows(ice.sql(text, args)) == [(1, "a")]


def test_statements_take_them_wherever_a_literal_stands(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.d (id int COMMENT :c) PARTITIONED BY (bucket(:n, id)) COMMENT :c TBLPROPERTIES ('k' = :v)",
            {"c": "it's", "n": 4, "v": "w"})  # fmt: skip
    ice.sql("ALTER TABLE s.db.d ADD COLUMN n int COMMENT :c", {"c": "new"})
    ice.sql("ALTER TABLE IDENTIFIER(:t) SET TBLPROPERTIES ('k2' = :v)", {"t": "s.db.d", "v": "x"})
    table = ice.table("s.db.d")
    assert (table.properties["comment"], table.properties["k"], table.properties["k2"]) == ("it's", "w", "x")
    assert [field.doc for field in table.schema.fields] == ["it's", "new"]
    assert rows(ice.sql("SHOW TBLPROPERTIES s.db.d (:k)", {"k": "k"})) == [("k", "w")]
    assert [row[1] for row in rows(ice.sql("SHOW TABLES IN IDENTIFIER(:n) LIKE :p", {"n": "s.db", "p": "d"}))] == ["d"]
    ice.sql("COMMENT ON TABLE s.db.d IS :c", {"c": "other"})
    assert ice.table("s.db.d").properties["comment"] == "other"


def test_set_keeps_its_text_as_spark_does(ice: Session) -> None:
    assert rows(ice.sql("SET k1.x = :v", {"v": "1"})) == [("k1.x", ":v")]
    ice.spark.conf.unset("k1.x")


def test_columns_of_pyspark_are_values_too(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.c AS SELECT :a AS a, :b AS b, :c AS c", {"a": F.lit(1), "b": F.array(F.lit(1)), "c": Decimal("1.50")})
    assert types(ice, "s.db.c") == ["int", "array<int>", "decimal(3,2)"]
    ice.sql("INSERT INTO s.db.c VALUES (:a, :b, :c)", {"a": 2, "b": F.array(F.lit(3)), "c": 1})
    with pytest.raises(PySparkException, match="INVALID_SQL_ARG"):
        ice.sql("INSERT INTO s.db.c VALUES (:a, null, null)", {"a": F.col("x")})


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("INSERT INTO s.db.t VALUES (?, ?)", [1]),
        ("INSERT INTO s.db.t VALUES (:a, :b)", [1, "x"]),
        ("INSERT INTO s.db.t VALUES (:a, ?)", {"a": 1}),
        ("SELECT * FROM s.db.t VERSION AS OF :nope", {"a": 1}),
    ],
)
def test_those_without_a_value_are_refused(ice: Session, text: str, args: Any) -> None:
    with pytest.raises(IcesqlError, match="UNBOUND_SQL_PARAMETER"):
        ice.sql(text, args)


def test_values_of_execute_immediate_keep_their_types(ice: Session) -> None:
    ice.sql("EXECUTE IMMEDIATE 'CREATE TABLE s.db.e AS SELECT ? AS a, ? AS b, ? AS c, ? AS d' USING CAST(2 AS bigint), "
            "CAST(1.5 AS float), named_struct('q', 1, 'r', 'x'), CAST(null AS int)")  # fmt: skip
    assert types(ice, "s.db.e") == ["bigint", "float", "struct<q:int,r:string>", "int"]


def test_names_of_execute_immediate_are_left_where_places_are_asked_for(ice: Session) -> None:
    assert rows(ice.sql("EXECUTE IMMEDIATE 'SELECT * FROM s.db.t WHERE id = ?' USING 1 AS x")) == [(1, "a")]
    assert rows(ice.sql("EXECUTE IMMEDIATE 'SELECT * FROM s.db.t VERSION AS OF :v WHERE id = :i' USING 'main' AS v, 1 AS i")) == [(1, "a")]
