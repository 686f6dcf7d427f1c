"""``icesql.enable(spark)``: ``spark.sql``, ``spark.table`` and ``df.writeTo`` of that session understand our catalogs; ``disable``
undoes it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icesql.session.session import Session

_ATTRIBUTE = "_icesql_session"


def enable(spark: SparkSession, catalogs: Mapping[str, Mapping[str, Any]] | None = None) -> Session:
    """The icesql session behind ``spark`` from now on. Enabling twice changes nothing; other Spark sessions keep their own ``sql``."""
    from icesql.session.connecting import connect

    found: Session | None = getattr(spark, _ATTRIBUTE, None)
    if found is None:
        found = connect(spark, catalogs)
        setattr(spark, _ATTRIBUTE, found)
        _patch()
    return found


def disable(spark: SparkSession) -> None:
    """``spark`` is plain again. Raises nothing if it was never enabled."""
    if hasattr(spark, _ATTRIBUTE):
        delattr(spark, _ATTRIBUTE)


def _patch() -> None:
    """Methods that look for the icesql session of their Spark session, and do as before where there is none."""
    from pyspark.sql import SparkSession
    from pyspark.sql.classic.dataframe import DataFrame

    if hasattr(SparkSession.sql, "__wrapped__"):
        return
    plain_sql, plain_table, plain_write_to = SparkSession.sql, SparkSession.table, DataFrame.writeTo

    @functools.wraps(plain_sql)
    def sql(self: Any, sqlQuery: str, args: Any = None, **kwargs: Any) -> Any:
        session = getattr(self, _ATTRIBUTE, None)
        if session is None or kwargs or session.is_inside:
            return plain_sql(self, sqlQuery, args, **kwargs)
        return session.sql(sqlQuery, args)

    @functools.wraps(plain_table)
    def table(self: Any, tableName: str) -> Any:
        session = getattr(self, _ATTRIBUTE, None)
        found = None if session is None else _found(session, tableName)
        return plain_table(self, tableName) if session is None or found is None else session.table(tableName).to_df()

    @functools.wraps(plain_write_to)
    def write_to(self: Any, table: str) -> Any:
        session = getattr(self.sparkSession, _ATTRIBUTE, None)
        if session is None or not _is_ours(session, table):
            return plain_write_to(self, table)
        return session.write_to(self, table)

    SparkSession.sql = sql
    SparkSession.table = table
    DataFrame.writeTo = write_to


def _is_ours(session: Session, name: str) -> bool:
    from icesql.errors import SqlError
    from icesql.parser.identifiers import parse_name

    try:
        return session.names.address(parse_name(name)) is not None
    except SqlError:
        return False


def _found(session: Session, name: str) -> Any:
    from icesql.parser.identifiers import parse_name

    return session.find(parse_name(name)) if _is_ours(session, name) else None
