"""Commits that move names of a ``PointerStore``: one table's, or several tables' in one transaction of the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from icesql.catalog.commit_status import settle
from icesql.catalog.names import Identifier
from icesql.catalog.pointers import PointerKind, PointerStore, Swap, SwapUncertainError
from icesql.catalog.table_operations import MetastoreTableOperations, read_table_metadata
from icesql.errors import NotFoundError
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion
from icesql.table.outcomes import Outcome, holds_commit, judge, together
from icesql.table.removal import Surroundings


class PointerOperations(MetastoreTableOperations):
    """One name of a store, as table operations."""

    def __init__(self, io: FileIO, name: str, store: PointerStore, identifier: Identifier, surroundings: Surroundings) -> None:
        super().__init__(io, name, surroundings)
        self._store, self.identifier = store, identifier

    def current_location(self) -> str:
        location = self._store.find(PointerKind.TABLE, self.identifier)
        if location is None:
            raise NotFoundError(f"Cannot find table: Table does not exist: {self.name}", table=self.name)
        return location

    def swap(self, base: TableVersion | None, staged: TableVersion) -> None:
        swap_together(self._store, [StagedCommit(self, base, staged)])


@dataclass(frozen=True, slots=True)
class StagedCommit:
    """A metadata file, and the file it replaces under a name. ``is_new``: it was written for this commit, and no other commit has it."""

    operations: PointerOperations
    base: TableVersion | None
    version: TableVersion
    is_new: bool = True

    @property
    def swap(self) -> Swap:
        previous = None if self.base is None else self.base.metadata_location
        return Swap(self.operations.identifier, previous, str(self.version.metadata_location))

    def look(self, store: PointerStore) -> Outcome:
        """The outcome by the names of the store, once no swap of this one is in flight. Raises while they cannot tell."""
        swap = self.swap
        current = store.find(PointerKind.TABLE, swap.identifier, settled=True)

        def shows_commit() -> bool:
            if not self.is_new:
                return False
            if store.has_been_led_to(PointerKind.TABLE, swap.location):
                return True
            base = None if self.base is None else self.base.metadata
            return current is not None and holds_commit(self._read(current), base, self.version)

        return judge(base=swap.previous, staged=swap.location, current=current, shows_commit=shows_commit)

    def _read(self, location: str) -> TableMetadata:
        return read_table_metadata(self.operations.io, self.operations.name, location)


def swap_together(store: PointerStore, staged: Sequence[StagedCommit]) -> None:
    """One transaction of the store. Raises CommitFailedError or AlreadyExistsError for a proven failure, or CommitStateUnknownError."""
    try:
        store.swap(PointerKind.TABLE, [one.swap for one in staged])
    except SwapUncertainError as error:
        names = ", ".join(one.operations.name for one in staged)
        look = first_known(error.recorded, lambda: together([one.look(store) for one in staged]))
        settle(look, staged[0].version.metadata.properties, f"commit {names}", error)


def first_known(recorded: Callable[[], Outcome], look: Callable[[], Outcome]) -> Callable[[], Outcome]:
    """The outcome: by the store's own record of the transaction, or, where that says nothing, by its names."""

    def ask() -> Outcome:
        outcome = recorded()
        return look() if outcome is Outcome.UNKNOWN else outcome

    return ask
