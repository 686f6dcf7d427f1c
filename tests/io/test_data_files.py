"""Data files of each format: values, metrics, projection by id, rolling, footers of foreign files."""

import contextlib
import decimal
import math
import pickle
import threading
import uuid
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.expr.binding import bind
from icesql.expr.tree import Op, Predicate, Reference, and_
from icesql.io.arrow.types import internal_values, to_arrow_schema, to_arrow_value
from icesql.io.data.files import DataFileWriter, conform, data_file_of, read_data_file, write_data_file
from icesql.io.metrics.column_metrics import COUNTS, FULL, NONE, TRUNCATE_16, metrics_config, metrics_mode
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.stores.inputs import ObjectInput
from icesql.spec.metadata_columns import FILE, POS, ROW_ID, SEQUENCE
from icesql.spec.name_mapping import mapping_for
from icesql.spec.schema import Schema
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzType,
    TimeType,
    Type,
    UnknownType,
    UUIDType,
)
from icesql.spec.values.binary import from_bytes
from tests.effort import examples

IO = ArrowFileIO()
FORMATS = ["parquet", "orc", "avro"]


def moments(limit: int, second: int) -> st.SearchStrategy:
    """Numbers of a timestamp type, without the times of the last second of 1969 that ORC does not have."""
    return st.integers(-limit, limit).filter(lambda v: not -second + second // 1000 <= v <= -second // 1000)


PRIMITIVES: dict[Type, st.SearchStrategy] = {
    BooleanType(): st.booleans(),
    IntegerType(): st.integers(-(2**31), 2**31 - 1),
    LongType(): st.integers(-(2**63), 2**63 - 1),
    FloatType(): st.floats(width=32),
    DoubleType(): st.floats(),
    DateType(): st.integers(-100_000, 100_000),
    TimeType(): st.integers(0, 86_399_999_999),
    TimestampType(): moments(2**52, 10**6),
    TimestamptzType(): moments(2**52, 10**6),
    TimestampNanoType(): moments(2**60, 10**9),
    StringType(): st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30),
    UUIDType(): st.uuids(),
    FixedType(3): st.binary(min_size=3, max_size=3),
    BinaryType(): st.binary(max_size=30),
    DecimalType(9, 2): st.decimals(-9_999_999, 9_999_999, places=2),
    DecimalType(38, 3): st.decimals(-(10**30), 10**30, places=3),
}
maybe = lambda inner: st.one_of(st.none(), inner)  # noqa: E731
STRUCT = StructType((NestedField(101, "x", FloatType()), NestedField(102, "b c", StringType())))
COLUMNS: dict[Type, st.SearchStrategy] = {
    **PRIMITIVES,
    STRUCT: st.tuples(
        maybe(st.floats(width=32, allow_nan=False)), maybe(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5))
    ),
    ListType(103, IntegerType()): st.lists(maybe(st.integers(0, 9)), max_size=3),
    MapType(104, StringType(), 105, LongType()): st.dictionaries(st.sampled_from("abc"), maybe(st.integers(0, 9)), max_size=3),
    MapType(106, IntegerType(), 107, FloatType()): st.dictionaries(st.integers(0, 9), maybe(st.just(1.5)), max_size=2),
    ListType(108, StructType((NestedField(109, "d", DateType()),))): st.lists(maybe(st.tuples(maybe(st.integers(0, 9)))), max_size=2),
}
SCHEMA = Schema(tuple(NestedField(i, f"c {i}", type_) for i, type_ in enumerate(COLUMNS, 1)))
rows = st.lists(st.tuples(*map(maybe, COLUMNS.values())), max_size=6)


def table_of(schema, found):
    arrow = to_arrow_schema(schema)
    columns = [pa.array([to_arrow_value(f.type, row[i]) for row in found], arrow.field(i).type) for i, f in enumerate(schema.fields)]
    return pa.Table.from_arrays(columns, schema=arrow)


def rows_of(schema, batches):
    table = pa.Table.from_batches(list(batches), to_arrow_schema(schema))
    return list(zip(*(internal_values(f.type, column) for f, column in zip(schema.fields, table.columns, strict=True)), strict=True))


def same(a, b):
    return repr(a) == repr(b)  # NaN and the sign of zero compared as well


