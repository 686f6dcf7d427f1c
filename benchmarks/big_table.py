"""A table of many files, metadata only: the events table of the metadata-indexing example, 100 days x 64 buckets, with all metrics.

Its data files do not exist; planning, commits and manifest rewrites never open them. It lies in a hadoop catalog, so every engine loads it.
"""

from __future__ import annotations

import random
import shutil
import struct
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from icesql.io.manifests.entries import write_manifest
from icesql.io.manifests.lists import write_manifest_list
from icesql.io.metadata_files import write_metadata
from icesql.io.storage.file_systems import load_file_io
from icesql.spec.files import DataFile, EntryStatus, FileContent, ManifestContent, ManifestEntry
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Snapshot, SnapshotLogEntry, SnapshotRef
from icesql.spec.transforms import DAY, bucket
from icesql.spec.types import DoubleType, IntegerType, LongType, NestedField, StringType, TimestamptzType

DAYS, BUCKETS, FIRST_DAY = 100, 64, 18809  # 2021-07-01
SNAPSHOT_ID = 5646846545646
NAMES = ("event_time", "device_id", "user_id", "event_type", "session_id", "country", "lat", "lon", "payload", "status")
TYPES = (
    TimestamptzType(), LongType(), LongType(), StringType(), StringType(), StringType(), DoubleType(), DoubleType(), StringType(), IntegerType(),
)  # fmt: skip
SCHEMA = Schema(tuple(NestedField(i, name, type_, required=i < 3) for i, (name, type_) in enumerate(zip(NAMES, TYPES, strict=True), 1)))
SPEC = PartitionSpec(
    fields=(
        PartitionField(source_ids=(1,), field_id=1000, transform=DAY, name="event_time_day"),
        PartitionField(source_ids=(2,), field_id=1001, transform=bucket(BUCKETS), name="device_id_bucket"),
    )
)
SEED_FILTER = "device_id = 74 AND event_time > TIMESTAMP '2021-10-01 10:00:00+00:00' AND event_time < TIMESTAMP '2021-10-04 20:00:00+00:00'"
long_bytes, int_bytes, double_bytes = (struct.Struct(form).pack for form in ("<q", "<i", "<d"))


