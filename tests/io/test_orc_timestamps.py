"""ORC timestamps of any year, and the run-length encodings they are stored in."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import UnsupportedError
from icesql.io.data_file_writer import DataFileWriter
from icesql.io.data_files import read_data_file
from icesql.io.file_systems import LocalFileIO
from icesql.io.orc_runs import bits, numbers
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType, StructType, TimestampType, TimestamptzType, Type
from tests.effort import examples

SECOND = 1_000_000
FIRST, LAST = -62_135_596_800 * SECOND, 253_402_300_799 * SECOND  # the years 1 to 9999


def written_and_read(folder: Path, types: list[Type], columns: list[pa.Array], codec: str = "zlib") -> pa.Table:
    schema = Schema(tuple(NestedField(i + 1, f"c{i}", type_) for i, type_ in enumerate(types)))
    properties = {"write.orc.compression-codec": codec}
    writer = DataFileWriter(lambda: f"{folder}/t.orc", schema, properties, file_format="orc")
    writer.write(pa.table(columns, [field.name for field in schema.fields]))
    (file,) = writer.close()
    return pa.Table.from_batches(list(read_data_file(LocalFileIO(), file, schema)))


micros = st.integers(FIRST // SECOND, -1).map(lambda s: s * SECOND) | st.integers(0, LAST)  # fractions before 1970 are not written
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
