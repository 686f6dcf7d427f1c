"""Tokens and grants in a catalog's database, beside those of the settings. Changes there count within seconds, without a restart."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import Literal

import msgspec
from sqlalchemy import Connection, select

from icesql.catalog.sql_store import SqlStore
from icesql.errors import InvalidArgumentError
from icesql.server.access.privileges import Grant
from icesql.server.access.settings import GrantSettings
from icesql.server.storage.tables import GRANTS, TOKENS, prepare_tables

logger = logging.getLogger(__name__)
KEPT_SECONDS = 5.0


class _Row(msgspec.Struct):
    privilege: Literal["read", "insert", "modify", "admin"]


@dataclass(frozen=True, slots=True)
class KnownPrincipals:
    """``tokens``: principals by the digests of their tokens. ``grants``: by principal or ``role:NAME``."""

    tokens: tuple[tuple[str, str], ...]
    grants: dict[str, tuple[Grant, ...]]


class PrincipalStore:
    """Of one catalog's database. Thread safe."""

    def __init__(self, store: SqlStore) -> None:
        self._store, self._lock = store, threading.Lock()
        self._known: KnownPrincipals | None = None
        self._read_at = 0.0

    def prepare(self) -> None:
        self._store.with_engine(prepare_tables)

    def known(self) -> KnownPrincipals:
        """Raises IcesqlError where the database cannot be asked: nobody is let in on what was known before."""
        with self._lock:
            if self._known is None or time.monotonic() - self._read_at > KEPT_SECONDS:
                self._known = self._store.read(_read)
                self._read_at = time.monotonic()
            return self._known


def _read(connection: Connection) -> KnownPrincipals:
    tokens = tuple((str(digest).lower(), str(name)) for digest, name in connection.execute(select(TOKENS.c.sha256, TOKENS.c.principal)))
    grants: dict[str, tuple[Grant, ...]] = {}
    for principal, place, privilege in connection.execute(select(GRANTS.c.principal, GRANTS.c.granted_on, GRANTS.c.privilege)):
        try:
            checked = msgspec.convert({"privilege": privilege}, _Row)
            grant = GrantSettings(principal=principal, privilege=checked.privilege, on=place).grant()
        except (msgspec.ValidationError, InvalidArgumentError) as error:
            logger.warning("A grant of %s in table %s is passed over: %s", principal, GRANTS.name, error)
            continue
        grants[principal] = (*grants.get(principal, ()), grant)
    return KnownPrincipals(tokens, grants)
