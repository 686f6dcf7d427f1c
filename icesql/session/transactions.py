"""Several statements, one outcome: BEGIN ... COMMIT, and ``with session.transaction():``.

Inside, a session sees what it has staged. Row-level statements and inserts stage their snapshot on the table's transaction; DDL builders
commit through it too. At the end every table is committed: one atomically, several where the catalog can swap several at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icesql.catalog.transactions import commit_together
from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.parser import statements as s
from icesql.session.names import Found
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion
from icesql.table.table import Table
from icesql.table.transaction import Transaction

if TYPE_CHECKING:
    from icesql.session.session import Session


class _StagingOperations:
    """A table's operations whose commits stay in the transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self.transaction = transaction

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transaction.operations, name)

    @property
    def io(self) -> Any:
        return self.transaction.operations.io

    @property
    def name(self) -> str:
        return self.transaction.operations.name

    def load(self) -> TableVersion:
        return TableVersion(self.transaction.metadata, None)

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        raise UnsupportedError(f"Cannot run statement in a transaction: it commits by itself: table {self.name}")


class SessionTransaction:
    """One transaction of a session. Used as a context manager it commits at the end of the block, or rolls back when the block raises."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tables: dict[tuple[str, ...], tuple[Found, Transaction]] = {}

    def __enter__(self) -> SessionTransaction:
        self.begin()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.commit()
        else:
            self.rollback()

    def begin(self) -> None:
        """Raises InvalidArgumentError if another transaction is in progress."""
        if self._session.transaction_in_progress is not None:
            raise InvalidArgumentError("Cannot begin transaction: one is in progress")
        self._session.transaction_in_progress = self

    def staged(self, found: Found) -> Found:
        """The table as this transaction has it."""
        held = self._tables.get(found.address.parts)
        if held is None:
            transaction = found.table.transaction()
            held = self._tables[found.address.parts] = (found, transaction)
        original, transaction = held
        location = original.table.metadata_location if not transaction.changes else None
        version = TableVersion(transaction.metadata, location)
        operations: Any = _StagingOperations(transaction)
        return replace(found, table=Table(operations, version, found.address.identifier, found.address.catalog))

    def add(self, found: Found, change: Any) -> None:
        """Stage a change on the table's transaction."""
        self._tables[found.address.parts][1].add(change)

    def commit(self) -> None:
        """Commit what is staged. Raises CommitFailedError or ValidationError, and then nothing of it is visible."""
        self._session.transaction_in_progress = None
        changed = [(found, transaction) for found, transaction in self._tables.values() if transaction.changes]
        catalogs = {found.address.catalog.name: found.address.catalog for found, _ in changed}
        if len(catalogs) > 1:
            self._abandon(changed)
            names = ", ".join(sorted(catalogs))
            raise UnsupportedError(f"Cannot commit transaction: tables of several catalogs cannot be swapped together: {names}")
        for catalog in catalogs.values():
            commit_together(catalog, [(found.address.identifier, transaction) for found, transaction in changed])

    @staticmethod
    def _abandon(changed: list[tuple[Found, Transaction]]) -> None:
        for _, transaction in changed:
            transaction.abandon()

    def rollback(self) -> None:
        """Forget what is staged, and remove the files written for it."""
        self._session.transaction_in_progress = None
        self._abandon([held for held in self._tables.values() if held[1].changes])


def run_transaction(session: Session, statement: s.Statement) -> Any:
    match statement:
        case s.BeginTransaction():
            SessionTransaction(session).begin()
        case s.CommitTransaction() | s.RollbackTransaction():
            current = session.transaction_in_progress
            if current is None:
                raise InvalidArgumentError("Cannot end transaction: none is in progress: BEGIN starts one")
            if isinstance(statement, s.CommitTransaction):
                current.commit()
            else:
                current.rollback()
    return session.nothing
