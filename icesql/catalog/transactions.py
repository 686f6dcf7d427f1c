"""Several tables, one commit: the changes a transaction stages on them are swapped together, or not at all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from icesql.catalog.names import Identifier, identifier_of
from icesql.errors import CommitFailedError
from icesql.table.arguments import checked
from icesql.table.commit import RetryPolicy, failed_for_certain, finish
from icesql.table.operations import TableVersion
from icesql.table.transaction import Transaction

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog


@checked
class CatalogTransaction:
    """Staged changes to tables of one catalog. As a context manager it commits at the end of the block, and abandons them when the block
    raises.

    ``table("db.t").add(change)`` stages a change; nothing is visible to others before ``commit``.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._staged: dict[Identifier, Transaction] = {}

    def table(self, identifier: Identifier | str) -> Transaction:
        """The transaction of that table inside this one. Raises NotFoundError."""
        names = identifier_of(identifier)
        if names not in self._staged:
            self._staged[names] = self._catalog.load_table(names).transaction()
        return self._staged[names]

    def commit(self) -> list[TableVersion]:
        """Raises as ``commit_together``."""
        return commit_together(self._catalog, [(names, staged) for names, staged in self._staged.items() if staged.changes])

    def abandon(self) -> None:
        """Drop what is staged, and remove the files written for it."""
        for transaction in self._staged.values():
            transaction.abandon()

    def __enter__(self) -> CatalogTransaction:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self.commit()
        else:
            self.abandon()


def commit_together(catalog: Catalog, transactions: Sequence[tuple[Identifier, Transaction]]) -> list[TableVersion]:
    """Commit the tables' transactions, all or none. If another writer was faster, all are applied to the current versions again.

    Raises UnsupportedError where the catalog cannot, CommitFailedError once the retries are used up, ValidationError where a change no
    longer holds: then nothing is left behind; CommitStateUnknownError with nothing removed.
    """
    if not transactions:
        return []
    if len(transactions) == 1:
        return [transactions[0][1].commit()]
    waits = RetryPolicy.of(transactions[0][1].metadata.properties).waits_ms()
    try:
        versions = _swap_until_done(catalog, transactions, waits)
    except BaseException:
        for _, transaction in transactions:
            transaction.abandon()  # does nothing once the swap may have happened
        raise
    for (_, transaction), version in zip(transactions, versions, strict=True):
        transaction.is_finished = True
        finish(transaction.changes, version.metadata)
    return versions


def _swap_until_done(
    catalog: Catalog, transactions: Sequence[tuple[Identifier, Transaction]], waits: Iterator[float]
) -> list[TableVersion]:
    while True:
        try:
            return catalog.commit_tables([(names, transaction.base, transaction.metadata) for names, transaction in transactions])
        except CommitFailedError:
            wait_ms = next(waits, None)
            if wait_ms is None:
                raise
        except BaseException as error:
            if not failed_for_certain(error):
                for _, transaction in transactions:
                    transaction.is_finished = True
            raise
        time.sleep(wait_ms / 1000)
        if any(transaction.is_in_table() for _, transaction in transactions):  # one of them shows it for all
            return [transaction.operations.load() for _, transaction in transactions]
        for _, transaction in transactions:
            transaction.rebase()
