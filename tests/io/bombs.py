"""Small files that ask for much, and large ones that are sound; and a process of its own that reads one and tells what that took."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import multiprocessing
import os
import struct
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cramjam

from icesql.errors import IcesqlError
from icesql.io.avro.container import SYNC_LENGTH, write_bytes, write_long
from icesql.io.data.files import read_data_file
from icesql.io.deletes.deletion_vectors import BLOB_TYPE, MAGIC, read_dv, read_dv_bitmap
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.entries import read_manifest
from icesql.io.manifests.lists import read_manifest_list
from icesql.io.manifests.schemas import entry_schema, manifest_file_schema
from icesql.io.metadata_files import read_identity, read_metadata
from icesql.io.puffin import NewBlob, puffin_bytes, read_blob, read_puffin
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.files import DataFile, FileContent, ManifestFile
from icesql.spec.json.metadata import metadata_to_json, metadata_to_object
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, ListType, LongType, NestedField, StructType, UnknownType

IO = ArrowFileIO()
PIECE = 16 << 20
SYNC = b"\x07" * SYNC_LENGTH
ENTRY, LIST = entry_schema(2, StructType(())), manifest_file_schema(2)

# -- compressed zeros ----------------------------------------------------------------------------------------------------


def deflate_zeros(pieces: int) -> bytes:
    """16 MB a piece, in 16 kB."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = squeeze.compress(bytes(PIECE)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    return piece * pieces + squeeze.flush()


ZSTD_MAGIC = 0xFD2FB528


def gzip_zeros(pieces: int) -> bytes:
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + deflate_zeros(pieces) + bytes(8)


def zstd_zeros(pieces: int) -> bytes:
    """One frame of unknown size: each block repeats a byte 128 k times."""
    window = bytes((0, 17 - 10 << 3))
    block = struct.pack("<I", (1 << 17) << 3 | 1 << 1)[:3] + b"\0"
    return struct.pack("<I", ZSTD_MAGIC) + window + block * (pieces * PIECE >> 17)


def zstd_claim(size: int) -> bytes:
    return struct.pack("<IB", ZSTD_MAGIC, 0xE0) + struct.pack("<Q", size) + b"\x01\0\0"


def snappy_claim(size: int) -> bytes:
    out = bytearray()
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    return bytes(out) + bytes((size,)) + b"\0a" + bytes(4)


CODEC_BOMBS: dict[str, Callable[[], tuple[str, bytes]]] = {
    "deflate": lambda: ("deflate", deflate_zeros(256)),
    "bzip2": lambda: ("bzip2", bz2.compress(bytes(PIECE)) * 256),
    "xz": lambda: ("xz", lzma.compress(bytes(PIECE), preset=0) * 256),
    "xz window": lambda: ("xz", _xz_of_window(1 << 31)),
    "zstandard": lambda: ("zstandard", zstd_zeros(256)),
    "zstandard claim": lambda: ("zstandard", zstd_claim(1 << 31)),
    "snappy claim": lambda: ("snappy", snappy_claim(1 << 31)),
}


def _xz_of_window(size: int) -> bytes:
    return lzma.compress(b"a", format=lzma.FORMAT_ALONE)[:1] + struct.pack("<I", size) + b"\xff" * 8 + bytes(64)


# -- Avro ----------------------------------------------------------------------------------------------------------------


def avro(schema: Any, *blocks: tuple[int, bytes], codec: str = "null") -> bytes:
    """A container file of blocks as they are: (count, stored bytes)."""
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    header = write_long(2) + write_bytes(b"avro.schema") + write_bytes(text) + write_bytes(b"avro.codec") + write_bytes(codec.encode())
    body = b"".join(write_long(count) + write_bytes(data) + SYNC for count, data in blocks)
    return b"Obj\x01" + header + b"\0" + SYNC + body


def with_field(schema: dict[str, Any], type_: Any) -> dict[str, Any]:
    """The schema with another field before its own."""
    return {**schema, "fields": [{"name": "more", "type": type_, "field-id": 9000}, *schema["fields"]]}


