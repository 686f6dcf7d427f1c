"""What is written is what was given: every type and nesting, however Arrow laid the rows out, in each format, read by others and by us."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from icesql.errors import CorruptMetadataError
from icesql.io.arrow.types import child_fields, internal_values, to_arrow_schema, to_arrow_type, to_arrow_value
from icesql.io.avro import writer as avro_writer
from icesql.io.data.files import read_data_file
from icesql.io.data.writer import DataFileWriter
from icesql.io.parquet import files as parquet
from icesql.io.storage.file_systems import LocalFileIO
from icesql.spec.files import DataFile
from icesql.spec.schema import Schema
from icesql.spec.types import (
    GeometryType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestamptzNanoType,
    Type,
    UUIDType,
)
from tests.effort import examples
from tests.io.test_data_files import PRIMITIVES

FORMATS = ("parquet", "orc", "avro")
EPOCH = datetime.datetime(1970, 1, 1)
MICRO = datetime.timedelta(microseconds=1)
LEAVES = {**PRIMITIVES, TimestamptzNanoType(): PRIMITIVES[TimestampNanoType()], GeometryType(): st.binary(max_size=9)}
Values = st.SearchStrategy[Any]
Given = tuple[Schema, list[tuple[Any, ...]], pa.Table]


# -- tables of any type, laid out in any way ----------------------------------------------------------------------------
def maybe(values: Values) -> Values:
    return st.none() | values


class Types:
    """Draws types with fresh field ids, each with a strategy of its values in internal form."""

    def __init__(self, draw: Callable[[Any], Any], *, structs_are_keys: bool = False) -> None:
        self._draw, self._last_id, self._structs_are_keys = draw, 100, structs_are_keys

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def any(self, depth: int) -> tuple[Type, Values]:
        kinds = ["primitive"] if depth == 0 else ["primitive", "struct", "struct", "list", "map"]
        match self._draw(st.sampled_from(kinds)):
            case "struct":
                return self._struct(depth)
            case "list":
                element, values = self.any(depth - 1)
                return ListType(self.next_id(), element), st.lists(maybe(values), max_size=3)
            case "map":
                return self._map(depth)
        type_ = self._draw(st.sampled_from(list(LEAVES)))
        return type_, LEAVES[type_]

    def _struct(self, depth: int) -> tuple[Type, Values]:
        fields, values = [], []
        for i in range(self._draw(st.integers(1, 3))):
            type_, part = self.any(depth - 1)
            required = self._draw(st.integers(0, 3)) == 0
            fields.append(NestedField(self.next_id(), f"f{i}", type_, required))
            values.append(part if required else maybe(part))
        return StructType(tuple(fields)), st.tuples(*values)

    def _map(self, depth: int) -> tuple[Type, Values]:
        key, keys = self._key()
        type_, values = self.any(depth - 1)
        return MapType(self.next_id(), key, self.next_id(), type_), st.dictionaries(keys, maybe(values), max_size=3)

    def _key(self) -> tuple[Type, Values]:
        simple = [type_ for type_ in PRIMITIVES if str(type_) in ("string", "int", "date")]
        key: Type = self._draw(st.sampled_from(simple))
        if not self._structs_are_keys or self._draw(st.booleans()):
            return key, PRIMITIVES[key]
        other = self._draw(st.sampled_from(simple))
        fields = NestedField(self.next_id(), "a", key), NestedField(self.next_id(), "b", other)
        return StructType(fields), st.tuples(maybe(PRIMITIVES[key]), maybe(PRIMITIVES[other]))


def sliced(draw: Callable[[Any], Any], array: pa.Array) -> pa.Array:
    """The same values as a window on a longer array whose other rows repeat them."""
    before, after = draw(st.integers(0, 9)), draw(st.integers(0, 2))
    if len(array) == 0:
        return array
    places = np.arange(-before, len(array) + after) % len(array)
    return array.take(pa.array(places)).slice(before, len(array))


def with_hidden_values(array: pa.Array) -> pa.Array:
    """Null structs keep values in their children: those of the row before."""
    if not pa.types.is_struct(array.type) or array.null_count == len(array):
        return array
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    places = np.maximum.accumulate(np.where(valid, np.arange(len(array)), -1))
    places = np.where(places < 0, int(np.argmax(valid)), places)
    full = array.take(pa.array(places))
    children = [with_hidden_values(full.field(i)) for i in range(array.type.num_fields)]
    fields = [array.type.field(i) for i in range(array.type.num_fields)]
    return pa.StructArray.from_arrays(children, fields=fields, mask=pa.array(~valid))


def laid_out(draw: Callable[[Any], Any], array: pa.Array) -> pa.ChunkedArray:
    """Chunks of any lengths, each a slice or not, with or without values below nulls."""
    cuts = sorted(draw(st.lists(st.integers(0, len(array)), max_size=3)))
    chunks = [array[start:end] for start, end in zip([0, *cuts], [*cuts, len(array)], strict=True)]
    made = []
    for chunk in chunks:
        chunk = with_hidden_values(chunk) if draw(st.booleans()) else chunk
        made.append(sliced(draw, chunk) if draw(st.booleans()) else chunk)
    return pa.chunked_array(made, array.type)


@st.composite
def tables(draw: Callable[[Any], Any], *, depth: int = 3, structs_are_keys: bool = False) -> tuple[Schema, list[tuple[Any, ...]], pa.Table]:
    """(schema, rows in internal form, the rows as Arrow)."""
    types = Types(draw, structs_are_keys=structs_are_keys)
    columns = [types.any(depth) for _ in range(draw(st.integers(1, 3)))]
    schema = Schema(tuple(NestedField(i, f"c{i}", type_) for i, (type_, _) in enumerate(columns, 1)))
    few = draw(st.lists(st.tuples(*(maybe(values) for _, values in columns)), min_size=1, max_size=8))
    rows = few * draw(st.sampled_from([1, 1, 3, 300]))  # more than one of ORC's batches of 1024
    arrow = to_arrow_schema(schema)
    arrays = []
    for i, field in enumerate(schema.fields):
        array = pa.array([to_arrow_value(field.type, row[i]) for row in few], arrow.field(i).type)
        arrays.append(laid_out(draw, array.take(pa.array(np.arange(len(rows)) % len(few)))))
    return schema, rows, pa.Table.from_arrays(arrays, schema=arrow)


# -- reading with other libraries ---------------------------------------------------------------------------------------
def read_by_others(path: str, file_format: str, schema: Schema) -> list[tuple[Any, ...]]:
    """The file's rows in internal form, read by pyarrow, of Avro by fastavro."""
    if file_format == "avro":
        with open(path, "rb") as stream:  # noqa: PTH123
            return [tuple(from_avro(f.type, row[f.name]) for f in schema.fields) for row in fastavro.reader(stream)]
    table = pq.read_table(path) if file_format == "parquet" else orc.ORCFile(path).read()
    columns = [internal_values(f.type, table[f.name].cast(optional(to_arrow_type(f.type)))) for f in schema.fields]
    return list(zip(*columns, strict=True))