@examples(40)
@given(found=rows, file_format=st.sampled_from(FORMATS))
def test_every_type_round_trips(tmp_path_factory, found, file_format):
    path = str(tmp_path_factory.mktemp("d") / "f")
    file = write_data_file(IO, path, file_format, table_of(SCHEMA, found), SCHEMA)
    assert file.record_count == len(found)
    assert same(rows_of(SCHEMA, read_data_file(IO, file, SCHEMA)), found)


@pytest.mark.parametrize("type_", [TimestampType(), TimestampNanoType()], ids=str)
def test_orc_has_no_last_second_of_1969(tmp_path, type_):
    schema, milli = Schema((NestedField(1, "t", type_),)), 1000 if type_ == TimestampType() else 10**6
    for value in (-milli, -500 * milli, -999 * milli):
        with pytest.raises(UnsupportedError, match="Cannot write ORC file: ORC has no times of the last second of 1969"):
            write_data_file(IO, str(tmp_path / "f"), "orc", table_of(schema, [(value,)]), schema)
    near = [(-1,), (1 - milli,), (None,), (-999 * milli - 1,), (-1000 * milli,), (-1001 * milli,)]
    file = write_data_file(IO, str(tmp_path / "g"), "orc", table_of(schema, near), schema)
    assert rows_of(schema, read_data_file(IO, file, schema)) == near


def test_no_file_holds_a_column_of_unknown_type(tmp_path):
    inner = StructType((NestedField(3, "a", IntegerType()), NestedField(4, "none", UnknownType())))
    schema = Schema((NestedField(1, "u", UnknownType()), NestedField(2, "s", inner)))
    file = write_data_file(IO, str(tmp_path / "f"), "parquet", table_of(schema, [(None, (7, None)), (None, None)]), schema)
    assert pq.read_schema(tmp_path / "f").names == ["s"]
    assert [f.name for f in pq.read_schema(tmp_path / "f").field("s").type] == ["a"]
    assert rows_of(schema, read_data_file(IO, file, schema)) == [(None, (7, None)), (None, None)]


@examples(40)
@given(found=rows, file_format=st.sampled_from(["parquet", "orc"]))
def test_metrics_tell_the_truth(tmp_path_factory, found, file_format):
    path = str(tmp_path_factory.mktemp("d") / "f")
    file = write_data_file(IO, path, file_format, table_of(SCHEMA, found), SCHEMA)
    if not found:
        return
    for index, (field, type_) in enumerate(zip(SCHEMA.fields, COLUMNS, strict=True)):
        if type_ not in PRIMITIVES:
            assert (field.id in file.value_counts) == (file_format == "orc")
            continue
        values = [row[index] for row in found]
        real = [v for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))]
        assert file.value_counts[field.id] == len(values)
        assert file.null_value_counts[field.id] == values.count(None)
        if isinstance(type_, (FloatType, DoubleType)):
            assert file.nan_value_counts[field.id] == sum(1 for v in values if v is not None and math.isnan(v))
        for bound, wrong in ((file.lower_bounds.get(field.id), lambda b, v: b > v), (file.upper_bounds.get(field.id), lambda b, v: b < v)):
            if bound is not None:
                limit = from_bytes(type_, bound)
                assert not any(wrong(limit, v) for v in real), (type_, limit, real)
        if real and file_format == "parquet":
            assert field.id in file.lower_bounds


@pytest.mark.parametrize("file_format", FORMATS)
def test_nested_leaves_outside_lists_have_bounds(tmp_path, file_format):
    schema = Schema(
        (NestedField(1, "s", StructType((NestedField(2, "x", DoubleType()),))), NestedField(3, "l", ListType(4, IntegerType())))
    )
    file = write_data_file(IO, str(tmp_path / "f"), file_format, table_of(schema, [((1.5,), [1]), (None, None), ((math.nan,), [])]), schema)
    counts = {"parquet": ({2: 3}, {2: 1}), "orc": ({1: 3, 2: 2, 3: 3}, {1: 1, 2: 0, 3: 1}), "avro": ({}, {})}
    assert (file.value_counts, file.null_value_counts) == counts[file_format]
    if file_format != "avro":
        assert file.nan_value_counts == {2: 1}
        assert from_bytes(DoubleType(), file.lower_bounds[2]) == 1.5


