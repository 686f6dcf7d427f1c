"""RewriteManifests: the same files in fewer, better clustered manifests. Data file records are copied as bytes.

Entries are ordered by partition (or by the fields of ``sort_by``), so that the summaries in the manifest list exclude much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from icesql.errors import InvalidArgumentError
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.manifests.entries import RawEntry
from icesql.io.manifests.partition_columns import PartitionColumn
from icesql.spec.files import EntryStatus, ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.snapshots import MAIN, Operation
from icesql.table.arguments import checked
from icesql.table.commit import commit
from icesql.table.manifests.access import latest_snapshot, manifests_of, schema_for_spec
from icesql.table.manifests.factory import ManifestFactory, target_size_bytes
from icesql.table.operations import ChangeSet, TableOperations, TableVersion
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.producer import SnapshotProducer, new_snapshot_id

ManifestTest = Callable[[ManifestFile], bool]


@dataclass(frozen=True, slots=True)
class _Rewrite:
    old: tuple[ManifestFile, ...] = ()
    new: tuple[ManifestFile, ...] = ()
    entries: int = 0


@checked
class RewriteManifests:
    """After ``commit``, ``rewritten`` and ``added`` are the manifests replaced and made; both empty if nothing had to be done."""

    def __init__(self, operations: TableOperations, base: TableVersion | None = None) -> None:
        self._operations, self._base = operations, base
        self._spec_id: int | None = None
        self._sort_by: tuple[str, ...] | None = None
        self._if: ManifestTest = lambda manifest: True
        self._branch = MAIN
        self._target_size_bytes: int | None = None
        self._producer: SnapshotProducer | None = None
        self._factory: ManifestFactory | None = None
        self._done: dict[tuple[str, ...], _Rewrite] = {}
        self._added: set[str] = set()
        self.rewritten: tuple[ManifestFile, ...] = ()
        self.added: tuple[ManifestFile, ...] = ()

    def spec_id(self, spec_id: int) -> RewriteManifests:
        """Rewrite manifests of this spec; the default is the current one."""
        self._spec_id = spec_id
        return self

    def sort_by(self, names: Sequence[str]) -> RewriteManifests:
        """Partition fields to order by, in this order; the default is all of the spec's."""
        if not names:
            raise InvalidArgumentError("sort_by must not be empty when provided")
        self._sort_by = tuple(names)
        return self

    def rewrite_if(self, test: ManifestTest) -> RewriteManifests:
        """Only manifests that pass."""
        self._if = test
        return self

    def to_branch(self, branch: str) -> RewriteManifests:
        self._branch = branch
        return self

    def target_size_bytes(self, size: int) -> RewriteManifests:
        """In place of ``commit.manifest.target-size-bytes``."""
        self._target_size_bytes = size
        return self

    # -- Change --------------------------------------------------------------------------------------------------
    def apply(self, metadata: TableMetadata) -> ChangeSet:
        """Raises InvalidArgumentError for an unknown spec or sort field. Empty if the manifests are compact already."""
        spec = self._spec(metadata)
        parent = latest_snapshot(metadata, self._branch)
        manifests = [m for m in manifests_of(self._operations.io, parent) if m.partition_spec_id == spec.spec_id and self._if(m)]
        if self._factory is None:
            self._factory = ManifestFactory(self._operations.io, new_snapshot_id())
        parts = [self._rewrite(metadata, spec, content, manifests) for content in ManifestContent]
        self.rewritten = tuple(m for part in parts for m in part.old)
        self.added = tuple(m for part in parts for m in part.new)
        if not self.rewritten:
            return ChangeSet()
        self._added.update(m.manifest_path for m in self.added)
        return self._produce(metadata, sum(part.entries for part in parts))

    def _spec(self, metadata: TableMetadata) -> PartitionSpec:
        spec_id = metadata.default_spec_id if self._spec_id is None else self._spec_id
        spec = metadata.specs_by_id.get(spec_id)
        if spec is None:
            raise InvalidArgumentError(f"Invalid spec id {spec_id}", spec_id=spec_id)
        unknown = [name for name in self._sort_by or () if all(f.name != name for f in spec.fields)]
        if unknown:
            known = ", ".join(f"{f.name}: {f.transform}" for f in spec.fields)
            raise InvalidArgumentError(
                f"Cannot set manifest sorting because specified field(s) [{', '.join(map(str, unknown))}] were not found in current "
                f"partition spec [{known}]. Spec ID {spec_id}",
                fields=unknown,
            )
        return spec

    def _rewrite(
        self, metadata: TableMetadata, spec: PartitionSpec, content: ManifestContent, manifests: Sequence[ManifestFile]
    ) -> _Rewrite:
        chosen = tuple(m for m in manifests if m.content is content)
        target = self._target_size_bytes or target_size_bytes(metadata)
        total = sum(m.manifest_length for m in chosen)
        if not chosen or (len(chosen) == 1 and total <= target):
            return _Rewrite()
        if target <= 0:
            raise InvalidArgumentError(f"Cannot rewrite manifests: their size must be > 0: {target}", target_size_bytes=target)
        key = (str(metadata.format_version), *(m.manifest_path for m in chosen))
        if key not in self._done:
            self._done[key] = self._written(metadata, spec, content, chosen, target)
        return self._done[key]

    def _written(
        self, metadata: TableMetadata, spec: PartitionSpec, content: ManifestContent, chosen: tuple[ManifestFile, ...], target: int
    ) -> _Rewrite:
        assert self._factory is not None
        factory, io = self._factory, self._operations.io
        held = [read_manifest_columns(io, m, spec=spec) for m in chosen]
        wanted = self._sort_by or tuple(f.name for f in spec.fields)
        field_ids = [next(f.field_id for f in spec.fields if f.name == name) for name in wanted]
        order = cluster(held, field_ids)
        count = max(1, -(-sum(m.manifest_length for m in chosen) // target))
        step = max(1, -(-len(order) // count))
        partition = spec.partition_type(schema_for_spec(metadata, spec))

        def raw(columns: ManifestColumns, rows: list[int]) -> Iterable[RawEntry]:
            return columns.raw_entries(rows, format_version=metadata.format_version, partition=partition, status=EntryStatus.EXISTING)

        entries = _in_order(held, order, raw)
        new = []
        for start in range(0, len(order), step):
            writer = factory.writer(metadata, spec.spec_id, content)
            for _ in range(start, min(start + step, len(order))):
                writer.add_raw(next(entries))
            new.append(writer.close())
        return _Rewrite(chosen, tuple(new), len(order))

    def _produce(self, metadata: TableMetadata, entries: int) -> ChangeSet:
        assert self._factory is not None
        change = ProduceSnapshot(
            action=Operation.REPLACE,
            branch=self._branch,
            add_manifests=self.added,
            remove_manifests=self.rewritten,
            merge_manifests=False,
            summary={"entries-processed": str(entries)},
        )
        previous = self._producer
        if previous is not None and previous.change != change:
            previous.abandoned()
            previous = None
        if previous is None:
            previous = self._producer = SnapshotProducer(
                change, self._operations.io, self._operations.name, snapshot_id=self._factory.snapshot_id
            )
        return previous.apply(metadata)

    def committed(self, metadata: TableMetadata) -> None:
        if self._producer is not None:
            self._producer.committed(metadata)
        snapshot = None if self._producer is None else metadata.snapshots_by_id.get(self._producer.snapshot_id)
        if snapshot is not None:
            self._drop_unused({manifest.manifest_path for manifest in manifests_of(self._operations.io, snapshot)})
        elif not self.rewritten:
            self._drop_unused(set())

    def abandoned(self) -> None:
        if self._producer is not None:
            self._producer.abandoned()
        self._drop_unused(set())

    def _drop_unused(self, used: set[str]) -> None:
        unused = (self._factory.written if self._factory is not None else set()) - used
        if unused:
            self._operations.io.delete_many(sorted(unused))

    def commit(self) -> TableVersion:
        return commit(self._operations, [self], base=self._base)


# -- the order of entries ------------------------------------------------------------------------------------------
def cluster(held: Sequence[ManifestColumns], field_ids: Sequence[int]) -> npt.NDArray[np.int64]:
    """Live rows as (manifest index, row) pairs, sorted by the partition fields, nulls first; equal ones stay in order."""
    pairs = [np.stack([np.full(int(c.live.sum()), i), np.flatnonzero(c.live)], axis=1) for i, c in enumerate(held)]
    order = np.concatenate(pairs) if pairs else np.empty((0, 2), np.int64)
    keys = [key for field_id in field_ids for key in _sort_keys(held, field_id)]
    if not keys or not len(order):
        return order
    return np.asarray(order[np.lexsort(keys[::-1])])


def _sort_keys(held: Sequence[ManifestColumns], field_id: int) -> list[npt.NDArray[np.int64]]:
    """(is not null, rank of the value) over the live rows of all manifests."""
    valid = np.concatenate([c.partition_columns[field_id].valid[c.live] for c in held])
    ranks = _ranks([c.partition_columns[field_id] for c in held], [c.live for c in held], valid)
    return [valid.astype(np.int64), ranks]


def _ranks(columns: list[PartitionColumn], live: list[npt.NDArray[np.bool_]], valid: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    values = np.concatenate([np.asarray(c.values())[mask] for c, mask in zip(columns, live, strict=True)])
    if values.dtype != object:
        return np.where(valid, np.unique(values, return_inverse=True)[1], 0)
    rank = {value: i for i, value in enumerate(sorted(set(values[valid].tolist())))}
    return np.fromiter((rank.get(v, 0) for v in values.tolist()), np.int64, len(values))


def _in_order(
    held: Sequence[ManifestColumns],
    order: npt.NDArray[np.int64],
    entries_of: Callable[[ManifestColumns, list[int]], Iterable[RawEntry]],
) -> Iterator[RawEntry]:
    """Entries in the order of the pairs, each manifest's drawn from one stream."""
    streams = [iter(entries_of(c, order[order[:, 0] == i, 1].tolist())) for i, c in enumerate(held)]
    for index in order[:, 0].tolist():
        yield next(streams[index])
