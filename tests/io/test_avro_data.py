"""Avro data files: columns and rows decoded natively, by fastavro and in Python are the same; only what is wanted is decoded."""

from __future__ import annotations

import datetime
import decimal
import io
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given

from icesql.errors import CorruptMetadataError
from icesql.io.arrow.types import internal_values, to_arrow_schema
from icesql.io.avro import data as avro_data
from icesql.io.avro import flat as avro_flat
from icesql.io.avro import rows as avro_rows
from icesql.io.avro.shapes import is_bounded, shape_of
from icesql.io.data.files import read_data_file
from icesql.io.storage.file_systems import LocalFileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata_columns import POS
from icesql.spec.schema import Schema
from icesql.spec.types import (
    DecimalType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)
from tests.effort import examples
from tests.io.bombs import SYNC, avro
from tests.io.test_written_rows import Given, tables, written

IO = LocalFileIO()


def stored(folder: Path, content: bytes, rows: int = 1) -> DataFile:
    path = folder / "f.avro"
    path.write_bytes(content)
    return DataFile(file_path=str(path), file_format="avro", record_count=rows, file_size_in_bytes=len(content))


def by_fastavro(folder: Path, fields: list[dict[str, Any]], rows: list[dict[str, Any]]) -> DataFile:
    out = io.BytesIO()
    fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, rows, codec="deflate", sync_marker=SYNC)
    return stored(folder, out.getvalue(), len(rows))


def values_of(file: DataFile, field: NestedField) -> list[Any]:
    schema = Schema((field,))
    found = pa.Table.from_batches(list(read_data_file(IO, file, schema)), to_arrow_schema(schema))
    return internal_values(field.type, found.column(0))


