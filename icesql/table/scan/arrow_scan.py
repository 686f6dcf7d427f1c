"""Reading a scan without Spark: data files as Arrow batches, deletes applied, residual filters tested.

Spec: "Row-level Deletes", "Column Projection".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from icesql.expr.rewrite import referenced_ids
from icesql.expr.tree import TRUE
from icesql.io.arrow.filter import row_mask
from icesql.io.arrow.types import constant_array, to_arrow_schema
from icesql.io.data.files import read_data_file
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import DELETED, PARTITION_ID, POS
from icesql.spec.name_mapping import NameMapping, name_mapping_from_json
from icesql.spec.properties import DEFAULT_NAME_MAPPING
from icesql.spec.schema import Schema
from icesql.table.manifests.access import spec_of
from icesql.table.metadata.partition_types import coercion, union_partition_type
from icesql.table.scan.delete_reader import DeleteReader
from icesql.table.scan.narrowing import narrow_table
from icesql.table.scan.projection_schema import with_columns
from icesql.table.scan.tasks import FileScanTask

if TYPE_CHECKING:
    from icesql.table.scan.table_scan import TableScan

_WORKERS = min(4, os.cpu_count() or 1)
_MADE_HERE = frozenset({DELETED.id, PARTITION_ID})


def scan_to_arrow(scan: TableScan) -> pa.Table:
    """All rows of a scan, in manifest and file order, in the columns of ``scan.schema`` (with field ids in their metadata)."""
    schema = to_arrow_schema(scan.schema)
    if scan.limit is not None:
        return pa.Table.from_batches(scan_to_batches(scan), schema)
    reader, tasks = TaskReader.of(scan), list(scan.plan_files().tasks)
    if len(tasks) < 2:
        return pa.Table.from_batches([batch for task in tasks for batch in reader.batches(task)], schema)
    with ThreadPoolExecutor(min(_WORKERS, len(tasks)), "icesql-read") as pool:
        tables = list(pool.map(reader.table, tasks))
    return pa.concat_tables([schema.empty_table(), *tables])


def scan_to_batches(scan: TableScan) -> Iterator[pa.RecordBatch]:
    """As ``scan_to_arrow``, one batch at a time; files are read when their batches are asked for."""
    reader = TaskReader.of(scan)
    if scan.limit is not None and scan.limit <= 0:
        return
    left = scan.limit
    for task in scan.plan_files().tasks:
        for batch in reader.batches(task):
            yield batch if left is None else batch.slice(0, left)
            if left is not None and (left := left - batch.num_rows) <= 0:
                return


def scan_to_reader(scan: TableScan) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(to_arrow_schema(scan.schema), scan_to_batches(scan))


class TaskReader:
    """Reads tasks of one scan; delete files that several tasks share are read once. Thread safe."""

    def __init__(self, io: FileIO, metadata: TableMetadata, table_schema: Schema, wanted: Schema) -> None:
        """``wanted``: the columns to return, of ``table_schema`` or metadata columns."""
        self.io, self.metadata, self.table_schema, self.wanted = io, metadata, table_schema, wanted
        self._deletes = DeleteReader(io, metadata)
        self._mapping = name_mapping(metadata.properties)
        self._union = union_partition_type(metadata)
        self._with_deleted_rows = DELETED.id in {field.id for field in wanted.fields}

    @classmethod
    def of(cls, scan: TableScan) -> TaskReader:
        return cls(scan.io, scan.metadata, scan.table_schema, scan.schema)

    def table(self, task: FileScanTask) -> pa.Table:
        return pa.Table.from_batches(list(self.batches(task)), to_arrow_schema(self.wanted))

    def batches(self, task: FileScanTask, *, only_hit_by: Sequence[DataFile] | None = None) -> Iterator[pa.RecordBatch]:
        """The task's rows that are not deleted and pass its residual; with ``_deleted`` asked for, deleted ones too.

        ``only_hit_by``: of those, only rows that one of these delete files deletes.
        """
        deleted = self._deletes.for_task(task)
        hits = None if only_hit_by is None else self._deletes.for_task(replace(task, delete_files=tuple(only_hit_by)))
        ids = deleted.equality_ids | (frozenset() if hits is None else hits.equality_ids)
        needs_positions = deleted.positions is not None or (hits is not None and hits.positions is not None)
        read = self._read_schema(task, ids, needs_positions=needs_positions)
        batches = read_data_file(
            self.io, task.data_file, read, name_mapping=self._mapping, filter=None if task.residual == TRUE else task.residual,
            constants=self.constants(task), data_sequence_number=task.data_sequence_number,
        )  # fmt: skip
        for batch in batches:
            gone = deleted.mask(batch, read)
            if hits is not None:
                missed = hits.misses(batch, read)
                gone = missed if gone is None else gone | missed
            yield from self._finished(task, batch, read, gone)

    def _read_schema(self, task: FileScanTask, equality_ids: frozenset[int], *, needs_positions: bool) -> Schema:
        read = Schema(tuple(field for field in self.wanted.fields if field.id not in _MADE_HERE), self.wanted.schema_id)
        read = with_columns(read, sorted(referenced_ids(task.residual)), self.table_schema)
        read = with_columns(read, sorted(equality_ids), self._deletes.every_column)
        if (needs_positions or not read.fields) and POS.id not in {field.id for field in read.fields}:
            read = Schema((*read.fields, POS), read.schema_id)
        return read

    def _finished(
        self, task: FileScanTask, batch: pa.RecordBatch, read: Schema, gone: np.ndarray[Any, Any] | None
    ) -> Iterator[pa.RecordBatch]:
        keep = None if gone is None or self._with_deleted_rows else ~gone
        if task.residual != TRUE:
            passes = np.asarray(row_mask(batch, read, task.residual).to_numpy(zero_copy_only=False), bool)
            keep = passes if keep is None else keep & passes
        if keep is not None:
            if not keep.any():
                return
            mask = pa.array(keep)
            batch, gone = batch.filter(mask), None if gone is None else gone[keep]
        if batch.num_rows:
            yield self._in_order(task, batch, read, gone)

    def _in_order(self, task: FileScanTask, batch: pa.RecordBatch, read: Schema, gone: np.ndarray[Any, Any] | None) -> pa.RecordBatch:
        """The wanted columns in their order, constants and computed ones added."""
        plain = Schema(tuple(field for field in self.wanted.fields if field.id not in _MADE_HERE))
        narrowed = narrow_table(pa.Table.from_batches([batch]), read, plain, with_ids=True).combine_chunks() if plain.fields else None
        columns = {} if narrowed is None else {field.id: narrowed.column(place) for place, field in enumerate(plain.fields)}
        arrays = []
        for field in self.wanted.fields:
            if field.id == DELETED.id:
                arrays.append(pa.array(np.zeros(batch.num_rows, bool) if gone is None else gone))
            elif field.id == PARTITION_ID:
                arrays.append(constant_array(field.type, self._partition(task), batch.num_rows))
            else:
                column = columns[field.id]
                arrays.append(column.chunk(0) if column.num_chunks == 1 else column.combine_chunks())
        return pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(self.wanted))

    def _partition(self, task: FileScanTask) -> tuple[object, ...] | None:
        if not self._union.fields:
            return None
        return coercion(spec_of(self.metadata, task.data_file.spec_id), self._union)(task.data_file.partition)

    def constants(self, task: FileScanTask) -> dict[int, object]:
        """Values of identity partition columns, for files that do not hold them."""
        spec = spec_of(self.metadata, task.data_file.spec_id)
        return {
            field.source_id: value
            for field, value in zip(spec.fields, task.data_file.partition, strict=False)
            if field.transform.is_identity
        }


def name_mapping(properties: Mapping[str, str]) -> NameMapping | None:
    """``schema.name-mapping.default``, for files without field ids."""
    text = properties.get(DEFAULT_NAME_MAPPING)
    return None if text is None else name_mapping_from_json(text)