def optional(type_: pa.DataType) -> pa.DataType:
    """The type with nulls allowed throughout: a required field of a null struct is null."""
    fields = [field.with_type(optional(field.type)) for field in child_fields(type_)]
    if pa.types.is_struct(type_):
        return pa.struct([field.with_nullable(True) for field in fields])
    if pa.types.is_map(type_):
        return pa.map_(*fields)
    return pa.list_(fields[0]) if pa.types.is_list(type_) else type_


def from_avro(type_: Type, value: Any) -> Any:
    """A value of fastavro's in internal form."""
    match type_, value:
        case _, None:
            return None
        case StructType(fields=fields), _:
            return tuple(from_avro(f.type, value[f.name]) for f in fields)
        case ListType(element=element), _:
            return [from_avro(element, v) for v in value]
        case MapType(key=key, value=item), _:
            pairs = value.items() if isinstance(value, dict) else [(pair["key"], pair["value"]) for pair in value]
            return {from_avro(key, k): from_avro(item, v) for k, v in pairs}
        case UUIDType(), _:
            return UUID(bytes=value)
        case _, datetime.datetime():
            return (value.replace(tzinfo=None) - EPOCH) // MICRO
        case _, datetime.date():
            return (value - EPOCH.date()).days
        case _, datetime.time():
            return (datetime.datetime.combine(EPOCH, value) - EPOCH) // MICRO
    return value


def read_by_us(file: DataFile, schema: Schema) -> list[tuple[Any, ...]]:
    table = pa.Table.from_batches(list(read_data_file(LocalFileIO(), file, schema)), to_arrow_schema(schema))
    return list(zip(*(internal_values(f.type, column) for f, column in zip(schema.fields, table.columns, strict=True)), strict=True))


