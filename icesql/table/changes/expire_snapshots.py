"""ExpireSnapshots: drop snapshots and refs past their retention, then the files that nothing reaches any more.

``plan`` says what would go and why; ``commit`` commits first and deletes afterwards. After an unknown outcome nothing is deleted.
Spec: "Snapshot Retention Policy".
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from icesql.errors import InvalidArgumentError, UnsupportedError, ValidationError
from icesql.io.manifests.lists import RepeatedManifests
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import GC_ENABLED, MAX_REF_AGE_MS, MAX_SNAPSHOT_AGE_MS, MIN_SNAPSHOTS_TO_KEEP, property_as_int
from icesql.spec.snapshots import MAIN, Snapshot, SnapshotRef
from icesql.table.arguments import checked
from icesql.table.commit import commit, stage_of
from icesql.table.manifests.reachable import (
    ContentFiles,
    content_files,
    manifest_lists,
    manifests_by_path,
    statistics_by_snapshot,
    statistics_paths,
)
from icesql.table.metadata import update_values as u
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import ChangeSet, MetadataChange, TableOperations, TableVersion
from icesql.table.removal import Delete, removal_gate


@dataclass(frozen=True, slots=True)
class ExpiredSnapshot:
    snapshot: Snapshot
    reason: str  # "asked for", "older than ...", "of a removed ref"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredFiles:
    """Paths that nothing reaches once the snapshots are expired."""

    content: ContentFiles = field(default_factory=ContentFiles)
    manifests: frozenset[str] = frozenset()
    manifest_lists: frozenset[str] = frozenset()
    statistics: frozenset[str] = frozenset()

    def all(self) -> list[str]:
        """In the order of deletion: contents before the manifests that list them, so that an interrupted clean-up can be repeated."""
        groups = (self.content.all(), self.manifests, self.manifest_lists, self.statistics)
        return [path for group in groups for path in sorted(group)]

    def counts(self) -> tuple[int, int, int, int, int, int]:
        """Numbers of data files, position delete files, equality delete files, manifests, manifest lists and statistics files."""
        kinds = (self.content.data, self.content.position_deletes, self.content.equality_deletes)
        return (*map(len, kinds), len(self.manifests), len(self.manifest_lists), len(self.statistics))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpirePlan:
    """The snapshots, refs and files that an expiry removes."""

    snapshots: tuple[ExpiredSnapshot, ...] = ()
    refs: tuple[str, ...] = ()
    spec_ids: tuple[int, ...] = ()
    schema_ids: tuple[int, ...] = ()
    files: ExpiredFiles = field(default_factory=ExpiredFiles)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireResult:
    """``failures``: (path, reason) of files that were not deleted, or lie outside the table's location. No snapshot refers to them."""

    version: TableVersion
    files: ExpiredFiles
    failures: tuple[tuple[str, str], ...] = ()


