"""Removing files from existing manifests: by file, by partition, by row filter, and delete files that no longer apply to anything.

Only manifests that may hold such a file are opened, and only those that do are rewritten. Spec: "Manifest Entry Fields", "Scan Planning".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from icesql.expr.manifests import manifest_evaluator
from icesql.expr.tree import AlwaysFalse
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.entries import RawEntry
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, EntryStatus, FieldSummary, ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.types import NestedField
from icesql.spec.values.binary import from_bytes
from icesql.table.manifests.access import schema_for_spec, spec_of
from icesql.table.manifests.factory import ManifestFactory
from icesql.table.manifests.removal_rows import FileKey, Removals, RowRemoval

PATH_ONLY_SPEC_ID = -1  # a DataFile known by its path alone: no manifest can be passed over for it


@dataclass(slots=True)
class Filtered:
    """Manifests after the removals, in order, and the removed files. ``replaced``: the manifests that were rewritten."""

    manifests: list[ManifestFile] = field(default_factory=list)
    removed: list[DataFile] = field(default_factory=list)
    duplicates: int = 0
    replaced: int = 0

    def removed_keys(self) -> set[FileKey]:
        return {file.key for file in self.removed}


@dataclass(frozen=True, slots=True)
class _Rewritten:
    manifest: ManifestFile
    removed: tuple[DataFile, ...]


class ManifestFilter:
    """Applies removals to the manifests of one content. Results are kept, so that a retry reads and writes only what is new."""

    def __init__(self, factory: ManifestFactory, content: ManifestContent) -> None:
        self._factory, self._content = factory, content
        self._done: dict[tuple[object, ...], _Rewritten] = {}
        self._removals: dict[tuple[int, int, int], RowRemoval] = {}

    @property
    def _io(self) -> FileIO:
        return self._factory.io

    def apply(self, metadata: TableMetadata, manifests: Sequence[ManifestFile], removals: Removals) -> Filtered:
        """Raises ValidationError where a file matches the row filter in part, or any file matches and ``fail_any_delete``."""
        result = Filtered()
        if removals.is_empty:
            result.manifests.extend(manifests)
            return result
        pruning = _Pruning(metadata, removals, self._content)
        seen: set[FileKey] = set()
        for manifest in manifests:
            rewritten = self._rewritten(metadata, manifest, removals, pruning)
            result.manifests.append(rewritten.manifest)
            if rewritten.manifest.manifest_path != manifest.manifest_path:
                result.replaced += 1
            for file in rewritten.removed:
                if file.key in seen:
                    result.duplicates += 1
                else:
                    seen.add(file.key)
                    result.removed.append(file)
        return result

    def _rewritten(self, metadata: TableMetadata, manifest: ManifestFile, removals: Removals, pruning: _Pruning) -> _Rewritten:
        key = (
            manifest.manifest_path, metadata.format_version, metadata.current_schema_id, removals.min_sequence_number, removals.dangling
        )  # fmt: skip
        known = self._done.get(key)
        if known is not None:
            return known
        result = _Rewritten(manifest, ())
        if manifest.has_live_files and pruning.may_hold(manifest):
            result = self._rewrite(metadata, manifest, removals)
        self._done[key] = result
        return result

    def _rewrite(self, metadata: TableMetadata, manifest: ManifestFile, removals: Removals) -> _Rewritten:
        spec = spec_of(metadata, manifest.partition_spec_id)
        removal = self._removal(metadata, spec.spec_id, removals)
        columns = read_manifest_columns(self._io, manifest, spec=spec, bounds_for=removal.wanted_fields)
        gone = removal.gone(columns)
        if not gone.any():
            return _Rewritten(manifest, ())
        partition = spec.partition_type(schema_for_spec(metadata, spec))

        def raw(rows: npt.NDArray[np.int64], status: EntryStatus) -> Iterator[RawEntry]:
            return iter(columns.raw_entries(rows.tolist(), format_version=metadata.format_version, partition=partition, status=status))

        live = np.flatnonzero(columns.live)
        kept, removed = raw(live[~gone[live]], EntryStatus.EXISTING), raw(live[gone[live]], EntryStatus.DELETED)
        writer = self._factory.writer(metadata, spec.spec_id, self._content)
        for is_gone in gone[live].tolist():
            writer.add_raw(replace(next(removed), snapshot_id=self._factory.snapshot_id) if is_gone else next(kept))
        return _Rewritten(writer.close(), tuple(columns.data_file(row) for row in np.flatnonzero(gone).tolist()))

    def _removal(self, metadata: TableMetadata, spec_id: int, removals: Removals) -> RowRemoval:
        key = (spec_id, metadata.current_schema_id, id(removals))
        if key not in self._removals:
            self._removals[key] = RowRemoval(metadata, spec_id, removals, self._content)
        return self._removals[key]


class _Pruning:
    """Whether a manifest may hold a file to remove, judged by its manifest list entry alone."""

    def __init__(self, metadata: TableMetadata, removals: Removals, content: ManifestContent) -> None:
        self._metadata, self._removals, self._content = metadata, removals, content
        self._by_filter: dict[int, Callable[[ManifestFile], bool]] = {}
        self._any_path = any(file.spec_id == PATH_ONLY_SPEC_ID for file in removals.files.values())
        partitions = {(file.spec_id, file.partition) for file in removals.files.values()} | removals.partitions
        if content is ManifestContent.DELETES:
            partitions |= removals.dangling_partitions
        self._partitions: dict[int, list[tuple[object, ...]]] = {}
        for spec_id, partition in partitions:
            self._partitions.setdefault(spec_id, []).append(partition)

    def may_hold(self, manifest: ManifestFile) -> bool:
        removals = self._removals
        if self._any_path or self._matches_filter(manifest):
            return True
        if self._content is ManifestContent.DELETES and manifest.min_sequence_number < removals.min_sequence_number:
            return True
        partitions = self._partitions.get(manifest.partition_spec_id)
        return bool(partitions) and may_contain_any(self._metadata, manifest, partitions or [])

    def _matches_filter(self, manifest: ManifestFile) -> bool:
        removals, spec_id = self._removals, manifest.partition_spec_id
        if isinstance(removals.row_filter, AlwaysFalse):
            return False
        test = self._by_filter.get(spec_id)
        if test is None:
            spec = spec_of(self._metadata, spec_id)
            test = manifest_evaluator(spec, self._metadata.schema, removals.row_filter, case_sensitive=removals.case_sensitive)
            self._by_filter[spec_id] = test
        return test(manifest)


def may_contain_any(metadata: TableMetadata, manifest: ManifestFile, partitions: Iterable[tuple[object, ...]]) -> bool:
    """False only if the manifest's partition summaries exclude every one of the partition tuples (of the manifest's spec)."""
    if manifest.partitions is None:
        return True
    spec = spec_of(metadata, manifest.partition_spec_id)
    fields = spec.partition_type(schema_for_spec(metadata, spec)).fields
    if not fields or len(fields) != len(manifest.partitions):
        return True
    ranges = [_range_test(column, summary) for column, summary in zip(fields, manifest.partitions, strict=True)]
    return any(
        len(partition) != len(ranges) or all(test(value) for test, value in zip(ranges, partition, strict=True)) for partition in partitions
    )


def _range_test(column: NestedField, summary: FieldSummary) -> Callable[[Any], bool]:
    lower = None if summary.lower_bound is None else from_bytes(column.type, summary.lower_bound)
    upper = None if summary.upper_bound is None else from_bytes(column.type, summary.upper_bound)

    def test(value: Any) -> bool:
        if value is None:
            return summary.contains_null
        if isinstance(value, float) and math.isnan(value):
            return summary.contains_nan is not False
        if lower is None or upper is None:
            return False
        low: Any = lower
        high: Any = upper
        return bool(low <= value <= high)

    return test
