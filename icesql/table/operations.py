"""The two contracts of every commit: what a catalog offers a table, and what a change offers the commit loop.

    Change.apply(metadata) -> ChangeSet       (pure towards the table; may write new, immutable files)
    TableOperations.commit(base, metadata)    (the atomic swap; ``metadata`` is the base with the updates folded in)

``icesql.table.commit.commit`` is the loop between them: refresh, apply, swap, retry with the table's ``commit.retry.*`` properties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata

if TYPE_CHECKING:
    from icesql.table.metadata.requirements import Requirement
    from icesql.table.metadata.updates import Update


@dataclass(frozen=True, slots=True)
class TableVersion:
    """One committed state: the metadata and the file that holds it. ``metadata_location`` is ``None`` before a staged create commits."""

    metadata: TableMetadata
    metadata_location: str | None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What a change does to a table: updates to fold, in order, and requirements on the version they are folded on."""

    updates: tuple[Update, ...] = ()
    requirements: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.updates


class TableOperations(Protocol):
    """A catalog's handle on one table. Thread safe; its only state is the identity of the table."""

    @property
    def io(self) -> FileIO: ...

    @property
    def name(self) -> str:
        """Full dotted name for messages: ``local.db.events``."""

    def load(self) -> TableVersion:
        """The current version, asked of the catalog now. Raises NotFoundError, CorruptMetadataError."""

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        """Write ``metadata`` to a new file and swap it in if the table still is at ``base`` (``None``: if it does not exist).

        The caller has folded the updates; this method appends to the metadata log, writes the file, swaps, and deletes old metadata files
        if the table's properties ask. Raises CommitFailedError if it is proven that the swap did not happen (what was written is removed),
        CommitStateUnknownError otherwise (nothing is removed; the rule is in ``icesql.table.outcomes``), AlreadyExistsError for a create
        that lost.
        """


class Change(Protocol):
    """Something to commit. One instance serves one commit, over any number of attempts."""

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        """The updates for this version of the table. Called once an attempt; raises ValidationError when the change no longer holds,
        AlreadyCommittedError if its own snapshot is in the table already.
        """

    def committed(self, metadata: TableMetadata) -> None:
        """The commit succeeded with this metadata: remove files that only losing attempts wrote. Must not raise."""

    def abandoned(self) -> None:
        """The commit failed for certain: remove every file this change wrote for it. Never called on an unknown outcome."""


class MetadataChange:
    """A change that writes no files of its own, so that neither outcome leaves anything to remove."""

    __slots__ = ()

    def committed(self, metadata: TableMetadata) -> None:
        pass

    def abandoned(self) -> None:
        pass
