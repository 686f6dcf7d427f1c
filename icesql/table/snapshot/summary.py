"""The summary of a snapshot: what it added and removed, totals, and what changed in which partition. Keys are the reference's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from icesql.errors import InvalidArgumentError
from icesql.spec.files import DataFile, FileContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import partition_key
from icesql.spec.paths import partition_path
from icesql.spec.properties import WRITE_PARTITION_SUMMARY_LIMIT, property_as_int
from icesql.spec.snapshots import Snapshot
from icesql.table.manifests.access import schema_for_spec

_TOTALS = (
    ("total-records", "added-records", "deleted-records"),
    ("total-files-size", "added-files-size", "removed-files-size"),
    ("total-data-files", "added-data-files", "deleted-data-files"),
    ("total-delete-files", "added-delete-files", "removed-delete-files"),
    ("total-position-deletes", "added-position-deletes", "removed-position-deletes"),
    ("total-equality-deletes", "added-equality-deletes", "removed-equality-deletes"),
)


_ORDER = (  # the reference's, which shows in the text of partition summaries
    "added-data-files",
    "deleted-data-files",
    "added-equality-delete-files",
    "removed-equality-delete-files",
    "added-position-delete-files",
    "removed-position-delete-files",
    "added-delete-files",
    "removed-delete-files",
    "added-dvs",
    "removed-dvs",
    "added-records",
    "deleted-records",
    "added-files-size",
    "removed-files-size",
    "added-position-deletes",
    "removed-position-deletes",
    "added-equality-deletes",
    "removed-equality-deletes",
)


@dataclass(slots=True)
class UpdateMetrics:
    """Counts of one snapshot, or of one partition in it, by summary key."""

    counts: dict[str, int] = field(default_factory=dict)

    def _add(self, key: str, amount: int) -> None:
        self.counts[key] = self.counts.get(key, 0) + amount

    def added(self, file: DataFile) -> None:
        self._add("added-files-size", _size(file))
        if file.content is FileContent.DATA:
            self._add("added-data-files", 1)
            self._add("added-records", file.record_count)
            return
        self._add("added-delete-files", 1)
        self._deletes("added", "added", file)

    def removed(self, file: DataFile) -> None:
        self._add("removed-files-size", _size(file))
        if file.content is FileContent.DATA:
            self._add("deleted-data-files", 1)
            self._add("deleted-records", file.record_count)
            return
        self._add("removed-delete-files", 1)
        self._deletes("removed", "removed", file)

    def _deletes(self, files_prefix: str, rows_prefix: str, file: DataFile) -> None:
        if file.content is FileContent.EQUALITY_DELETES:
            self._add(f"{files_prefix}-equality-delete-files", 1)
            self._add(f"{rows_prefix}-equality-deletes", file.record_count)
            return
        self._add(f"{files_prefix}-dvs" if file.is_deletion_vector else f"{files_prefix}-position-delete-files", 1)
        self._add(f"{rows_prefix}-position-deletes", file.record_count)

    def as_text(self) -> dict[str, str]:
        """The counts above zero, as text."""
        return {key: str(self.counts[key]) for key in _ORDER if self.counts.get(key, 0) > 0}


def _size(file: DataFile) -> int:
    """The size that is counted: of a deletion vector its own blob, since one Puffin file holds many."""
    if file.is_deletion_vector and file.content_size_in_bytes is not None:
        return file.content_size_in_bytes
    return file.file_size_in_bytes


class SummaryBuilder:
    """Collects the files of a snapshot. Unless ``trusted``, the summary leaves partitions out."""

    def __init__(self, metadata: TableMetadata, *, trusted: bool = True) -> None:
        self._metadata, self._trusted = metadata, trusted
        self._metrics = UpdateMetrics()
        self._partitions: dict[str, UpdateMetrics] = {}
        self._paths: dict[tuple[int, tuple[object, ...]], str] = {}
        self._properties: dict[str, str] = {}
        self.duplicate_deletes = 0

    def set(self, key: str, value: object) -> None:
        self._properties[key] = str(value)

    def update(self, properties: Mapping[str, str]) -> None:
        self._properties.update(properties)

    def add_files(self, files: Iterable[DataFile]) -> None:
        for file in files:
            self._metrics.added(file)
            self._partition(file).added(file)

    def remove_files(self, files: Iterable[DataFile]) -> None:
        for file in files:
            self._metrics.removed(file)
            self._partition(file).removed(file)

    def _partition(self, file: DataFile) -> UpdateMetrics:
        key = (file.spec_id, partition_key(file.partition) if 0.0 in file.partition else file.partition)  # -0.0 is a partition too
        path = self._paths.get(key)
        if path is None:
            spec = self._metadata.specs_by_id[file.spec_id]
            path = self._paths[key] = partition_path(spec, schema_for_spec(self._metadata, spec), file.partition) if spec.fields else ""
        metrics = self._partitions.get(path)
        if metrics is None:
            metrics = self._partitions[path] = UpdateMetrics()
        return metrics

    def count(self, key: str) -> int:
        return self._metrics.counts.get(key, 0)

    def build(self) -> dict[str, str]:
        """Raises InvalidArgumentError for a given property that is one of the counts."""
        counts = self._metrics.as_text()
        for key in counts.keys() & self._properties.keys():
            raise _given_twice(key, counts[key], self._properties[key])
        summary = {**self._properties, **counts}
        if self.duplicate_deletes:
            summary["deleted-duplicate-files"] = str(self.duplicate_deletes)
        if not self._trusted:
            return summary
        summary["changed-partition-count"] = str(len(self._partitions))
        limit = property_as_int(self._metadata.properties, WRITE_PARTITION_SUMMARY_LIMIT)
        if self._partitions and len(self._partitions) <= limit:
            summary["partition-summaries-included"] = "true"
            for path, metrics in self._partitions.items():
                summary[f"partitions.{path}"] = ",".join(f"{key}={value}" for key, value in metrics.as_text().items())
        return summary


def with_totals(summary: Mapping[str, str], previous: Snapshot | None) -> dict[str, str]:
    """The summary with totals carried on from the parent; a total the parent does not state is left out.

    Raises InvalidArgumentError for a total that is in the summary already: whoever writes a snapshot cannot state it.
    """
    result = dict(summary)
    for total_key, added_key, removed_key in _TOTALS:
        before = "0" if previous is None else previous.summary.get(total_key)
        total = _total(before, result.get(added_key), result.get(removed_key))
        if total is not None and total_key in summary:
            raise _given_twice(total_key, str(total), summary[total_key])
        if total is not None:
            result[total_key] = str(total)
    return result


def _given_twice(key: str, counted: str, given: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Multiple entries with same key: {key}={counted} and {key}={given}", key=key)


def _total(before: str | None, added: str | None, removed: str | None) -> int | None:
    if before is None:
        return None
    try:
        total = int(before) + int(added or 0) - int(removed or 0)
    except ValueError:
        return None
    return total if total >= 0 else None


def manifest_counts(manifests: Iterable[ManifestFile], snapshot_id: int, replaced: int) -> dict[str, str]:
    """``manifests-created``, ``-kept`` and ``-replaced`` of a snapshot's manifests."""
    created = kept = 0
    for manifest in manifests:
        if manifest.added_snapshot_id == snapshot_id:
            created += 1
        else:
            kept += 1
    return {"manifests-created": str(created), "manifests-kept": str(kept), "manifests-replaced": str(replaced)}
