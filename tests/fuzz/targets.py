"""What is fuzzed: one function a target. It takes any bytes and returns; whatever it raises is a fault.

Bytes of files end in a value or in CorruptMetadataError or UnsupportedError. Two decoders of one form agree: both give the same, or both
refuse.
"""

from __future__ import annotations

import io
import json
import struct
import uuid
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import cache
from typing import Any, BinaryIO, cast

import numpy as np

from icesql.errors import CorruptMetadataError, InvalidArgumentError, UnsupportedError
from icesql.io.avro import columns_python as avro_columns_python
from icesql.io.avro import container as avro_container
from icesql.io.avro.container import AvroHeader, AvroRecords, decompressor, read_header, read_records
from icesql.io.avro.decode import DAMAGE, compile_decoder
from icesql.io.avro.objects import record_decoder
from icesql.io.deletes.deletion_vectors import deserialize_dv, serialize_dv
from icesql.io.deletes.roaring import RoaringBitmap
from icesql.io.manifests.column_reader import decode_columns
from icesql.io.manifests.entries import read_manifest
from icesql.io.manifests.lists import parse_manifest_list
from icesql.io.manifests.program import Program, compile_program
from icesql.io.manifests.schemas import DATA_FILE_IDS, ENTRY_IDS, MANIFEST_FILE_IDS, entry_schema, manifest_file_schema
from icesql.io.native import native
from icesql.io.puffin import parse_footer, read_blob, read_puffin
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestFile
from icesql.spec.json.metadata import metadata_from_json, metadata_to_json
from icesql.spec.json.types import primitive_from_text
from icesql.spec.json.values import from_json, to_json
from icesql.spec.json.views import view_from_json
from icesql.spec.name_mapping import name_mapping_from_json
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)
from icesql.spec.values.binary import from_bytes, to_bytes
from icesql.spec.values.literals import OutOfRange, literal

REFUSED = (CorruptMetadataError, UnsupportedError)
LOCATION = "/m"
TYPES: tuple[PrimitiveType, ...] = (
    BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DecimalType(9, 2), DateType(), TimeType(), TimestampType(),
    TimestamptzType(), TimestampNanoType(), StringType(), UUIDType(), FixedType(3), BinaryType(),
)  # fmt: skip
MANIFEST = ManifestFile(manifest_path=LOCATION, manifest_length=1, partition_spec_id=0, sequence_number=3, added_snapshot_id=1)


