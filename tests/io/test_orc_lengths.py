"""The guard before pyarrow's ORC reader: whole files pass, lengths that are none are refused with the file's name, and nothing crashes."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from icesql.errors import CorruptMetadataError
from icesql.io.data.files import read_data_file
from icesql.io.orc.layout import read_layout
from icesql.io.orc.lengths import LengthGuard, check_lengths
from icesql.io.storage.file_systems import LocalFileIO
from icesql.spec.files import DataFile
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType

CODECS = ("uncompressed", "zlib", "snappy", "lz4", "zstd")
LENGTH_STREAM = 2


def table(rows: int = 3000) -> pa.Table:
    """Lengths of every kind of run: equal, rising, small, and small with a few large."""
    chance = random.Random(5)
    return pa.table(
        {
            "equal": ["abc"] * rows,
            "rising": ["y" * (n % 700) for n in range(rows)],
            "small": ["x" * chance.randrange(40) for _ in range(rows)],
            "outliers": ["z" * (chance.randrange(9) + 5000 * (chance.random() < 0.02)) for _ in range(rows)],
            "few": [chance.choice(["a", "bb", "cccc", None]) for _ in range(rows)],
            "list": pa.array([[1] * chance.randrange(4) if n % 5 else None for n in range(rows)], pa.list_(pa.int32())),
            "map": pa.array(
                [[(f"k{k}", 1.0) for k in range(chance.randrange(3))] for _ in range(rows)], pa.map_(pa.string(), pa.float64())
            ),
            "struct": [{"names": ["q"] * chance.randrange(3), "n": n} for n in range(rows)],
        }
    )


@pytest.mark.parametrize("dictionary", [0.0, 1.0])
@pytest.mark.parametrize("codec", CODECS)
def test_whole_files_pass(tmp_path: Path, codec: str, dictionary: float) -> None:
    path, rows = str(tmp_path / "t.orc"), table()
    orc.write_table(rows, path, compression=codec, dictionary_key_size_threshold=dictionary, stripe_size=1 << 16, batch_size=512)
    with pa.OSFile(path, "rb") as stream:
        file = orc.ORCFile(stream)
        assert file.nstripes > (codec == "uncompressed")
        guard = LengthGuard(stream, file.file_length, path)
        for stripe in range(file.nstripes):
            guard.check(stripe, rows.column_names)


# Vectors of the ORC specification, "Run Length Encoding version 2" and "version 1", each followed by one that is damaged.
@pytest.mark.parametrize("run", ["0a2710", "5e035ca1ab1edeadbeef", "8e092b2107d01e00147028323c46505afce8", "c609020222424246", "c0310600"])
def test_runs_of_lengths(run: str) -> None:
    check_lengths(bytes.fromhex(run) * 3, version_2=True)
    with pytest.raises((ValueError, IndexError)):
        check_lengths(bytes.fromhex(run)[:-1], version_2=True)


@pytest.mark.parametrize(
    "run", ["3affffffffffffffff", "7e00ffffffffffffffff", "8e092b21ffd01e00147028323c46505afce8", "c0310601", "c609020322424246"]
)
def test_runs_of_what_are_no_lengths(run: str) -> None:
    with pytest.raises(ValueError, match="not a length"):
        check_lengths(bytes.fromhex(run), version_2=True)


def test_runs_of_version_1() -> None:
    check_lengths(bytes.fromhex("610007" + "fb020304070b"), version_2=False)
    check_lengths(bytes.fromhex("61ff64"), version_2=False)  # 100 down to 1
    for damaged in ("61ff62", "ffffffffffffffffff01"):
        with pytest.raises(ValueError, match="not a length"):
            check_lengths(bytes.fromhex(damaged), version_2=False)


def test_a_damaged_length_is_refused_with_the_files_name(tmp_path: Path) -> None:
    """Equal lengths are one run whose step is 0; a step of -1 makes negative lengths, on which pyarrow's reader ends the process."""
    path = tmp_path / "t.orc"
    schema = Schema((NestedField(1, "n", LongType()), NestedField(2, "s", StringType())))
    orc.write_table(
        pa.table({"n": range(50), "s": ["abcdef"] * 40 + ["abcde"] * 10}),
        str(path),
        compression="uncompressed",
        dictionary_key_size_threshold=0.0,
    )
    data = bytearray(path.read_bytes())
    with path.open("rb") as stream:
        (lengths,) = [s for s in read_layout(stream, len(data)).streams(stream, 0) if s.kind == LENGTH_STREAM]
    run = data.index(b"\xc0\x27\x06\x00", lengths.start, lengths.start + lengths.length)
    data[run + 3] = 1
    path.write_bytes(data)
    file = DataFile(file_path=str(path), file_format="orc", record_count=50, file_size_in_bytes=len(data))
    with pytest.raises(CorruptMetadataError, match=r"t\.orc: damaged stripe 0: not a length"):
        list(read_data_file(LocalFileIO(), file, schema))
    only_numbers = Schema(schema.fields[:1])
    assert sum(batch.num_rows for batch in read_data_file(LocalFileIO(), file, only_numbers)) == 50
