"""Events in the catalog's database: written in the transaction of the change that they tell of, numbered in the order of the commits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Connection, and_, delete, func, insert, select, text, update

from icesql.catalog.sql_store import SqlStore
from icesql.server.storage.tables import CURSORS, EVENTS, prepare_tables

_SWEEP_EVERY_MS = 60_000
_LOCK = 7_205_759_403_792_793  # any number, the same in every process


class EventStore:
    """The events of one catalog. Thread safe."""

    def __init__(self, store: SqlStore, keep_days: float) -> None:
        self._store, self._keep_ms = store, int(keep_days * 86_400_000)
        self._swept_ms = 0

    def prepare(self) -> None:
        self._store.with_engine(prepare_tables)

    def record(self, make: Callable[[], dict[str, Any]]) -> Callable[[Connection], None]:
        """For ``SqlStore.together_with``. ``make`` is asked while the transaction is made, once an attempt."""

        def write(connection: Connection) -> None:
            if connection.dialect.name == "postgresql":
                # numbers are given in the order of commits only if no two transactions that take one overlap
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)").bindparams(lock=_LOCK))
            now = time.time_ns() // 1_000_000
            row = {"catalog_name": self._store.catalog_name, "event": msgspec.json.encode(make()).decode(), "created_ms": now}
            connection.execute(insert(EVENTS).values(row))
            if now - self._swept_ms > _SWEEP_EVERY_MS:
                self._swept_ms = now
                connection.execute(delete(EVENTS).where(self._own(), EVENTS.c.created_ms < now - self._keep_ms))

        return write

    def _own(self) -> Any:
        return EVENTS.c.catalog_name == self._store.catalog_name

    def after(self, event_id: int, most: int) -> list[tuple[int, dict[str, Any]]]:
        """The next events, in order, with their numbers."""
        query = select(EVENTS.c.event_id, EVENTS.c.event).where(self._own(), EVENTS.c.event_id > event_id).order_by(EVENTS.c.event_id)
        rows = self._store.read(lambda connection: connection.execute(query.limit(most)).all())
        return [(number, {"event-id": number, **msgspec.json.decode(held)}) for number, held in rows]

    def last_id(self) -> int:
        """0 where there is none."""
        query = select(func.max(EVENTS.c.event_id)).where(self._own())
        return self._store.read(lambda connection: connection.execute(query).scalar()) or 0

    # -- how far a reader is -------------------------------------------------------------------------------------------
    def cursor(self, reader: str) -> int:
        """The last event that this reader has had; 0 for a new one."""
        query = select(CURSORS.c.event_id).where(self._reader(reader))
        return self._store.read(lambda connection: connection.execute(query).scalar()) or 0

    def move_cursor(self, reader: str, event_id: int) -> None:
        row = {"catalog_name": self._store.catalog_name, "reader": reader, "event_id": event_id}

        def work(connection: Connection) -> None:
            if connection.execute(update(CURSORS).where(self._reader(reader)).values(event_id=event_id)).rowcount == 0:
                connection.execute(insert(CURSORS).values(row))

        self._store.write(work)

    def _reader(self, reader: str) -> Any:
        return and_(CURSORS.c.catalog_name == self._store.catalog_name, CURSORS.c.reader == reader)
