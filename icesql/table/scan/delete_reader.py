"""Delete files read and applied to batches of a data file. Spec: "Row-level Deletes"."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icesql.errors import CorruptMetadataError
from icesql.io.arrow.filter import column_of
from icesql.io.deletes.equality_sets import EqualitySet
from icesql.io.deletes.files import read_equality_deletes
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import POS
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField
from icesql.table.scan.position_sets import deleted_positions
from icesql.table.scan.tasks import FileScanTask

if TYPE_CHECKING:
    from pyroaring import BitMap64

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EqualityDeletes:
    """Deleted rows of one set of columns."""

    ids: tuple[int, ...]
    rows: EqualitySet

    def mask(self, batch: pa.RecordBatch, schema: Schema) -> Mask:
        return self.rows.mask([column_of(batch, schema, field_id) for field_id in self.ids])


@dataclass(frozen=True, slots=True)
class TaskDeletes:
    """What is deleted from one data file."""

    positions: npt.NDArray[np.int64] | None
    equality: tuple[EqualityDeletes, ...]

    @property
    def equality_ids(self) -> frozenset[int]:
        return frozenset(i for deletes in self.equality for i in deletes.ids)

    def mask(self, batch: pa.RecordBatch, schema: Schema) -> Mask | None:
        """Which rows of a batch are deleted; ``None`` if none can be. Positions need ``_pos`` in ``schema``."""
        gone: Mask | None = None
        if self.positions is not None:
            place = next(i for i, field in enumerate(schema.fields) if field.id == POS.id)
            gone = np.isin(batch.column(place).to_numpy(), self.positions, assume_unique=True)
        for deletes in self.equality:
            hits = deletes.mask(batch, schema)
            gone = hits if gone is None else gone | hits
        return gone

    def misses(self, batch: pa.RecordBatch, schema: Schema) -> Mask:
        """Which rows of a batch are not deleted."""
        gone = self.mask(batch, schema)
        return np.ones(batch.num_rows, bool) if gone is None else ~gone


class DeleteReader:
    """Reads delete files once each, however many data files they apply to. Thread safe."""

    def __init__(self, io: FileIO, metadata: TableMetadata) -> None:
        self._io, self._metadata = io, metadata
        self._positions: dict[tuple[str, int | None], dict[str, BitMap64]] = {}
        self._equality: dict[tuple[str, ...], EqualityDeletes] = {}
        self._lock = threading.Lock()
        self.every_column = every_column(metadata)

    def for_task(self, task: FileScanTask) -> TaskDeletes:
        by_ids: dict[tuple[int, ...], list[DataFile]] = {}
        for file in task.delete_files:
            if file.content is FileContent.EQUALITY_DELETES:
                by_ids.setdefault(tuple(sorted(file.equality_ids)), []).append(file)
        equality = tuple(self._equality_of(ids, files) for ids, files in by_ids.items())
        return TaskDeletes(self._positions_of(task), equality)

    def _positions_of(self, task: FileScanTask) -> npt.NDArray[np.int64] | None:
        path = task.data_file.file_path
        merged: BitMap64 | None = None
        for file in task.delete_files:
            if file.content is FileContent.POSITION_DELETES:
                positions = self._read_positions(file).get(path)
                if positions is not None:
                    merged = positions if merged is None else merged | positions
        return np.array(merged, np.int64) if merged else None

    def _read_positions(self, file: DataFile) -> dict[str, BitMap64]:
        with self._lock:
            held = self._positions.get(file.key)
        if held is None:
            held = deleted_positions(self._io, file)
            with self._lock:
                self._positions[file.key] = held
        return held

    def _equality_of(self, ids: tuple[int, ...], files: Sequence[DataFile]) -> EqualityDeletes:
        key = tuple(sorted(file.file_path for file in files))
        with self._lock:
            held = self._equality.get(key)
        if held is None:
            held = self._read_equality(ids, files)
            with self._lock:
                self._equality[key] = held
        return held

    def _read_equality(self, ids: tuple[int, ...], files: Sequence[DataFile]) -> EqualityDeletes:
        columns = self.every_column.fields_by_id
        strays = [field_id for field_id in ids if field_id not in columns]
        if strays:
            where, why = files[0].file_path, f"field ids of no column: {strays}"
            raise CorruptMetadataError(f"Cannot read equality deletes {where}: {why}", location=where)
        fields = [columns[field_id] for field_id in ids]
        names = [field.name for field in fields]
        rows = pa.concat_tables([read_equality_deletes(self._io, file, self.every_column).select(names) for file in files])
        return EqualityDeletes(ids, EqualitySet([field.type for field in fields], rows.columns))


def every_column(metadata: TableMetadata) -> Schema:
    """The table's columns and all former ones, in their newest definition: delete files may compare dropped columns."""
    columns: dict[int, NestedField] = {}
    for schema in (*sorted(metadata.schemas, key=lambda s: s.schema_id), metadata.schema):
        for field in schema.fields:
            columns[field.id] = field
    return Schema(tuple(columns.values()))
