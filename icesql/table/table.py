"""A table as a user holds it: one version of its metadata, scans over it, and every operation that changes it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from icesql.errors import InvalidArgumentError
from icesql.expr.tree import TRUE, Expression
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Snapshot, SnapshotRef
from icesql.spec.sorting import SortOrder
from icesql.table.arguments import checked
from icesql.table.description import as_html, described
from icesql.table.operations import Change, TableOperations, TableVersion
from icesql.table.other_names import DeleteNames, OverwriteNames, ScanNames, WriteNames, also_named

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from icesql.io.arrow.stream import ArrowStream
    from icesql.table.changes.append import AppendFiles
    from icesql.table.changes.delete_files import DeleteFiles
    from icesql.table.changes.expire_snapshots import ExpireSnapshots
    from icesql.table.changes.manage_snapshots import ManageSnapshots
    from icesql.table.changes.overwrite import OverwriteFiles
    from icesql.table.changes.replace_partitions import ReplacePartitions
    from icesql.table.changes.replace_sort_order import ReplaceSortOrder
    from icesql.table.changes.rewrite_files import RewriteFiles
    from icesql.table.changes.rewrite_manifests import RewriteManifests
    from icesql.table.changes.row_delta import RowDelta
    from icesql.table.changes.update_properties import UpdateProperties
    from icesql.table.changes.update_schema import UpdateSchema
    from icesql.table.changes.update_spec import UpdatePartitionSpec
    from icesql.table.commit import Stage
    from icesql.table.inspect import Inspect
    from icesql.table.scan.table_scan import TableScan
    from icesql.table.snapshot.produce import ProduceSnapshot
    from icesql.table.transaction import Transaction
    from icesql.table.write.upsert import UpsertResult


class OwningCatalog(Protocol):
    """What a table needs of the catalog that loaded it."""

    name: str
    parse_filter: Callable[[str], Expression] | None


@checked
class Table:
    """One version of a table, ``version``; ``refresh`` and this object's own commits move it, other writers' commits do not.

    Safe to share between threads: everything it holds but the current version is immutable, and the version changes in one step.
    """

    def __init__(
        self, operations: TableOperations, version: TableVersion, identifier: tuple[str, ...], catalog: OwningCatalog | None = None
    ) -> None:
        self.operations: TableOperations = _FollowedOperations(operations, self)
        self.identifier, self.catalog = identifier, catalog
        self._version, self._moves, self._lock = version, 0, threading.Lock()

    def __repr__(self) -> str:
        return "\n".join(described(self.name, self.metadata))

    def _repr_html_(self) -> str:
        return as_html(self.name, self.metadata)

    # -- what it shows -------------------------------------------------------------------------------------------
    @property
    def version(self) -> TableVersion:
        return self._version

    @property
    def metadata(self) -> TableMetadata:
        return self._version.metadata

    @property
    def metadata_location(self) -> str | None:
        return self._version.metadata_location

    @property
    def name(self) -> str:
        """Full dotted name: ``local.db.events``."""
        return self.operations.name

    @property
    def io(self) -> FileIO:
        return self.operations.io

    @property
    def schema(self) -> Schema:
        return self.metadata.schema

    @property
    def spec(self) -> PartitionSpec:
        return self.metadata.spec

    @property
    def sort_order(self) -> SortOrder:
        return self.metadata.sort_order

    @property
    def properties(self) -> Mapping[str, str]:
        return self.metadata.properties

    @property
    def location(self) -> str:
        return self.metadata.location

    @property
    def current_snapshot(self) -> Snapshot | None:
        return self.metadata.current_snapshot

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        return self.metadata.snapshots

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot | None:
        return self.metadata.snapshots_by_id.get(snapshot_id)

    def snapshot_by_name(self, name: str) -> Snapshot | None:
        """The snapshot of a branch or tag."""
        ref = self.refs.get(name)
        return None if ref is None else self.snapshot_by_id(ref.snapshot_id)

    @property
    def refs(self) -> Mapping[str, SnapshotRef]:
        return self.metadata.refs

    def refresh(self) -> Table:
        """Move to the version the catalog holds now, and return this table. Raises NotFoundError if it was dropped."""
        moves = self._moves
        self._move(self.operations.load(), moves)
        return self

    def _move(self, version: TableVersion, moves: int | None = None) -> None:
        """Take over ``version``. ``moves``: how many moves had been made before the catalog was asked for it.

        If none was made since, the catalog's answer holds; otherwise another thread has moved this table meanwhile, perhaps to a later
        version,
        which then stays.
        """
        with self._lock:
            if moves == self._moves or not _precedes(version, self._version):
                self._version = version
                self._moves += 1

    # -- reading -------------------------------------------------------------------------------------------------
    def expression(self, where: Expression | str | None) -> Expression:
        """A filter as an expression; text is SQL. Raises SqlError, InvalidArgumentError if the catalog has no parser."""
        if where is None:
            return TRUE
        if not isinstance(where, str):
            return where
        if self.catalog is None or self.catalog.parse_filter is None:
            raise InvalidArgumentError(f"Cannot parse filter: the catalog was opened without a parser, pass an expression: {where}")
        return self.catalog.parse_filter(where)

    @also_named(row_filter="where", selected_fields="select")
    def scan(
        self,
        where: Expression | str | None = None,
        select: Sequence[str] | None = None,
        *,
        snapshot_id: int | None = None,
        ref: str | None = None,
        timestamp_ms: int | None = None,
        case_sensitive: bool = True,
        limit: int | None = None,
        options: Mapping[str, str] | None = None,
        **names: Unpack[ScanNames],
    ) -> TableScan:
        """A scan of this version: ``.plan_files()``, ``.to_arrow()``. At most one of snapshot, ref (branch or tag) and time is given.

        ``select``: the columns, all of them without it or with ``"*"`` among them.
        """
        from icesql.table.scan.table_scan import TableScan

        return TableScan(
            self.io,
            self.metadata,
            self.expression(where),
            name=self.name,
            select=None if select is None or "*" in select else tuple(select),
            snapshot_id=snapshot_id,
            ref=ref,
            timestamp_ms=timestamp_ms,
            case_sensitive=case_sensitive,
            limit=limit,
            options=dict(options or {}),
        )

    @property
    def inspect(self) -> Inspect:
        """The metadata tables as Arrow data: ``table.inspect.files()``."""
        from icesql.table.inspect import Inspect

        return Inspect(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows of the current snapshot to whatever speaks Arrow's stream protocol."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """All rows of the current snapshot."""
        return self.scan().to_arrow()

    # -- writing without Spark -----------------------------------------------------------------------------------
    @also_named(df="rows", snapshot_properties="summary")
    def append(
        self, rows: ArrowStream, *, branch: str = MAIN, summary: Mapping[str, str] | None = None, **names: Unpack[WriteNames]
    ) -> TableVersion:
        """Write the rows, partitioned as the spec says, and commit them. Columns match by name.

        ``rows``: a pyarrow table, a frame of polars or pandas, a relation of DuckDB, a scan, or another Arrow stream.

        Raises ValidationError if they do not fit the schema.
        """
        from icesql.io.arrow.stream import arrow_table
        from icesql.table.write.arrow_write import append

        return append(self, arrow_table(rows), branch=branch, summary=summary or {})

    @also_named(df="rows", overwrite_filter="where", snapshot_properties="summary")
    def overwrite(
        self,
        rows: ArrowStream,
        where: Expression | str | None = None,
        *,
        branch: str = MAIN,
        summary: Mapping[str, str] | None = None,
        **names: Unpack[OverwriteNames],
    ) -> TableVersion:
        """Replace the rows that match ``where`` (all of them without it) by ``rows``, in one commit.

        Raises ValidationError when another writer added or deleted matching rows meanwhile.
        """
        from icesql.io.arrow.stream import arrow_table
        from icesql.table.write.arrow_write import overwrite

        return overwrite(self, arrow_table(rows), self.expression(where), branch=branch, summary=summary or {})

    @also_named(delete_filter="where", snapshot_properties="summary")
    def delete(
        self,
        where: Expression | str | None = None,
        *,
        branch: str = MAIN,
        summary: Mapping[str, str] | None = None,
        **names: Unpack[DeleteNames],
    ) -> TableVersion:
        """Delete the rows that match: whole files from metadata alone where that is proven, else by rewriting files that hold some."""
        from icesql.table.write.arrow_write import delete

        return delete(self, self.expression(where), branch=branch, summary=summary or {})

    @also_named(df="rows", snapshot_properties="summary")
    def upsert(
        self,
        rows: ArrowStream,
        join_cols: Sequence[str] | None = None,
        *,
        branch: str = MAIN,
        summary: Mapping[str, str] | None = None,
        **names: Unpack[WriteNames],
    ) -> UpsertResult:
        """Replace the rows that share their key with one of ``rows``, add the others; one commit, none where nothing changes.

        ``join_cols``: the key's columns, by default the table's identifier fields. Raises ValidationError for a key that is null or
        occurs twice, and when another writer changed matching rows meanwhile.
        """
        from icesql.io.arrow.stream import arrow_table
        from icesql.table.write.upsert import upsert

        return upsert(self, arrow_table(rows), join_cols, branch=branch, summary=summary or {})

    def add_files(self, locations: Iterable[str], *, branch: str = MAIN, check_duplicates: bool = True) -> TableVersion:
        """Add existing data files to the table without copying them.

        Raises ValidationError for a file that is in the table already or does not fit.
        """
        from icesql.table.write.arrow_write import add_files

        return add_files(self, list(locations), branch=branch, check_duplicates=check_duplicates)

    # -- changes as builders -------------------------------------------------------------------------------------
    def commit(self, change: ProduceSnapshot) -> TableVersion:
        """Commit one snapshot as described: the low-level method that all other writes use."""
        from icesql.table.commit import commit
        from icesql.table.snapshot.producer import SnapshotProducer

        return commit(self.operations, [SnapshotProducer(change, self.io, self.name)], base=self.version)

    def transaction(self) -> Transaction:
        """Several changes, one commit."""
        from icesql.table.transaction import Transaction

        return Transaction(self.operations, self.version)

    def update_schema(self) -> UpdateSchema:
        from icesql.table.changes.update_schema import UpdateSchema

        return UpdateSchema(self.operations, self.version)

    def update_spec(self) -> UpdatePartitionSpec:
        from icesql.table.changes.update_spec import UpdatePartitionSpec

        return UpdatePartitionSpec(self.operations, self.version)

    def replace_sort_order(self) -> ReplaceSortOrder:
        from icesql.table.changes.replace_sort_order import ReplaceSortOrder

        return ReplaceSortOrder(self.operations, self.version)

    def update_properties(self) -> UpdateProperties:
        from icesql.table.changes.update_properties import UpdateProperties

        return UpdateProperties(self.operations, self.version)

    def manage_snapshots(self) -> ManageSnapshots:
        from icesql.table.changes.manage_snapshots import ManageSnapshots

        return ManageSnapshots(self.operations, self.version)

    def new_append(self) -> AppendFiles:
        from icesql.table.changes.append import AppendFiles

        return AppendFiles(self.operations, self.version)

    def new_fast_append(self) -> AppendFiles:
        """An append that never merges manifests: its cost does not grow with the table."""
        from icesql.table.changes.append import AppendFiles

        return AppendFiles(self.operations, self.version, fast=True)

    def new_delete(self) -> DeleteFiles:
        from icesql.table.changes.delete_files import DeleteFiles

        return DeleteFiles(self.operations, self.version)

    def new_overwrite(self) -> OverwriteFiles:
        from icesql.table.changes.overwrite import OverwriteFiles

        return OverwriteFiles(self.operations, self.version)

    def new_replace_partitions(self) -> ReplacePartitions:
        from icesql.table.changes.replace_partitions import ReplacePartitions

        return ReplacePartitions(self.operations, self.version)

    def new_row_delta(self) -> RowDelta:
        from icesql.table.changes.row_delta import RowDelta

        return RowDelta(self.operations, self.version)

    def new_rewrite_files(self) -> RewriteFiles:
        from icesql.table.changes.rewrite_files import RewriteFiles

        return RewriteFiles(self.operations, self.version)

    def rewrite_manifests(self) -> RewriteManifests:
        from icesql.table.changes.rewrite_manifests import RewriteManifests

        return RewriteManifests(self.operations, self.version)

    def expire_snapshots(self) -> ExpireSnapshots:
        from icesql.table.changes.expire_snapshots import ExpireSnapshots

        return ExpireSnapshots(self.operations, self.version)


def _precedes(version: TableVersion, held: TableVersion) -> bool:
    """Whether this version was built on the held one. Clocks are not compared: they differ between machines, and are set back."""
    if version.metadata.table_uuid != held.metadata.table_uuid:
        return False
    if version.metadata.last_sequence_number < held.metadata.last_sequence_number:
        return True
    return any(entry.metadata_file == version.metadata_location for entry in held.metadata.metadata_log)


class _FollowedOperations:
    """Operations that move their table object to each version they commit."""

    def __init__(self, operations: TableOperations, table: Table) -> None:
        self._operations, self._table = operations, table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operations, name)

    @property
    def io(self) -> FileIO:
        return self._operations.io

    @property
    def name(self) -> str:
        return self._operations.name

    @property
    def stage_changes(self) -> Stage:
        """Raises AttributeError where commits are not staged."""
        from icesql.table.commit import stage_of

        stage = stage_of(self._operations)
        if stage is None:
            raise AttributeError("stage_changes")

        def follow(changes: Sequence[Change]) -> TableVersion:
            moves = self._table._moves
            version = stage(changes)
            self._table._move(version, moves)
            return version

        return follow

    @property
    def produce(self) -> Callable[[TableVersion, ProduceSnapshot], TableVersion]:
        """Raises AttributeError where the catalog builds no snapshots itself."""
        inner = getattr(self._operations, "produce", None)
        if inner is None:
            raise AttributeError("produce")

        def follow(base: TableVersion, change: ProduceSnapshot) -> TableVersion:
            moves = self._table._moves
            committed: TableVersion = inner(base, change)
            self._table._move(committed, moves)
            return committed

        return follow

    def load(self) -> TableVersion:
        return self._operations.load()

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        moves = self._table._moves
        committed = self._operations.commit(base, metadata)
        self._table._move(committed, moves)
        return committed
