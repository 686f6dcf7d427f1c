"""Statements that are mostly Spark's: caching, refreshing, analysing, and everything no grammar of ours knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import UnsupportedError
from icesql.parser import statements as s
from icesql.parser.statements.families import SparksStatement
from icesql.parser.text.edits import quote
from icesql.parser.text.names import Place, References
from icesql.parser.text.parameters import quoted_pairs
from icesql.parser.text.tokens import tokenize
from icesql.session.resolve.resolved import MetadataTable, Missing, Readable, ResolvedTable, SparkOwned, StoredView, TemporaryView
from icesql.session.resolve.resolver import not_found, place, readable, required, resolve
from icesql.session.resolve.stored_views import view_frame
from icesql.session.resolve.time_travel import current, read_point
from icesql.session.rewrite.moving import moved
from icesql.session.run.queries import run_query
from icesql.session.spark_errors import within
from icesql.session.sql_errors import not_for_v2
from icesql.spark.jvm.queries import persist
from icesql.spark.jvm.spark_session import storage_level

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def run_other(session: SessionState, statement: SparksStatement, args: Any = None) -> DataFrame:
    match statement:
        case s.RefreshTable():
            return _refresh(session, statement)
        case s.CacheTable():
            return _cache(session, statement, args)
        case s.UncacheTable():
            return _uncache(session, statement)
        case s.AnalyzeTable():
            return _analyze(session, statement)
        case s.RefusedTableCommand():
            if session.names.address(statement.table.parts) is None:
                return session.spark_sql(statement.text, args)
            required(session, statement.table.parts, text=statement.text, offset=statement.table.start)
            raise not_for_v2(statement.form)
        case s.Other():
            return _other(session, statement, args)


def _ours(session: SessionState, name: s.TableName, text: str) -> Readable | None:
    return None if place(session, name.parts) is None else required(session, name.parts, text=text, offset=name.start)


def _refresh(session: SessionState, statement: s.RefreshTable) -> DataFrame:
    """Tables are loaded anew by each statement; only cached rows may lack the commits of other processes."""
    resolved = _ours(session, statement.table, statement.text)
    if resolved is None:
        return session.spark_sql(statement.text)
    read_point(resolved, None, statement.text, session.microseconds)
    session.plans.clear()
    session.plans.table_changed(resolved.table.location)
    return session.nothing


def _cache(session: SessionState, statement: s.CacheTable, args: Any) -> DataFrame:
    level = _storage_level(session, statement)
    if statement.query is not None:
        query = statement.query.of(statement.text)
        name = statement.table.parts[-1]
        with within(session.spark, statement.text, statement.query.start):
            session.temporary_views.create(name, query, moved(statement.references, statement.query.start))
        options = f" OPTIONS ({quoted_pairs(dict(statement.options))})" if statement.options else ""
        return session.spark_sql(f"CACHE {'LAZY ' if statement.lazy else ''}TABLE {quote(name)}{options}")
    match resolve(session, statement.table.parts):
        case StoredView() as stored:  # its query is run each time it is read: nothing is kept, but what cannot be read is refused
            view_frame(session, stored.address, stored.view)
        case ResolvedTable() | MetadataTable() as table:
            frame = session.plans.scan(table, current(table.table.metadata), {}, unpinned=True).frame
            frame.persist() if level is None else persist(frame, level)
            if not statement.lazy:
                frame.count()
        case TemporaryView() | SparkOwned():
            return session.spark_sql(statement.text, args)
        case Missing():
            raise not_found(session, statement.table.parts, text=statement.text, offset=statement.table.start)
    return session.nothing


def _storage_level(session: SessionState, statement: s.CacheTable) -> Any:
    """What the option ``storageLevel`` names, ``None`` without one. Raises Spark's error for a name that is no level."""
    name = next((value for key, value in statement.options if key.lower() == "storagelevel"), None)
    return None if name is None else storage_level(session.spark, name)


def _uncache(session: SessionState, statement: s.UncacheTable) -> DataFrame:
    match resolve(session, statement.table.parts):
        case ResolvedTable() | MetadataTable() as table:
            session.plans.scan(table, current(table.table.metadata), {}, unpinned=True).frame.unpersist()
        case StoredView() as stored:
            view_frame(session, stored.address, stored.view)
        case TemporaryView() | SparkOwned():
            return session.spark_sql(statement.text)
        case Missing():
            if not statement.if_exists:
                raise not_found(session, statement.table.parts, text=statement.text, offset=statement.table.start)
    return session.nothing


def _analyze(session: SessionState, statement: s.AnalyzeTable) -> DataFrame:
    if statement.table is not None:
        if _ours(session, statement.table, statement.text) is None:
            return session.spark_sql(statement.text)
        raise not_for_v2("ANALYZE TABLE")
    if session.names.namespace(statement.tables_in.parts if statement.tables_in else None) is None:
        return session.spark_sql(statement.text)
    raise not_for_v2("ANALYZE TABLES")


def _other(session: SessionState, statement: s.Other, args: Any) -> DataFrame:
    """Run by Spark, with views in the place of our tables. Raises UnsupportedError for a statement that would change one of them."""
    targets = [r for r in statement.references.tables if r.place is Place.TARGET and session.names.address(r.parts) is not None]
    mine = [r for r in targets if readable(session, r.parts) is not None]
    if statement.error is not None and (targets or _reads_ours(session, statement.references)):
        raise statement.error
    if mine:
        raise UnsupportedError(
            f"Cannot run statement on an Iceberg table: {mine[0].dotted}: {tokenize(statement.text)[0].key} is not supported"
        )
    done = session.temporary_functions.run(statement)
    return run_query(session, statement.text, statement.references, args) if done is None else done


def _reads_ours(session: SessionState, references: References) -> bool:
    return any(len(r.parts) > 1 and session.names.address(r.parts) is not None for r in references.tables)
