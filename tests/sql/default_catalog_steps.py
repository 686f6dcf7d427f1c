"""``spark.sql.defaultCatalog`` and ``default-namespace``: the same statements in a new session of either engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from icesql.errors import IcesqlError

SET_WHEN_CONNECTED = (
    "SHOW CURRENT NAMESPACE",
    "SELECT current_catalog(), current_schema()",
    "SET spark.sql.defaultCatalog",
    "CREATE NAMESPACE {ns}",
    "CREATE TABLE {ns}.t USING iceberg AS SELECT 1 AS a",
    "SELECT t.a, local.{ns}.t.a, {ns}.t.a FROM {ns}.t",
    "SELECT * FROM local.{ns}.t",
    "SHOW TABLES IN {ns}",
    "SELECT upper('a'), system.bucket(4, 7) AS b",
    "CALL system.rewrite_manifests('{ns}.t')",
    "USE {ns}",
    "SHOW CURRENT NAMESPACE",
    "SELECT * FROM t",
    "CREATE TEMPORARY VIEW v AS SELECT a + 1 AS b FROM t",
    "SELECT * FROM v",
    "USE spark_catalog",
    "SHOW CURRENT NAMESPACE",
    "SELECT * FROM t",
    "SET spark.sql.defaultCatalog = local",
    "SHOW CURRENT NAMESPACE",
    "USE local",
    "SHOW CURRENT NAMESPACE",
    "DROP TABLE {ns}.t",
)
SET_LATER = (
    "SHOW CURRENT NAMESPACE",
    "SET spark.sql.defaultCatalog = local",
    "SHOW CURRENT NAMESPACE",
    "SELECT current_catalog()",
    "SHOW TABLES IN {ns}",
    "SET spark.sql.defaultCatalog = spark_catalog",
    "SELECT current_catalog()",
    "SET spark.sql.defaultCatalog = local",
    "RESET spark.sql.defaultCatalog",
    "SELECT current_catalog()",
    "SET spark.sql.defaultCatalog = local",
    "USE local.{ns}",
    "SHOW CURRENT NAMESPACE",
)
HOME = (
    "SET spark.sql.catalog.homed = org.apache.iceberg.spark.SparkCatalog",
    "SET spark.sql.catalog.homed.type = hadoop",
    "SET spark.sql.catalog.homed.warehouse = {warehouse}",
    "SET `spark.sql.catalog.homed.default-namespace` = {ns}",
    "USE homed",
    "SHOW CURRENT NAMESPACE",
    "CREATE TABLE h (a INT) USING iceberg",
    "SHOW TABLES",
    "USE spark_catalog",
    "USE homed.{ns}",
    "USE local",
    "SHOW CURRENT NAMESPACE",
    "USE homed",
    "SELECT * FROM h",
    "DROP TABLE h",
    "SHOW CURRENT NAMESPACE",
)


def answers(spark: Any, namespace: str, warehouse: str, prepare: Callable[[Any], object] = lambda session: None) -> list[tuple[str, Any]]:
    """Each statement's text and its rows, or ``"refused"``. ``prepare`` is given each new Spark session once its settings are set."""
    found = []
    for settings, statements in (({"spark.sql.defaultCatalog": "local"}, SET_WHEN_CONNECTED), ({}, SET_LATER), ({}, HOME)):
        session = spark.newSession()
        for key, value in settings.items():
            session.conf.set(key, value)
        prepare(session)
        if statements is not SET_WHEN_CONNECTED:
            session.sql(f"CREATE NAMESPACE IF NOT EXISTS local.{namespace}")
        for statement in statements:
            text = statement.format(ns=namespace, warehouse=warehouse)
            found.append((statement, _answer(session, text)))
    return found


def _answer(session: Any, text: str) -> Any:
    try:
        frame = session.sql(text)
        if ".warehouse" in text:
            return None  # each engine has a folder of its own
        return [list(pair) for pair in frame.dtypes], [tuple(row) for row in frame.collect()]
    except (PySparkException, Py4JJavaError, IcesqlError):
        return "refused"
