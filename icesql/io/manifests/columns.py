"""Manifests as columns, which planning works on. File objects are made row by row on request: ``data_file(i)`` decodes one record.

``icesql.io.manifests.column_reader`` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from icesql.errors import InvalidArgumentError
from icesql.io.avro.container import AvroRecords, corrupt, write_bytes
from icesql.io.avro.decode import DAMAGE, Names, compile_decoder, resolve
from icesql.io.avro.objects import record_decoder
from icesql.io.manifests.byte_columns import BytesColumn
from icesql.io.manifests.decode import data_file_of_record, partition_reader
from icesql.io.manifests.entries import RawEntry, entry_parts, partition_keys, wanted_partition
from icesql.io.manifests.partition_columns import PartitionColumn
from icesql.io.manifests.program import Column, Program
from icesql.io.manifests.raw import can_copy, raw_entries
from icesql.io.manifests.schemas import DATA_FILE_IDS
from icesql.spec.avro_schema import compatible_name
from icesql.spec.files import DataFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.types import StructType

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_DELETE_ENTRY_BYTES = 2048


@dataclass(frozen=True, eq=False)
class ManifestColumns:
    """The entries of one manifest, deleted ones too, in file order; ``len()`` rows. Inherited numbers and first row ids are filled in.

    Integer columns are int64 with -1 for null (``sort_order_id``, ``first_row_id``, ``content_offset``, ``content_size``, and numbers of a
    manifest that no list names yet). Metrics exist for ``wanted`` field ids only.
    """

    location: str
    manifest: ManifestFile
    spec: PartitionSpec | None
    wanted: tuple[int, ...]
    records: AvroRecords = field(repr=False)
    program: Program = field(repr=False)
    _ints: Ints = field(repr=False)
    _present: npt.NDArray[np.uint8] = field(repr=False)
    _offsets: Ints = field(repr=False)
    _lengths: npt.NDArray[np.int32] = field(repr=False)
    _marks: Ints = field(repr=False)
    _deletes: dict[int, ManifestEntry] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(self._marks.shape[1])

    @property
    def byte_size(self) -> int:
        """Bytes of the columns and of the delete files they may come to keep, without the shared buffer."""
        arrays = sum(a.nbytes for a in (self._ints, self._present, self._offsets, self._lengths, self._marks))
        return arrays + 4096 + (len(self) * _DELETE_ENTRY_BYTES if self.manifest.content is ManifestContent.DELETES else 0)

    # -- integer columns ---------------------------------------------------------------------------------------------
    def _column(self, column: Column, missing: int = -1) -> Ints:
        slot = self.program.ints.get(column)
        if slot is None:
            return np.full(len(self), missing, np.int64)
        values, present = self._ints[slot], self._present[slot]
        return values if present.all() else np.where(present != 0, values, missing)

    @cached_property
    def status(self) -> Ints:
        statuses = self._column(("entry", 0))
        if len(statuses) and (statuses.min() < 0 or statuses.max() > 2):
            raise corrupt(self.location, "entry with unknown status")
        return statuses

    @cached_property
    def live(self) -> Mask:
        """Rows that are not deleted."""
        return np.not_equal(self.status, EntryStatus.DELETED)

    @cached_property
    def snapshot_id(self) -> Ints:
        inherited = self.manifest.added_snapshot_id
        return self._column(("entry", 1), -1 if inherited is None else inherited)

    @cached_property
    def sequence_number(self) -> Ints:
        return self._inherited_number(3)

    @cached_property
    def file_sequence_number(self) -> Ints:
        return self._inherited_number(4)

    def _inherited_number(self, field_id: int) -> Ints:
        slot, inherited = self.program.ints.get(("entry", field_id)), self.manifest.sequence_number
        own = np.zeros(len(self), bool) if slot is None else self._present[slot] != 0
        if own.all() and slot is not None:
            numbers: Ints = self._ints[slot]
            return numbers
        values = np.full(len(self), -1, np.int64) if slot is None else np.where(own, self._ints[slot], -1)
        if inherited < 0:
            return values
        fills = ~own if inherited == 0 else ~own & (self.status == EntryStatus.ADDED)
        return np.where(fills, inherited, values)

    @cached_property
    def content(self) -> Ints:
        contents = self._column(("file", 134), 0)
        if len(contents) and (contents.min() < 0 or contents.max() > 2):
            raise corrupt(self.location, "entry with unknown content")
        return contents

    @cached_property
    def record_count(self) -> Ints:
        return self._column(("file", 103))

    @cached_property
    def file_size_in_bytes(self) -> Ints:
        return self._column(("file", 104))

    @cached_property
    def spec_id(self) -> Ints:
        return np.full(len(self), self.manifest.partition_spec_id, np.int64)

    @cached_property
    def sort_order_id(self) -> Ints:
        return self._column(("file", 140))

    @cached_property
    def own_first_row_id(self) -> Ints:
        """As written, before inheritance."""
        return self._column(("file", 142))

    @cached_property
    def first_row_id(self) -> Ints:
        first = self.manifest.first_row_id
        if first is None and self.manifest.sequence_number < 0:  # of a commit under way: as its existing entries carry them
            return self._column(("file", 142))
        if first is None or self.manifest.content is not ManifestContent.DATA:
            return np.full(len(self), -1, np.int64)
        own = self.own_first_row_id
        assigned = self.live & (own < 0)
        counts = np.where(assigned, self.record_count, 0)
        return np.where(assigned, first + np.cumsum(counts) - counts, own)

    @cached_property
    def content_offset(self) -> Ints:
        return self._column(("file", 144))

    @cached_property
    def content_size(self) -> Ints:
        return self._column(("file", 145))

    # -- text columns ------------------------------------------------------------------------------------------------
    @cached_property
    def file_path(self) -> BytesColumn:
        return self._spans(("file", 100))

    @cached_property
    def file_format(self) -> BytesColumn:
        """As written: upper case."""
        return self._spans(("file", 101))

    @cached_property
    def referenced_data_file(self) -> BytesColumn:
        return self._spans(("file", 143))

    def paths(self, rows: Iterable[int] | npt.NDArray[Any] | None = None) -> list[str]:
        """File paths of the given rows (indices or mask), or of all."""
        return [path or "" for path in self._texts(self.file_path, rows)]

    def _texts(self, column: BytesColumn, rows: Any) -> list[str | None]:
        try:
            return column.texts(rows)
        except UnicodeDecodeError as error:
            raise corrupt(self.location, f"text that is not UTF-8: {error}") from error

    def _spans(self, column: Column, index: int = 0) -> BytesColumn:
        slot = self.program.spans.get(column)
        if slot is None:
            return BytesColumn(self.records.buffer, np.zeros(len(self), np.int64), np.full(len(self), -1, np.int32))
        return BytesColumn(self.records.buffer, self._offsets[slot + index], self._lengths[slot + index])

    # -- partition columns -------------------------------------------------------------------------------------------
    @cached_property
    def partition_columns(self) -> dict[int, PartitionColumn]:
        """By partition field id. A field of the spec that the manifest lacks is all null."""
        _, partition = self._schemas
        columns: dict[int, PartitionColumn] = {}
        names = Names()
        by_name = {} if self.spec is None else {compatible_name(f.name): f.field_id for f in self.spec.fields}
        for key, made in zip(partition_keys(partition), partition["fields"], strict=True):
            field_id = key if isinstance(key, int) else by_name.get(key)
            type_ = resolve(_without_null(made["type"]), names)  # a named type may be defined by an earlier field
            if field_id is not None:
                columns[field_id] = self._partition_column(("partition", key), type_)
        if self.spec is not None:
            for missing in self.spec.fields:
                columns.setdefault(missing.field_id, PartitionColumn(np.zeros(len(self), bool)))
        return columns

    def _partition_column(self, column: Column, type_: dict[str, Any]) -> PartitionColumn:
        slot = self.program.ints.get(column)
        if slot is not None:
            return PartitionColumn(self._present[slot] != 0, integers=self._ints[slot], is_boolean=type_["type"] == "boolean")
        spans = self._spans(column)
        decode = compile_decoder(type_)
        with_length = type_["type"] in ("bytes", "string")

        def read(data: bytes) -> Any:
            return decode(write_bytes(data) if with_length else data, 0)[0]

        return PartitionColumn(spans.lengths >= 0, spans=spans, read=read)

    def partition(self, row: int) -> tuple[object, ...]:
        """The partition tuple in the order of the spec's fields (of the file's where the spec is unknown)."""
        return (
            self.data_file(row).partition
            if self.spec is None
            else tuple(self.partition_columns[f.field_id].value(row) for f in self.spec.fields)
        )

    def partitions(self, rows: npt.NDArray[np.int64]) -> list[tuple[object, ...]]:
        """The partition tuples of some rows (indices), in the order of ``partition``."""
        if self.spec is None:
            return [self.partition(row) for row in rows.tolist()]
        parts = [self.partition_columns[f.field_id].pick(rows) for f in self.spec.fields]
        return list(zip(*parts, strict=True)) if parts else [()] * len(rows)

    # -- metrics -----------------------------------------------------------------------------------------------------
    def value_count(self, field_id: int) -> tuple[Ints, Mask]:
        return self._counts(109, field_id)

    def null_count(self, field_id: int) -> tuple[Ints, Mask]:
        return self._counts(110, field_id)

    def nan_count(self, field_id: int) -> tuple[Ints, Mask]:
        return self._counts(137, field_id)

    def lower(self, field_id: int) -> BytesColumn:
        return self._spans(("metric", 125), self._index(field_id))

    def upper(self, field_id: int) -> BytesColumn:
        return self._spans(("metric", 128), self._index(field_id))

    def _counts(self, metric: int, field_id: int) -> tuple[Ints, Mask]:
        """(values, which rows have one)."""
        index, slot = self._index(field_id), self.program.ints.get(("metric", metric))
        if slot is None:
            return np.zeros(len(self), np.int64), np.zeros(len(self), bool)
        return self._ints[slot + index], self._present[slot + index] != 0

    def _index(self, field_id: int) -> int:
        try:
            return self.wanted.index(field_id)
        except ValueError:
            raise InvalidArgumentError(f"Cannot read metrics: field was not asked for: {field_id}", field_id=field_id) from None

    # -- whole rows --------------------------------------------------------------------------------------------------
    @cached_property
    def _schemas(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return entry_parts(self.records.header.schema)

    @cached_property
    def _read_data_file(self) -> Callable[[int], DataFile]:
        data_file, partition = self._schemas
        ids = {name: i for name, i in DATA_FILE_IDS.items() if name not in {f["name"] for f in partition["fields"] if "field-id" not in f}}
        decode = record_decoder(data_file, ids)
        tuple_of = partition_reader(partition_keys(partition), wanted_partition(self.spec))
        buffer, starts, spec_id = self.records.buffer, self._marks[0], self.manifest.partition_spec_id

        def read(row: int) -> DataFile:
            place = int(starts[row])
            try:
                return data_file_of_record(decode(buffer, place)[0], spec_id, tuple_of)
            except (*DAMAGE, KeyError, TypeError, AttributeError) as error:
                raise corrupt(self.location, f"damaged data file: {error!r}", place) from error

        return read

    def data_file(self, row: int) -> DataFile:
        """The full value of a row, its first row id inherited. Raises CorruptMetadataError."""
        file, first_row_id = self._read_data_file(row), int(self.first_row_id[row])
        wanted = None if first_row_id < 0 else first_row_id
        return file if file.first_row_id == wanted else replace(file, first_row_id=wanted)

    def entry(self, row: int) -> ManifestEntry:
        """The full entry of a row, with inherited numbers. Those of delete manifests are kept: every plan asks for them again."""
        if self.manifest.content is not ManifestContent.DELETES:
            return self._entry(row)
        if row not in self._deletes:
            self._deletes[row] = self._entry(row)
        return self._deletes[row]

    def _entry(self, row: int) -> ManifestEntry:
        number, file_number = int(self.sequence_number[row]), int(self.file_sequence_number[row])
        snapshot_id = int(self.snapshot_id[row])
        return ManifestEntry(
            status=EntryStatus(int(self.status[row])),
            snapshot_id=None if snapshot_id == -1 and self.manifest.added_snapshot_id is None else snapshot_id,
            sequence_number=None if number < 0 else number,
            file_sequence_number=None if file_number < 0 else file_number,
            data_file=self.data_file(row),
        )

    def record_parts(self, row: int, partition: bytes | None) -> tuple[bytes, bytes]:
        """The Avro bytes of the row's ``data_file`` record, in this file's own schema: up to and including the partition, and the rest.
        ``partition`` takes the place of the row's own if given."""
        start, end, before, after = self._marks[:, row].tolist()
        buffer = self.records.buffer
        return (buffer[start:after] if partition is None else buffer[start:before] + partition), buffer[after:end]

    def has_no(self, field_ids: Iterable[int]) -> Mask:
        """Rows in which the data file's optional fields of these ids are all null."""
        absent = np.ones(len(self), bool)
        for field_id in field_ids:
            slot = self.program.ints.get(("file", field_id))
            absent &= self._spans(("file", field_id)).lengths < 0 if slot is None else self._present[slot] == 0
        return absent

    def can_copy(self, format_version: int, partition: StructType) -> bool:
        """True if records can go as bytes into manifests of this version and partition type (rows with unusual ends apart)."""
        return can_copy(self._schemas[0], format_version, partition)

    def raw_entries(
        self, rows: Iterable[int], *, format_version: int, partition: StructType, status: EntryStatus = EntryStatus.EXISTING
    ) -> Iterator[RawEntry]:
        """The rows as entries of a new manifest, with explicit numbers. Data files are copied as bytes wherever the schemas agree."""
        return raw_entries(self, rows, source=self._schemas[0], format_version=format_version, partition=partition, status=status)


def _without_null(schema: Any) -> Any:
    if isinstance(schema, list):
        kinds = [branch for branch in schema if branch != "null"]
        return kinds[0] if kinds else "null"
    return schema
