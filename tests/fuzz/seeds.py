"""The first files of the corpus: sound ones of each target. ``python -m tests.fuzz.seeds`` writes those that are not there."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from uuid import UUID

from pyroaring import BitMap64

from icesql.io.deletes.deletion_vectors import BLOB_TYPE, serialize_dv
from icesql.io.manifests.encode import data_file_encoder, encode_entry
from icesql.io.puffin import NewBlob, puffin_bytes
from icesql.spec.files import DataFile, EntryStatus
from icesql.spec.types import StructType
from tests.fuzz.targets import ENTRY_SCHEMAS, partition
from tests.io import bombs

CORPUS = Path(__file__).parent / "corpus"


def seeds() -> dict[str, list[bytes]]:
    """By target."""
    entry, listed = bombs.entry_record(b"/a/b"), bombs.list_record(b"/m/1")
    files = [bombs.avro(ENTRY_SCHEMAS[2], (1, entry)), bombs.avro(bombs.LIST, (2, listed * 2)), bombs.avro(bombs.ENTRY, (2, entry * 2))]
    for codec in ("deflate", "bzip2", "xz", "zstandard", "snappy"):
        files.append(bombs.avro("int", (1, b"\x02"), codec=codec))
    bitmap = BitMap64([1, 5, 70_000, 1 << 33])
    runs = BitMap64(range(10, 9000))
    runs.run_optimize()
    vectors = [bytes(b.serialize()) for b in (BitMap64(), bitmap, runs, bitmap | runs, BitMap64(range(0, 20_000, 3)))]
    blobs = [NewBlob(type=BLOB_TYPE, fields=(1,), data=serialize_dv(bitmap)), NewBlob(type="x", fields=(), data=b"y" * 99, codec="zstd")]
    documents = Path(__file__).parents[1] / "spec" / "documents" / "valid"
    return {
        "columns": [bytes((i, 2, 2)) + record * 2 for i, record in enumerate(_entries())],
        "entries": [bytes((i, 2)) + listed * 2 for i in range(3)],
        "container": [file[4:] for file in files],
        "spans": [b"\2\0\0\3\0\1\0\xff\xff" + "aé".encode()],
        "metadata": [path.read_bytes() for path in sorted(documents.glob("*.json")) if path.stat().st_size < 8000],
        "documents": [json.dumps([{"field-id": 1, "names": ["a"], "fields": [{"names": ["b"]}]}]).encode()],
        "puffin": [puffin_bytes(blobs)[0], puffin_bytes(blobs)[0][-300:], bombs.puffin_blob(bombs.lz4(b"a" * 99), "lz4")],
        "vector": [*vectors, serialize_dv(bitmap)],
        "values": [
            b"1", b"-9223372036854775809", b"1e400", b"1.25", b"NaN", b"2020-02-29", b"12:34:56.789",
            b"2020-02-29T12:34:56.789012345+01:00", b"0xff00ee", b"11111111-1111-1111-1111-111111111111",
            b"decimal(9,2)", b"fixed[16]", b"true",
        ],
    }  # fmt: skip


def _entries() -> list[bytes]:
    """An entry of each of ENTRY_SCHEMAS."""
    file = DataFile(
        file_path="/a/b", file_format="parquet", spec_id=0, record_count=3, file_size_in_bytes=9, value_counts={1: 3, 2: 3},
        sort_order_id=0, lower_bounds={1: b"x", 5: b""}, split_offsets=(4, 8),
        partition=(True, 1, 2, 1.5, 2.5, Decimal("1.25"), 3, 4, 5, 6, None, "é", UUID(int=7), b"abc", b""),
    )  # fmt: skip
    found = []
    for version, type_ in ((1, partition()), (2, partition()), (3, StructType(()))):
        made = file if type_.fields else replace(file, partition=())
        record = data_file_encoder(version, type_)(made)
        found.append(encode_entry(version, EntryStatus.ADDED, 1, None, None, record))
    plain = bombs.entry_record(b"/a/b")
    return [*found, b"\0" + plain, b"\4\2a\4\0\2b\0\0" + plain, b"\6\2\2a\1\0" + plain, b"\2\6\4hi\0" + plain]


def write(folder: Path = CORPUS) -> None:
    for target, files in seeds().items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for i, data in enumerate(files):
            path = folder / target / f"seed-{i:02d}"
            if not path.exists():
                path.write_bytes(data)


if __name__ == "__main__":
    write()
