"""Namespaces and catalogs: CREATE, DROP, ALTER, DESCRIBE, SHOW and USE."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from icesql.catalog.base import Catalog, Namespace
from icesql.catalog.hadoop import HadoopCatalog
from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.statements.families import NamespaceChange, NamespaceStatement
from icesql.session.output.patterns import matches
from icesql.session.output.results import ResultColumns
from icesql.session.output.table_text import quoted_if_needed
from icesql.session.run.ddl.table_properties import owner
from icesql.session.sql_errors import schema_exists, schema_not_found
from icesql.session.state.catalogs import SPARK_CATALOG
from icesql.spark.jvm.spark_session import qualified_path
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:")
_RESERVED = {"location": "please use the LOCATION clause to specify it", "owner": "it will be set to the current user"}
NAMESPACES = ResultColumns("namespace string!")
CATALOGS = ResultColumns("catalog string!")
CURRENT = ResultColumns("catalog string!", "namespace string!")
DESCRIBED = ResultColumns("info_name string!", "info_value string")


def run_namespaces(session: SessionState, statement: NamespaceStatement) -> DataFrame:
    match statement:
        case s.Use():
            return _use(session, statement)
        case s.UseCatalog():
            return _use_catalog(session, statement.name)
        case s.ShowCurrentNamespace():
            return _show_current(session, statement)
        case s.ShowCatalogs():
            names = sorted({*session.catalogs.names, SPARK_CATALOG, *(row.name for row in session.spark.catalog.listCatalogs())})
            return CATALOGS.frame(session.spark, [(name,) for name in names if matches(name, statement.pattern)])
        case s.ShowNamespaces():
            return _show(session, statement)
        case s.CreateNamespace() | s.DropNamespace() | s.AlterNamespace() | s.DescribeNamespace():
            where = session.names.namespace(statement.namespace.parts)
            if where is None:
                return session.spark_sql(statement.text)
            return _change(session, statement, *where)


def _refuse_reserved(keys: Iterable[str]) -> None:
    """Raises InvalidArgumentError for properties that have a clause of their own, in Spark's words."""
    for key in keys:
        if key in _RESERVED:
            raise InvalidArgumentError(
                spark_message(
                    "UNSUPPORTED_FEATURE.SET_NAMESPACE_PROPERTY",
                    f"The feature is not supported: {key} is a reserved namespace property, {_RESERVED[key]}.",
                )
            )


def _change(session: SessionState, statement: NamespaceChange, catalog: Catalog, namespace: Namespace) -> DataFrame:
    match statement:
        case s.CreateNamespace():
            _create(session, statement, catalog, namespace)
        case s.DropNamespace():
            _drop(statement, catalog, namespace)
        case s.AlterNamespace():
            _require(catalog, namespace)
            _refuse_reserved((*dict(statement.set), *statement.unset))
            updates = dict(statement.set) | ({"location": _qualified(session, statement.location)} if statement.location else {})
            catalog.update_namespace_properties(namespace, removals=statement.unset, updates=updates)
        case s.DescribeNamespace():
            return _describe(session, statement, catalog, namespace)
    return session.nothing


def _qualified(session: SessionState, location: str) -> str:
    """A location without a scheme is in Spark's default file system: ``/data`` -> ``file:/data``."""
    return location if _SCHEME.match(location) else qualified_path(session.spark, location)


def _create(session: SessionState, statement: s.CreateNamespace, catalog: Catalog, namespace: Namespace) -> None:
    """The session's user owns it, where the catalog keeps properties."""
    properties = dict(statement.properties)
    _refuse_reserved(properties)
    if statement.comment is not None:
        properties["comment"] = statement.comment
    if statement.location is not None:
        properties["location"] = _qualified(session, statement.location)
    if catalog.namespace_exists(namespace):
        if statement.if_not_exists:
            return
        raise schema_exists(namespace)
    if properties or not isinstance(catalog, HadoopCatalog):
        properties["owner"] = owner(session)
    try:
        catalog.create_namespace(namespace, properties)
    except AlreadyExistsError:
        if not statement.if_not_exists:
            raise schema_exists(namespace) from None


