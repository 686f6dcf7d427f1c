"""The two tables of Iceberg's JDBC catalog, as Java's JdbcCatalog and PyIceberg's SqlCatalog define them.

Schema version V0 has no ``iceberg_type`` and so no views; ``jdbc.schema-version=V1`` upgrades an existing V0 database, as in Java.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, text
from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError

_metadata = MetaData()

TABLES = Table(
    "iceberg_tables",
    _metadata,
    Column("catalog_name", String(255), primary_key=True, nullable=False),
    Column("table_namespace", String(255), primary_key=True, nullable=False),
    Column("table_name", String(255), primary_key=True, nullable=False),
    Column("metadata_location", String(1000)),
    Column("previous_metadata_location", String(1000)),
    Column("iceberg_type", String(5)),
)
NAMESPACES = Table(
    "iceberg_namespace_properties",
    _metadata,
    Column("catalog_name", String(255), primary_key=True, nullable=False),
    Column("namespace", String(255), primary_key=True, nullable=False),
    Column("property_key", String(255), primary_key=True, nullable=False),
    Column("property_value", String(1000)),
)


def prepare_schema(engine: Engine, properties: Mapping[str, str]) -> bool:
    """Make the missing tables (unless ``jdbc.init-catalog-tables=false``); True if names carry their type (V1)."""
    if properties.get("jdbc.init-catalog-tables", properties.get("init_catalog_tables", "true")).lower() != "false":
        _create(engine)
    if _has_types(engine):
        return True
    if properties.get("jdbc.schema-version", "V0").upper() != "V1":
        return False
    try:
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)"))
    except DBAPIError:
        if not _has_types(engine):  # not merely another process that was faster
            raise
    return True


def _create(engine: Engine) -> None:
    for _ in range(3):
        try:
            with engine.connect() as connection:
                if _is_complete(connection):
                    return
            _metadata.create_all(engine)
            return
        except (OperationalError, ProgrammingError) as error:
            if "exist" not in str(error.orig).lower():  # another process makes them at this moment
                raise
        except DBAPIError as error:
            if "pg_type" not in str(error.orig) and "unique" not in str(error.orig).lower():
                raise


def _is_complete(connection: Connection) -> bool:
    known = inspect(connection).get_table_names()
    return TABLES.name in known and NAMESPACES.name in known


def _has_types(engine: Engine) -> bool:
    return any(column["name"].lower() == "iceberg_type" for column in inspect(engine).get_columns(TABLES.name))
