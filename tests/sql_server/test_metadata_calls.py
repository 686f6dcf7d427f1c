"""What tools ask of JDBC: the metadata calls themselves, in the order in which drivers send them, and SQLAlchemy's reflection.

What is asked is what their sources send: DBeaver's Hive driver JDBC's metadata calls and SHOW CREATE TABLE (its HiveMetaModel), Superset's
Hive and Spark specifications (db_engine_specs/hive.py) SQLAlchemy's inspector, SHOW VIEWS, SHOW PARTITIONS, SHOW FUNCTIONS and EXPLAIN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.sql_server.serving import Serving, rows, serving

pytestmark = [pytest.mark.slow, pytest.mark.spark]
LOCAL = {"set:hiveconf:spark.sql.defaultCatalog": "local"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        client = running.client()
        for text in (
            "CREATE NAMESPACE local.default",
            "CREATE NAMESPACE local.shop",
            "CREATE NAMESPACE local.`odd name`",
            "CREATE TABLE local.shop.orders (id INT NOT NULL COMMENT 'its number', price DECIMAL(10,2), at TIMESTAMP, "
            "tags ARRAY<STRUCT<k: STRING>>) PARTITIONED BY (id) COMMENT 'what was bought'",
            "CREATE TABLE local.shop.order_lines (id INT)",
            "CREATE VIEW local.shop.cheap AS SELECT id FROM local.shop.orders WHERE price < 5",
            "CREATE TABLE local.`odd name`.`a'b``` (`c\"d` INT)",
        ):
            rows(client, text)
        yield running


class Calls:
    """Hive's protocol, a call a method."""

    def __init__(self, server: Serving) -> None:
        from pyhive import hive

        self._connection = hive.connect("127.0.0.1", server.jdbc, username="tool", configuration=LOCAL)

    def statement(self, text: str) -> list[tuple[Any, ...]]:
        cursor = self._connection.cursor()
        cursor.execute(text)
        return list(cursor.fetchall())

    def __call__(self, name: str, *arguments: Any) -> list[dict[str, Any]]:
        from pyhive.hive import _unwrap_column
        from TCLIService import ttypes

        client, session = self._connection._client, self._connection._sessionHandle
        answer = getattr(client, f"Get{name}")(getattr(ttypes, f"TGet{name}Req")(session, *arguments))
        assert answer.status.statusCode == ttypes.TStatusCode.SUCCESS_STATUS, answer.status
        described = client.GetResultSetMetadata(ttypes.TGetResultSetMetadataReq(answer.operationHandle))
        fetched = client.FetchResults(ttypes.TFetchResultsReq(answer.operationHandle, ttypes.TFetchOrientation.FETCH_NEXT, 1000))
        client.CloseOperation(ttypes.TCloseOperationReq(answer.operationHandle))
        names = [column.columnName for column in described.schema.columns]
        values = zip(*(_unwrap_column(column, None) for column in fetched.results.columns), strict=True)
        return [dict(zip(names, row, strict=True)) for row in values]


@pytest.fixture
def calls(server: Serving) -> Calls:
    return Calls(server)