def test_long_values_have_bounds(tmp_path):
    """Parquet footers state no minimum and maximum of values above 4 kB."""
    inner = StructType((NestedField(3, "b", BinaryType()),))
    schema = Schema((NestedField(1, "s", StringType()), NestedField(2, "st", inner), NestedField(4, "plain", StringType())))
    rows = [("b", (b"\x02",), "x"), ("é" * 5000, (b"\xff" * 5000,), "y"), (None, None, None), ("a" * 5000, (b"\x01" * 4097,), "z")]
    tables = [table_of(schema, rows[:2]), table_of(schema, rows[2:]), table_of(schema, [("c", (b"\x03",), "w")])]
    properties = {"write.parquet.row-group-size-bytes": "1"}  # a row group a table
    file = write_data_file(IO, str(tmp_path / "f"), "parquet", pa.concat_tables(tables), schema, properties=properties)
    assert (file.lower_bounds[1], file.upper_bounds[1]) == (b"a" * 16, ("é" * 15 + "ê").encode())
    assert file.lower_bounds[3] == b"\x01" * 16
    assert 3 not in file.upper_bounds  # 0xff cannot be cut upwards
    assert (file.lower_bounds[4], file.upper_bounds[4]) == (b"w", b"z")
    assert (file.value_counts[1], file.null_value_counts[1]) == (5, 1)


EVOLVED = Schema(
    (
        NestedField(6, "renamed", DoubleType()),  # was float
        NestedField(
            2,
            "s",
            StructType(
                (NestedField(4, "y", LongType()), NestedField(9, "new", StringType(), False, None, "d"), NestedField(3, "x", StringType()))
            ),
        ),
        NestedField(1, "id", LongType()),  # was int
        NestedField(10, "b", StringType()),  # re-added under an old name
        NestedField(11, "part", IntegerType()),
        NestedField(12, "defaulted", IntegerType(), False, None, 42),
        NestedField(7, "l", ListType(8, LongType())),
    )
)
ORIGINAL = Schema(
    (
        NestedField(1, "id", IntegerType()),
        NestedField(2, "s", StructType((NestedField(3, "x", StringType()), NestedField(4, "y", IntegerType())))),
        NestedField(5, "b", StringType()),
        NestedField(6, "f", FloatType()),
        NestedField(7, "l", ListType(8, IntegerType())),
    )
)
ORIGINAL_ROWS = [(1, ("x", 2), "old", 0.5, [1, None]), (2, None, "old", None, None)]
EVOLVED_ROWS = [(0.5, (2, "d", "x"), 1, None, 7, 42, [1, None]), (None, None, 2, None, 7, 42, None)]


@pytest.mark.parametrize("file_format", FORMATS)
def test_columns_resolve_by_id(tmp_path, file_format):
    file = write_data_file(IO, str(tmp_path / "f"), file_format, table_of(ORIGINAL, ORIGINAL_ROWS), ORIGINAL)
    assert rows_of(EVOLVED, read_data_file(IO, file, EVOLVED, constants={11: 7})) == EVOLVED_ROWS


@pytest.mark.parametrize("file_format", FORMATS)
def test_only_metadata_columns(tmp_path, file_format):
    schema = Schema((POS, FILE))
    file = write_data_file(IO, str(tmp_path / "f"), file_format, table_of(ORIGINAL, ORIGINAL_ROWS), ORIGINAL)
    assert rows_of(schema, read_data_file(IO, file, schema)) == [(0, file.file_path), (1, file.file_path)]


@pytest.mark.parametrize("file_format", FORMATS)
def test_row_lineage_is_inherited_unless_stored(tmp_path, file_format):
    schema = Schema((NestedField(1, "id", IntegerType()), ROW_ID, SEQUENCE))
    plain = write_data_file(IO, str(tmp_path / "f"), file_format, table_of(ORIGINAL, ORIGINAL_ROWS), ORIGINAL)
    found = rows_of(schema, read_data_file(IO, replace(plain, first_row_id=100), schema, data_sequence_number=7))
    assert found == [(1, 100, 7), (2, 101, 7)]
    assert rows_of(schema, read_data_file(IO, plain, schema, data_sequence_number=7)) == [(1, None, None), (2, None, None)]
    stored = write_data_file(IO, str(tmp_path / "g"), file_format, table_of(schema, [(1, 55, 3), (2, None, None)]), schema)
    assert rows_of(schema, read_data_file(IO, replace(stored, first_row_id=100), schema, data_sequence_number=7)) == [
        (1, 55, 3),
        (2, 101, 7),
    ]