@contextmanager
def decoding_by(way: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if way != "columns":
            patch.setattr(avro_data, "can_walk", lambda _: False)
        if way in ("fastavro's rows", "Python rows"):
            patch.setattr(avro_rows, "is_native", lambda: False)
        if way == "Python rows":
            patch.setattr(avro_rows, "is_bounded", lambda _: False)
        yield


WAYS = ("columns", "native rows", "fastavro's rows", "Python rows")


@examples(60)
@given(given=tables(depth=2, structs_are_keys=True))
def test_all_ways_give_the_same(tmp_path_factory: pytest.TempPathFactory, given: Given) -> None:
    schema, rows, table = given
    (file,) = written(tmp_path_factory.mktemp("f"), "avro", schema, table)
    for wanted in (schema, Schema(schema.fields[-1:])):
        found = []
        for way in WAYS:
            with decoding_by(way):
                found.append(pa.Table.from_batches(list(read_data_file(IO, file, wanted, batch_rows=100))))
        assert found[0].num_rows == len(rows)
        if wanted is schema:
            columns = (internal_values(field.type, column) for field, column in zip(schema.fields, found[0].columns, strict=True))
            assert repr(list(zip(*columns, strict=True))) == repr(rows)
        for other in found[1:]:
            assert repr(found[0].to_pylist()) == repr(other.to_pylist())  # nan is not itself
            assert found[0].schema == other.schema


def test_flat_columns_are_not_decoded_as_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = [
        {"name": "a", "type": ["null", "long"], "field-id": 1},
        {"name": "l", "type": {"type": "array", "items": "int", "element-id": 3}, "field-id": 2},
    ]
    file = by_fastavro(tmp_path, fields, [{"a": 7, "l": [1]}])
    monkeypatch.setattr(avro_data, "rows", lambda *_: pytest.fail("rows were decoded"))
    assert values_of(file, NestedField(1, "a", LongType())) == [7]


@pytest.mark.parametrize("way", WAYS[:3])
def test_what_is_not_wanted_is_not_decoded(tmp_path: Path, way: str) -> None:
    """A text that is not UTF-8, at the top and within a struct, fails those alone who read it."""
    bad = {"name": "t", "type": "string", "field-id": 2}
    inner = {"type": "record", "name": "s", "fields": [{"name": "x", "type": "int", "field-id": 4}, {**bad, "field-id": 5}]}
    schema = {
        "type": "record",
        "name": "r",
        "fields": [bad, {"name": "s", "type": inner, "field-id": 3}, {"name": "a", "type": "long", "field-id": 1}],
    }
    file = stored(tmp_path, avro(schema, (1, b"\x02\xff" + b"\x08" + b"\x02\xff" + b"\x0e")))
    with decoding_by(way):
        assert values_of(file, NestedField(1, "a", LongType())) == [7]
        assert values_of(file, NestedField(3, "s", StructType((NestedField(4, "x", IntegerType()),)))) == [(4,)]
        for field in (NestedField(2, "t", StringType()), NestedField(3, "s", StructType((NestedField(5, "t", StringType()),)))):
            with pytest.raises(CorruptMetadataError, match=r"f\.avro"):
                values_of(file, field)


def test_a_struct_with_a_list_is_a_key(tmp_path: Path) -> None:
    """Which Python's dicts cannot have."""
    key = {
        "type": "record",
        "name": "k",
        "fields": [{"name": "l", "type": {"type": "array", "items": "int", "element-id": 5}, "field-id": 4}],
    }
    pair = {
        "type": "record",
        "name": "p",
        "fields": [{"name": "key", "type": key, "field-id": 2}, {"name": "value", "type": "int", "field-id": 3}],
    }
    fields = [{"name": "m", "type": {"type": "array", "items": pair, "logicalType": "map"}, "field-id": 1}]
    file = by_fastavro(tmp_path, fields, [{"m": [{"key": {"l": [1, 2]}, "value": 3}]}])
    type_ = MapType(2, StructType((NestedField(4, "l", ListType(5, IntegerType(), True)),)), 3, IntegerType(), True)
    for way in WAYS:
        with decoding_by(way):
            (batch,) = read_data_file(IO, file, Schema((NestedField(1, "m", type_),)))
            assert batch.to_pylist() == [{"m": [({"l": [1, 2]}, 3)]}]
    schema, table = Schema((NestedField(1, "m", type_),)), pa.Table.from_batches([batch, batch])
    (ours,) = written(tmp_path, "avro", schema, table)
    assert pa.Table.from_batches(list(read_data_file(IO, ours, schema))).to_pylist() == table.to_pylist()


NOON = datetime.datetime(2024, 2, 29, 12, 0, 0, 123_000, datetime.timezone.utc)
MICROS = 1_709_208_000_123_000
ONE = uuid.UUID(int=1)
FOREIGN = {
    "timestamp-millis": ({"type": "long", "logicalType": "timestamp-millis"}, NOON, TimestamptzType(), MICROS),
    "local-timestamp-millis": (
        {"type": "long", "logicalType": "local-timestamp-millis"}, NOON.replace(tzinfo=None), TimestampType(), MICROS,
    ),
    "uuid as text": ({"type": "string", "logicalType": "uuid"}, ONE, UUIDType(), ONE),
    "enum": ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, "B", StringType(), "B"),
    "decimal of bytes": (
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, decimal.Decimal("-1.50"), DecimalType(9, 2),
        decimal.Decimal("-1.50"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FOREIGN)
def test_forms_that_other_writers_use(tmp_path: Path, name: str, way: str) -> None:
    avro_type, value, type_, expected = FOREIGN[name]
    file = by_fastavro(tmp_path, [{"name": "a", "type": ["null", avro_type], "field-id": 1}], [{"a": value}, {"a": None}])
    with decoding_by(way):
        assert values_of(file, NestedField(1, "a", type_)) == [expected, None]


def test_damage_within_rows_names_the_file(tmp_path: Path) -> None:
    file = by_fastavro(
        tmp_path, [{"name": "a", "type": {"type": "array", "items": "string", "element-id": 2}, "field-id": 1}], [{"a": ["x" * 50]}]
    )
    content = avro(
        {
            "type": "record",
            "name": "r",
            "fields": [{"name": "a", "type": {"type": "array", "items": "string", "element-id": 2}, "field-id": 1}],
        },
        (1, b"\x02\x64x"),
    )
    field = NestedField(1, "a", ListType(2, StringType(), True))
    assert values_of(file, field) == [["x" * 50]]
    with pytest.raises(CorruptMetadataError, match=r"f\.avro: damaged record"):
        values_of(stored(tmp_path, content), field)


def test_values_of_no_bytes_are_counted_where_they_may_repeat() -> None:
    empty = {"type": "record", "name": "e", "fields": []}

    def record(*types: Any) -> Any:
        return shape_of({"type": "record", "name": "r", "fields": [{"name": f"c{i}", "type": type_} for i, type_ in enumerate(types)]})

    assert is_bounded(record("long", "null", ["null", "int"], {"type": "array", "items": ["null", "int"]}))
    assert is_bounded(record({"type": "map", "values": "null"}))
    for repeats in ("null", empty, {"type": "fixed", "name": "z", "size": 0}):
        assert not is_bounded(record("long", {"type": "array", "items": repeats}))
        assert not is_bounded(record(repeats))
    assert not is_bounded(record("boolean", *["null"] * 9))
    assert not is_bounded(
        record(
            "boolean",
            {
                "type": "map",
                "values": shape_of({"type": "record", "name": "n", "fields": [{"name": f"c{i}", "type": "null"} for i in range(9)]}),
            },
        )
    )


def test_positions_go_on_from_group_to_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However blocks are put together: by rows, or by bytes."""
    fields = [{"name": "a", "type": "long", "field-id": 1}]
    out = io.BytesIO()
    fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, [{"a": i} for i in range(5000)], sync_interval=100)
    file, schema = stored(tmp_path, out.getvalue(), 5000), Schema((NestedField(1, "a", LongType()), POS))
    for most in (1, 300, 1 << 28):
        monkeypatch.setattr(avro_flat, "_GROUP_BYTES", most)
        for batch_rows in (7, 1000, 9000):
            batches = list(read_data_file(IO, file, schema, batch_rows=batch_rows))
            assert max(batch.num_rows for batch in batches) <= batch_rows
            assert [tuple(row.values()) for batch in batches for row in batch.to_pylist()] == [(i, i) for i in range(5000)]
