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


def settings_of(spark: Any) -> dict[str, str]:
    """What ``SET`` shows, without a query."""
    return dict(spark.conf.getAll)


def temporary_views_of(spark: Any) -> list[str]:
    views = spark._jsparkSession.sessionState().catalog().listLocalTempViews("*")
    return [views.apply(number).table() for number in range(views.size())]


class kept_conf:
    """Leaves the session's settings as it found them, and no temporary view."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark

    def __enter__(self) -> None:
        self.before = settings_of(self.spark)

    def __exit__(self, *_: object) -> None:
        now = settings_of(self.spark)
        for key in now.keys() - self.before.keys():
            self.spark.conf.unset(key)
        for key, value in self.before.items():
            if now.get(key) != value:
                self.spark.conf.set(key, value)
        for view in temporary_views_of(self.spark):
            self.spark.catalog.dropTempView(view)


class kept_oracle:
    """Leaves the oracle's settings as it found them, and no temporary view."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def __enter__(self) -> None:
        self.before = self.oracle.call("tests.sql.engines:settings_of")

    def __exit__(self, *_: object) -> None:
        now = self.oracle.call("tests.sql.engines:settings_of")
        for key in now.keys() - self.before.keys():
            self.oracle.sql(f"RESET `{key}`")
        for key, value in self.before.items():
            if now.get(key) != value:
                self.oracle.sql(f"SET `{key}`={value}")
        for view in self.oracle.call("tests.sql.engines:temporary_views_of"):
            self.oracle.sql(f"DROP VIEW `{view}`")
