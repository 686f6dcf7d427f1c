"""Which version of a table a run of Spark's shows: the newest when the run first asks, and the same wherever the table occurs in it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icesql.errors import NotFoundError
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
        self._session, self._lock = session, threading.Lock()
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._shown: OrderedDict[tuple[str, str], TableVersion] = OrderedDict()

    def loaded(self, found: Readable, changes: int) -> None:
        """The table was loaded just now, when this process had made as many changes."""
        self._note(found.table.name, found.table.version, changes)

    def of(self, found: Readable) -> TableVersion:
        """Asked while Spark plans, in its thread. Raises NotFoundError for a table that is gone."""
        name = found.table.name
        execution = self._session.spark.sparkContext.getLocalProperty(_EXECUTION)
        if execution is None:
            return self._newest(name, found)
        shown = self._shown.get((execution, name))
        if shown is None:
            shown = self._newest(name, found)
            with self._lock:
                self._shown[execution, name] = shown
                _shorten(self._shown)
        return shown

    def _newest(self, name: str, found: Readable) -> TableVersion:
        loaded = self._loaded.get(name)
        if loaded is not None and loaded.is_new:
            return loaded.version
        changes = changes_so_far()
        try:
            return self._note(name, found.table.operations.load(), changes)
        except NotFoundError:
            raise not_found(self._session, found.address.parts) from None

    def _note(self, name: str, version: TableVersion, changes: int) -> TableVersion:
        with self._lock:
            self._loaded[name] = _Loaded(version, time.monotonic(), changes)
            self._loaded.move_to_end(name)
            _shorten(self._loaded)
        return version


def _shorten(kept: OrderedDict[Any, Any]) -> None:
    while len(kept) > _KEPT:
        kept.popitem(last=False)
