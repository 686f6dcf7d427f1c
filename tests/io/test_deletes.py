"""Puffin files, deletion vectors, position and equality deletes."""

import json
import struct
import zlib
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64

from icesql.errors import CorruptMetadataError, IcesqlError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.io.deletes.deletion_vectors import deserialize_dv, read_dv, read_dv_bitmap, serialize_dv, write_dvs
from icesql.io.deletes.files import read_equality_deletes, read_position_deletes, write_equality_deletes, write_position_deletes
from icesql.io.puffin import MAGIC, NewBlob, puffin_bytes, read_blob, read_puffin, write_puffin
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.files import DataFile, FileContent
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType
from tests.effort import examples

IO = ArrowFileIO()
positions = st.sets(st.one_of(st.integers(0, 200), st.integers(0, 2**40)), min_size=1, max_size=50)


@pytest.mark.parametrize("codec", [None, "zstd", "lz4"])
def test_puffin_round_trip(tmp_path, codec):
    blobs = [
        NewBlob(type="a", fields=(1, 2), data=b"x" * 1000, snapshot_id=5, sequence_number=6, codec=codec),
        NewBlob(type="b", fields=(), data=b""),
    ]
    footer, size = write_puffin(IO, str(tmp_path / "p"), blobs, {"created-by": "t"})
    assert size == (tmp_path / "p").stat().st_size
    found = read_puffin(IO, str(tmp_path / "p"))
    assert found == footer
    assert [read_blob(IO, str(tmp_path / "p"), b) for b in found.blobs] == [b"x" * 1000, b""]


def test_compressed_footer(tmp_path):
    import cramjam

    _data, _footer = puffin_bytes([])
    payload = bytes(cramjam.lz4.compress(json.dumps({"blobs": [], "properties": {"k": "v"}}).encode()))
    (tmp_path / "p").write_bytes(MAGIC + MAGIC + payload + struct.pack("<i", len(payload)) + b"\x01\0\0\0" + MAGIC)
    assert read_puffin(IO, str(tmp_path / "p")).properties == {"k": "v"}


@examples(150)
@given(data=st.data())
def test_damaged_puffin_files(tmp_path_factory, data):
    content = bytearray(
        puffin_bytes([NewBlob(type="a", fields=(1,), data=b"abc" * 10, codec=c) for c in (None, "zstd", "lz4")], {"k": "v"})[0]
    )
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "spoiled.puffin"
    path.write_bytes(bytes(content[data.draw(st.integers(0, 30)) :][: data.draw(st.integers(0, len(content)))]))
    try:
        for blob in read_puffin(IO, str(path)).blobs:
            read_blob(IO, str(path), blob)
    except (CorruptMetadataError, UnsupportedError) as error:
        assert "spoiled.puffin" in str(error)


@examples(60)
@given(positions)
def test_vector_round_trip_and_layout(found):
    blob = serialize_dv(found)
    assert set(deserialize_dv(blob)) == found
    length, magic = struct.unpack_from(">i4s", blob)
    assert (length, magic) == (len(blob) - 8, b"\xd1\xd3\x39\x64")
    assert struct.unpack(">I", blob[-4:])[0] == zlib.crc32(blob[4:-4])
    assert struct.unpack_from("<Q", blob, 8)[0] == len({p >> 32 for p in found})


@examples(150)
@given(st.data())
def test_damaged_vectors(data):
    blob = bytearray(serialize_dv([1, 5, 70_000, 2**33, *range(100, 5000)]))
    for _ in range(data.draw(st.integers(1, 3))):
        blob[data.draw(st.integers(0, len(blob) - 1))] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.integers(0, len(blob)))
    with pytest.raises(CorruptMetadataError):
        changed = bytes(blob[: cut or None])
        deserialize_dv(changed if changed != serialize_dv([1, 5, 70_000, 2**33, *range(100, 5000)]) else b"", "v")


