"""Runs in the oracle's process: what Spark's parser and that of Iceberg's extensions refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def refused_statements(spark: Any, texts: list[str]) -> list[bool]:
    """For each text whether both refuse it. The extensions' parser alone takes the words of its statements for one where they stand in a
    string."""
    with_extensions = spark._jsparkSession.sessionState().sqlParser()
    stock = spark._jvm.org.apache.spark.sql.execution.SparkSqlParser()
    return [_is_refused(with_extensions.parsePlan, text) and _is_refused(stock.parsePlan, text) for text in texts]


def refused_pieces(spark: Any, pieces: list[tuple[str, bool]]) -> list[bool]:
    """For each (text, whether it is a query, else an expression) whether Spark refuses it."""
    stock = spark._jvm.org.apache.spark.sql.execution.SparkSqlParser()
    return [_is_refused(stock.parseQuery, text if is_query else f"SELECT ({text})") for text, is_query in pieces]


def _is_refused(read: Callable[[str], Any], text: str) -> bool:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        read(text)
    except (Py4JJavaError, PySparkException):
        return True
    return False
