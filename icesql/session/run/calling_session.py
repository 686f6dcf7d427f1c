"""What procedures may use of a session: implements the Protocol of ``icesql.procedures.session``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from icesql.procedures.progress import Watcher
from icesql.procedures.session import NamedTable
from icesql.session.resolve.file_filters import file_filter
from icesql.session.resolve.resolved import ResolvedTable
from icesql.session.resolve.resolver import readable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icesql.catalog.base import Catalog, Identifier, Namespace
    from icesql.expr.tree import Expression
    from icesql.session.state.session_state import SessionState
    from icesql.table.table import Table


class CallingSession:
    """``ProcedureSession`` over a session's state."""

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self.spark: SparkSession = state.spark

    @property
    def watcher(self) -> Watcher | None:
        return self._state.watcher

    @property
    def current_catalog(self) -> str:
        return self._state.names.current_catalog

    @property
    def current_namespace(self) -> Namespace:
        return self._state.names.current_namespace

    @property
    def is_case_sensitive(self) -> bool:
        return self._state.is_case_sensitive

    def conf(self, key: str, default: str | None = None) -> str | None:
        return self._state.conf(key, default)

    def is_ours(self, catalog: str) -> bool:
        return catalog in self._state.catalogs

    def table(self, parts: Sequence[str]) -> NamedTable | None:
        table = readable(self._state, parts)
        if not isinstance(table, ResolvedTable) or (not table.selector.is_empty and table.branch is None):
            return None
        return NamedTable(table.table, table.branch)

    def address(self, parts: Sequence[str]) -> tuple[Catalog, Identifier] | None:
        address = self._state.names.address(parts)
        return None if address is None else (address.catalog, address.identifier)

    def file_filter(self, table: Table, where: str) -> Expression | None:
        return file_filter(self._state, table, where)

    def create_temporary_view(self, name: str, rows: Callable[[], Any], table: tuple[str, ...]) -> None:
        self._state.temporary_views.create_from(name, rows, table)