def test_many_vectors_in_one_file(tmp_path):
    data_file = DataFile(file_path="/d/b", file_format="parquet", spec_id=3, partition=(7,), record_count=9, file_size_in_bytes=1)
    files = write_dvs(
        IO,
        str(tmp_path / "dv.puffin"),
        {"/d/a": [1, 2], "/d/b": BitMap64([5])},
        targets={"/d/b": data_file},
        previous={"/d/a": [9], "/d/c": [1]},
    )
    assert [set(read_dv(IO, f)) for f in files] == [{1, 2, 9}, {5}]
    assert [read_dv_bitmap(IO, f).positions().tolist() for f in files] == [[1, 2, 9], [5]]
    assert [f.referenced_data_file for f in files] == ["/d/a", "/d/b"]
    assert [f.record_count for f in files] == [3, 1]
    assert (files[1].spec_id, files[1].partition) == (3, (7,))
    assert all(f.is_deletion_vector and f.file_size_in_bytes == (tmp_path / "dv.puffin").stat().st_size for f in files)
    footer = read_puffin(IO, str(tmp_path / "dv.puffin"))
    assert [b.properties["cardinality"] for b in footer.blobs] == ["3", "1"]
    assert [(b.offset, b.length) for b in footer.blobs] == [(f.content_offset, f.content_size_in_bytes) for f in files]
    with pytest.raises(CorruptMetadataError, match="positions"):
        read_dv(IO, replace(files[0], record_count=4))
    with pytest.raises(NotFoundError):
        read_dv(IO, replace(files[0], file_path=str(tmp_path / "none")))
    with pytest.raises(InvalidArgumentError):
        write_dvs(IO, str(tmp_path / "x"), {"/d/a": []})


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_position_deletes(tmp_path, file_format):
    wanted = {"/d/é b": [5, 1, 5], "/d/a%20": [0, 2**33]}
    file = write_position_deletes(IO, str(tmp_path / f"d.{file_format}"), wanted, file_format=file_format, spec_id=2, partition=(1,))
    assert (file.content, file.record_count, file.spec_id, file.partition) == (FileContent.POSITION_DELETES, 4, 2, (1,))
    bounds = {} if file_format == "avro" else {2147483546: b"/d/a%20"}
    assert {i: b for i, b in file.lower_bounds.items() if i == 2147483546} == bounds
    assert file.referenced_data_file is None
    assert {p: set(b) for p, b in read_position_deletes(IO, file).items()} == {p: set(v) for p, v in wanted.items()}
    assert {p: set(b) for p, b in read_position_deletes(IO, file, "/d/é b").items()} == {"/d/é b": {1, 5}}


def test_position_deletes_of_one_file(tmp_path):
    long = "/d/" + "x" * 300
    table = pa.table({"file_path": [long, long, long], "pos": [7, 3, 3]})
    file = write_position_deletes(IO, str(tmp_path / "d.parquet"), table)
    assert file.referenced_data_file is None
    assert file.lower_bounds[2147483546] == file.upper_bounds[2147483546] == long.encode()
    assert set(read_position_deletes(IO, file)[long]) == {3, 7}
    with pytest.raises(InvalidArgumentError):
        write_position_deletes(IO, str(tmp_path / "e.parquet"), {})


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_equality_deletes(tmp_path, file_format):
    schema = Schema((NestedField(1, "a", LongType()), NestedField(2, "b", StringType()), NestedField(3, "c", LongType())))
    rows = pa.table({"c": [1, 2], "b": ["x", None], "a": [7, 8]})
    (file,) = write_equality_deletes(IO, lambda: str(tmp_path / "e"), rows, schema, [3, 2], file_format=file_format)
    assert (file.content, file.equality_ids) == (FileContent.EQUALITY_DELETES, (3, 2))
    renamed = Schema((NestedField(2, "renamed", StringType()), NestedField(3, "c", LongType())))
    assert read_equality_deletes(IO, file, renamed).to_pylist() == [{"c": 1, "renamed": "x"}, {"c": 2, "renamed": None}]


def test_reading_the_wrong_kind_is_refused(tmp_path):
    file = DataFile(file_path="/a", file_format="parquet", record_count=1, file_size_in_bytes=1)
    for read in (read_dv, read_position_deletes, lambda io, f: read_equality_deletes(io, f, Schema(()))):
        with pytest.raises(InvalidArgumentError):
            read(IO, file)
    assert issubclass(CorruptMetadataError, IcesqlError)