class MemoryIO(ArrowFileIO):
    """Every location holds the same bytes."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data

    def read(self, location: str) -> bytes:
        return self._data

    def size(self, location: str) -> int:
        return len(self._data)

    def open_input(self, location: str) -> BinaryIO:
        return cast(BinaryIO, io.BytesIO(self._data))


# -- manifests -------------------------------------------------------------------------------------------------------------
def partition() -> StructType:
    return StructType(tuple(NestedField(1000 + i, f"p{i}", type_) for i, type_ in enumerate(TYPES)))


def _odd(items: Any) -> dict[str, Any]:
    """The entry schema of version 2 after a field that no manifest has."""
    plain = entry_schema(2, StructType(()))
    return {**plain, "fields": [{"name": "odd", "type": items, "field-id": 99}, *plain["fields"]]}


_EMPTY: dict[str, Any] = {"type": "record", "name": "empty", "fields": []}
_KEYED = [{"name": "key", "type": "int"}, {"name": "value", "type": "string"}]
ENTRY_SCHEMAS: tuple[Any, ...] = (
    entry_schema(1, partition()),
    entry_schema(2, partition()),
    entry_schema(3, StructType(())),
    _odd({"type": "array", "items": "null"}),
    _odd({"type": "map", "values": {"type": "array", "items": _EMPTY}}),
    _odd(["null", {"type": "fixed", "name": "none", "size": 0}, "double", {"type": "map", "values": "boolean"}]),
    _odd({"type": "array", "items": {"type": "record", "name": "pair", "fields": _KEYED}}),
)
WANTED: tuple[tuple[int, ...], ...] = ((), (1,), (1, 2, 5), (-3, 0, 7, 1 << 40))


def columns(data: bytes) -> None:
    """Records of a manifest: a schema, wanted ids and the count of records are told by the first three bytes."""
    if len(data) < 3:
        return
    kind, wanted, buffer = data[0] % len(ENTRY_SCHEMAS), WANTED[data[1] % len(WANTED)], data[3:]
    count, header = min(data[2], len(buffer)), AvroHeader({"avro.schema": b""}, ENTRY_SCHEMAS[kind], "null", b"", 0)
    records = AvroRecords(header, buffer, ((count, 0, len(buffer)),), len(buffer))
    found = [
        _columns(module, _program(kind, len(wanted)), records, wanted) for module in (native or avro_columns_python, avro_columns_python)
    ]
    assert found[0] == found[1], found
    _same_objects(records, {**ENTRY_IDS, **DATA_FILE_IDS})
    if isinstance(found[0], list):
        with suppress(*REFUSED):
            held = decode_columns(records, MANIFEST, wanted=wanted)
            for row in range(min(3, len(held))):
                held.entry(row)
                held.partition(row)


@cache
def _program(kind: int, wanted: int) -> Program:
    return compile_program(ENTRY_SCHEMAS[kind], wanted)


def _columns(module: Any, program: Program, records: AvroRecords, wanted: tuple[int, ...]) -> Any:
    """The columns, or the fault."""
    rows, ints, spans_ = records.record_count, max(1, program.int_count), max(1, program.span_count)
    arrays = [np.zeros((ints, rows), np.int64), np.zeros((ints, rows), np.uint8), np.zeros((spans_, rows), np.int64)]
    arrays += [np.full((spans_, rows), -1, np.int32), np.zeros((4, rows), np.int64)]
    try:
        blocks = np.array(records.blocks, np.int64)
        module.decode_rows(records.buffer, blocks, program.nodes, np.array(wanted, np.int64), rows, *arrays)
    except ValueError as error:
        return error.args
    return [array.tobytes() for array in arrays]


def _same_objects(records: AvroRecords, ids: dict[str, int]) -> None:
    """The records as Python objects, by both decoders."""
    (count, place, end) = records.blocks[0]
    decoders = _decoders(json.dumps(records.header.schema), tuple(ids.items()))
    for _ in range(count):
        found = [_decoded(decode, records.buffer, place) for decode in decoders]
        assert repr(found[0]) == repr(found[1]), found
        if found[0] is None or found[0][1] > end:
            return
        place = found[0][1]


@cache
def _decoders(schema: str, ids: tuple[tuple[str, int], ...]) -> tuple[Any, Any]:
    return record_decoder(json.loads(schema), dict(ids)), compile_decoder(json.loads(schema), dict(ids))


def _decoded(decode: Any, buffer: bytes, place: int) -> Any:
    try:
        return decode(buffer, place)
    except DAMAGE:
        return None


def entries(data: bytes) -> None:
    """Entries of a manifest list: the format version and the count are told by the first two bytes."""
    if len(data) < 2:
        return
    schema, buffer = manifest_file_schema(data[0] % 3 + 1), data[2:]
    records = AvroRecords(AvroHeader({}, schema, "null", b"", 0), buffer, ((data[1], 0, len(buffer)),), len(buffer))
    _same_objects(records, MANIFEST_FILE_IDS)


def container(data: bytes) -> None:
    """A whole Avro file, but for its first four bytes: as a manifest, a manifest list, and in blocks by both readers."""
    file = avro_container.MAGIC + data
    with suppress(*REFUSED):
        parse_manifest_list(file, LOCATION)
    with suppress(*REFUSED):
        read_manifest(cast(FileIO, MemoryIO(file)), MANIFEST)
    found = [_records(file, use_native) for use_native in (True, False)]
    assert found[0] == found[1], found
    if found[0] is not None:
        with suppress(*REFUSED):
            decode_columns(read_records(file, LOCATION), MANIFEST, wanted=(1, 2))


def _records(file: bytes, use_native: bool) -> Any:
    try:
        if use_native:
            records = read_records(file, LOCATION)
            return records.buffer, records.blocks
        header = read_header(file, LOCATION)
        parts, blocks = avro_container._split_blocks(file, header, decompressor(header.codec, LOCATION), LOCATION)
        return b"".join(parts), tuple(blocks)
    except REFUSED:
        return None


def spans(data: bytes) -> None:
    """Texts at spans of a buffer, by both readers: pairs of a 16-bit place and length come first."""
    count = data[0] % 8 if data else 0
    head, buffer = data[1 : 1 + 4 * count], data[1 + 4 * count :]
    if len(head) < 4 * count:
        return
    pairs = [(place, min(length, len(buffer) - place)) for place, length in struct.iter_unpack("<Hh", head) if place <= len(buffer)]
    offsets, lengths = np.array([p for p, _ in pairs], np.int64), np.array([max(-1, n) for _, n in pairs], np.int32)
    found = []
    for module in (native or avro_columns_python, avro_columns_python):
        try:
            found.append(module.texts(buffer, offsets, lengths))
        except UnicodeDecodeError:
            found.append(None)
    assert found[0] == found[1], found


# -- JSON ----------------------------------------------------------------------------------------------------------------
def metadata(data: bytes) -> None:
    """A table's document: one that is read is written, and read again, as the same table."""
    try:
        table = metadata_from_json(data, LOCATION)
    except REFUSED:
        return
    for snapshot in table.snapshots:
        assert sum(1 for _ in table.ancestors(snapshot.snapshot_id)) <= len(table.snapshots)
    with suppress(*REFUSED):  # summaries are read when they are asked for
        written = metadata_to_json(table)
        assert metadata_to_json(metadata_from_json(written, LOCATION)) == written