@checked
class ExpireSnapshots(MetadataChange):
    """Raises ValidationError at once where ``gc.enabled`` is false."""

    def __init__(self, operations: TableOperations, base: TableVersion | None = None, *, now_ms: int | None = None) -> None:
        self._operations = operations
        self._base = operations.load() if base is None else base
        _check_collects(self._base.metadata)
        self._now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
        self._ids: list[int] = []
        self._older_than_ms: int | None = None
        self._retain_last: int | None = None
        self._clean_files, self._clean_metadata = True, False
        self._delete: Delete = operations.io.delete_many
        self._before: TableMetadata | None = None

    # -- settings ------------------------------------------------------------------------------------------------
    def expire_snapshot_id(self, snapshot_id: int) -> ExpireSnapshots:
        """Expire this snapshot whatever its age; the head of a ref is refused."""
        self._ids.append(snapshot_id)
        return self

    def expire_older_than(self, timestamp_ms: int) -> ExpireSnapshots:
        """Replaces ``history.expire.max-snapshot-age-ms``; branches with a retention of their own keep it."""
        self._older_than_ms = timestamp_ms
        return self

    def retain_last(self, count: int) -> ExpireSnapshots:
        """Replaces ``history.expire.min-snapshots-to-keep``."""
        if count < 1:
            raise InvalidArgumentError(f"Number of snapshots to retain must be at least 1, cannot be: {count}", count=count)
        self._retain_last = count
        return self

    def clean_expired_files(self, clean: bool) -> ExpireSnapshots:
        """False: leave all files where they are."""
        self._clean_files = clean
        return self

    def clean_expired_metadata(self, clean: bool) -> ExpireSnapshots:
        """True: also drop schemas and specs that no snapshot uses any more."""
        self._clean_metadata = clean
        return self

    def delete_with(self, delete: Delete) -> ExpireSnapshots:
        """Delete files with this function in place of the table's FileIO; it returns those that it could not delete."""
        self._delete = delete
        return self

    # -- what goes -----------------------------------------------------------------------------------------------
    def plan(self) -> ExpirePlan:
        """What would be removed, on the version this began with. Reads manifests; changes nothing."""
        metadata = self._base.metadata
        expired, refs = self._expired(metadata)
        gone = frozenset(e.snapshot.snapshot_id for e in expired)
        kept = [s for s in metadata.snapshots if s.snapshot_id not in gone]
        spec_ids, schema_ids = self._unused(metadata, kept)
        files = expired_files(self._operations.io, metadata, gone) if self._clean_files else ExpiredFiles()
        return ExpirePlan(snapshots=expired, refs=refs, spec_ids=spec_ids, schema_ids=schema_ids, files=files)

    def _expired(self, metadata: TableMetadata) -> tuple[tuple[ExpiredSnapshot, ...], tuple[str, ...]]:
        policy = _Policy(metadata, self._now_ms, self._older_than_ms, self._retain_last)
        kept_refs = policy.kept_refs()
        heads: dict[int, list[str]] = {}
        for name, ref in kept_refs.items():
            heads.setdefault(ref.snapshot_id, []).append(name)
        for snapshot_id in self._ids:
            if snapshot_id in heads:
                raise InvalidArgumentError(
                    f"Cannot expire {snapshot_id}. Still referenced by refs: [{', '.join(heads[snapshot_id])}]", snapshot_id=snapshot_id
                )
        asked = frozenset(self._ids)
        retained = policy.retained(kept_refs)
        expired = tuple(
            ExpiredSnapshot(s, "asked for" if s.snapshot_id in asked else policy.reason(s, kept_refs))
            for s in metadata.snapshots
            if s.snapshot_id in asked or s.snapshot_id not in retained
        )
        return expired, tuple(name for name in metadata.refs if name not in kept_refs)

    def _unused(self, metadata: TableMetadata, kept: list[Snapshot]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if not self._clean_metadata:
            return (), ()
        specs, schemas = {metadata.default_spec_id}, {metadata.current_schema_id}
        schemas.update(s.schema_id for s in kept if s.schema_id is not None)
        specs.update(m.partition_spec_id for m in manifests_by_path(self._operations.io, kept).values())
        return (
            tuple(s.spec_id for s in metadata.partition_specs if s.spec_id not in specs),
            tuple(s.schema_id for s in metadata.schemas if s.schema_id not in schemas),
        )

    # -- Change --------------------------------------------------------------------------------------------------
    def apply(self, metadata: TableMetadata) -> ChangeSet:
        """Raises InvalidArgumentError if a snapshot asked for is the head of a ref, ValidationError where ``gc.enabled`` is now false."""
        _check_collects(metadata)
        self._before = metadata
        expired, refs = self._expired(metadata)
        ids = tuple(e.snapshot.snapshot_id for e in expired)
        updates: list[u.Update] = [u.RemoveSnapshotRef(name) for name in refs]
        if ids:
            updates.append(u.RemoveSnapshots(ids))
        gone = frozenset(ids)
        spec_ids, schema_ids = self._unused(metadata, [s for s in metadata.snapshots if s.snapshot_id not in gone])
        if spec_ids:
            updates.append(u.RemovePartitionSpecs(spec_ids))
        if schema_ids:
            updates.append(u.RemoveSchemas(schema_ids))
        return ChangeSet(tuple(updates), requirements_for(metadata, updates) if updates else ())

    def commit(self) -> ExpireResult:
        """Commit, then delete what is no longer reached. Raises as ``icesql.table.commit.commit``, having deleted nothing, and
        UnsupportedError in a transaction, whose outcome is not known yet when files would have to be deleted."""
        if self._clean_files and stage_of(self._operations) is not None:
            raise UnsupportedError("Cannot expire snapshots in a transaction: files could not be brought back by a rollback")
        version = commit(self._operations, [self], base=self._base)
        before = self._before
        if before is None or not self._clean_files:
            return ExpireResult(version=version, files=ExpiredFiles())
        gone = frozenset(before.snapshots_by_id.keys() - version.metadata.snapshots_by_id.keys())
        files = expired_files(self._operations.io, before, gone, version.metadata)
        paths = files.all()
        failures = removal_gate(self._operations, version.metadata).remove(paths, self._delete)
        return ExpireResult(version=version, files=files, failures=tuple(failures))


def _check_collects(metadata: TableMetadata) -> None:
    if metadata.properties.get(GC_ENABLED, "true").lower() == "false":
        raise ValidationError("Cannot expire snapshots: GC is disabled (deleting files may corrupt other tables)")


class _Policy:
    """Retention for one version of a table at one time."""

    def __init__(self, metadata: TableMetadata, now_ms: int, older_than_ms: int | None, retain_last: int | None) -> None:
        properties = metadata.properties
        self._metadata, self._now_ms = metadata, now_ms
        max_age_ms = property_as_int(properties, MAX_SNAPSHOT_AGE_MS)
        self.older_than_ms = now_ms - max_age_ms if older_than_ms is None else older_than_ms
        self._min_count = property_as_int(properties, MIN_SNAPSHOTS_TO_KEEP) if retain_last is None else retain_last
        self._max_ref_age_ms = property_as_int(properties, MAX_REF_AGE_MS)

    def kept_refs(self) -> dict[str, SnapshotRef]:
        return {name: ref for name, ref in self._metadata.refs.items() if name == MAIN or self._is_young(ref)}

    def _is_young(self, ref: SnapshotRef) -> bool:
        snapshot = self._metadata.snapshots_by_id.get(ref.snapshot_id)
        if snapshot is None:  # dangling: nothing can be read through it
            return False
        max_age_ms = self._max_ref_age_ms if ref.max_ref_age_ms is None else ref.max_ref_age_ms
        return self._now_ms - snapshot.timestamp_ms <= max_age_ms

    def retained(self, refs: dict[str, SnapshotRef]) -> set[int]:
        """Ids to keep: heads of refs, the snapshots branches retain, and young snapshots that no ref reaches (staged ones)."""
        kept = {ref.snapshot_id for ref in refs.values()}
        reached = set(kept)
        for ref in refs.values():
            if ref.is_branch:
                kept |= self._kept_of(ref)
                reached.update(s.snapshot_id for s in self._metadata.ancestors(ref.snapshot_id))
        kept.update(
            s.snapshot_id for s in self._metadata.snapshots if s.snapshot_id not in reached and s.timestamp_ms >= self.older_than_ms
        )
        return kept

    def _kept_of(self, ref: SnapshotRef) -> set[int]:
        older_than_ms = self.older_than_ms if ref.max_snapshot_age_ms is None else self._now_ms - ref.max_snapshot_age_ms
        min_count = self._min_count if ref.min_snapshots_to_keep is None else ref.min_snapshots_to_keep
        kept: set[int] = set()
        for snapshot in self._metadata.ancestors(ref.snapshot_id):
            if len(kept) >= min_count and snapshot.timestamp_ms < older_than_ms:
                break
            kept.add(snapshot.snapshot_id)
        return kept

    def reason(self, snapshot: Snapshot, refs: dict[str, SnapshotRef]) -> str:
        if snapshot.timestamp_ms >= self.older_than_ms:
            return "of a removed ref, or past the retention of its branch"
        return "past retention"


def expired_files(io: FileIO, before: TableMetadata, gone: frozenset[int], after: TableMetadata | None = None) -> ExpiredFiles:
    """Files that only the snapshots ``gone`` of ``before`` reach, looked up against ``after`` (default: ``before`` without them)."""
    expired = [s for s in before.snapshots if s.snapshot_id in gone]
    kept = [s for s in (before if after is None else after).snapshots if s.snapshot_id not in gone]
    after_paths = [path for i, path in statistics_by_snapshot(before if after is None else after) if i not in gone]
    statistics = statistics_paths(before) - frozenset(after_paths)
    if not expired:
        return ExpiredFiles(statistics=statistics)
    repeated = RepeatedManifests()
    dropped, held = manifests_by_path(io, expired, repeated), manifests_by_path(io, kept, repeated)
    unused = [manifest for path, manifest in dropped.items() if path not in held]
    specs = {**before.specs_by_id, **({} if after is None else after.specs_by_id)}
    candidates = content_files(io, unused, specs)
    content = candidates - content_files(io, held.values(), specs) if candidates else candidates
    return ExpiredFiles(
        content=content,
        manifests=frozenset(manifest.manifest_path for manifest in unused),
        manifest_lists=manifest_lists(expired) - manifest_lists(kept),
        statistics=statistics,
    )
