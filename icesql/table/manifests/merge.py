"""Merges small manifests: per spec, in bins of the target size, packed from the oldest on; the newest bin only once it has enough
manifests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.entries import RawEntry
from icesql.spec.files import EntryStatus, ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import MANIFEST_MERGE_ENABLED, MANIFEST_MIN_MERGE_COUNT, property_as_bool, property_as_int
from icesql.table.manifests.access import schema_for_spec, spec_of
from icesql.table.manifests.factory import ManifestFactory, target_size_bytes


@dataclass(slots=True)
class Merged:
    manifests: list[ManifestFile] = field(default_factory=list)
    replaced: int = 0


class ManifestMerger:
    """Merges the manifests of one content. Merged manifests are kept, so that a retry merges only new bins."""

    def __init__(self, factory: ManifestFactory, content: ManifestContent) -> None:
        self._factory, self._content = factory, content
        self._done: dict[tuple[int, tuple[str, ...]], ManifestFile] = {}

    def apply(self, metadata: TableMetadata, manifests: Sequence[ManifestFile]) -> Merged:
        """``manifests`` newest first. Returns them, merged where the table's properties ask, highest spec id first.

        Raises ValidationError for a property that is no number.
        """
        result = Merged()
        min_count = property_as_int(metadata.properties, MANIFEST_MIN_MERGE_COUNT)  # a number even where nothing is merged
        size = target_size_bytes(metadata)
        if not manifests:
            return result
        if not property_as_bool(metadata.properties, MANIFEST_MERGE_ENABLED):
            result.manifests.extend(manifests)
            return result
        by_spec: dict[int, list[ManifestFile]] = {}
        for manifest in manifests:
            by_spec.setdefault(manifest.partition_spec_id, []).append(manifest)
        for spec_id in sorted(by_spec, reverse=True):
            for bin_ in pack_from_end(by_spec[spec_id], size):
                if len(bin_) == 1 or (any(m is manifests[0] for m in bin_) and len(bin_) < min_count):
                    result.manifests.extend(bin_)
                else:
                    result.manifests.append(self._merged(metadata, spec_id, bin_))
                    result.replaced += sum(1 for manifest in bin_ if manifest.added_snapshot_id != self._factory.snapshot_id)
        return result

    def _merged(self, metadata: TableMetadata, spec_id: int, bin_: list[ManifestFile]) -> ManifestFile:
        key = (metadata.format_version, tuple(manifest.manifest_path for manifest in bin_))
        known = self._done.get(key)
        if known is None:
            writer = self._factory.writer(metadata, spec_id, self._content)
            for manifest in bin_:
                for entry in carried_entries(self._factory, metadata, manifest):
                    writer.add_raw(entry)
            known = self._done[key] = writer.close()
        return known


def carried_entries(factory: ManifestFactory, metadata: TableMetadata, manifest: ManifestFile) -> Iterator[RawEntry]:
    """Entries as they stand in a manifest of this commit: its own adds and deletes stay, others' adds exist, others' deletes are dropped.

    Data files are copied as bytes where the format version stayed the same.
    """
    spec = spec_of(metadata, manifest.partition_spec_id)
    columns = read_manifest_columns(factory.io, manifest, spec=spec, use_cache=manifest.sequence_number >= 0)
    is_ours = columns.snapshot_id == factory.snapshot_id
    statuses = np.where(is_ours, columns.status, np.where(columns.live, EntryStatus.EXISTING, -1))
    partition = spec.partition_type(schema_for_spec(metadata, spec))
    runs = np.flatnonzero(np.diff(statuses, prepend=-2)).tolist()
    for start, end in zip(runs, [*runs[1:], len(statuses)], strict=True):
        if statuses[start] >= 0:
            status = EntryStatus(int(statuses[start]))
            yield from columns.raw_entries(range(start, end), format_version=metadata.format_version, partition=partition, status=status)


def pack_from_end(manifests: Sequence[ManifestFile], target_size: int) -> list[list[ManifestFile]]:
    """Bins in order, filled from the last manifest on, so that a short bin is the one with the newest manifests."""
    bins: list[list[ManifestFile]] = []
    current: list[ManifestFile] = []
    size = 0
    for manifest in reversed(manifests):
        if current and size + manifest.manifest_length > target_size:
            bins.append(current[::-1])
            current, size = [], 0
        current.append(manifest)
        size += manifest.manifest_length
    if current:
        bins.append(current[::-1])
    return bins[::-1]