def documents(data: bytes) -> None:
    """Views and name mappings."""
    with suppress(*REFUSED):
        view_from_json(data, LOCATION)
    with suppress(*REFUSED):
        name_mapping_from_json(data)


# -- Puffin and deletion vectors -------------------------------------------------------------------------------------------
def puffin(data: bytes) -> None:
    """A whole Puffin file, and the bytes as a footer."""
    files = cast(FileIO, MemoryIO(data))
    with suppress(*REFUSED):
        for blob in read_puffin(files, LOCATION).blobs:
            with suppress(*REFUSED):
                read_blob(files, LOCATION, blob)
    if len(data) >= 16:
        with suppress(*REFUSED):
            parse_footer(data, LOCATION, 1 << 40)


def vector(data: bytes) -> None:
    """A bitmap: what our reader takes, pyroaring takes too, and both find the same positions."""
    with suppress(*REFUSED):
        deserialize_dv(data, LOCATION)
    try:
        ours = RoaringBitmap(data)
    except (ValueError, struct.error):
        return
    if len(ours) > 1 << 20:
        return
    from pyroaring import BitMap64

    positions = ours.positions()
    theirs = BitMap64.deserialize(data)
    assert np.array_equal(positions, np.array(theirs, np.int64)), (positions, theirs)
    assert ours.contains(positions).all()
    others = positions ^ 1
    assert np.array_equal(ours.contains(others), np.isin(others, positions))
    if theirs:
        assert deserialize_dv(serialize_dv(theirs)) == theirs


# -- values ----------------------------------------------------------------------------------------------------------------
def values(data: bytes) -> None:
    """A literal, a JSON value, single-value bytes and a type's name of each kind: what is read is written, and read again, as it was."""
    text = data.decode("utf-8", "replace")
    with suppress(*REFUSED):
        assert primitive_from_text(str(found := primitive_from_text(text))) == found
    for type_ in TYPES:
        with suppress(InvalidArgumentError):
            value = literal(type_, text)
            assert isinstance(value, OutOfRange) or _is_kept(type_, value), (type_, value)
        with suppress(*REFUSED):
            assert _is_kept(type_, from_json(type_, text))
        with suppress(*REFUSED):
            value = from_bytes(type_, data)
            is_promoted = isinstance(value, int) and not -(1 << 63) <= value < 1 << 63  # a date that no timestamp can hold
            assert is_promoted or _is_kept(type_, value)
    for number in _numbers(text):
        for type_ in TYPES:
            with suppress(InvalidArgumentError):
                literal(type_, number)
            with suppress(*REFUSED):
                from_json(type_, number)


def _numbers(text: str) -> list[Any]:
    found: list[Any] = []
    for make in (int, float, Decimal, uuid.UUID):
        with suppress(ValueError, ArithmeticError):
            found.append(make(text))
    return found


def _is_kept(type_: PrimitiveType, value: Any) -> bool:
    again = from_bytes(type_, to_bytes(type_, value))
    with suppress(InvalidArgumentError):
        assert repr(from_json(type_, to_json(type_, value))) == repr(value), (type_, value)
    return repr(again) == repr(value)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (columns, entries, container, spans, metadata, documents, puffin, vector, values)
}
