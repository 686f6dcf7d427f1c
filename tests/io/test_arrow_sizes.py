"""Sizes of Arrow data are Arrow's own, and known where Arrow's own way of counting them reads memory that is not there."""

from __future__ import annotations

import pyarrow as pa
import pytest

from icesql.io.arrow.sizes import array_bytes, table_bytes
from icesql.io.data.writer import DataFileWriter
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, ListType, MapType, NestedField, StringType, StructType

_STRUCT = pa.struct([("a", pa.int32()), ("l", pa.list_(pa.int64()))])
_MAPS = pa.array([[("x", {"a": 1, "l": [1, 2]})], None, [], [("y", {"a": None, "l": None})]] * 16, pa.map_(pa.string(), _STRUCT))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, None, 3]),
        pa.array(["ab", None, "c"]).slice(1),
        pa.array([True, False]),
        pa.array([[1, 2], None, [3]]).slice(1),
        pa.array([{"a": 1, "b": "x"}, {"a": None, "b": "yz"}]).slice(1),
        pa.array([[[1], []], [[2, 3]]]),
        pa.nulls(4),
        _MAPS,
        _MAPS.slice(16, 32),
    ],
)
def test_sizes_are_those_of_arrow(array: pa.Array):
    assert array_bytes(array) == pytest.approx(array.nbytes, abs=array.nbytes / 20 + 1)


def _null_map() -> pa.Array:
    """A map that is null, as Java sends it: the list among its values, without rows, has no first offset."""
    nothing = pa.py_buffer(b"")
    inner = pa.Array.from_buffers(pa.list_(pa.int64()), 0, [None, nothing], children=[pa.array([], pa.int64())])
    struct = pa.StructArray.from_arrays([pa.array([], pa.int32()), inner], ["a", "l"])
    keys = pa.Array.from_buffers(pa.string(), 0, [None, nothing, nothing])
    kind = pa.map_(pa.string(), pa.struct([("a", pa.int32()), ("l", inner.type)]))
    entries = pa.StructArray.from_arrays([keys, struct], fields=[kind.key_field, kind.item_field])
    return pa.Array.from_buffers(kind, 1, [pa.py_buffer(b"\x00"), pa.py_buffer(bytes(8))], children=[entries])


def test_a_list_without_rows_needs_no_offsets(tmp_path):
    rows = pa.table({"m": _null_map()})
    assert table_bytes(rows) == 5
    struct = StructType((NestedField(4, "a", IntegerType()), NestedField(5, "l", ListType(6, IntegerType(), False))))
    schema = Schema((NestedField(1, "m", MapType(2, StringType(), 3, struct, False)),))
    writer = DataFileWriter(lambda: str(tmp_path / "f.parquet"), schema)
    writer.write(rows.cast(pa.schema([("m", pa.map_(pa.string(), pa.struct([("a", pa.int32()), ("l", pa.list_(pa.int32()))])))])))
    (file,) = writer.close()
    assert file.record_count == 1
