"""What all writers share: target branch, staging, summary, and the commit of the ProduceSnapshot they build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from icesql.errors import InvalidArgumentError
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN
from icesql.table.arguments import checked
from icesql.table.commit import commit
from icesql.table.operations import ChangeSet, TableOperations, TableVersion
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.producer import SnapshotProducer

Self = TypeVar("Self", bound="SnapshotUpdate")


@checked
class SnapshotUpdate:
    """Base of the builders. Without operations it only yields ``change()``; with them it is also a Change and can ``commit``."""

    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None) -> None:
        self._operations, self._base = operations, base
        self._branch, self._stage_only, self._owns_files = MAIN, False, False
        self._summary: dict[str, str] = {}
        self._producer: SnapshotProducer | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        checked(cls)

    def change(self) -> ProduceSnapshot:
        """The write as a value. Raises InvalidArgumentError where the builder's settings contradict each other."""
        raise NotImplementedError

    def _common(self) -> dict[str, Any]:
        return {"branch": self._branch, "stage_only": self._stage_only, "summary": dict(self._summary)}

    def set(self: Self, key: str, value: str) -> Self:
        """Set a property of the snapshot's summary."""
        self._summary[key] = value
        return self

    def set_all(self: Self, summary: Mapping[str, str]) -> Self:
        self._summary.update(summary)
        return self

    def stage_only(self: Self) -> Self:
        """Add the snapshot without moving any branch to it (write, audit, publish)."""
        self._stage_only = True
        return self

    def to_branch(self: Self, branch: str) -> Self:
        """Commit to this branch; it is made, from the current snapshot, if it does not exist."""
        self._branch = branch
        return self

    def owning_files(self: Self) -> Self:
        """The added files were written for this commit alone: if it fails for certain, or is abandoned, they are removed."""
        self._owns_files = True
        return self

    @property
    def base_metadata(self) -> TableMetadata:
        """The version the builder was made from, loaded now if none was given."""
        if self._base is None:
            self._base = self._bound().load()
        return self._base.metadata

    def _bound(self) -> TableOperations:
        if self._operations is None:
            raise InvalidArgumentError("Cannot commit: this builder belongs to no table")
        return self._operations

    @property
    def snapshot_id(self) -> int:
        """The id of the snapshot that this commit makes."""
        return self._made().snapshot_id

    @property
    def produced(self) -> ProduceSnapshot:
        """The write as a value, the same for every attempt."""
        return self._made().change

    def _made(self) -> SnapshotProducer:
        if self._producer is None:
            operations = self._bound()
            self._producer = SnapshotProducer(self.change(), operations.io, operations.name, owns_files=self._owns_files)
        return self._producer

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        return self._made().apply(metadata)

    def committed(self, metadata: TableMetadata) -> None:
        self._made().committed(metadata)

    def abandoned(self) -> None:
        self._made().abandoned()

    def commit(self) -> TableVersion:
        """Raises as ``icesql.table.commit.commit``."""
        return commit(self._bound(), [self], base=self._base)
