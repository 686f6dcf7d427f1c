"""What a procedure may use while it runs: its table, Spark, notices, progress, and whether it is a dry run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icesql.errors import IcesqlError, InvalidArgumentError, SqlError, ValidationError, nearest
from icesql.parser.text.identifiers import parse_name
from icesql.procedures.dry_run import DryRunIO, DryRunOperations, PlannedAction, metadata_actions
from icesql.procedures.progress import Progress
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN
from icesql.table.after_commit import after_commit
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog, Identifier
    from icesql.procedures.session import ProcedureSession

__all__ = ["PlannedAction", "ProcedureContext"]


@dataclass(slots=True)
class ProcedureContext:
    """One call. ``session`` is the calling session; ``catalog`` the procedure's."""

    session: ProcedureSession
    catalog: Catalog
    procedure: str
    dry_run: bool = False
    notices: list[str] = field(default_factory=list)
    _actions: list[PlannedAction] = field(default_factory=list)
    _dry_runs: list[tuple[DryRunOperations, TableMetadata]] = field(default_factory=list)

    @property
    def spark(self) -> Any:
        return self.session.spark

    # -- names ---------------------------------------------------------------------------------------------------
    def identifier(self, text: str, parameter: str = "table") -> Identifier:
        """A table's name in the procedure's catalog, without the catalog's own name.

        Raises InvalidArgumentError for an empty or malformed name, and for one in another catalog.
        """
        parts = self.parts(text, parameter)
        session = self.session
        if len(parts) > 1 and (session.is_ours(parts[0]) or parts[0] == "spark_catalog"):
            if parts[0] != self.catalog.name:
                raise InvalidArgumentError(
                    f"Cannot run procedure in catalog '{self.catalog.name}': '{'.'.join(parts[1:])}' is a table in catalog '{parts[0]}'"
                )
            return parts[1:]
        if len(parts) == 1 and session.current_catalog == self.catalog.name:
            return (*session.current_namespace, *parts)
        return parts

    def parts(self, text: str, parameter: str = "table") -> tuple[str, ...]:
        """Raises InvalidArgumentError in the words of Iceberg's runtime."""
        if not text.strip():
            raise InvalidArgumentError(f"Cannot handle an empty identifier for parameter '{parameter}'")
        try:
            return tuple(parse_name(text))
        except SqlError:
            raise InvalidArgumentError(f"Cannot parse identifier for parameter '{parameter}': {text}") from None

    # -- tables --------------------------------------------------------------------------------------------------
    def table(self, text: str, parameter: str = "table") -> Table:
        """The table of a ``table`` argument; in a dry run one whose commits stay in memory. A selector behind the name is refused.

        Raises IcesqlError ``Couldn't load table ...`` with the nearest name.
        """
        return self.table_and_branch(text, parameter)[0]

    def table_and_branch(self, text: str, parameter: str = "table") -> tuple[Table, str | None]:
        """As ``table``, for procedures that take ``t.branch_x``. Raises ValidationError for a branch that does not exist."""
        identifier = self.identifier(text, parameter)
        named = self.session.table((self.catalog.name, *identifier))
        if named is None:
            known = self._siblings(identifier)
            raise IcesqlError(
                f"Couldn't load table '{'.'.join(identifier)}' in catalog '{self.catalog.name}'.{nearest(identifier[-1], known)}"
            )
        refs = named.table.refs
        if named.branch is not None and named.branch not in (MAIN, *refs):
            near = nearest(named.branch, refs)
            raise ValidationError(f"Cannot use branch (does not exist): {named.branch}.{near}", branch=named.branch)
        return self._dry_run_of(named.table) if self.dry_run else named.table, named.branch

    def _siblings(self, identifier: Identifier) -> list[str]:
        try:
            return [other[-1] for other in self.catalog.list_tables(identifier[:-1])]
        except IcesqlError:
            return []

    def _dry_run_of(self, table: Table) -> Table:
        operations = DryRunOperations(table.operations, DryRunIO(table.io), table.version)
        self._dry_runs.append((operations, table.metadata))
        return Table(operations, table.version, table.identifier, table.catalog)

    # -- what the user is told -----------------------------------------------------------------------------------
    def notice(self, text: str) -> None:
        """Why nothing was done, or what else the user should know: shown in shell and notebook, kept in ``Session.last_notices``."""
        self.notices.append(text)

    def planned(self, action: str, what: str, *, size_in_bytes: int | None = None, reason: str = "") -> None:
        """Something a dry run would have done that is no commit or file of a table in a dry run (a data job, a new table)."""
        self._actions.append(PlannedAction(action=action, what=what, size_in_bytes=size_in_bytes, reason=reason))

    def progress(self, what: str, done: int, total: int, done_bytes: int | None = None, total_bytes: int | None = None) -> None:
        """Tell whoever watches (``Session.watcher``: the shell, the notebook) how far the work is."""
        if self.session.watcher is not None:
            with after_commit("tell the watcher"):
                self.session.watcher(Progress(what, done, total, done_bytes, total_bytes))

    def plan(self) -> tuple[PlannedAction, ...]:
        """All that a dry run would have done; empty for a real call."""
        return tuple(self._actions) + tuple(action for dry_run in self._dry_runs for action in _actions(*dry_run))


def _actions(operations: DryRunOperations, before: TableMetadata) -> Iterator[PlannedAction]:
    yield from metadata_actions(before, operations.version.metadata)
    for location, data in operations.dry_run_io.written.items():
        yield PlannedAction(action="write file", what=location, size_in_bytes=len(data), reason="new metadata")
    for location in operations.dry_run_io.deleted:
        yield PlannedAction(action="delete file", what=location, size_in_bytes=_size(operations, location), reason="no snapshot needs it")


def _size(operations: DryRunOperations, location: str) -> int | None:
    try:
        return operations.dry_run_io.size(location)
    except IcesqlError:
        return None