def doubling(levels: int) -> Any:
    """A type that refers to another twice, which refers to another twice ..."""
    types: list[Any] = [{"type": "record", "name": "t0", "fields": []}]
    for i in range(1, levels):
        types.append({"type": "record", "name": f"t{i}", "fields": [{"name": n, "type": f"t{i - 1}", "field-id": i} for n in "ab"]})
    return {"type": "record", "name": "all", "fields": [{"name": t["name"], "type": t, "field-id": 1} for t in types]}


def idle_arrays(size: int) -> bytes:
    """Blocks of an array, each with as many items as there are bytes left."""
    out, left = [], size
    while left > 16:
        count = write_long(left - 9)
        out.append(count)
        left -= len(count)
    return b"".join(out) + bytes(left)


def entry_record(path: bytes) -> bytes:
    """A manifest entry of version 2."""
    optional = b"\0" * 11
    return b"\x02\0\0\0" + b"\0" + write_bytes(path) + write_bytes(b"PARQUET") + b"\x14\x14" + optional


def list_record(path: bytes) -> bytes:
    return write_bytes(path) + write_long(8000) + b"\0" * 3 + b"\0" + write_long(7) + b"\x02\0\0\x14\0\0" + b"\0\0"


def numbered(record: Callable[[bytes], bytes], count: int) -> list[tuple[int, bytes]]:
    """Blocks of records that differ in their path's number."""
    start, end = record(b"/warehouse/table/file-########.x").split(b"########")
    names = [b"%s%08d%s" % (start, i, end) for i in range(count)]
    return [(len(part), zlib.compress(b"".join(part), 6)[2:-4]) for part in (names[i : i + 500] for i in range(0, count, 500))]


# -- the rest ------------------------------------------------------------------------------------------------------------


def table(**changes: Any) -> dict[str, Any]:
    """A metadata document, as parsed JSON."""
    made = TableMetadata(
        format_version=2, table_uuid="11111111-1111-1111-1111-111111111111", location="/t", last_updated_ms=1, last_column_id=1,
        current_schema_id=0, schemas=(Schema((NestedField(1, "a", LongType()),)),), default_spec_id=0, partition_specs=(PartitionSpec(),),
        last_sequence_number=99,
    )  # fmt: skip
    assert metadata_to_json(made)
    return {**metadata_to_object(made), **changes}


def snapshot(id_: int, parent: int | None, sequence: int = 5) -> dict[str, Any]:
    return {
        "snapshot-id": id_, "parent-snapshot-id": parent, "sequence-number": sequence, "timestamp-ms": id_, "manifest-list": f"/t/{id_}",
        "summary": {"operation": "append", "added-data-files": "1", "total-records": str(id_)},
    }  # fmt: skip


def with_type(type_: Any) -> dict[str, Any]:
    return {"schema-id": 0, "type": "struct", "fields": [{"id": 1, "name": "a", "required": False, "type": type_}]}


def nested_list(depth: int) -> Any:
    made: Any = "int"
    for i in range(depth):
        made = {"type": "list", "element-id": 2 + i, "element-required": False, "element": made}
    return made


def run_containers(keys: range, runs: list[tuple[int, int]], says: int) -> bytes:
    """A 64-bit bitmap of run containers that hold the same runs (first, length)."""
    body = struct.pack("<H", len(runs)) + b"".join(struct.pack("<HH", first, length - 1) for first, length in runs)
    heads = b"".join(struct.pack("<HH", key, says - 1) for key in keys)
    offsets = bytes(4 * len(keys)) if len(keys) >= 4 else b""
    flags = b"\xff" * ((len(keys) + 7) // 8)
    return struct.pack("<QI", 1, 0) + struct.pack("<I", 12347 | len(keys) - 1 << 16) + flags + heads + offsets + body * len(keys)


def vector(bitmap: bytes) -> bytes:
    """A Puffin file with one deletion vector."""
    body = MAGIC + bitmap
    blob = struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    return puffin_bytes([NewBlob(type=BLOB_TYPE, fields=(1,), data=blob)])[0]


def puffin_blob(data: bytes, codec: str) -> bytes:
    """A Puffin file with a blob that is compressed already."""
    plain = puffin_bytes([NewBlob(type="x", fields=(1,), data=data)])[0]
    start, end = plain[: 4 + len(data)], plain[4 + len(data) :]
    payload = json.loads(end[4:-12])
    payload["blobs"][0]["compression-codec"] = codec
    text = json.dumps(payload).encode()
    return start + b"PFA1" + text + struct.pack("<i4s4s", len(text), bytes(4), b"PFA1")


def puffin_footer(payload: bytes, flags: bytes = bytes(4)) -> bytes:
    return b"PFA1PFA1" + payload + struct.pack("<i4s4s", len(payload), flags, b"PFA1")


def gzip_of(text: bytes, level: int = 1) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=level) as stream:
        stream.write(text)
    return out.getvalue()


