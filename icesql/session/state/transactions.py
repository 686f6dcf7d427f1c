"""Several statements, one outcome: BEGIN ... COMMIT, and ``with session.transaction():``.

Inside, a session sees what it has staged: whatever a statement commits goes through the table's ``StagedOperations`` and waits there.
At the end every table is committed: one atomically, several where the catalog can swap several at once. Tables may be made and replaced
in it; what cannot wait is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.catalog.transactions import commit_together
from icesql.errors import UnsupportedError
from icesql.session.state.names import Address
from icesql.table.table import Table
from icesql.table.transaction import StagedOperations, Transaction

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog, Identifier, Namespace
    from icesql.session.state.session_state import SessionState


class SessionTransaction:
    """One transaction of a session. Used as a context manager it commits at the end of the block, or rolls back when the block raises."""

    def __init__(self, session: SessionState) -> None:
        self._session = session
        self._tables: dict[tuple[str, ...], tuple[Address, Transaction]] = {}

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
        self._session.begin_transaction(self)

    def staged(self, address: Address, table: Table) -> Table:
        """The table as this transaction has it."""
        held = self._tables.get(address.parts)
        if held is None:
            held = self._tables[address.parts] = (address, table.transaction())
        return _seen(address, held[1])

    def make(self, address: Address, transaction: Transaction) -> None:
        """Let a table be made or replaced at the end. Raises UnsupportedError for one that has been changed in here."""
        held = self._tables.get(address.parts)
        if held is not None and held[1].has_effect:
            transaction.abandon()
            why = "this one has changed it already: COMMIT or ROLLBACK first"
            raise UnsupportedError(f"Cannot replace table in a transaction: {why}: {address.dotted}")
        self._tables[address.parts] = (address, transaction)

    def made(self, address: Address) -> Table | None:
        """The table of that name that this transaction makes."""
        held = self._tables.get(address.parts)
        return None if held is None or held[1].base is not None else _seen(address, held[1])

    def names_made(self, catalog: Catalog, namespace: Namespace) -> list[Identifier]:
        """The tables that this transaction makes in a namespace."""
        made = [address for address, transaction in self._tables.values() if transaction.base is None]
        return [address.identifier for address in made if address.catalog is catalog and address.namespace == namespace]

    def add(self, address: Address, change: Any) -> None:
        """Stage a change on the table's transaction."""
        self._tables[address.parts][1].add(change)

    def commit(self) -> None:
        """Commit what is staged. Raises CommitFailedError or ValidationError, and then nothing of it is visible."""
        self._session.end_transaction()
        changed = [(address, transaction) for address, transaction in self._tables.values() if transaction.has_effect]
        catalogs = {address.catalog.name: address.catalog for address, _ in changed}
        if len(catalogs) > 1:
            self._abandon(changed)
            names = ", ".join(sorted(catalogs))
            raise UnsupportedError(f"Cannot commit transaction: tables of several catalogs cannot be swapped together: {names}")
        with self._session.telling():
            for catalog in catalogs.values():
                commit_together(catalog, [(address.identifier, transaction) for address, transaction in changed])

    @staticmethod
    def _abandon(changed: list[tuple[Address, Transaction]]) -> None:
        for _, transaction in changed:
            transaction.abandon()

    def rollback(self) -> None:
        """Forget what is staged, and remove the files written for it."""
        self._session.end_transaction()
        self._abandon([held for held in self._tables.values() if held[1].has_effect])


def _seen(address: Address, transaction: Transaction) -> Table:
    operations = StagedOperations(transaction)
    return Table(operations, operations.load(), address.identifier, address.catalog)
