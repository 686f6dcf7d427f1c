"""Which rows (files) of a decoded manifest are removed: by file, by partition, by row filter, by age.

Works on whole columns; file objects are made only for the rows removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from icesql.errors import ValidationError
from icesql.expr.binding import bind
from icesql.expr.describe import describe
from icesql.expr.metrics import strict_metrics
from icesql.expr.residuals import residual_function
from icesql.expr.rewrite import referenced_ids
from icesql.expr.tree import FALSE, AlwaysFalse, AlwaysTrue, Expression
from icesql.io.manifests.columns import ManifestColumns
from icesql.spec.files import DataFile, FileContent, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.paths import partition_path
from icesql.table.manifests.access import schema_for_spec, spec_of
from icesql.table.manifests.column_predicates import metrics_mask

FileKey = tuple[str, int | None]
PartitionKey = tuple[int, tuple[object, ...]]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    """The files to remove. Delete manifests also lose deletes older than ``min_sequence_number`` and deletion vectors of ``dangling`` data
    files.
    """

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


class RowRemoval:
    """Applies the removals to manifests of one spec."""

    def __init__(self, metadata: TableMetadata, spec_id: int, removals: Removals, content: ManifestContent) -> None:
        self._metadata, self._removals = metadata, removals
        self._spec = spec_of(metadata, spec_id)
        self._is_deletes = content is ManifestContent.DELETES
        self._paths = frozenset(path for path, _ in removals.files)
        self._partitions = frozenset(partition for known_id, partition in removals.partitions if known_id == spec_id)
        self._residual: Callable[[Sequence[Any]], Expression] | None = None
        self.wanted_fields: frozenset[int] = frozenset()
        if not isinstance(removals.row_filter, AlwaysFalse):
            bound = bind(metadata.schema, removals.row_filter, case_sensitive=removals.case_sensitive)
            self._residual = residual_function(self._spec, metadata.schema, bound)
            self.wanted_fields = referenced_ids(bound)

    def gone(self, columns: ManifestColumns) -> Mask:
        """True for rows that go; never for rows deleted already. Raises ValidationError as the row filter or append-only demand."""
        removed = np.zeros(len(columns), bool)
        rows = np.flatnonzero(columns.live)
        for part in (self._listed, self._dropped, self._outdated, self._dangling, self._matching):
            hits = part(columns, rows)
            removed[hits] = True
        if self._removals.fail_any_delete and removed.any():
            path = self._path(columns.partition(int(np.flatnonzero(removed)[0])))
            raise ValidationError(f"Cannot commit file that conflicts with existing partition: {path}", partition=path)
        return removed

    def _path(self, partition: tuple[object, ...]) -> str:
        return partition_path(self._spec, schema_for_spec(self._metadata, self._spec), partition)

    # -- each returns the rows that go ---------------------------------------------------------------------------
    def _listed(self, columns: ManifestColumns, rows: Rows) -> list[int]:
        if not self._paths:
            return []
        paths = columns.paths(rows)
        hits = [row for row, path in zip(rows.tolist(), paths, strict=True) if path in self._paths]
        return [row for row in hits if columns.data_file(row).key in self._removals.files]

    def _dropped(self, columns: ManifestColumns, rows: Rows) -> list[int]:
        if not self._partitions:
            return []
        tuples = partition_tuples(columns, self._spec, rows)
        return [row for row, partition in zip(rows.tolist(), tuples, strict=True) if partition in self._partitions]

    def _outdated(self, columns: ManifestColumns, rows: Rows) -> Rows | list[int]:
        if not self._is_deletes or not self._removals.min_sequence_number:
            return []
        numbers = columns.sequence_number[rows]
        return rows[(numbers > 0) & (numbers < self._removals.min_sequence_number)]

    def _dangling(self, columns: ManifestColumns, rows: Rows) -> list[int]:
        if not self._is_deletes or not self._removals.dangling:
            return []
        of_vectors = rows[columns.content_offset[rows] >= 0]
        if not len(of_vectors):
            return []
        referenced = columns.referenced_data_file.texts(of_vectors)
        return [row for row, path in zip(of_vectors.tolist(), referenced, strict=True) if path in self._removals.dangling]

    def _matching(self, columns: ManifestColumns, rows: Rows) -> list[int]:
        if self._residual is None or not len(rows):
            return []
        by_residual: dict[Expression, list[int]] = {}
        residuals: dict[tuple[object, ...], Expression] = {}
        for row, partition in zip(rows.tolist(), partition_tuples(columns, self._spec, rows), strict=True):
            left = residuals.get(partition)
            if left is None:
                left = residuals[partition] = self._residual(partition)
            if not isinstance(left, AlwaysFalse):
                by_residual.setdefault(left, []).append(row)
        return [row for left, held in by_residual.items() for row in self._proven(columns, left, held)]

    def _proven(self, columns: ManifestColumns, residual: Expression, rows: list[int]) -> Iterator[int]:
        if isinstance(residual, AlwaysTrue):
            yield from rows
            return
        schema = self._metadata.schema
        candidates = np.asarray(rows, np.int64)
        candidates = candidates[metrics_mask(residual, schema, columns, candidates)]
        must_match = strict_metrics(schema, residual)
        for row in candidates.tolist():
            file = columns.data_file(row)
            if file.content is not FileContent.DATA:  # rows of a delete file that stays do no harm
                if must_match(file):
                    yield row
                continue
            if not must_match(file):
                raise ValidationError(
                    f"Cannot delete file where some, but not all, rows match filter {describe(self._removals.row_filter)}: "
                    f"{file.file_path}",
                    file_path=file.file_path,
                )
            yield row


def partition_tuples(columns: ManifestColumns, spec: PartitionSpec, rows: Rows) -> list[tuple[object, ...]]:
    """Partition tuples of the rows, in the order of the spec's fields."""
    if not spec.fields:
        return [()] * len(rows)
    held = []
    for field_ in spec.fields:
        column = columns.partition_columns[field_.field_id]
        values = column.values()[rows].tolist()
        valid = column.valid[rows]
        held.append(values if valid.all() else [v if ok else None for v, ok in zip(values, valid.tolist(), strict=True)])
    return list(zip(*held, strict=True))
