"""``icesql.enable(spark)``: ``spark.sql``, ``spark.table``, ``spark.read``, ``df.write`` and ``df.writeTo`` of that session understand
our catalogs; ``disable`` undoes it."""

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

    from icesql.session.builders import EnabledReader, EnabledWriter, is_ours, read_table

    if hasattr(SparkSession.sql, "__wrapped__"):
        return
    plain_sql, plain_table, plain_write_to = SparkSession.sql, SparkSession.table, DataFrame.writeTo
    plain_read, plain_write = SparkSession.read.fget, DataFrame.write.fget
    assert plain_read is not None and plain_write is not None

    @functools.wraps(plain_sql)
    def sql(self: Any, sqlQuery: str, args: Any = None, **kwargs: Any) -> Any:
        session = getattr(self, _ATTRIBUTE, None)
        if session is None or kwargs or session.is_inside:
            return plain_sql(self, sqlQuery, args, **kwargs)
        return session.sql(sqlQuery, args)

    @functools.wraps(plain_table)
    def table(self: Any, tableName: str) -> Any:
        session = _session(self)
        return plain_table(self, tableName) if session is None or not is_ours(session, tableName) else read_table(session, tableName)

    @functools.wraps(plain_read)
    def read(self: Any) -> Any:
        session = _session(self)
        return plain_read(self) if session is None else EnabledReader(session)

    @functools.wraps(plain_write)
    def write(self: Any) -> Any:
        session = _session(self.sparkSession)
        return plain_write(self) if session is None else EnabledWriter(session, self)

    @functools.wraps(plain_write_to)
    def write_to(self: Any, table: str) -> Any:
        session = _session(self.sparkSession)
        if session is None or not is_ours(session, table):
            return plain_write_to(self, table)
        return session.write_to(self, table)

    SparkSession.sql = sql
    SparkSession.table = table
    SparkSession.read = property(read)
    DataFrame.write = property(write)
    DataFrame.writeTo = write_to


def _session(spark: Any) -> Session | None:
    """``None`` where Spark was not enabled, and while a statement of ours is running: what it asks of Spark is Spark's."""
    session: Session | None = getattr(spark, _ATTRIBUTE, None)
    return None if session is None or session.is_inside else session