def foreign(tmp_path, file_format):
    """A file no Iceberg writer made: no ids."""
    arrow = to_arrow_schema(ORIGINAL, with_ids=False)
    table = table_of(ORIGINAL, ORIGINAL_ROWS).cast(arrow)
    path = str(tmp_path / f"foreign.{file_format}")
    if file_format == "parquet":
        pq.write_table(table, path)
    elif file_format == "orc":
        from pyarrow import orc

        orc.write_table(table, path)
    else:
        import fastavro

        fields = [
            {"name": "id", "type": ["null", "int"]},
            {
                "name": "s",
                "type": [
                    "null",
                    {"type": "record", "name": "s_", "fields": [{"name": "x", "type": "string"}, {"name": "y", "type": "int"}]},
                ],
            },
            {"name": "b", "type": ["null", "string"]},
            {"name": "f", "type": ["null", "float"]},
            {"name": "l", "type": ["null", {"type": "array", "items": ["null", "int"]}]},
        ]
        with open(path, "wb") as out:  # noqa: PTH123
            fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, table.to_pylist(), codec="deflate")
    return path


@pytest.mark.parametrize("file_format", FORMATS)
def test_files_without_ids_go_by_name_mapping(tmp_path, file_format):
    path = foreign(tmp_path, file_format)
    file = data_file_of(IO, path, ORIGINAL, file_format=file_format, name_mapping=mapping_for(ORIGINAL), partition=(7,))
    assert (file.record_count, file.partition, file.file_size_in_bytes) == (2, (7,), IO.size(path))
    if file_format == "parquet":
        assert file.value_counts == {1: 2, 3: 2, 4: 2, 5: 2, 6: 2}
        assert from_bytes(IntegerType(), file.upper_bounds[1]) == 2
        assert file.split_offsets == (4,)
    assert rows_of(EVOLVED, read_data_file(IO, file, EVOLVED, name_mapping=mapping_for(ORIGINAL), constants={11: 7})) == EVOLVED_ROWS


def test_parquet_without_ids_or_mapping_goes_by_position(tmp_path):
    file = data_file_of(IO, foreign(tmp_path, "parquet"), ORIGINAL)
    schema = Schema((NestedField(3, "third", StringType()), NestedField(1, "first", LongType())))
    assert rows_of(schema, read_data_file(IO, file, schema)) == [("old", 1), ("old", 2)]


def test_parquet_footer_is_icebergs(tmp_path):
    file = write_data_file(IO, str(tmp_path / "f.parquet"), "parquet", table_of(SCHEMA, []), SCHEMA)
    found = pq.ParquetFile(file.file_path)
    assert found.schema_arrow.field(0).metadata[b"PARQUET:field_id"] == b"1"
    assert b"iceberg.schema" in found.metadata.metadata
    by_path = {found.schema.column(i).path: found.schema.column(i) for i in range(len(found.schema))}
    index = {type(t): i for i, t in enumerate(COLUMNS, 1)}
    assert str(by_path[f"c {index[UUIDType]}"].logical_type) == "UUID"
    assert by_path[f"c {list(COLUMNS).index(DecimalType(9, 2)) + 1}"].physical_type == "INT32"


