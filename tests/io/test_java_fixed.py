"""Manifests whose fixed partition values have their length in front, as Iceberg Java writes them under a schema that says fixed."""

from __future__ import annotations

import io
import json
from pathlib import Path

from icesql.io.avro.container import read_records
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.entries import read_manifest, write_manifest
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.files import DataFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY
from icesql.spec.types import FixedType, NestedField, StringType

IO = ArrowFileIO()
SCHEMA = Schema((NestedField(1, "fx", FixedType(3)), NestedField(2, "s", StringType())))
SPEC = PartitionSpec(
    fields=tuple(PartitionField(source_ids=(f.id,), field_id=999 + f.id, transform=IDENTITY, name=f.name) for f in SCHEMA.fields)
)
PARTITIONS = [(b"abc", "x"), (None, "y"), (b"\x00\x01\xff", None)]


def manifest(folder: Path) -> ManifestFile:
    files = [
        DataFile(file_path=f"/f{i}", file_format="parquet", partition=p, record_count=1, file_size_in_bytes=9)
        for i, p in enumerate(PARTITIONS)
    ]
    entries = [ManifestEntry(status=EntryStatus.ADDED, snapshot_id=7, data_file=file) for file in files]
    return write_manifest(
        IO, f"{folder}/m.avro", format_version=2, spec=SPEC, schema=SCHEMA, content=ManifestContent.DATA, snapshot_id=7, entries=entries,
        compression="uncompressed",
    )  # fmt: skip


def check(written: ManifestFile) -> None:
    assert [entry.data_file.partition for entry in read_manifest(IO, written, {0: SPEC})] == PARTITIONS
    columns = read_manifest_columns(IO, written, spec=SPEC, use_cache=False)
    assert [columns.partition(i) for i in range(len(columns))] == PARTITIONS


def test_as_icesql_writes_them(tmp_path: Path) -> None:
    check(manifest(tmp_path))


def relabelled(path: Path, *, with_lengths: bool) -> None:
    """The same file under a schema that says fixed; without the lengths if it is to be as the schema says."""
    data = path.read_bytes()
    records = read_records(data, str(path))
    text = records.header.metadata["avro.schema"].decode()
    schema = json.loads(text)
    data_file = next(f for f in schema["fields"] if f["name"] == "data_file")["type"]
    partition = next(f for f in data_file["fields"] if f["name"] == "partition")["type"]
    assert partition["fields"][0]["type"] == ["null", "bytes"]
    partition["fields"][0]["type"] = ["null", {"type": "fixed", "size": 3, "name": "fixed_3"}]
    body = (
        records.buffer
        if with_lengths
        else records.buffer.replace(b"\x02\x06abc", b"\x02abc").replace(b"\x02\x06\x00\x01\xff", b"\x02\x00\x01\xff")
    )
    path.write_bytes(
        container(json.dumps(schema), {k: v for k, v in records.header.metadata.items() if k != "avro.schema"}, body, len(PARTITIONS))
    )


def container(schema: str, metadata: dict[str, bytes], body: bytes, count: int) -> bytes:
    from fastavro._write_py import BinaryEncoder

    out = io.BytesIO()
    encoder = BinaryEncoder(out)
    out.write(b"Obj\x01")
    pairs = {**metadata, "avro.schema": schema.encode(), "avro.codec": b"null"}
    encoder.write_long(len(pairs))
    for key, value in pairs.items():
        encoder.write_utf8(key)
        encoder.write_bytes(value)
    encoder.write_long(0)
    out.write(b"s" * 16)
    encoder.write_long(count)
    encoder.write_bytes(body)
    out.write(b"s" * 16)
    return out.getvalue()


def test_as_java_writes_them(tmp_path: Path) -> None:
    written = manifest(tmp_path)
    relabelled(tmp_path / "m.avro", with_lengths=True)
    check(written)


def test_as_the_schema_says(tmp_path: Path) -> None:
    written = manifest(tmp_path)
    relabelled(tmp_path / "m.avro", with_lengths=False)
    check(written)
