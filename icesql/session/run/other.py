"""Statements that are mostly Spark's: caching, refreshing, analysing, and everything no grammar of ours knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import UnsupportedError
from icesql.parser import statements as s
from icesql.parser.names import Place, References
from icesql.parser.parameters import quoted_pairs
from icesql.session.resolve.time_travel import current, read_point
from icesql.session.resolve.views import find_view, view_frame
from icesql.session.rewrite.places import quote
from icesql.session.run.query.query import run_query
from icesql.session.sql_errors import not_for_v2
from icesql.session.state.names import Address, Found

if TYPE_CHECKING:
    from icesql.session.session import Session
    from icesql.spec.views import ViewMetadata


def run_other(session: Session, statement: s.Statement, args: Any = None) -> Any:
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
            session.require(statement.table.parts, text=statement.text, offset=statement.table.start)
            raise not_for_v2(statement.form)
        case s.Other():
            return _other(session, statement, args)
    raise AssertionError(type(statement).__name__)


def _ours(session: Session, name: s.TableName, text: str) -> Found | None:
    if session.names.address(name.parts) is None or session.is_temporary_view(*name.parts):
        return None
    return session.require(name.parts, text=text, offset=name.start)


def _refresh(session: Session, statement: s.RefreshTable) -> Any:
    """Every statement asks the catalog; only what is kept in memory may lack the commits of others."""
    found = _ours(session, statement.table, statement.text)
    if found is None:
        return session.spark_sql(statement.text)
    read_point(found, None, statement.text, session.microseconds)
    session.frames.clear()
    session.frames.table_changed(found.table.location)
    return session.nothing


def _cache(session: Session, statement: s.CacheTable, args: Any) -> Any:
    level = _storage_level(session, statement)
    if statement.query is not None:
        query = statement.query.of(statement.text)
        name = statement.table.parts[-1]
        session.temporary_views.create(name, query, _moved(statement.references, statement.query.start))
        options = f" OPTIONS ({quoted_pairs(dict(statement.options))})" if statement.options else ""
        return session.spark_sql(f"CACHE {'LAZY ' if statement.lazy else ''}TABLE {quote(name)}{options}")
    if (stored := _stored_view(session, statement.table)) is not None:
        view_frame(session, *stored)  # nothing is kept, but what cannot be read is refused
        return session.nothing
    found = _ours(session, statement.table, statement.text)
    if found is None:
        return session.spark_sql(statement.text, args)
    frame = session.frames.scan(found, current(found.table.metadata), {}, follow=True).frame
    frame.persist() if level is None else frame._jdf.persist(level)
    if not statement.lazy:
        frame.count()
    return session.nothing


def _storage_level(session: Session, statement: s.CacheTable) -> Any:
    """What the option ``storageLevel`` names, ``None`` without one. Raises Spark's error for a name that is no level."""
    name = next((value for key, value in statement.options if key.lower() == "storagelevel"), None)
    return None if name is None else session.spark._jvm.org.apache.spark.storage.StorageLevel.fromString(name.upper())


def _stored_view(session: Session, name: s.TableName) -> tuple[Address, ViewMetadata] | None:
    """A view of one of our catalogs, which is not kept in memory: its query is run each time it is read."""
    address = session.names.address(name.parts)
    if address is None or session.is_temporary_view(*name.parts) or session.find(name.parts) is not None:
        return None
    view = find_view(address)
    return None if view is None else (address, view)


def _uncache(session: Session, statement: s.UncacheTable) -> Any:
    if session.names.address(statement.table.parts) is None or session.is_temporary_view(*statement.table.parts):
        return session.spark_sql(statement.text)
    found = session.find(statement.table.parts)
    if found is not None:
        session.frames.scan(found, current(found.table.metadata), {}, follow=True).frame.unpersist()
    elif (stored := _stored_view(session, statement.table)) is not None:
        view_frame(session, *stored)
    elif not statement.if_exists:
        raise session.names.not_found(statement.table.parts, text=statement.text, offset=statement.table.start)
    return session.nothing


def _analyze(session: Session, statement: s.AnalyzeTable) -> Any:
    if statement.table is not None:
        if _ours(session, statement.table, statement.text) is None:
            return session.spark_sql(statement.text)
        raise not_for_v2("ANALYZE TABLE")
    if session.names.namespace(statement.tables_in.parts if statement.tables_in else None) is None:
        return session.spark_sql(statement.text)
    raise not_for_v2("ANALYZE TABLES")


def _other(session: Session, statement: s.Other, args: Any) -> Any:
    """To Spark, if it changes nothing of ours; what reads ours reads views."""
    targets = [r for r in statement.references.tables if r.place is Place.TARGET and session.names.address(r.parts) is not None]
    mine = [r for r in targets if session.find(r.parts) is not None]
    if statement.error is not None and (targets or _reads_ours(session, statement.references)):
        raise statement.error
    if mine:
        raise UnsupportedError(
            f"Cannot run statement on an Iceberg table: {mine[0].dotted}: {statement.text.split(None, 1)[0].upper()} is not supported"
        )
    done = session.temporary_functions.run(statement)
    return run_query(session, statement.text, statement.references, args) if done is None else done


def _reads_ours(session: Session, references: References) -> bool:
    return any(len(r.parts) > 1 and session.names.address(r.parts) is not None for r in references.tables)


def _moved(references: References, start: int) -> References:
    """References counted from ``start`` of the text they were found in."""
    from icesql.session.rewrite.moving import moved

    return moved(references, start)