def test_dbeaver(calls: Calls) -> None:
    """Its driver asks before any statement is sent."""
    assert [row["TABLE_CAT"] for row in calls("Catalogs")] == ["local", "spark_catalog"]
    assert [row["TABLE_SCHEM"] for row in calls("Schemas")] == ["default", "odd name", "shop"]
    assert [row["TABLE_TYPE"] for row in calls("TableTypes")] == ["TABLE", "VIEW"]
    tables = calls("Tables", "local", "shop", "%", ["TABLE", "VIEW"])
    assert [(row["TABLE_NAME"], row["TABLE_TYPE"], row["REMARKS"]) for row in tables] == [
        ("cheap", "VIEW", ""),
        ("order_lines", "TABLE", ""),
        ("orders", "TABLE", "what was bought"),
    ]
    columns = calls("Columns", "local", "shop", "orders", "%")
    shown = ("COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "REMARKS", "ORDINAL_POSITION")
    assert [tuple(row[name] for name in shown) for row in columns] == [
        ("id", 4, "INT", 4, 0, 0, "its number", 1),
        ("price", 3, "DECIMAL(10,2)", 10, 2, 1, "", 2),
        ("at", 93, "TIMESTAMP", 8, 6, 1, "", 3),
        ("tags", 2003, "ARRAY<STRUCT<k:STRING>>", None, None, 1, "", 4),
    ]
    assert {row["TYPE_NAME"] for row in calls("TypeInfo")} >= {"INT", "STRING", "TIMESTAMP"}
    assert [row["FUNCTION_NAME"] for row in calls("Functions", None, None, "ab%")] == ["abs"]
    assert calls.statement("SHOW CREATE TABLE `local`.`shop`.`orders`")[0][0].startswith("CREATE TABLE local.shop.orders (")


def test_patterns(calls: Calls) -> None:
    def tables(*arguments: Any) -> list[str]:
        return [row["TABLE_NAME"] for row in calls("Tables", *arguments)]

    assert tables(None, "sh%", "order_", None) == ["orders"], "_ is any one character"
    assert tables(None, "%", "order\\_%", ["TABLE"]) == ["order_lines"], "and with a backslash itself"
    assert tables("", None, None, ["VIEW"]) == ["cheap"]
    assert tables(None, "shop", "%", ["SYSTEM TABLE"]) == []
    odd = calls("Columns", "local", "odd%", None, None)
    assert [(row["TABLE_NAME"], row["COLUMN_NAME"]) for row in odd] == [("a'b`", 'c"d')]
    assert [row["COLUMN_NAME"] for row in calls("Columns", None, "shop", "cheap", None)] == ["id"]
    assert [row["TABLE_SCHEM"] for row in calls("Schemas", "spark_catalog", "def%")] == ["default"], "Spark's own"


def test_superset(server: Serving) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(f"hive://tool@127.0.0.1:{server.jdbc}/shop", connect_args={"configuration": LOCAL})
    inspector = sa.inspect(engine)
    assert inspector.get_schema_names() == ["default", "`odd name`", "shop"]  # as SHOW DATABASES has them
    assert inspector.has_table("orders", "shop")
    columns = inspector.get_columns("orders", "shop")
    assert [(column["name"], str(column["type"])) for column in columns] == [
        ("id", "INTEGER"), ("price", "DECIMAL"), ("at", "TIMESTAMP"), ("tags", "VARCHAR"),
    ]  # fmt: skip
    with engine.connect() as connection:
        assert [row[1] for row in connection.execute(sa.text("SHOW VIEWS IN `shop`"))] == ["cheap"]
        assert [row[1] for row in connection.execute(sa.text("SHOW TABLES IN `shop`"))] == ["order_lines", "orders"]
        explained = connection.execute(sa.text("EXPLAIN SELECT * FROM `shop`.`orders` LIMIT 1001")).scalar_one()
        assert explained.startswith("== Physical Plan ==")
        assert connection.execute(sa.text("DESCRIBE FORMATTED `shop`.`orders`")).fetchall()
        assert connection.execute(sa.text("SHOW PARTITIONS shop.orders")).fetchall() == []
        assert ("abs",) in [tuple(row) for row in connection.execute(sa.text("SHOW FUNCTIONS"))]
    engine.dispose()


def test_sqlalchemy_core(server: Serving) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(f"hive://tool@127.0.0.1:{server.jdbc}/shop", connect_args={"configuration": LOCAL})
    lines = sa.Table("order_lines", sa.MetaData(schema="shop"), autoload_with=engine)
    assert [column.name for column in lines.columns] == ["id"]
    with engine.connect() as connection:
        connection.execute(sa.insert(lines).values([{"id": 1}, {"id": 2}, {"id": 3}]))
        query = sa.select(sa.func.count(), sa.func.max(lines.c.id)).where(lines.c.id > 1)
        assert connection.execute(query).one() == (2, 3)
        assert [row.id for row in connection.execute(sa.select(lines).order_by(lines.c.id.desc()).limit(2))] == [3, 2]
    engine.dispose()