def _drop(statement: s.DropNamespace, catalog: Catalog, namespace: Namespace) -> None:
    """CASCADE is refused for a namespace that is not empty, as Iceberg's runtime does."""
    if not catalog.namespace_exists(namespace):
        if statement.if_exists:
            return
        raise schema_not_found((catalog.name, *namespace))
    catalog.drop_namespace(namespace)


def _require(catalog: Catalog, namespace: Namespace) -> None:
    if not catalog.namespace_exists(namespace):
        raise schema_not_found((catalog.name, *namespace))


def _describe(session: SessionState, statement: s.DescribeNamespace, catalog: Catalog, namespace: Namespace) -> DataFrame:
    try:
        properties = dict(catalog.namespace_properties(namespace))
    except NotFoundError:
        raise schema_not_found(namespace) from None
    rows: list[tuple[str, str]] = [("Catalog Name", catalog.name), ("Namespace Name", ".".join(namespace))]
    for key, label in (("comment", "Comment"), ("location", "Location"), ("owner", "Owner")):
        if key in properties:
            rows.append((label, properties.pop(key)))
    if statement.extended:
        shown = ", ".join(f"({key},{value})" for key, value in sorted(properties.items()))
        rows.append(("Properties", f"({shown})" if shown else ""))
    return DESCRIBED.frame(session.spark, rows)


def _show(session: SessionState, statement: s.ShowNamespaces) -> DataFrame:
    where = session.names.namespace(None if statement.parent is None else statement.parent.parts)
    if where is None:
        return session.spark_sql(statement.text)
    catalog, parent = where
    if statement.parent is None:
        parent = ()
    try:
        namespaces = catalog.list_namespaces(parent)
    except NotFoundError:
        raise schema_not_found((catalog.name, *parent)) from None
    shown = [quoted_if_needed(*namespace) for namespace in namespaces]
    return NAMESPACES.frame(session.spark, [(name,) for name in shown if matches(name, statement.pattern)])


# -- where the session is ----------------------------------------------------------------------------------------------
def _use(session: SessionState, statement: s.Use) -> DataFrame:
    parts, names = statement.name.parts, session.names
    if not statement.namespace_only and parts[0] in session.catalogs:
        if len(parts) == 1 or names.current_catalog != parts[0]:
            names.enter(parts[0])  # stays current, as in Spark, where the namespace does not exist
        if len(parts) > 1:
            _enter(session, names.catalog(parts[0]), parts[1:])
        return session.nothing
    if not statement.namespace_only and (parts[0] == SPARK_CATALOG or _is_spark_catalog(session, parts[0])):
        names.enter(SPARK_CATALOG)
        session.spark_sql(statement.text)
        return session.nothing
    if names.is_ours:
        _enter(session, names.catalog(), parts)
        return session.nothing
    return session.spark_sql(statement.text)


def _is_spark_catalog(session: SessionState, name: str) -> bool:
    return session.spark.conf.get(f"spark.sql.catalog.{name}", None) is not None


def _enter(session: SessionState, catalog: Catalog, namespace: Namespace) -> None:
    if not catalog.namespace_exists(namespace):
        raise schema_not_found((catalog.name, *namespace), [".".join(n) for n in _siblings(catalog, namespace)])
    session.names.enter(catalog.name, namespace)


def _siblings(catalog: Catalog, namespace: Namespace) -> list[Namespace]:
    try:
        return catalog.list_namespaces(namespace[:-1])
    except (NotFoundError, UnsupportedError):
        return []


def _use_catalog(session: SessionState, name: str) -> DataFrame:
    if name in session.catalogs:
        session.names.catalog(name)
        session.names.enter(name)
        return session.nothing
    session.spark.catalog.setCurrentCatalog(name)
    session.names.enter(SPARK_CATALOG)
    return session.nothing


def _show_current(session: SessionState, statement: s.ShowCurrentNamespace) -> DataFrame:
    if not session.names.is_ours:
        return session.spark_sql(statement.text)
    shown = quoted_if_needed(*session.names.current_namespace)
    return CURRENT.frame(session.spark, [(session.names.current_catalog, shown)])
