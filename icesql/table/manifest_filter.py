"""Removing files from existing manifests: by file, by partition, by row filter, and delete files that no longer apply to anything.

Only manifests that may hold such a file are opened, and only those that do are rewritten. Spec: "Manifest Entry Fields", "Scan Planning".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from icesql.errors import ValidationError
from icesql.expr.describe import describe
from icesql.expr.manifests import manifest_evaluator
from icesql.expr.metrics import inclusive_metrics, strict_metrics
from icesql.expr.residuals import residual_function
from icesql.expr.tree import FALSE, AlwaysFalse, AlwaysTrue, Expression
from icesql.io.files import FileIO
from icesql.spec.files import DataFile, EntryStatus, FieldSummary, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.paths import partition_path
from icesql.spec.types import NestedField
from icesql.spec.values import from_bytes
from icesql.table.manifest_access import live_entries, schema_for_spec, spec_of
from icesql.table.manifest_factory import ManifestFactory

FileKey = tuple[str, int | None]
PartitionKey = tuple[int, tuple[object, ...]]
FileTest = Callable[[DataFile], bool]

PATH_ONLY_SPEC_ID = -1  # a DataFile known by its path alone: no manifest can be passed over for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    """What goes. Delete manifests also lose deletes older than ``min_sequence_number`` and deletion vectors of ``dangling`` data files."""

    files: Mapping[FileKey, DataFile] = field(default_factory=dict)
    partitions: frozenset[PartitionKey] = frozenset()
    row_filter: Expression = FALSE
    case_sensitive: bool = True
    fail_any_delete: bool = False
    min_sequence_number: int = 0
    dangling: frozenset[str] = frozenset()
    dangling_partitions: frozenset[PartitionKey] = frozenset()

    @property
    def is_empty(self) -> bool:
        return not (self.files or self.partitions or self.min_sequence_number or self.dangling) and isinstance(self.row_filter, AlwaysFalse)


@dataclass(slots=True)
class Filtered:
    """Manifests after the removals, in order, and the files that went. ``replaced`` manifests were rewritten."""

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
            if rewritten.manifest is not manifest:
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
        entries = live_entries(self._io, manifest, metadata.specs_by_id)
        goes = _EntryTest(metadata, manifest.partition_spec_id, removals, self._content)
        gone = [goes(entry) for entry in entries]
        if not any(gone):
            return _Rewritten(manifest, ())
        snapshot_id = self._factory.snapshot_id
        writer = self._factory.writer(metadata, manifest.partition_spec_id, self._content)
        removed = []
        for entry, is_gone in zip(entries, gone, strict=True):
            if is_gone:
                writer.add(replace(entry, status=EntryStatus.DELETED, snapshot_id=snapshot_id))
                removed.append(entry.data_file)
            else:
                writer.add(replace(entry, status=EntryStatus.EXISTING))
        return _Rewritten(writer.close(), tuple(removed))


class _EntryTest:
    """Whether an entry of one spec goes."""

    def __init__(self, metadata: TableMetadata, spec_id: int, removals: Removals, content: ManifestContent) -> None:
        self._removals, self._metadata = removals, metadata
        self._spec = spec_of(metadata, spec_id)
        self._is_deletes = content is ManifestContent.DELETES
        self._residual: Callable[[Sequence[Any]], Expression] | None = None
        self._tests: dict[Expression, tuple[FileTest, FileTest]] = {}
        if not isinstance(removals.row_filter, AlwaysFalse):
            self._residual = residual_function(
                self._spec, metadata.schema, removals.row_filter, case_sensitive=removals.case_sensitive
            )

    def __call__(self, entry: ManifestEntry) -> bool:
        goes = self._is_listed(entry) or self._matches_filter(entry.data_file)
        if goes and self._removals.fail_any_delete:
            path = self._path(entry.data_file)
            raise ValidationError(f"Cannot commit file that conflicts with existing partition: {path}", partition=path)
        return goes

    def _path(self, file: DataFile) -> str:
        return partition_path(self._spec, schema_for_spec(self._metadata, self._spec), file.partition)

    def _is_listed(self, entry: ManifestEntry) -> bool:
        removals, file = self._removals, entry.data_file
        if file.key in removals.files or (file.spec_id, file.partition) in removals.partitions:
            return True
        if not self._is_deletes:
            return False
        sequence_number = entry.sequence_number or 0
        return 0 < sequence_number < removals.min_sequence_number or (
            file.is_deletion_vector and file.referenced_data_file in removals.dangling
        )

    def _matches_filter(self, file: DataFile) -> bool:
        if self._residual is None:
            return False
        residual = self._residual(file.partition)
        if isinstance(residual, AlwaysFalse):
            return False
        if isinstance(residual, AlwaysTrue):
            return True
        might_match, must_match = self._metrics_tests(residual)
        if not might_match(file):
            return False
        if must_match(file):
            return True
        if self._is_deletes:  # rows of a delete file that stays do no harm
            return False
        shown = describe(self._removals.row_filter)
        raise ValidationError(
            f"Cannot delete file where some, but not all, rows match filter {shown}: {file.file_path}", file_path=file.file_path
        )

    def _metrics_tests(self, residual: Expression) -> tuple[FileTest, FileTest]:
        tests = self._tests.get(residual)
        if tests is None:
            schema = self._metadata.schema
            tests = self._tests[residual] = (inclusive_metrics(schema, residual), strict_metrics(schema, residual))
        return tests


class _Pruning:
    """Whether a manifest may hold a file that goes, by the manifest list alone."""

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
