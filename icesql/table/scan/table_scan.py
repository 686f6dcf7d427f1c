"""A read of a table as a value: which snapshot, rows and columns. ``plan_files`` finds the files, ``to_arrow`` reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from icesql.expr.binding import bind
from icesql.expr.describe import describe
from icesql.expr.residuals import ResidualFunction, residual_function
from icesql.expr.tree import TRUE, Expression
from icesql.io.garbage import collector_paused
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.table.manifests.access import spec_of
from icesql.table.manifests.column_predicates import Rows
from icesql.table.manifests.partition_groups import grouped_tuples, partition_tuples
from icesql.table.scan.optional_modules import optional_module
from icesql.table.scan.planning import PlanContext, PlannedFiles, PlannedManifest, plan_snapshot
from icesql.table.scan.projection_schema import select_columns
from icesql.table.scan.report import ScanReport
from icesql.table.scan.snapshot_selection import Selected, select_snapshot
from icesql.table.scan.splits import plan_combined, split_options
from icesql.table.scan.tasks import CombinedScanTask, FileScanTask, PlannedFile

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow as pa


@dataclass(frozen=True)
class TableScan:
    """A scan of one version of a table; frozen, and cheap until planned.

    ``filter`` may be unbound. ``select``: column names (also dotted, also metadata columns), ``None`` for all. At most one of
    ``snapshot_id``, ``ref`` (branch or tag) and ``timestamp_ms`` is given. ``limit``: any that many rows are enough.
    ``options``: read options (``split-size``, ``lookback``, ``file-open-cost``).
    """

    io: FileIO
    metadata: TableMetadata
    filter: Expression = TRUE
    name: str = field(default="", kw_only=True)
    select: tuple[str, ...] | None = field(default=None, kw_only=True)
    snapshot_id: int | None = field(default=None, kw_only=True)
    ref: str | None = field(default=None, kw_only=True)
    timestamp_ms: int | None = field(default=None, kw_only=True)
    case_sensitive: bool = field(default=True, kw_only=True)
    limit: int | None = field(default=None, kw_only=True)
    options: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    def __repr__(self) -> str:
        asked = {
            "select": self.select,
            "snapshot_id": self.snapshot_id,
            "ref": self.ref,
            "timestamp_ms": self.timestamp_ms,
            "limit": self.limit,
        }
        parts = [self.name, *([] if self.filter == TRUE else [f"where={describe(self.filter)!r}"])]
        return f"TableScan({', '.join([*parts, *(f'{key}={value!r}' for key, value in asked.items() if value is not None)])})"

    @cached_property
    def selected(self) -> Selected:
        """Raises NotFoundError for an unknown snapshot, ref or time; InvalidArgumentError if several are given."""
        return select_snapshot(self.metadata, snapshot_id=self.snapshot_id, ref=self.ref, timestamp_ms=self.timestamp_ms)

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot to read, ``None`` for an empty table."""
        return self.selected.snapshot

    @property
    def table_schema(self) -> Schema:
        """All columns the scan could read: the table's schema for a branch, the snapshot's for an id, a tag and a time."""
        return self.selected.schema

    @cached_property
    def schema(self) -> Schema:
        """The columns the scan returns. Raises NotFoundError."""
        return select_columns(self.table_schema, self.select, self.metadata, case_sensitive=self.case_sensitive)

    @cached_property
    def bound_filter(self) -> Expression:
        """The filter over ``table_schema``. Raises NotFoundError, InvalidArgumentError."""
        return bind(self.table_schema, self.filter, case_sensitive=self.case_sensitive)

    @property
    def context(self) -> PlanContext:
        return PlanContext(
            metadata=self.metadata, io=self.io, schema=self.table_schema, filter=self.bound_filter, table_name=self.name, limit=self.limit
        )

    def plan_files(self) -> ScanPlan:
        """The files that may hold matching rows. Reads manifests (cached by path)."""
        return ScanPlan(self.context, plan_snapshot(self.context, self.snapshot))

    def plan_combined(self) -> list[CombinedScanTask]:
        """The files as tasks of about ``read.split.target-size`` bytes: large files cut at row groups, small ones together."""
        return plan_combined(self.plan_files().tasks, split_options(self.metadata.properties, self.options))

    def to_arrow(self) -> pa.Table:
        """The rows, deletes applied and filter tested, as a pyarrow table with ``schema``'s columns in order."""
        from icesql.table.scan.arrow_scan import scan_to_arrow

        return scan_to_arrow(self)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """As ``to_arrow``, one batch at a time: memory holds a batch and not the result. At most ``limit`` rows."""
        from icesql.table.scan.arrow_scan import scan_to_batches

        return scan_to_batches(self)

    def to_arrow_batches(self) -> Iterator[pa.RecordBatch]:
        """Another name of ``to_batches``."""
        return self.to_batches()

    def to_arrow_batch_reader(self) -> pa.RecordBatchReader:
        """``to_batches`` as Arrow's reader, which knows the schema."""
        from icesql.table.scan.arrow_scan import scan_to_reader

        return scan_to_reader(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows to whatever speaks Arrow's stream protocol: ``polars.DataFrame(scan)``, ``pyarrow.table(scan)``, ``append(scan)``."""
        return self.to_arrow_batch_reader().__arrow_c_stream__(requested_schema)

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """The rows as a pandas frame; ``options`` are those of pyarrow's ``Table.to_pandas``."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars frame. Raises UnsupportedError where polars is not installed."""
        return optional_module("polars", "to_polars").from_arrow(self.to_arrow())

    def to_duckdb(self, table_name: str, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection (this one, or a new one in memory) in which ``table_name`` is a view of the rows.

        Raises UnsupportedError where duckdb is not installed.
        """
        connected = optional_module("duckdb", "to_duckdb").connect() if connection is None else connection
        connected.register(table_name, self.to_arrow())
        return connected

    def count(self) -> int:
        """How many rows the scan returns, from metadata alone where that is exact."""
        from icesql.table.scan.aggregates import count_rows

        return count_rows(self)


class ScanPlan:
    """Files to read, in manifest order. Paths and sizes come from columns; a ``FileScanTask`` is made only when asked for."""

    def __init__(self, context: PlanContext, planned: PlannedFiles) -> None:
        self.context, self.manifests, self.deletes, self.report = context, planned.manifests, planned.deletes, planned.report
        self._residuals: dict[int, ResidualFunction] = {}

    report: ScanReport

    def __len__(self) -> int:
        return self.count

    @property
    def count(self) -> int:
        """The number of data files."""
        return sum(len(part.rows) for part in self.manifests)

    @cached_property
    def paths(self) -> list[str]:
        """Data file locations as the manifests write them."""
        return [path for part in self.manifests for path in part.columns.paths(part.rows)]

    @cached_property
    def sizes(self) -> list[int]:
        """Bytes of each file of ``paths``."""
        return [size for part in self.manifests for size in part.columns.file_size_in_bytes[part.rows].tolist()]

    @property
    def total_bytes(self) -> int:
        return self.report.bytes_planned

    @property
    def total_rows(self) -> int:
        """Rows in the data files, deleted ones too."""
        return self.report.rows_planned

    @cached_property
    def formats(self) -> frozenset[str]:
        """File formats among the planned files, lower case."""
        return frozenset((text or "").lower() for part in self.manifests for text in set(part.columns.file_format.texts(part.rows)))

    @property
    def has_deletes(self) -> bool:
        """True if some delete file applies to some planned file."""
        return any(self.delete_files)

    @cached_property
    def delete_files(self) -> list[tuple[DataFile, ...]]:
        """The delete files of each file of ``paths``."""
        if self.deletes.is_empty:
            return [()] * self.count
        return [deletes for part in self.manifests for deletes in self._deletes_of(part)]

    def _deletes_of(self, part: PlannedManifest) -> Iterator[tuple[DataFile, ...]]:
        return self._named_deletes(part) if self.deletes.names_every_file else self._matched_deletes(part)

    def _named_deletes(self, part: PlannedManifest) -> Iterator[tuple[DataFile, ...]]:
        named, numbers = self.deletes.named_files, part.columns.sequence_number[part.rows].tolist()
        for path, number in zip(part.columns.paths(part.rows), numbers, strict=True):
            yield tuple(self.deletes.candidates(path, 0, (), number)) if path in named else ()

    def _matched_deletes(self, part: PlannedManifest) -> Iterator[tuple[DataFile, ...]]:
        columns, spec_id = part.columns, part.columns.manifest.partition_spec_id
        numbers = columns.sequence_number[part.rows].tolist()
        partitions = partition_tuples(columns, part.rows)
        for row, path, partition, number in zip(part.rows.tolist(), columns.paths(part.rows), partitions, numbers, strict=True):
            candidates = self.deletes.candidates(path, spec_id, partition, number)
            if any(delete.equality_ids for delete in candidates):
                yield self.deletes.for_file(columns.data_file(row), number)
            else:
                yield tuple(candidates)

    def residual(self, spec_id: int, partition: Sequence[object]) -> Expression:
        """The part of the filter that rows of files in that partition must still be tested with, bound to the scan's schema."""
        if spec_id not in self._residuals:
            spec = spec_of(self.context.metadata, spec_id)
            self._residuals[spec_id] = residual_function(spec, self.context.schema, self.context.filter)
        return self._residuals[spec_id](partition)

    def each_file(self) -> Iterator[PlannedFile]:
        """The data files with their deletes, but without metrics and residuals: much cheaper than ``tasks``."""
        deletes = iter(self.delete_files)
        for part in self.manifests:
            yield from _planned_files(part, deletes)

    @cached_property
    def files(self) -> list[PlannedFile]:
        """All of ``each_file``."""
        with collector_paused():
            return list(self.each_file())

    @property
    def tasks(self) -> Iterator[FileScanTask]:
        """One task for each data file, made as it is asked for."""
        deletes = iter(self.delete_files)
        for part in self.manifests:
            for row in part.rows.tolist():
                yield self._task(part, row, next(deletes))

    def _task(self, part: PlannedManifest, row: int, deletes: tuple[DataFile, ...]) -> FileScanTask:
        columns = part.columns
        file, number, file_number = columns.data_file(row), int(columns.sequence_number[row]), int(columns.file_sequence_number[row])
        return FileScanTask(
            data_file=file,
            delete_files=deletes,
            residual=self.residual(file.spec_id, file.partition),
            spec_id=file.spec_id,
            data_sequence_number=max(number, 0),
            file_sequence_number=None if file_number < 0 else file_number,
        )

    @cached_property
    def is_exact(self) -> bool:
        """True if every row of every planned file is a result: no deletes apply and no residual is left."""
        return not self.has_deletes and all(isinstance(task_residual, type(TRUE)) for task_residual in self._distinct_residuals())

    def _distinct_residuals(self) -> Iterator[Expression]:
        if self.context.filter == TRUE:
            return
        for part in self.manifests:
            for partition in grouped_tuples(part.columns, part.rows)[1]:
                yield self.residual(part.columns.manifest.partition_spec_id, partition)

    def partitions(self) -> list[tuple[int, tuple[object, ...]]]:
        """(spec id, partition tuple) of each file of ``paths``."""
        return [
            (part.columns.manifest.partition_spec_id, partition)
            for part in self.manifests
            for partition in partition_tuples(part.columns, part.rows)
        ]


def _planned_files(part: PlannedManifest, deletes: Iterator[tuple[DataFile, ...]]) -> Iterator[PlannedFile]:
    columns, rows = part.columns, part.rows
    texts = columns.file_format.texts(rows)
    formats = {text: (text or "").lower() for text in set(texts)}
    values = zip(
        columns.paths(rows),
        [formats[text] for text in texts],
        columns.file_size_in_bytes[rows].tolist(),
        repeat(columns.manifest.partition_spec_id),
        partition_tuples(columns, rows),
        _or_none(columns.first_row_id[rows]),
        np.maximum(columns.sequence_number[rows], 0).tolist(),
        _or_none(columns.file_sequence_number[rows]),
        islice(deletes, len(rows)),
        strict=False,
    )
    return map(PlannedFile._make, values)


def _or_none(numbers: Rows) -> list[int | None]:
    """Numbers with ``None`` for -1."""
    values: list[int | None] = numbers.tolist()
    for place in np.flatnonzero(numbers < 0).tolist():
        values[place] = None
    return values
