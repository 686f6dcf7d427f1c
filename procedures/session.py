"""What a procedure may ask of the session that calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog, Identifier, Namespace
    from icesql.expr.tree import Expression
    from icesql.procedures.progress import Watcher
    from icesql.table.table import Table


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table, and the branch of it that the name selects (``t.branch_x``), if it does."""

    table: Table
    branch: str | None = None


class ProcedureSession(Protocol):
    """The calling session: Spark, its current names, its settings, its temporary views."""

    @property
    def spark(self) -> Any: ...

    @property
    def watcher(self) -> Watcher | None:
        """Called with the progress of the call."""

    @property
    def current_catalog(self) -> str: ...

    @property
    def current_namespace(self) -> Namespace: ...

    @property
    def is_case_sensitive(self) -> bool: ...

    def conf(self, key: str, default: str | None = None) -> str | None:
        """A Spark setting."""

    def is_ours(self, catalog: str) -> bool:
        """Whether a catalog of that name is configured here."""

    def table(self, parts: Sequence[str]) -> NamedTable | None:
        """What a full name leads to: a table or a branch of one; ``None`` for other versions, metadata tables, and where nothing is."""

    def address(self, parts: Sequence[str]) -> tuple[Catalog, Identifier] | None:
        """Where a table of that name is or would be; ``None`` in a catalog that is Spark's."""

    def file_filter(self, table: Table, where: str) -> Expression | None:
        """SQL text as a bound predicate that chooses files of the table; ``None`` for one that is no filter of files."""

    def create_temporary_view(self, name: str, rows: Callable[[], Any], table: tuple[str, ...]) -> None:
        """A view that ``rows`` makes, now and again when ``table`` has changed."""
