"""Flat columns of Avro data files, and structs of such, decoded by the native module straight into Arrow: no object is made of any value.

By hand because rows cost too much: of a file of six columns (long, int, double, string, timestamp, decimal) 215,000 rows a second of a core
became Arrow by fastavro 1.13, and 4,000,000 by this module; of one of the columns 330,000 and 7,000,000. Lists and maps are read by
``icesql.io.avro.rows``, with fastavro.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from icesql.io.arrow.types import to_arrow_type
from icesql.io.avro.container import AvroRecords, corrupt
from icesql.io.avro.shapes import kind_of, without_null
from icesql.io.manifests.program import ARRAY, BOOL, BYTES, MAP, NULL, RAW, RECORD, UNION, VARINT
from icesql.io.native import native
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    GeographyType,
    GeometryType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UnknownType,
    UUIDType,
)

MOST_BLOCK_ROWS = 1 << 20  # a block is decoded whole: one of more rows would take much memory
_INT32, _INT64 = (IntegerType, DateType), (
    LongType, TimeType, TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType,
)  # fmt: skip
_TEXT, _BLOB = (StringType,), (BinaryType, GeometryType, GeographyType)
_OPS = {"null": NULL, "boolean": BOOL, "int": VARINT, "long": VARINT, "enum": VARINT, "bytes": BYTES, "string": BYTES}
_RAW_SIZES = {"float": 4, "double": 8}
_MOST_RAW = 64
_GROUP_BYTES = 256 << 20  # an Arrow array of texts has less than 2 GB
Bytes: TypeAlias = npt.NDArray[np.uint8]


def can_walk(records: AvroRecords) -> bool:
    """Whether the native module can walk over the blocks of a file."""
    return native is not None and sys.byteorder == "little" and max((n for n, _, _ in records.blocks), default=0) <= MOST_BLOCK_ROWS


def is_flat(type_: Type, shape: Any) -> bool:
    """Whether the native module can make columns of a type and a shape."""
    shape = without_null(shape)
    kind, logical = kind_of(shape), shape.get("logical") if isinstance(shape, dict) else None
    match type_:
        case StructType(fields=fields):
            return bool(fields) and all(is_flat(field.type, part["type"]) for field, part in zip(fields, shape["fields"], strict=True))
        case DecimalType():
            return kind == "fixed" and logical == "decimal" and shape["decimal-scale"] == type_.scale and 0 < shape["size"] <= 16
        case UUIDType() | FixedType():
            return kind == "fixed" and 0 < shape["size"] <= _MOST_RAW
        case FloatType() | DoubleType() | BooleanType() | UnknownType():
            return kind == {FloatType: "float", DoubleType: "double", BooleanType: "boolean"}.get(type(type_), "null")
        case StringType():
            return kind == "string"
        case _:
            return logical is None and (
                kind == "bytes" if isinstance(type_, _BLOB) else isinstance(type_, _INT32 + _INT64) and kind in ("int", "long")
            )


# -- the program -------------------------------------------------------------------------------------------------------
Path: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class _Program:
    """Nodes as in ``icesql.io.manifests.program``: they keep what is needed and skip all else. ``slots``: the slot of each value by its
    path; for a struct, the mark that is set in rows where it is not null.
    """

    nodes: list[int] = field(default_factory=list)
    slots: dict[Path, int] = field(default_factory=dict)
    ints: int = 0
    spans: int = 0
    marks: int = 0

    def emit(self, shape: Any, needed: Any, path: Path = ()) -> int:
        """``needed``: the part of the shape to keep, ``None`` to skip it."""
        if isinstance(shape, list):
            inner = None if needed is None else without_null(needed)
            return self._node([UNION, len(shape)], [(branch, None if branch == "null" else inner, path) for branch in shape])
        kind = kind_of(shape)
        match kind:
            case "record":
                return self._record(shape, needed, path)
            case "array":
                return self._node([ARRAY], [(shape["items"], None, path)])
            case "map":
                return self._node([MAP], [(shape["values"], None, path)])
            case "fixed" | "float" | "double":
                return self._leaf([RAW, self._span(needed, path), _RAW_SIZES.get(kind) or shape["size"]])
            case _:
                op = _OPS[kind]
                return self._leaf([NULL] if op == NULL else [op, self._span(needed, path) if op == BYTES else self._int(needed, path)])

    def _record(self, shape: Any, needed: Any, path: Path) -> int:
        kept = {} if needed is None else {part["name"]: part["type"] for part in needed["fields"]}
        mark = -1
        if needed is not None and path:
            mark = self.slots[path] = self.marks
            self.marks += 2
        parts = [(part["type"], kept.get(part["name"]), (*path, part["name"])) for part in shape["fields"]]
        return self._node([RECORD, len(parts), mark], parts)

    def _leaf(self, node: list[int]) -> int:
        self.nodes += node
        return len(self.nodes) - len(node)

    def _node(self, head: list[int], children: list[tuple[Any, Any, Path]]) -> int:
        place = self._leaf(head + [0] * len(children))
        for i, child in enumerate(children):
            self.nodes[place + len(head) + i] = self.emit(*child)
        return place

    def _int(self, needed: Any, path: Path) -> int:
        if needed is None:
            return -1
        self.slots[path] = self.ints
        self.ints += 1
        return self.slots[path]

    def _span(self, needed: Any, path: Path) -> int:
        if needed is None:
            return -1
        self.slots[path] = self.spans
        self.spans += 1
        return self.slots[path]


@dataclass(frozen=True, slots=True)
class _Columns:
    buffer: bytes
    ints: npt.NDArray[np.int64]
    present: Bytes
    offsets: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int32]
    marks: npt.NDArray[np.int64]
    slots: dict[Path, int]


def flat_arrays(
    records: AvroRecords, whole: Any, struct: StructType, shape: Any, location: str, batch_rows: int
) -> Iterator[tuple[int, list[pa.Array]]]:
    """(rows, one array a field) for blocks of about ``batch_rows`` rows together. Raises CorruptMetadataError."""
    program = _Program()
    program.emit(whole, shape)
    nodes = np.array(program.nodes, np.int32)
    for blocks in _groups(records.blocks, batch_rows):
        columns = _decoded(records.buffer, blocks, nodes, program, location)
        try:
            yield (
                sum(count for count, _, _ in blocks),
                [_array(f.type, columns, (part["name"],), part["type"]) for f, part in zip(struct.fields, shape["fields"], strict=True)],
            )  # fmt: skip
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError) as error:
            raise corrupt(location, f"damaged record: {error}", blocks[0][1]) from error


def _groups(blocks: tuple[tuple[int, int, int], ...], rows: int) -> Iterator[list[tuple[int, int, int]]]:
    group: list[tuple[int, int, int]] = []
    held = size = 0
    for block in blocks:
        group.append(block)
        held, size = held + block[0], size + block[2] - block[1]
        if held >= rows or size >= _GROUP_BYTES:
            yield group
            group, held, size = [], 0, 0
    if group:
        yield group


def _decoded(buffer: bytes, blocks: list[tuple[int, int, int]], nodes: Any, program: _Program, location: str) -> _Columns:
    rows, ints, spans = sum(count for count, _, _ in blocks), max(1, program.ints), max(1, program.spans)
    made = _Columns(
        buffer, np.zeros((ints, rows), np.int64), np.zeros((ints, rows), np.uint8),
        np.zeros((spans, rows), np.int64), np.full((spans, rows), -1, np.int32),
        np.full((max(1, program.marks), rows), -1, np.int64), program.slots,
    )  # fmt: skip
    none = np.zeros(0, np.int64)
    try:
        native.decode_rows(
            buffer, np.array(blocks, np.int64).reshape(-1, 3), nodes, none, rows,
            made.ints, made.present, made.offsets, made.lengths, made.marks,
        )  # fmt: skip
    except ValueError as error:
        why, place = error.args if len(error.args) == 2 else (str(error), None)
        raise corrupt(location, f"damaged record: {why}", place) from error
    return made


# -- arrays ------------------------------------------------------------------------------------------------------------
def _array(type_: Type, columns: _Columns, path: Path, shape: Any) -> pa.Array:
    if isinstance(type_, StructType):
        return _struct(type_, columns, path, without_null(shape))
    if isinstance(type_, UnknownType):
        return pa.nulls(columns.ints.shape[1])
    slot = columns.slots[path]
    if isinstance(type_, (BooleanType, *_INT32, *_INT64)):
        return _integers(type_, columns.ints[slot], columns.present[slot] != 0)
    offsets, lengths = columns.offsets[slot], columns.lengths[slot]
    if isinstance(type_, _TEXT + _BLOB):
        return _texts(columns.buffer, offsets, lengths).cast(to_arrow_type(type_))
    kind = without_null(shape)
    size = _RAW_SIZES.get(kind_of(kind)) or kind["size"]
    return _fixed(type_, _gathered(columns.buffer, offsets, size), lengths >= 0)


def _struct(type_: StructType, columns: _Columns, path: Path, shape: Any) -> pa.Array:
    parts = zip(type_.fields, shape["fields"], strict=True)
    children = [_array(field.type, columns, (*path, part["name"]), part["type"]) for field, part in parts]
    absent = columns.marks[columns.slots[path]] < 0
    return pa.StructArray.from_arrays(children, fields=list(to_arrow_type(type_)), mask=pa.array(absent) if absent.any() else None)


def _integers(type_: Type, values: npt.NDArray[np.int64], valid: npt.NDArray[np.bool_]) -> pa.Array:
    made, integers = to_arrow_type(type_), values
    if isinstance(type_, BooleanType):
        return pa.array(values != 0, mask=~valid)
    if isinstance(type_, _INT32):
        if len(values) and (values.min() < -(1 << 31) or values.max() >= 1 << 31):
            raise ValueError("integer beyond 32 bits")
        integers = values.astype(np.int32)
    return pa.Array.from_buffers(made, len(values), [_bitmap(valid), pa.py_buffer(np.ascontiguousarray(integers))])


def _bitmap(valid: npt.NDArray[np.bool_]) -> pa.Buffer | None:
    return None if valid.all() else pa.array(valid).buffers()[1]


def _texts(buffer: bytes, offsets: npt.NDArray[np.int64], lengths: npt.NDArray[np.int32]) -> pa.Array:
    """The texts at consecutive spans: made as an array of values and of the gaps between them, of which every second is taken."""
    rows, valid = len(offsets), lengths >= 0
    ends = np.maximum.accumulate(np.where(valid, offsets + lengths, 0))
    cuts = np.empty(2 * rows + 1, np.int64)
    cuts[0], cuts[2::2] = 0, ends
    cuts[1::2] = np.where(valid, offsets, ends)
    every = pa.Array.from_buffers(pa.large_binary(), 2 * rows, [None, pa.py_buffer(cuts), pa.py_buffer(buffer)])
    places = pa.array(np.arange(1, 2 * rows, 2), mask=~valid)
    return every.take(places)


def _gathered(buffer: bytes, offsets: npt.NDArray[np.int64], size: int) -> Bytes:
    """One row of bytes for each value; rows of nulls are undefined."""
    data = np.frombuffer(buffer, np.uint8)
    return data[offsets[:, None] + np.arange(size)] if len(data) >= size else np.zeros((len(offsets), size), np.uint8)


def _fixed(type_: Type, raw: Bytes, valid: npt.NDArray[np.bool_]) -> pa.Array:
    if isinstance(type_, DecimalType):
        wide = np.where(raw[:, :1] & 0x80, np.uint8(0xFF), np.uint8(0)).repeat(16, axis=1)
        wide[:, : raw.shape[1]] = raw[:, ::-1]
        wide[~valid] = 0
        raw = wide
    made = pa.Array.from_buffers(to_arrow_type(type_), len(raw), [_bitmap(valid), pa.py_buffer(np.ascontiguousarray(raw))])
    if isinstance(type_, DecimalType):
        made.validate(full=True)  # its digits fit
    return made
