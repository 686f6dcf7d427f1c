"""Several statements, one outcome: BEGIN ... COMMIT, and ``with session.transaction():``.

Inside, a session sees what it has staged: whatever a statement commits goes through the table's ``StagedOperations`` and waits there.
At the end every table is committed: one atomically, several where the catalog can swap several at once. Tables may be made and replaced
in it; what cannot wait is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icesql.catalog.transactions import commit_together
from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.parser import statements as s
from icesql.session.names import Address, Found
from icesql.table.table import Table
from icesql.table.transaction import StagedOperations, Transaction

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog, Identifier, Namespace
    from icesql.session.session import Session


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
        return replace(found, table=_seen(found.address, held[1]))

    def make(self, address: Address, transaction: Transaction) -> None:
        """Let a table be made or replaced at the end. Raises UnsupportedError for one that has been changed in here."""
        held = self._tables.get(address.parts)
        if held is not None and held[1].has_effect:
            transaction.abandon()
            why = "this one has changed it already: COMMIT or ROLLBACK first"
            raise UnsupportedError(f"Cannot replace table in a transaction: {why}: {address.dotted}")
        self._tables[address.parts] = (Found(address=address, table=_seen(address, transaction)), transaction)

    def made(self, address: Address) -> Table | None:
        """The table of that name that this transaction makes."""
        held = self._tables.get(address.parts)
        return None if held is None or held[1].base is not None else _seen(address, held[1])

    def names_made(self, catalog: Catalog, namespace: Namespace) -> list[Identifier]:
        """The tables that this transaction makes in a namespace."""
        found = [held.address for held, transaction in self._tables.values() if transaction.base is None]
        return [address.identifier for address in found if address.catalog is catalog and address.namespace == namespace]

    def add(self, found: Found, change: Any) -> None:
        """Stage a change on the table's transaction."""
        self._tables[found.address.parts][1].add(change)

    def commit(self) -> None:
        """Commit what is staged. Raises CommitFailedError or ValidationError, and then nothing of it is visible."""
        self._session.transaction_in_progress = None
        changed = [(found, transaction) for found, transaction in self._tables.values() if transaction.has_effect]
        catalogs = {found.address.catalog.name: found.address.catalog for found, _ in changed}
        if len(catalogs) > 1:
            self._abandon(changed)
            names = ", ".join(sorted(catalogs))
            raise UnsupportedError(f"Cannot commit transaction: tables of several catalogs cannot be swapped together: {names}")
        with self._session.telling():
            for catalog in catalogs.values():
                commit_together(catalog, [(found.address.identifier, transaction) for found, transaction in changed])

    @staticmethod
    def _abandon(changed: list[tuple[Found, Transaction]]) -> None:
        for _, transaction in changed:
            transaction.abandon()

    def rollback(self) -> None:
        """Forget what is staged, and remove the files written for it."""
        self._session.transaction_in_progress = None
        self._abandon([held for held in self._tables.values() if held[1].has_effect])


def _seen(address: Address, transaction: Transaction) -> Table:
    operations = StagedOperations(transaction)
    return Table(operations, operations.load(), address.identifier, address.catalog)


def make_table(session: Session, address: Address, transaction: Transaction) -> None:
    """Make or replace a table: now, or at the end of the transaction in progress. Raises AlreadyExistsError."""
    current = session.transaction_in_progress
    if current is None:
        transaction.commit()
    else:
        current.make(address, transaction)


_CANNOT_WAIT: dict[type[s.Statement], str] = {
    s.DropTable: "drop table",
    s.RenameTable: "rename table",
    s.CreateView: "create view",
    s.DropView: "drop view",
    s.AlterViewProperties: "alter view",
    s.AlterViewAs: "alter view",
    s.RenameView: "rename view",
    s.CreateNamespace: "create namespace",
    s.DropNamespace: "drop namespace",
    s.AlterNamespace: "alter namespace",
}


def check_can_wait(session: Session, statement: s.Statement) -> None:
    """Raises UnsupportedError for a statement about our catalogs that would take effect at once, and survive a rollback.

    Tables, views and namespaces of Spark's own are none of a transaction's business.
    """
    verb = _CANNOT_WAIT.get(type(statement))
    if verb is None or (isinstance(statement, s.CreateView) and (statement.temporary or statement.global_temporary)):
        return
    parts = _subject(statement).parts
    is_namespace = isinstance(statement, s.CreateNamespace | s.DropNamespace | s.AlterNamespace)
    if (session.names.namespace(parts) if is_namespace else session.names.address(parts)) is None:
        return
    if not is_namespace and session.is_temporary_view(*parts):
        return
    refuse_in_transaction(session, verb, parts)


def refuse_in_transaction(session: Session, verb: str, parts: Sequence[str]) -> None:
    """Raises UnsupportedError if a transaction is in progress."""
    if session.transaction_in_progress is not None:
        raise UnsupportedError(f"Cannot {verb} in a transaction: it would take effect at once: COMMIT or ROLLBACK first: {'.'.join(parts)}")


def _subject(statement: s.Statement) -> s.TableName:
    found = next(value for name in ("table", "view", "namespace") if (value := getattr(statement, name, None)) is not None)
    assert isinstance(found, s.TableName)
    return found


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
