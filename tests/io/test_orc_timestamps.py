"""ORC timestamps of any year, and the run-length encodings they are stored in."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import orc

from icesql.errors import UnsupportedError
from icesql.io.arrow.types import to_arrow_schema
from icesql.io.data.files import read_data_file
from icesql.io.data.writer import DataFileWriter
from icesql.io.metrics.column_metrics import metrics_config
from icesql.io.orc.files import OrcFileWriter
from icesql.io.orc.runs import bits, direct_runs, numbers
from icesql.io.storage.file_systems import LocalFileIO
from icesql.spec.schema import Schema
from icesql.spec.types import (
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzType,
    Type,
)
from tests.effort import examples

SECOND = 1_000_000
FIRST, LAST = -(2**63), 2**63 - 1  # beyond the years 1 to 9999 of Python and SQL


def written_and_read(folder: Path, types: list[Type], columns: list[pa.Array], codec: str = "zlib") -> pa.Table:
    schema = Schema(tuple(NestedField(i + 1, f"c{i}", type_) for i, type_ in enumerate(types)))
    properties = {"write.orc.compression-codec": codec}
    writer = DataFileWriter(lambda: f"{folder}/t.orc", schema, properties, file_format="orc")
    writer.write(pa.table(columns, [field.name for field in schema.fields]))
    (file,) = writer.close()
    return pa.Table.from_batches(list(read_data_file(LocalFileIO(), file, schema)))


micros = st.integers(FIRST, LAST).filter(lambda v: not -999_000 <= v <= -1000)  # which ORC does not have
columns = st.one_of(
    st.lists(st.none() | micros, min_size=1, max_size=60),
    st.tuples(micros, st.integers(1, 700)).map(lambda pair: [pair[0]] * pair[1]),  # equal
    st.tuples(st.integers(0, LAST // 2), st.integers(-SECOND, SECOND)).map(
        lambda pair: [max(0, pair[0] + n * pair[1]) for n in range(600)]
    ),
    st.lists(st.integers(17 * 10**14, 17 * 10**14 + 10**9), min_size=20, max_size=60).map(lambda usual: [*usual, LAST, FIRST]),  # outliers
)


@examples(60)
@given(values=columns, codec=st.sampled_from(["zlib", "none", "zstd", "snappy", "lz4"]))
def test_timestamps_of_any_year(values: list[int | None], codec: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    far = [*values, LAST, None, FIRST]  # so that pyarrow alone would refuse the file
    arrays = [pa.array(far, pa.timestamp("us")), pa.array(far[::-1], pa.timestamp("us", "UTC")), pa.array(range(len(far)))]
    found = written_and_read(tmp_path_factory.mktemp("orc"), [TimestampType(), TimestamptzType(), LongType()], arrays, codec)
    assert [column.combine_chunks() for column in found.columns] == arrays


def test_a_timestamp_alone(tmp_path: Path) -> None:
    far = pa.array([datetime.datetime(2500, 1, 1, 0, 0, 0, 123456), None], pa.timestamp("us"))
    assert written_and_read(tmp_path, [TimestampType()], [far]).column(0).combine_chunks() == far


@pytest.mark.parametrize("codec", ["zlib", "none", "zstd", "snappy", "lz4"])
def test_times_before_1970_after_others(codec: str, tmp_path: Path) -> None:
    """The file is begun by pyarrow and put together from the first early fraction on, in several stripes; pyarrow reads it whole."""
    nested = StructType((NestedField(4, "n", TimestampNanoType()), NestedField(5, "l", ListType(6, TimestamptzType()))))
    schema = Schema((NestedField(1, "id", LongType()), NestedField(2, "t", TimestampType()), NestedField(3, "s", nested)))
    arrow, rows = to_arrow_schema(schema), list[int | None]()
    properties = {"write.orc.compression-codec": codec, "write.orc.stripe-size-bytes": "20000"}
    writer = OrcFileWriter(open(tmp_path / "t.orc", "wb"), schema, properties, metrics_config(schema, {}))  # noqa: PTH123, SIM115
    late, early = [1, None, 5 * SECOND + 7, -3 * SECOND], [-1_500_000, -1, None, -999_500, -1_000_001, -86_400_100_000, -(2**52) - 1, 7]
    for part in (late * 400, early * 2000, late * 10):
        numbers = pa.array([(i * 7919) % 10007 for i in range(len(part))], pa.int64())
        structs = [None if v is None else {"n": v * 1000, "l": [v, None, v]} for v in part]
        plain = pa.struct([("n", pa.int64()), ("l", pa.list_(pa.int64()))])
        columns = [numbers, pa.array(part, pa.int64()), pa.array(structs, plain)]
        writer.write(pa.Table.from_arrays([c.cast(f.type) for c, f in zip(columns, arrow, strict=True)], schema=arrow))
        rows += part
    metrics, size = writer.close()
    file = orc.ORCFile(tmp_path / "t.orc")
    assert (metrics.record_count, size) == (len(rows), (tmp_path / "t.orc").stat().st_size)
    assert file.nstripes >= 3
    found = file.read()
    assert found["t"].cast(pa.timestamp("us")).cast(pa.int64()).to_pylist() == rows
    structs = found["s"].cast(arrow.field("s").type).cast(plain).to_pylist()
    assert structs == [None if v is None else {"n": v * 1000, "l": [v, None, v]} for v in rows]


@given(values=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), min_size=1, max_size=2000))
def test_direct_runs(values: list[int]) -> None:
    written = direct_runs(np.array(values, np.uint64))
    assert numbers(written, is_signed=False).view(np.uint64).tolist() == values


def test_nanoseconds_beside_far_times_stay(tmp_path: Path) -> None:
    """A file that pyarrow refuses for one column's years has all digits of another's; and the ends of what nanoseconds hold."""
    ends = pa.array([-(2**63), 2**63 - 1, None, 1_000_000_001, -2_000_000_001], pa.timestamp("ns"))
    far = pa.array([FIRST, LAST, None, 0, 1], pa.timestamp("us"))
    found = written_and_read(tmp_path, [TimestampNanoType(), TimestampType()], [ends, far])
    assert [column.combine_chunks() for column in found.columns] == [ends, far]


def test_far_timestamps_within_structs_are_refused(tmp_path: Path) -> None:
    inner = StructType((NestedField(9, "t", TimestampType()), NestedField(10, "s", StringType())))
    values = pa.array([{"t": LAST, "s": "x"}], pa.struct([("t", pa.timestamp("us")), ("s", pa.string())]))
    with pytest.raises(UnsupportedError, match=r"t\.orc: timestamps before 1677"):
        written_and_read(tmp_path, [inner], [values])


@pytest.mark.parametrize(
    ("run", "values"),
    [
        ("0a2710", [10000] * 5),
        ("5e035ca1ab1edeadbeef", [23713, 43806, 57005, 48879]),
        ("8e092b2107d01e00147028323c46505afce8", [2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090]),
        ("c609020222424246", [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]),
    ],
)
def test_vectors_of_the_orc_specification(run: str, values: list[int]) -> None:
    assert numbers(bytes.fromhex(run) * 2, is_signed=False).tolist() == values * 2


def test_bits() -> None:
    assert bits(bytes.fromhex("6100"), 800).tolist() == [False] * 800
    assert bits(bytes.fromhex("fe4445"), 16).tolist() == [c == "1" for c in "0100010001000101"]
    with pytest.raises(ValueError, match="16 bits of 17"):
        bits(bytes.fromhex("fe4445"), 17)