@pytest.mark.parametrize("file_format", FORMATS)
def test_files_roll_near_the_target(tmp_path, file_format):
    schema = Schema((NestedField(1, "id", LongType(), True), NestedField(2, "s", StringType())))
    generator = np.random.default_rng(1)
    count, target = {"parquet": (400_000, 600_000), "orc": (400_000, 400_000), "avro": (60_000, 100_000)}[file_format]
    table = pa.table({"id": pa.array(np.arange(count)), "s": pa.array(np.char.mod("%06x", generator.integers(0, 2**24, count)))})
    paths = (str(tmp_path / f"{i}") for i in range(1000))
    writer = DataFileWriter(lambda: next(paths), schema, {"write.target-file-size-bytes": str(target)}, file_format=file_format)
    for batch in table.to_batches(max_chunksize=50_000):
        writer.write(batch)
    files = writer.close()
    assert len(files) >= 3
    assert sum(f.record_count for f in files) == count
    limit = {"parquet": 0.2, "orc": 0.5, "avro": 0.35}[file_format]
    assert all(abs(f.file_size_in_bytes - target) <= limit * target for f in files[:-1]), [f.file_size_in_bytes for f in files]
    assert [f.file_size_in_bytes for f in files] == [IO.size(f.file_path) for f in files]
    assert sum(len(b) for f in files for b in read_data_file(IO, f, schema)) == count


def test_row_groups_are_skipped_and_positions_stay(tmp_path):
    schema = Schema((NestedField(1, "id", LongType()), POS))
    stored = Schema(schema.fields[:1])
    table = pa.table({"id": pa.array(np.arange(200_000))})
    properties = {"write.parquet.row-group-size-bytes": "200000"}
    file = write_data_file(IO, str(tmp_path / "f"), "parquet", table, stored, properties)
    assert len(file.split_offsets) > 5
    predicate = Predicate(Op.GT_EQ, Reference("id"), (199_990,))
    found = rows_of(schema, read_data_file(IO, file, schema, filter=predicate))
    assert 10 <= len(found) < 60_000
    assert found[-1] == (199_999, 199_999)
    assert all(a == b for a, b in found)


@pytest.mark.parametrize("low", [0, 41_000, 199_995])
@pytest.mark.parametrize("groups", ["1", "many"])
def test_only_the_rows_around_those_that_are_wanted(tmp_path, groups, low):
    inner = StructType((NestedField(4, "key", LongType()), NestedField(5, "text", StringType())))
    stored = Schema((NestedField(1, "id", LongType()), NestedField(2, "s", StringType()), NestedField(3, "st", inner)))
    ids = np.arange(200_000)
    names = pa.array(np.char.mod("text of %032d", np.random.default_rng(1).permutation(200_000)))
    struct = pa.StructArray.from_arrays([pa.array(ids, mask=ids % 7 == 0), names], ["key", "text"])
    table = pa.table({"id": pa.array(ids, mask=ids % 5 == 0), "s": names, "st": struct})
    properties = {"write.parquet.row-group-size-bytes": "3000000"} if groups == "many" else {}
    file = write_data_file(IO, str(tmp_path / "f"), "parquet", table, stored, properties)
    schema = Schema((*stored.fields, POS))
    for name in ("id", "st.key"):
        predicate = and_(Predicate(Op.GT_EQ, Reference(name), (low,)), Predicate(Op.LT, Reference(name), (low + 5,)))
        rows = bind(schema, predicate)
        whole = rows_of(schema, read_data_file(IO, file, schema))
        found = rows_of(schema, read_data_file(IO, file, schema, rows=rows))
        value = (lambda row: row[0]) if name == "id" else (lambda row: row[2] and row[2][0])
        wanted = [row for row in whole if value(row) is not None and low <= value(row) < low + 5]
        assert len(wanted) >= 3
        assert [row for row in found if row in wanted] == wanted
        assert len(found) <= 5 or name == "st.key"  # which is in half of what is read
        assert found == whole[found[0][3] : found[0][3] + len(found)]
    nothing = bind(schema, Predicate(Op.EQ, Reference("id"), (0,)))  # its row is null
    assert rows_of(schema, read_data_file(IO, file, schema, rows=nothing)) == []


