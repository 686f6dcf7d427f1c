"""Which columns of a written Parquet file have dictionaries."""

from __future__ import annotations

import io
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icesql.io.metrics.column_metrics import metrics_config
from icesql.io.parquet.dictionaries import dictionary_columns
from icesql.io.parquet.files import ParquetFileWriter
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType

ROWS = 60_000
LIMIT = 2 * 1024 * 1024
RANDOM = np.random.default_rng(7)
SHUFFLED = random.Random(7).sample(range(10**12), ROWS)


class KeptBytes(io.BytesIO):
    """Bytes that can be looked at when they are closed."""

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("values", "pays"),
    [
        (pa.array(np.arange(ROWS)), False),
        (pa.array(np.arange(ROWS) // 4), False),  # order keys: they compress better as they stand
        (pa.array(np.arange(ROWS) // 4000), True),
        (pa.array(SHUFFLED), False),
        (pa.array(RANDOM.integers(0, 1000, ROWS)), True),
        (pa.array(RANDOM.integers(0, 40_000, ROWS)), False),
        (pa.array(RANDOM.integers(0, 5, ROWS), pa.int32()), True),
        (pa.array(RANDOM.integers(0, 5, ROWS)).cast(pa.decimal128(21, 2)), True),
        (pa.array(RANDOM.integers(0, 365, ROWS), pa.int32()).cast(pa.date32()), True),
        (pa.array([f"{n:x} is the only one" for n in SHUFFLED]), False),
        (pa.array([("AIR", "RAIL", "SHIP")[n % 3] for n in SHUFFLED]), True),
        (pa.array([f"a customer of some name, number {n % 9000}" for n in SHUFFLED]), True),
        (pa.array(RANDOM.integers(0, 2, ROWS)).cast(pa.bool_()), False),  # a bit each
        (pa.nulls(ROWS, pa.int64()), False),
        (pa.nulls(ROWS), False),
        (pa.array([1.5, None] * (ROWS // 2)), True),
        (pa.array([b"0123456789abcdef"] * ROWS, pa.binary(16)), True),
    ],
)
def test_a_column_gets_one_where_its_values_repeat(values: pa.Array, pays: bool) -> None:
    assert dictionary_columns(pa.table({"c": values}), {}, LIMIT) == (["c"] if pays else [])
    chunked = pa.chunked_array([values[: ROWS // 3], values[ROWS // 3 :]])
    assert dictionary_columns(pa.table({"c": chunked}), {}, LIMIT) == (["c"] if pays else [])


def test_none_is_larger_than_the_limit() -> None:
    names = pa.table({"c": [f"a customer of some name, number {n % 9000}" for n in SHUFFLED]})
    assert dictionary_columns(names, {}, 400_000) == ["c"]
    assert dictionary_columns(names, {}, 300_000) == []


def test_leaves_are_told_apart() -> None:
    table = pa.table(
        {
            "s": pa.array([{"id": n, "kind": "a kind"} for n in range(300)]),
            "l": pa.array([[n % 2, 1] for n in range(300)]),
            "m": pa.array([[(f"key {n % 2}", n)] for n in range(300)], pa.map_(pa.string(), pa.int64())),
            "deep": pa.array([[{"x.y": 1}] for n in range(300)]),
        }
    )
    expected = ["s.kind", "l.list.element", "m.key_value.key", "deep.list.element.x.y"]
    assert dictionary_columns(table, {}, LIMIT) == expected
    assert dictionary_columns(table.slice(100, 150), {}, LIMIT) == expected
    assert dictionary_columns(table.slice(0, 0), {}, LIMIT) == []


@pytest.mark.parametrize(("properties", "having"), [({}, ["kind"]), ({"write.parquet.dict-encoding-enabled.column.kind": "false"}, [])])
def test_files_are_written_so(properties: dict[str, str], having: list[str]) -> None:
    schema = Schema((NestedField(1, "id", LongType()), NestedField(2, "kind", StringType())))
    sink = KeptBytes()
    writer = ParquetFileWriter(sink, schema, properties, metrics_config(schema, {}))
    rows = pa.table({"id": pa.array(np.arange(ROWS)), "kind": [("even", "odd")[n % 2] for n in range(ROWS)]})
    for _ in range(2):
        writer.write(rows)
    metrics, _ = writer.close()
    assert metrics.record_count == 2 * ROWS
    file = pq.ParquetFile(pa.BufferReader(sink.getvalue()))
    for number in range(2):
        columns = [file.metadata.row_group(number).column(place) for place in range(2)]
        assert [c.path_in_schema for c in columns if c.has_dictionary_page] == having
    assert file.read().column("id").to_pylist()[:3] == [0, 1, 2]