@cache
def lz4_zeros() -> bytes:
    """400 MB in less than 2."""
    return lz4(bytes(400 << 20))


def lz4(data: bytes) -> bytes:
    return bytes(cramjam.lz4.compress(data))


# -- reading -------------------------------------------------------------------------------------------------------------


def _manifest(path: str, count: int) -> int:
    manifest = ManifestFile(manifest_path=path, manifest_length=1, partition_spec_id=0, sequence_number=1, added_snapshot_id=1)
    columns = read_manifest_columns(IO, manifest, use_cache=False, use_native=count >= 0)
    return len(columns) if count >= 0 else len(read_manifest(IO, manifest))


def _metadata(path: str, count: int) -> int:
    read_identity(IO, path)
    return len(read_metadata(IO, path, use_cache=False).snapshots)


def _dv(path: str, count: int, read: Callable[[Any, DataFile], Any]) -> int:
    blob = read_puffin(IO, path).blobs[0]
    file = DataFile(
        content=FileContent.POSITION_DELETES, file_path=path, file_format="puffin", record_count=count, file_size_in_bytes=1,
        referenced_data_file="/d", content_offset=blob.offset, content_size_in_bytes=blob.length,
    )  # fmt: skip
    return len(read(IO, file))


def _data(path: str, wanted: Schema) -> int:
    file = DataFile(file_path=path, file_format="avro", record_count=1, file_size_in_bytes=1)
    return sum(batch.num_rows for batch in read_data_file(IO, file, wanted))


NOTHING, MORE = Schema(()), Schema((NestedField(9000, "more", ListType(9001, UnknownType())), NestedField(0, "status", IntegerType())))
READERS: dict[str, Callable[[str, int], int]] = {
    "metadata": _metadata,
    "manifest": _manifest,
    "manifest in Python": lambda path, count: _manifest(path, -1),
    "list": lambda path, count: len(read_manifest_list(IO, path, use_cache=False)),
    "puffin": lambda path, count: sum(len(read_blob(IO, path, blob)) for blob in read_puffin(IO, path).blobs),
    "data, no column": lambda path, count: _data(path, NOTHING),
    "data, its columns": lambda path, count: _data(path, MORE),
    "vector": lambda path, count: _dv(path, count, read_dv),
    "vector on executors": lambda path, count: _dv(path, count, read_dv_bitmap),
}


def _kilobytes(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))


def _report(pipe: Any, reader: str, path: str, count: int) -> None:
    before = _kilobytes("VmRSS")
    try:
        found: object = READERS[reader](path, count)
    except IcesqlError as error:
        found = (type(error).__name__, str(error))
    except BaseException as error:
        found = ("unexpected", repr(error))
    pipe.send((found, _kilobytes("VmHWM") - before))
    pipe.close()
    os._exit(0)


def outcome(reader: str, path: str, count: int = 0, *, timeout_seconds: int = 30) -> tuple[Any, int]:
    """What reading gives, or (name of the error, its words); and by how many kilobytes the memory of a process rose that did nothing
    else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(there, reader, path, count))
    process.start()
    there.close()
    try:
        if not here.poll(timeout_seconds):
            return ("no end", ""), 0
        try:
            found: tuple[Any, int] = here.recv()
        except EOFError:
            return ("process died", ""), 0
        return found
    finally:
        process.kill()
        process.join()