def test_orc_in_a_store_is_read_by_ranges_side_by_side(tmp_path):
    schema = Schema((NestedField(1, "id", LongType()), NestedField(2, "s", StringType()), NestedField(3, "more", StringType())))
    texts = pa.array(np.char.mod("%032d", np.random.default_rng(1).integers(0, 2**60, 200_000)))
    table = pa.table({"id": pa.array(np.arange(200_000)), "s": texts, "more": texts})
    file = write_data_file(IO, str(tmp_path / "f"), "orc", table, schema, {"write.orc.stripe-size-bytes": str(1 << 20)})
    data = (tmp_path / "f").read_bytes()
    asked: list[tuple[int, int, str]] = []

    def tail(length: int) -> tuple[int, bytes]:
        asked.append((len(data) - length, len(data), ""))
        return len(data), data[-length:]

    def fetch(start: int, end: int) -> bytes:
        asked.append((start, end, threading.current_thread().name))
        return data[start:end]

    far = ArrowFileIO()
    far.open_input = lambda location: ObjectInput(tail, fetch)
    for names in (("id",), ("s",), ("id", "s", "more")):
        asked.clear()
        wanted = Schema(tuple(field for field in schema.fields if field.name in names))
        assert rows_of(wanted, read_data_file(far, file, wanted)) == rows_of(wanted, read_data_file(IO, file, wanted))
        in_threads = [end - start for start, end, thread in asked if thread.startswith("icesql-fetch")]
        alone = [end - start for start, end, thread in asked if not thread.startswith("icesql-fetch")]
        assert len(in_threads) >= 2
        assert len(alone) <= 2  # the file's end
        assert sum(in_threads + alone) < {1: 0.75, 3: 1.01}[len(names)] * len(data)


def test_writer_conforms_or_refuses(tmp_path):
    schema = Schema(
        (
            NestedField(1, "id", LongType(), True),
            NestedField(2, "u", UUIDType()),
            NestedField(3, "d", DecimalType(9, 2)),
            NestedField(4, "s", StringType()),
        )
    )
    one = uuid.UUID(int=1)
    table = pa.table(
        {"s": pa.array(["a"], pa.large_string()), "u": [str(one)], "id": pa.array([1], pa.int32()), "d": [decimal.Decimal("1.5")]}
    )
    made = conform(table, schema)
    assert [internal_values(f.type, c)[0] for f, c in zip(schema.fields, made.columns, strict=True)] == [
        1,
        one,
        decimal.Decimal("1.50"),
        "a",
    ]
    assert conform(pa.table({"id": [1]}), schema).to_pylist() == [{"id": 1, "u": None, "d": None, "s": None}]
    for bad in ({"id": [1], "other": [1]}, {"id": [None]}, {"id": ["x"]}, {"s": ["x"]}):
        with pytest.raises(InvalidArgumentError):
            conform(pa.table(bad), schema)
    with pytest.raises(InvalidArgumentError):
        write_data_file(IO, str(tmp_path / "f"), "csv", table, schema)
    with pytest.raises(InvalidArgumentError):
        write_data_file(IO, str(tmp_path / "f"), "parquet", table, schema, {"write.parquet.compression-codec": "x"})


def test_nanoseconds_are_not_lost_in_silence():
    schema = Schema((NestedField(1, "t", TimestampType()),))
    assert internal_values(TimestampType(), conform(pa.table({"t": pa.array([5000], pa.timestamp("ns"))}), schema)["t"]) == [5]
    with pytest.raises(InvalidArgumentError, match="nanoseconds"):
        conform(pa.table({"t": pa.array([5001], pa.timestamp("ns"))}), schema)


def test_bloom_filters_are_written_where_asked(tmp_path):
    schema = Schema((NestedField(1, "a", LongType()), NestedField(2, "b", LongType())))
    table = pa.table({"a": pa.array(np.arange(1000)), "b": pa.array(np.arange(1000))})
    sizes = []
    for properties in ({}, {"write.parquet.bloom-filter-enabled.column.a": "true"}):
        sizes.append(write_data_file(IO, str(tmp_path / "f"), "parquet", table, schema, properties).file_size_in_bytes)
    assert sizes[1] > sizes[0] + 500


def test_abort_removes_files(tmp_path):
    schema = Schema((NestedField(1, "id", LongType()),))
    paths = (str(tmp_path / f"{i}") for i in range(1000))
    writer = DataFileWriter(lambda: next(paths), schema, {"write.target-file-size-bytes": "20000"})
    writer.write(pa.table({"id": np.random.default_rng(0).integers(0, 2**60, 20_000)}))
    assert len(list(tmp_path.iterdir())) > 1
    writer.abort()
    assert list(tmp_path.iterdir()) == []