def written(folder: Path, file_format: str, schema: Schema, table: pa.Table, properties: dict[str, str] | None = None) -> list[DataFile]:
    numbers = count()
    writer = DataFileWriter(lambda: f"{folder}/{next(numbers)}", schema, properties or {}, file_format=file_format, io=LocalFileIO())
    writer.write(table)
    return writer.close()


@pytest.mark.parametrize("file_format", FORMATS)
@examples(60)
@given(given_rows=tables(), target=st.sampled_from([1 << 29, 40_000]))
def test_rows_of_any_layout(file_format: str, given_rows: Given, target: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    schema, rows, table = given_rows
    properties = {"write.target-file-size-bytes": str(target)}
    files = written(tmp_path_factory.mktemp("f"), file_format, schema, table, properties)
    assert sum(file.record_count for file in files) == len(rows)
    assert repr([row for file in files for row in read_by_us(file, schema)]) == repr(rows)
    assert repr([row for file in files for row in read_by_others(file.file_path, file_format, schema)]) == repr(rows)


# -- what a footer counts ------------------------------------------------------------------------------------------------
STRUCT = StructType((NestedField(3, "a", IntegerType()), NestedField(4, "l", ListType(5, StringType()))))
NULLABLE = Schema((NestedField(1, "id", LongType()), NestedField(2, "s", STRUCT)))
SOME = [(1, (7, ["x", None])), (None, None), (3, (None, None)), (4, (5, []))]


def some_rows() -> pa.Table:
    arrow = to_arrow_schema(NULLABLE)
    columns = [pa.array([to_arrow_value(f.type, row[i]) for row in SOME], arrow.field(i).type) for i, f in enumerate(NULLABLE.fields)]
    return pa.Table.from_arrays(columns, schema=arrow)


class Losing:
    """A library's writer that changes what it is given."""

    def __init__(self, inner: Any, change: Callable[[pa.Table], pa.Table]) -> None:
        self._inner, self._change = inner, change

    def write(self, table: pa.Table) -> None:
        self._inner.write(self._change(table))

    def write_table(self, table: pa.Table, **options: Any) -> None:
        self._inner.write_table(self._change(table), **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def without_a_row(table: pa.Table) -> pa.Table:
    return table.slice(1)


def with_a_null(table: pa.Table) -> pa.Table:
    return table.set_column(0, table.schema.field(0), pa.chunked_array([pa.nulls(table.num_rows, table.schema.field(0).type)]))


def without_structs(table: pa.Table) -> pa.Table:
    return table.set_column(1, table.schema.field(1), pa.chunked_array([pa.nulls(table.num_rows, table.schema.field(1).type)]))


@pytest.mark.parametrize(
    ("file_format", "change", "problem"),
    [
        ("parquet", without_a_row, "Parquet file: 4 rows were given, the file holds 3"),
        ("parquet", with_a_null, "Parquet file: 1 nulls of id were given, the file holds 4"),
        ("parquet", without_structs, "Parquet file: 2 nulls of s.a were given, the file holds 4"),
        ("orc", without_a_row, "ORC file: 4 rows were given, the file holds 3"),
        ("orc", with_a_null, "ORC file: 3 values of id were given, the file holds 0"),
        ("orc", without_structs, "ORC file: 3 values of s were given, the file holds 0"),
    ],
)
def test_a_file_that_counts_other_values_is_not_committed(
    file_format: str, change: Any, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, name = (parquet.pq, "ParquetWriter") if file_format == "parquet" else (orc, "ORCWriter")
    made = getattr(library, name)
    monkeypatch.setattr(library, name, lambda *args, **options: Losing(made(*args, **options), change))
    with pytest.raises(CorruptMetadataError, match=f"^Cannot write {problem}; it is removed and nothing is committed"):
        written(tmp_path, file_format, NULLABLE, some_rows())
    assert list(tmp_path.iterdir()) == []


def test_an_avro_file_that_counts_other_rows_is_not_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = avro_writer._records
    monkeypatch.setattr(avro_writer, "_records", lambda struct, avro, *given: records(struct, avro, *given)[int(avro["name"] == "table") :])
    with pytest.raises(CorruptMetadataError, match=r"^Cannot write Avro file: 4 rows were given, the file holds 3"):
        written(tmp_path, "avro", NULLABLE, some_rows())
    assert list(tmp_path.iterdir()) == []
