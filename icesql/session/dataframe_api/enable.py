"""``icesql.enable(spark)``: ``spark.sql``, ``spark.table``, ``spark.read``, ``spark.readStream``, ``df.write``, ``df.writeTo``,
``df.writeStream``, ``df.mergeInto`` and ``spark.catalog`` of that session understand our catalogs; ``disable`` undoes it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.table.after_commit import after_commit, telling

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icesql.session.session import Session

_ATTRIBUTE = "_icesql_session"


def enable(spark: SparkSession, catalogs: Mapping[str, Mapping[str, Any]] | None = None) -> Session:
    """The icesql session behind ``spark`` from now on. Enabling twice changes nothing; other Spark sessions keep their own ``sql``."""
    from icesql.session.connecting import connect

    session: Session | None = getattr(spark, _ATTRIBUTE, None)
    if session is None:
        session = connect(spark, catalogs)
        setattr(spark, _ATTRIBUTE, session)
        _patch()
    return session


def enable_as(spark: SparkSession, session: Session) -> None:
    """As ``enable``, with a session that is there already."""
    setattr(spark, _ATTRIBUTE, session)


def disable(spark: SparkSession) -> None:
    """``spark`` is plain again. Raises nothing if it was never enabled."""
    if hasattr(spark, _ATTRIBUTE):
        delattr(spark, _ATTRIBUTE)


def _patch() -> None:
    """Methods that look for the icesql session of their Spark session, and do as before where there is none."""
    from pyspark.sql import SparkSession
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.sql_formatter import SQLStringFormatter

    from icesql.session.dataframe_api.builders import EnabledReader, EnabledWriter, is_ours, is_table, read_table, shows_ours
    from icesql.session.dataframe_api.enabled_catalog import EnabledCatalog
    from icesql.session.dataframe_api.streams import EnabledStreamReader, EnabledStreamWriter

    if hasattr(SparkSession.sql, "__wrapped__"):
        return
    plain_sql, plain_table, plain_write_to, plain_merge_into = SparkSession.sql, SparkSession.table, DataFrame.writeTo, DataFrame.mergeInto
    plain_read, plain_write, plain_catalog = SparkSession.read.fget, DataFrame.write.fget, SparkSession.__dict__["catalog"]
    plain_read_stream, plain_write_stream = SparkSession.readStream.fget, DataFrame.writeStream.fget
    assert plain_read is not None and plain_write is not None and plain_read_stream is not None and plain_write_stream is not None

    @functools.wraps(plain_sql)
    def sql(self: Any, sqlQuery: str, args: Any = None, **kwargs: Any) -> Any:
        session = getattr(self, _ATTRIBUTE, None)
        if session is None or session.is_inside:
            return plain_sql(self, sqlQuery, args, **kwargs)
        if not kwargs:
            return session.sql(sqlQuery, args)
        formatter = SQLStringFormatter(self)  # makes temporary views of the DataFrames among the arguments
        try:
            return session.sql(formatter.format(sqlQuery, **kwargs), args)
        finally:
            with telling(session.state), after_commit("drop the temporary views of DataFrames among the arguments"):
                formatter.clear()

    @functools.wraps(plain_table)
    def table(self: Any, tableName: str) -> Any:
        session = _session(self)
        return plain_table(self, tableName) if session is None or not shows_ours(session, tableName) else read_table(session, tableName)

    @functools.wraps(plain_read)
    def read(self: Any) -> Any:
        session = _session(self)
        return plain_read(self) if session is None else EnabledReader(session)

    @functools.wraps(plain_write)
    def write(self: Any) -> Any:
        session = _session(self.sparkSession)
        return plain_write(self) if session is None else EnabledWriter(session, self)

    @functools.wraps(plain_read_stream)
    def read_stream(self: Any) -> Any:
        session = _session(self)
        return plain_read_stream(self) if session is None else EnabledStreamReader(session)

    @functools.wraps(plain_write_stream)
    def write_stream(self: Any) -> Any:
        session = _session(self.sparkSession)
        return plain_write_stream(self) if session is None else EnabledStreamWriter(session, self)

    @functools.wraps(plain_write_to)
    def write_to(self: Any, table: str) -> Any:
        session = _session(self.sparkSession)
        if session is None or not is_table(session, table):
            return plain_write_to(self, table)
        return session.write_to(self, table)

    @functools.wraps(plain_merge_into)
    def merge_into(self: Any, table: str, condition: Any) -> Any:
        session = _session(self.sparkSession)
        if session is None or not is_ours(session, table):
            return plain_merge_into(self, table, condition)
        return session.merge_into(self, table, condition)

    def catalog(self: Any) -> Any:
        session = _session(self)
        return plain_catalog.__get__(self, type(self)) if session is None else EnabledCatalog(session)

    SparkSession.catalog = property(catalog)
    SparkSession.sql = sql
    SparkSession.table = table
    SparkSession.read = property(read)
    SparkSession.readStream = property(read_stream)
    DataFrame.write = property(write)
    DataFrame.writeStream = property(write_stream)
    DataFrame.writeTo = write_to
    DataFrame.mergeInto = merge_into


def _session(spark: SparkSession) -> Session | None:
    """``None`` where Spark was not enabled, and while a statement of ours is running: what it asks of Spark is Spark's."""
    session: Session | None = getattr(spark, _ATTRIBUTE, None)
    return None if session is None or session.is_inside else session
