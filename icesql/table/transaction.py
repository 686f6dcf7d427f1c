"""Several changes, one commit; also creates or replaces a table together with its first rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from icesql.errors import InvalidArgumentError, UnsupportedError, ValidationError
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import UNPARTITIONED, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.sorting import UNSORTED, SortOrder
from icesql.table.after_commit import check_wanted
from icesql.table.arguments import checked
from icesql.table.commit import abandon, attempt_until_committed, check_same_table, failed_for_certain, finish, prepare, stage_of
from icesql.table.metadata import update_values as u
from icesql.table.metadata.builder import MetadataBuilder
from icesql.table.metadata.create import replace_updates
from icesql.table.metadata.requirements import check_all
from icesql.table.operations import Change, TableOperations, TableVersion
from icesql.table.outcomes import AlreadyCommittedError, holds_any, own_snapshot_ids
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.producer import SnapshotProducer

Replacement = Callable[[TableMetadata], tuple[u.Update, ...]]


@checked
@dataclass(slots=True)
class Transaction:
    """Staged changes to one table. ``metadata`` is the table as it would be; others see nothing before ``commit``.

    Begins on ``base``, or on the current version; on ``created`` for a table that does not exist yet. ``replacement`` gives the updates
    that precede all changes.
    """

    operations: TableOperations
    base: TableVersion | None = None
    created: TableMetadata | None = None
    replacement: Replacement | None = None
    changes: list[Change] = field(default_factory=list)
    is_finished: bool = False
    _has_files_with_new_ids: bool = field(init=False, default=False)
    _staged: TableMetadata = field(init=False)

    def __post_init__(self) -> None:
        if self.base is None and self.created is None:
            self.base = self.operations.load()
        self._staged = self._begin(self.base).build()

    @staticmethod
    def creating(operations: TableOperations, metadata: TableMetadata) -> Transaction:
        """A transaction that creates the table. Its commit raises AlreadyExistsError if another one created it first."""
        return Transaction(operations, None, created=metadata)

    @staticmethod
    def replacing(
        operations: TableOperations,
        base: TableVersion,
        schema: Schema,
        *,
        spec: PartitionSpec = UNPARTITIONED,
        sort_order: SortOrder = UNSORTED,
        location: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> Transaction:
        """REPLACE TABLE, computed anew on each version it tries to commit to (``create.replace_updates``)."""

        def replacement(metadata: TableMetadata) -> tuple[u.Update, ...]:
            return replace_updates(metadata, schema, spec=spec, sort_order=sort_order, location=location, properties=properties)

        return Transaction(operations, base, replacement=replacement)

    @property
    def metadata(self) -> TableMetadata:
        return self._staged

    @property
    def io(self) -> FileIO:
        return self.operations.io

    @property
    def has_effect(self) -> bool:
        """Whether a commit would change anything; always true for a table that is created or replaced."""
        return bool(self.changes) or self.base is None or self.replacement is not None

    def add(self, change: Change | ProduceSnapshot) -> TableMetadata:
        """Stage a change on top of those staged; returns the metadata with it. A change that raises is not staged."""
        self._check_open()
        staged = SnapshotProducer(change, self.io, self.operations.name) if isinstance(change, ProduceSnapshot) else change
        try:
            change_set = staged.apply(self._staged)
            check_all(change_set.requirements, self._staged)
            metadata = MetadataBuilder(self._staged).apply_all(change_set.updates).build()
        except AlreadyCommittedError:  # staged here before, and its files with it
            raise
        except BaseException:
            abandon([staged])
            raise
        if self.base is not None and any(isinstance(update, u.AddSnapshot) for update in change_set.updates):
            self._has_files_with_new_ids |= _shape(self._staged) != _shape(self.base.metadata)
        self.changes.append(staged)
        self._staged = metadata
        return metadata

    def is_in_table(self) -> bool:
        """Whether the table holds snapshots staged here: then an attempt reported as failed has succeeded."""
        staged = frozenset[int]() if self.base is None else own_snapshot_ids(self.base.metadata, self._staged)
        return bool(staged) and holds_any(self.operations.load().metadata, staged)

    def rebase(self) -> None:
        """Apply everything staged to the current version. Raises ValidationError where a change no longer holds.

        A table that is yet to be created has no other version; it stays as it is.
        """
        self._check_open()
        if self.base is not None:
            current = self.operations.load()
            check_same_table(self.operations, self.base, current)
            self._staged = prepare(self.changes, current, self._begin)
            self.base = current

    def commit(self) -> TableVersion:
        """Commit everything staged, or raise as ``icesql.table.commit.commit`` and leave nothing behind.

        A transaction that began inside another one hands its changes to that one.
        """
        self._check_open()
        self.is_finished = True
        stage = stage_of(self.operations)
        if stage is not None:
            return stage(self.changes)
        if self.base is None:
            return self._create()
        return attempt_until_committed(self.operations, self.changes, self.base, self._begin)

    def abandon(self) -> None:
        """Remove every file the changes wrote."""
        if not self.is_finished:
            self.is_finished = True
            abandon(self.changes)

    def _begin(self, version: TableVersion | None) -> MetadataBuilder:
        if version is None:
            assert self.created is not None
            return MetadataBuilder(self.created)
        self._check_ids_hold(version.metadata)
        builder = MetadataBuilder(version.metadata)
        if self.replacement is not None:
            builder.apply_all(self.replacement(version.metadata))
        return builder

    def _check_ids_hold(self, current: TableMetadata) -> None:
        """Files staged after a change of schema or partitioning use the ids it assigned; another writer's change may have taken the same
        ids.

        Raises ValidationError.
        """
        if self._has_files_with_new_ids and self.base is not None and _shape(current) != _shape(self.base.metadata):
            why = "it writes files after it changed the schema or the partitioning, and another writer has changed them meanwhile"
            raise ValidationError(f"Cannot commit transaction: {why}: {self.operations.name}", table=self.operations.name)

    def _create(self) -> TableVersion:
        try:
            check_wanted()
            committed = self.operations.commit(None, self._staged)
        except BaseException as error:
            if failed_for_certain(error):
                abandon(self.changes)
            raise
        finish(self.changes, committed.metadata)
        return committed

    def _check_open(self) -> None:
        if self.is_finished:
            raise InvalidArgumentError("Cannot use transaction: it was committed or abandoned already")


def _shape(metadata: TableMetadata) -> tuple[object, ...]:
    return metadata.schemas, metadata.partition_specs, metadata.last_column_id, metadata.last_partition_id


class StagedOperations:
    """A table's operations inside a transaction: commits through them are staged, and loads through them see what is staged."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @property
    def io(self) -> FileIO:
        return self._transaction.io

    @property
    def name(self) -> str:
        return self._transaction.operations.name

    def load(self) -> TableVersion:
        """The table as the transaction has it, without a metadata location once anything is staged."""
        base = self._transaction.base
        if base is not None and not self._transaction.has_effect:
            return base
        return TableVersion(self._transaction.metadata, None)

    def stage_changes(self, changes: Sequence[Change]) -> TableVersion:
        """Raises as the changes do; those before the one that raised stay staged."""
        for change in changes:
            self._transaction.add(change)
        return self.load()

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        raise UnsupportedError(f"Cannot swap metadata in a transaction: changes are staged, and committed together: {self.name}")
