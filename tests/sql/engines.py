"""The two engines a case runs on."""

from __future__ import annotations

from typing import Any

from tests.oracle.client import Oracle
from tests.sql.running import Engine


def icesql_engine(session: Any) -> Engine:
    """icesql, through ``Session.sql``."""

    def run(text: str) -> tuple[list[tuple[str, str]], list[Any]]:
        frame = session.sql(text)
        rows = frame.collect()
        return [(f.name, f.dataType.simpleString()) for f in frame.schema.fields] if rows or frame.columns else [], rows

    return run


def oracle_engine(oracle: Oracle) -> Engine:
    """Stock Spark with Iceberg's runtime."""

    def run(text: str) -> tuple[list[tuple[str, str]], list[Any]]:
        answer = oracle.sql(text)
        return answer.columns, answer.rows

    return run


class kept_conf:
    """Leaves the session's settings as it found them."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def _settings(self) -> dict[str, str]:
        return {row[0]: row[1] for row in self.spark.sql("SET").collect()}

    def __enter__(self) -> None:
        self.before = self._settings()

    def __exit__(self, *_: object) -> None:
        now = self._settings()
        for key in now.keys() - self.before.keys():
            self.spark.conf.unset(key)
        for key, value in self.before.items():
            if now.get(key) != value:
                self.spark.conf.set(key, value)
        for view in self.spark.catalog.listTables():
            if view.isTemporary:
                self.spark.catalog.dropTempView(view.name)


class kept_oracle:
    """Leaves the oracle's settings and temporary views as it found them."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def _settings(self) -> dict[str, str]:
        return dict(self.oracle.rows("SET"))

    def __enter__(self) -> None:
        self.before = self._settings()

    def __exit__(self, *_: object) -> None:
        now = self._settings()
        for key in now.keys() - self.before.keys():
            self.oracle.sql(f"RESET `{key}`")
        for key, value in self.before.items():
            if now.get(key) != value:
                self.oracle.sql(f"SET `{key}`={value}")
        for _, view, temporary in self.oracle.rows("SHOW VIEWS IN spark_catalog.default"):
            if temporary:
                self.oracle.sql(f"DROP VIEW `{view}`")
