"""Every file that a table's metadata reaches. Purge deletes all of them, orphan removal keeps all of them, expiry takes differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.lists import RepeatedManifests
from icesql.io.storage.files import FileIO
from icesql.spec.files import FileContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.snapshots import Snapshot
from icesql.table.manifests.access import manifests_of

_WORKERS = 8
_A = TypeVar("_A")
_B = TypeVar("_B")


@dataclass(frozen=True, slots=True)
class ContentFiles:
    """Paths of data and delete files by kind."""

    data: frozenset[str] = frozenset()
    position_deletes: frozenset[str] = frozenset()
    equality_deletes: frozenset[str] = frozenset()

    def __or__(self, other: ContentFiles) -> ContentFiles:
        return ContentFiles(
            self.data | other.data, self.position_deletes | other.position_deletes, self.equality_deletes | other.equality_deletes
        )

    def __sub__(self, other: ContentFiles) -> ContentFiles:
        used = other.all()
        return ContentFiles(self.data - used, self.position_deletes - used, self.equality_deletes - used)

    def all(self) -> frozenset[str]:
        return self.data | self.position_deletes | self.equality_deletes

    def __bool__(self) -> bool:
        return bool(self.data or self.position_deletes or self.equality_deletes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachableFiles:
    """``metadata_files`` are the current metadata file, those of its log, and the version hint beside it."""

    content: ContentFiles = field(default_factory=ContentFiles)
    manifests: frozenset[str] = frozenset()
    manifest_lists: frozenset[str] = frozenset()
    statistics: frozenset[str] = frozenset()
    metadata_files: frozenset[str] = frozenset()

    def all(self) -> Iterator[str]:
        yield from self.content.all()
        yield from self.manifests
        yield from self.manifest_lists
        yield from self.statistics
        yield from self.metadata_files


def reachable(io: FileIO, metadata: TableMetadata, metadata_location: str | None = None, *, live_only: bool = False) -> ReachableFiles:
    """Files of all snapshots. ``live_only`` leaves out files whose only entries say that they were deleted."""
    manifests = manifests_by_path(io, metadata.snapshots)
    return ReachableFiles(
        content=content_files(io, manifests.values(), metadata.specs_by_id, live_only=live_only),
        manifests=frozenset(manifests),
        manifest_lists=manifest_lists(metadata.snapshots),
        statistics=statistics_paths(metadata),
        metadata_files=frozenset(_metadata_files(io, metadata, metadata_location)),
    )


def reachable_files(io: FileIO, metadata: TableMetadata, metadata_location: str | None = None) -> Iterator[str]:
    """Paths of every file, metadata files last: a purge that breaks off leaves what is needed to repeat it."""
    return reachable(io, metadata, metadata_location).all()


def manifests_by_path(io: FileIO, snapshots: Iterable[Snapshot], repeated: RepeatedManifests | None = None) -> dict[str, ManifestFile]:
    """The distinct manifests of the snapshots by path. ``repeated`` as in ``read_manifest_list``."""
    known = RepeatedManifests() if repeated is None else repeated
    by_path: dict[str, ManifestFile] = {}
    for manifests in in_parallel(lambda snapshot: manifests_of(io, snapshot, known), snapshots):
        for manifest in manifests:
            by_path.setdefault(manifest.manifest_path, manifest)
    return by_path


def manifest_lists(snapshots: Iterable[Snapshot]) -> frozenset[str]:
    return frozenset(s.manifest_list for s in snapshots if s.manifest_list is not None)


def statistics_paths(metadata: TableMetadata) -> frozenset[str]:
    """Statistics and partition statistics files."""
    return frozenset(path for _, path in statistics_by_snapshot(metadata))


def statistics_by_snapshot(metadata: TableMetadata) -> list[tuple[int, str]]:
    """(snapshot id, path) of statistics and partition statistics files."""
    tables = [(file.snapshot_id, file.statistics_path) for file in metadata.statistics]
    return tables + [(file.snapshot_id, file.statistics_path) for file in metadata.partition_statistics]


def content_files(
    io: FileIO, manifests: Iterable[ManifestFile], specs_by_id: Mapping[int, PartitionSpec], *, live_only: bool = True
) -> ContentFiles:
    """The data and delete files of the manifests."""

    def read(manifest: ManifestFile) -> tuple[list[str], list[str], list[str]]:
        columns = read_manifest_columns(io, manifest, spec=specs_by_id.get(manifest.partition_spec_id), use_cache=False)
        rows = columns.live if live_only else columns.status >= 0
        kinds = (FileContent.DATA, FileContent.POSITION_DELETES, FileContent.EQUALITY_DELETES)
        data, positions, equality = (columns.paths(rows & (columns.content == kind)) for kind in kinds)
        return data, positions, equality

    kept_paths: tuple[set[str], set[str], set[str]] = (set(), set(), set())
    for paths in in_parallel(read, manifests):
        for kept, more in zip(kept_paths, paths, strict=True):
            kept.update(more)
    return ContentFiles(*map(frozenset, kept_paths))


def _metadata_files(io: FileIO, metadata: TableMetadata, metadata_location: str | None) -> Iterator[str]:
    if metadata_location is not None:
        yield metadata_location
        folder = metadata_location.rpartition("/")[0]
        hint = f"{folder}/version-hint.text"
        if io.exists(hint):
            yield hint
    for entry in metadata.metadata_log:
        yield entry.metadata_file


def in_parallel(function: Callable[[_A], _B], items: Iterable[_A]) -> Iterable[_B]:
    """The function applied to the items, in order, by several threads: stores answer slowly."""
    work = list(items)
    if len(work) < 2:
        return [function(item) for item in work]
    with ThreadPoolExecutor(max_workers=min(_WORKERS, len(work))) as pool:
        return list(pool.map(function, work))
