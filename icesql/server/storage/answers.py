"""Answers kept by Idempotency-Key: a request that is sent again has no further effect and gets the answer of the first.

The answer to a change is written in the transaction that makes the change, so one is there exactly if the other is.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, and_, delete, insert, select
from sqlalchemy.exc import IntegrityError

from icesql.catalog.sql_store import SqlStore
from icesql.errors import IcesqlError
from icesql.server.storage.tables import ANSWERS, prepare_tables

_GRACE_MS = 5 * 60_000  # a key is kept longer than is promised: clocks differ
_SWEEP_EVERY_MS = 60_000


class AnsweredElsewhereError(IcesqlError):
    """Another process has answered a request of this key; what this one was about to do is rolled back."""

    def __init__(self, key: str) -> None:
        super().__init__(f"Cannot answer request {key}: it has been answered")
        self.key = key


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """``answer``: what the answer is made from again, in a form of the route's own; ``None`` where the status says all."""

    request: str
    status: int
    answer: bytes | None


def digest(*parts: bytes) -> str:
    """Of a request: equal for one that is sent again."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(8, "big"))
        hashed.update(part)
    return hashed.hexdigest()


class AnswerStore:
    """The answers of one catalog. Thread safe."""

    def __init__(self, store: SqlStore, lifetime_minutes: int) -> None:
        self._store, self._lifetime_ms = store, lifetime_minutes * 60_000
        self._swept_ms = 0

    def prepare(self) -> None:
        self._store.with_engine(prepare_tables)

    def find(self, key: str) -> KeptAnswer | None:
        query = select(ANSWERS.c.request, ANSWERS.c.status, ANSWERS.c.answer, ANSWERS.c.created_ms).where(self._row(key))
        row = self._store.read(lambda connection: connection.execute(query).first())
        if row is None or row[3] < _now_ms() - self._lifetime_ms - _GRACE_MS:
            return None
        return KeptAnswer(row[0], row[1], row[2])

    def _row(self, key: str):  # type: ignore[no-untyped-def]
        return and_(ANSWERS.c.catalog_name == self._store.catalog_name, ANSWERS.c.idempotency_key == key)

    def record(self, key: str, answer: KeptAnswer) -> Callable[[Connection], None]:
        """For ``SqlStore.together_with``. Raises AnsweredElsewhereError, which rolls the transaction back."""

        def write(connection: Connection) -> None:
            self._sweep(connection, key)
            row = {
                "catalog_name": self._store.catalog_name,
                "idempotency_key": key,
                "request": answer.request,
                "status": answer.status,
                "answer": answer.answer,
                "created_ms": _now_ms(),
            }
            try:
                connection.execute(insert(ANSWERS).values(row))
            except IntegrityError:
                raise AnsweredElsewhereError(key) from None

        return write

    def keep(self, key: str, answer: KeptAnswer) -> None:
        """Of a request that changed nothing. One that is there stays."""
        try:
            self._store.write(self.record(key, answer))
        except AnsweredElsewhereError:
            return

    def _sweep(self, connection: Connection, key: str) -> None:
        """Remove answers past their time: this key's at once, all others now and then."""
        now, oldest = _now_ms(), ANSWERS.c.created_ms < _now_ms() - self._lifetime_ms - _GRACE_MS
        connection.execute(delete(ANSWERS).where(self._row(key), oldest))
        if now - self._swept_ms > _SWEEP_EVERY_MS:
            self._swept_ms = now
            connection.execute(delete(ANSWERS).where(ANSWERS.c.catalog_name == self._store.catalog_name, oldest))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