def test_no_rows_no_files(tmp_path):
    writer = DataFileWriter(lambda: str(tmp_path / "f"), ORIGINAL)
    writer.write(table_of(ORIGINAL, []))
    assert writer.close() == []


@pytest.mark.parametrize("file_format", FORMATS)
def test_damaged_files(tmp_path, file_format):
    file = write_data_file(IO, str(tmp_path / "f"), file_format, table_of(ORIGINAL, ORIGINAL_ROWS), ORIGINAL)
    (tmp_path / "f").write_bytes((tmp_path / "f").read_bytes()[:40])
    with pytest.raises(CorruptMetadataError, match="f"):
        list(read_data_file(IO, file, ORIGINAL))
    with pytest.raises(NotFoundError):
        list(read_data_file(IO, replace(file, file_path=str(tmp_path / "none")), ORIGINAL))


@examples(120)
@given(data=st.data())
def test_spoiled_avro_files_end_in_an_error_that_names_them(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    file = write_data_file(
        IO, f"{folder}/whole.avro", "avro", table_of(ORIGINAL, ORIGINAL_ROWS), ORIGINAL, {"write.avro.compression-codec": "uncompressed"}
    )
    content = bytearray((folder / "whole.avro").read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "spoiled.avro").write_bytes(bytes(content[: data.draw(st.integers(0, len(content))) or None]))
    with contextlib.suppress(CorruptMetadataError, UnsupportedError):
        list(read_data_file(IO, replace(file, file_path=f"{folder}/spoiled.avro"), ORIGINAL))


def test_metrics_modes():
    assert [str(metrics_mode(t)) for t in ("none", "Counts", "full", "truncate(4)")] == ["none", "counts", "full", "truncate(4)"]
    for bad in ("truncate(0)", "some", "truncate()"):
        with pytest.raises(InvalidArgumentError):
            metrics_mode(bad)
    config = metrics_config(SCHEMA, {"write.metadata.metrics.default": "counts", "write.metadata.metrics.column.c 2": "none"}, [3])
    assert (config.of(1), config.of(2), config.of(3)) == (COUNTS, NONE, TRUNCATE_16)
    assert metrics_config(SCHEMA, {"write.metadata.metrics.column.c 2": "full"}).of(2) == FULL
    wide = Schema(
        (
            NestedField(1, "s", StructType((NestedField(300, "deep", LongType()),))),
            *(NestedField(i, f"c{i}", LongType()) for i in range(2, 120)),
        )
    )
    config = metrics_config(wide, {})
    assert [config.of(i) for i in (2, 101, 102, 119, 300)] == [TRUNCATE_16, TRUNCATE_16, NONE, NONE, NONE]


def test_metric_modes_shape_the_data_file(tmp_path):
    schema = Schema(tuple(NestedField(i, n, StringType()) for i, n in enumerate(("none", "counts", "cut", "full"), 1)))
    modes = {"none": "none", "counts": "counts", "cut": "truncate(3)", "full": "full"}
    properties = {f"write.metadata.metrics.column.{k}": v for k, v in modes.items()}
    text = "\U0010ffff\U0010ffff\U0010ffffz"
    table = pa.table({f.name: ["abcdef" * 10, text] for f in schema.fields})
    file = write_data_file(IO, str(tmp_path / "f"), "parquet", table, schema, properties)
    assert set(file.value_counts) == set(file.column_sizes) == {2, 3, 4}
    assert file.lower_bounds == {3: b"abc", 4: b"abcdef" * 10}
    assert file.upper_bounds == {4: text.encode()}  # nothing of three characters is above


def test_unknown_columns_are_null(tmp_path):
    schema = Schema((NestedField(1, "a", LongType()), NestedField(2, "n", UnknownType())))
    for file_format in FORMATS:
        file = write_data_file(IO, str(tmp_path / file_format), file_format, pa.table({"a": [1], "n": pa.nulls(1)}), schema)
        assert rows_of(schema, read_data_file(IO, file, schema)) == [(1, None)]


def test_file_io_is_picklable():
    assert pickle.loads(pickle.dumps(ArrowFileIO({"k": "v"}))).properties == {"k": "v"}
    assert pc is not None
