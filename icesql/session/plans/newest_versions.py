"""The version that an unpinned read uses: the newest when a Spark execution first asks, and the same throughout that execution."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icesql.errors import NotFoundError
from icesql.io.lru import LruCache
from icesql.session.resolve.resolver import not_found
from icesql.table.own_changes import changes_so_far

if TYPE_CHECKING:
    from icesql.session.resolve.resolved import Readable
    from icesql.session.state.session_state import SessionState
    from icesql.table.operations import TableVersion

_EXECUTION = "spark.sql.execution.id"
_NEW_SECONDS = 0.1  # a version loaded within this time is the newest, unless this process has changed one since
_KEPT = 256


@dataclass(frozen=True, slots=True)
class _Loaded:
    version: TableVersion
    at: float
    changes: int

    @property
    def is_new(self) -> bool:
        return time.monotonic() - self.at < _NEW_SECONDS and self.changes == changes_so_far()


class NewestVersions:
    def __init__(self, session: SessionState) -> None:
        self._session = session
        self._loaded: LruCache[str, _Loaded] = LruCache(_KEPT)
        self._used: LruCache[tuple[str, str], TableVersion] = LruCache(_KEPT)  # by execution and table

    def loaded(self, resolved: Readable, changes: int) -> None:
        """The table was loaded just now, when this process had made as many changes."""
        self._note(resolved.table.name, resolved.table.version, changes)

    def of(self, resolved: Readable) -> TableVersion:
        """Asked while Spark plans, in its thread. Raises NotFoundError for a table that is gone."""
        name = resolved.table.name
        execution = self._session.spark.sparkContext.getLocalProperty(_EXECUTION)
        if execution is None:
            return self._newest(name, resolved)
        return self._used.find_or_make((execution, name), lambda: self._newest(name, resolved))

    def _newest(self, name: str, resolved: Readable) -> TableVersion:
        loaded = self._loaded.find(name)
        if loaded is not None and loaded.is_new:
            return loaded.version
        changes = changes_so_far()
        try:
            return self._note(name, resolved.table.operations.load(), changes)
        except NotFoundError:
            raise not_found(self._session, resolved.address.parts) from None

    def _note(self, name: str, version: TableVersion, changes: int) -> TableVersion:
        self._loaded.put(name, _Loaded(version, time.monotonic(), changes))
        return version