def build(warehouse: Path, files: int = 100_000, manifests: int = 20, deletion_vectors: int = 0) -> Path:
    """Make ``warehouse/db/events`` anew (format 2; 3 with deletion vectors) and return its folder."""
    table = warehouse / "db" / "events"
    shutil.rmtree(table, ignore_errors=True)
    version = 3 if deletion_vectors else 2
    io = load_file_io({})
    chance = random.Random(42)
    lists, next_row_id, every = [], 0, files // deletion_vectors if deletion_vectors else 0
    vectors: list[ManifestEntry] = []
    for number in range(manifests):
        entries = []
        for data_file in _data_files(chance, table, files, number * (files // manifests), (number + 1) * (files // manifests)):
            entries.append(_added(data_file))
            if every and len(vectors) < deletion_vectors and chance.randrange(every) == 0:
                vectors.append(_added(_deletion_vector(table, data_file, len(vectors))))
        written = write_manifest(
            io, f"{table}/metadata/m-{number:03d}.avro", format_version=version, spec=SPEC, schema=SCHEMA,
            content=ManifestContent.DATA, snapshot_id=SNAPSHOT_ID, entries=entries,
        )  # fmt: skip
        lists.append(written)
        next_row_id += sum(entry.data_file.record_count for entry in entries)
    if vectors:
        lists.append(write_manifest(
            io, f"{table}/metadata/m-deletes.avro", format_version=version, spec=SPEC, schema=SCHEMA,
            content=ManifestContent.DELETES, snapshot_id=SNAPSHOT_ID, entries=vectors,
        ))  # fmt: skip
    list_location = f"{table}/metadata/snap-{SNAPSHOT_ID}.avro"
    write_manifest_list(
        io, list_location, format_version=version, snapshot_id=SNAPSHOT_ID, parent_snapshot_id=None, sequence_number=1,
        manifests=lists, next_row_id=0 if version == 3 else None,
    )  # fmt: skip
    write_metadata(io, f"{table}/metadata/v1.metadata.json", _metadata(table, version, list_location, next_row_id), overwrite=True)
    (table / "metadata" / "version-hint.text").write_text("1")
    return table


def _metadata(table: Path, version: int, list_location: str, rows: int) -> TableMetadata:
    now = int(time.time() * 1000)
    snapshot = Snapshot(
        snapshot_id=SNAPSHOT_ID, sequence_number=1, timestamp_ms=now, manifest_list=list_location, summary={"operation": "append"},
        schema_id=0, first_row_id=0 if version == 3 else None, added_rows=rows if version == 3 else None,
    )  # fmt: skip
    return TableMetadata(
        format_version=version, table_uuid=str(uuid.uuid4()), location=str(table), last_sequence_number=1, last_updated_ms=now,
        last_column_id=len(NAMES), current_schema_id=0, schemas=(SCHEMA,), default_spec_id=0, partition_specs=(SPEC,),
        last_partition_id=1001, current_snapshot_id=SNAPSHOT_ID, snapshots=(snapshot,), refs={MAIN: SnapshotRef(snapshot_id=SNAPSHOT_ID)},
        snapshot_log=(SnapshotLogEntry(snapshot_id=SNAPSHOT_ID, timestamp_ms=now),), next_row_id=rows if version == 3 else None,
    )  # fmt: skip


def _added(data_file: DataFile) -> ManifestEntry:
    return ManifestEntry(status=EntryStatus.ADDED, snapshot_id=SNAPSHOT_ID, data_file=data_file)


def _data_files(chance: random.Random, table: Path, files: int, start: int, stop: int) -> Iterator[DataFile]:
    """Files in write-time order: day by day, each a slice of about 90 minutes of one bucket, with a sub-range of devices."""
    per_day = max(1, files // DAYS)
    for number in range(start, stop):
        day = FIRST_DAY + min(number // per_day, DAYS - 1)
        place = number % per_day
        yield _data_file(chance, table, number, day, place % BUCKETS, (place // BUCKETS) % 16)


def _data_file(chance: random.Random, table: Path, number: int, day: int, bucket_number: int, slot: int) -> DataFile:
    first = day * 86_400_000_000 + slot * 5_400_000_000 + chance.randrange(60_000_000)
    rows = chance.randrange(800_000, 1_200_000)
    low = chance.randrange(100_000, 300_000) if chance.random() < 0.5 else chance.randrange(100)
    lower = (
        long_bytes(first), long_bytes(low), long_bytes(chance.randrange(1000)), b"app_open", chance.randbytes(8).hex().encode(), b"AR",
        double_bytes(-89 + chance.random()), double_bytes(-179 + chance.random()), b'{"v":1,"d":"%05x' % chance.randrange(16**5), int_bytes(200),
    )  # fmt: skip
    upper = (
        long_bytes(first + 5_300_000_000), long_bytes(chance.randrange(900_000, 1_000_000)), long_bytes(10**9 - chance.randrange(1000)), b"view",
        b"f" + chance.randbytes(7).hex().encode() + b"g", b"ZA", double_bytes(89 - chance.random()), double_bytes(179 - chance.random()),
        b'{"v":9,"d":"%05x' % chance.randrange(16**5), int_bytes(599),
    )  # fmt: skip
    ids = range(1, len(NAMES) + 1)
    name = f"{number:05d}-{chance.randrange(10**6)}-{uuid.UUID(int=chance.getrandbits(128))}-00001.parquet"
    return DataFile(
        file_path=f"{table}/data/event_time_day={day}/device_id_bucket={bucket_number}/{name}", file_format="parquet",
        partition=(day, bucket_number), record_count=rows, file_size_in_bytes=128 * 2**20 + chance.randrange(2**22),
        column_sizes={i: chance.randrange(10_000, 40_000_000) for i in ids}, value_counts=dict.fromkeys(ids, rows),
        null_value_counts={i: 0 if i < 3 else chance.randrange(500) for i in ids}, nan_value_counts={7: 0, 8: 0},
        lower_bounds=dict(zip(ids, lower, strict=True)), upper_bounds=dict(zip(ids, upper, strict=True)), split_offsets=(4,), sort_order_id=0,
    )  # fmt: skip


def _deletion_vector(table: Path, data_file: DataFile, number: int) -> DataFile:
    return DataFile(
        content=FileContent.POSITION_DELETES, file_path=f"{table}/data/deletes-{number // 1000}.puffin", file_format="puffin",
        partition=data_file.partition, record_count=10, file_size_in_bytes=60_000, referenced_data_file=data_file.file_path,
        content_offset=4 + (number % 1000) * 60, content_size_in_bytes=60,
    )  # fmt: skip
