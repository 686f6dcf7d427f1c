"""The ``sql`` catalog: SQLite or PostgreSQL, on the tables of Iceberg's JDBC catalog."""

from __future__ import annotations

from collections.abc import Mapping

from icesql.catalog.base import FilterParser
from icesql.catalog.metastore import MetastoreCatalog
from icesql.catalog.sql_store import SqlStore
from icesql.errors import InvalidArgumentError
from icesql.io.storage.files import FileIO


def sql_catalog(name: str, properties: Mapping[str, str], io: FileIO, parse_filter: FilterParser | None = None) -> MetastoreCatalog:
    """``jdbc.catalog-name`` names the catalog in the database where it is not ``name``. Raises InvalidArgumentError without ``uri``."""
    uri = properties.get("uri")
    if not uri:
        raise InvalidArgumentError(f"Cannot open catalog {name}: type sql needs a database: set spark.sql.catalog.{name}.uri")
    store = SqlStore(properties.get("jdbc.catalog-name", name), uri, properties)
    return MetastoreCatalog(name, properties, io, store, parse_filter)
