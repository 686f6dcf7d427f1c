"""The server's own tables in the catalog's database. They are made on first use and leave those of the catalog as they are."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Engine, Integer, LargeBinary, MetaData, String, Table, Text, inspect
from sqlalchemy.exc import DBAPIError

_metadata = MetaData()

ANSWERS = Table(
    "icesql_server_answers",
    _metadata,
    Column("catalog_name", String(255), primary_key=True, nullable=False),
    Column("idempotency_key", String(64), primary_key=True, nullable=False),
    Column("request", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("answer", LargeBinary, nullable=True),
    Column("created_ms", BigInteger, nullable=False, index=True),
)
"""Answers to requests with an Idempotency-Key. ``request`` is a digest of method, path, principal and body."""

EVENTS = Table(
    "icesql_server_events",
    _metadata,
    Column("event_id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("catalog_name", String(255), nullable=False, index=True),
    Column("event", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False, index=True),
    sqlite_autoincrement=True,
)
"""One row a change, in the order of the commits: an id is never given twice, nor a lower one committed after a higher one."""


CURSORS = Table(
    "icesql_server_cursors",
    _metadata,
    Column("catalog_name", String(255), primary_key=True, nullable=False),
    Column("reader", String(1000), primary_key=True, nullable=False),
    Column("event_id", BigInteger, nullable=False),
)
"""How far readers are whose place the server keeps: webhooks."""


def prepare_tables(engine: Engine) -> None:
    """Make those that are missing; another process may do the same."""
    for attempt in range(3):
        try:
            if all(inspect(engine).has_table(table.name) for table in _metadata.sorted_tables):
                return
            _metadata.create_all(engine)
            return
        except DBAPIError as error:
            said = str(error.orig).lower()
            if attempt == 2 or not any(word in said for word in ("exist", "pg_type", "unique")):
                raise
