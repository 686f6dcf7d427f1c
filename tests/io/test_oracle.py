"""Iceberg's own runtime reads files icesql wrote with nothing but this room, and this room reads what the runtime wrote."""

import datetime as dt
import decimal
import uuid
from typing import Any

import pyarrow as pa
import pytest

from icesql.io.data.files import DataFileWriter, read_data_file
from icesql.io.deletes.deletion_vectors import read_dv, write_dvs
from icesql.io.deletes.files import read_position_deletes, write_equality_deletes, write_position_deletes
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.entries import read_manifest, write_manifest
from icesql.io.manifests.lists import read_manifest_list, write_manifest_list
from icesql.io.metadata_files import read_metadata, write_metadata
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.files import EntryStatus, FileContent, ManifestContent, ManifestEntry
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import POS
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot, SnapshotLogEntry, SnapshotRef
from icesql.spec.transforms import bucket
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
    TimestampType,
    TimestamptzType,
    UUIDType,
)

pytestmark = [pytest.mark.spark, pytest.mark.interop]
IO = ArrowFileIO()
SCHEMA = Schema(
    (
        NestedField(1, "id", LongType(), True),
        NestedField(2, "b", BooleanType()),
        NestedField(3, "i", IntegerType()),
        NestedField(4, "f", FloatType()),
        NestedField(5, "x", DoubleType()),
        NestedField(6, "d", DateType()),
        NestedField(7, "ts", TimestampType()),
        NestedField(8, "tz", TimestamptzType()),
        NestedField(9, "s", StringType()),
        NestedField(10, "u", UUIDType()),
        NestedField(11, "fx", FixedType(3)),
        NestedField(12, "bin", BinaryType()),
        NestedField(13, "n", DecimalType(9, 2)),
        NestedField(14, "wide", DecimalType(38, 3)),
        NestedField(15, "st", StructType((NestedField(20, "p", IntegerType()), NestedField(21, "q r", StringType())))),
        NestedField(16, "l", ListType(22, DoubleType())),
        NestedField(17, "m", MapType(23, StringType(), 24, LongType())),
    )
)
SPEC = PartitionSpec(fields=(PartitionField(source_ids=(1,), field_id=1000, transform=bucket(4), name="id_bucket"),))
UTC = dt.timezone.utc
TIME = dt.datetime(2021, 5, 6, 7, 8, 9, 123456)
ONE: dict[str, Any] = {
    "id": 1,
    "b": True,
    "i": -7,
    "f": 0.5,
    "x": -2.25,
    "d": dt.date(1960, 2, 29),
    "ts": TIME,
    "tz": TIME.replace(tzinfo=UTC),
    "s": "é'\"\U0001f600",
    "u": uuid.UUID(int=2**100 + 5).bytes,
    "fx": b"abc",
    "bin": b"\0\xff",
    "n": decimal.Decimal("-1.25"),
    "wide": decimal.Decimal("12345678901234567890.125"),
    "st": {"p": 3, "q r": "z"},
    "l": [1.5, None],
    "m": [("k", 4), ("j", None)],
}
ROWS = [{**ONE, "id": i} for i in range(1, 6)] + [{**dict.fromkeys(ONE), "id": 6}]


def publish(folder, version, files, deletes=()):
    """A hadoop table of one snapshot, made by hand."""
    manifests = []
    for content, found in ((ManifestContent.DATA, files), (ManifestContent.DELETES, deletes)):
        if found:
            entries = [ManifestEntry(status=EntryStatus.ADDED, snapshot_id=11, data_file=f) for f in found]
            manifests.append(
                write_manifest(
                    IO,
                    f"{folder}/metadata/{content.name}.avro",
                    format_version=version,
                    spec=SPEC,
                    schema=SCHEMA,
                    content=content,
                    snapshot_id=11,
                    entries=entries,
                )
            )
    number = 0 if version == 1 else 1
    lists = f"{folder}/metadata/snap.avro"
    next_row_id = write_manifest_list(
        IO,
        lists,
        format_version=version,
        snapshot_id=11,
        parent_snapshot_id=None,
        sequence_number=number,
        manifests=manifests,
        next_row_id=0,
    )
    snapshot = Snapshot(
        snapshot_id=11,
        sequence_number=number,
        timestamp_ms=1_700_000_000_000,
        manifest_list=lists,
        summary={"operation": "append"},
        schema_id=0,
        first_row_id=0 if version == 3 else None,
        added_rows=next_row_id,
    )
    metadata = TableMetadata(
        format_version=version,
        table_uuid=str(uuid.uuid4()),
        location=folder,
        last_sequence_number=number,
        last_updated_ms=1_700_000_000_000,
        last_column_id=24,
        current_schema_id=0,
        schemas=(SCHEMA,),
        default_spec_id=0,
        partition_specs=(SPEC,),
        last_partition_id=1000,
        current_snapshot_id=11,
        snapshots=(snapshot,),
        refs={"main": SnapshotRef(snapshot_id=11)},
        snapshot_log=(SnapshotLogEntry(snapshot_id=11, timestamp_ms=1_700_000_000_000),),
        next_row_id=next_row_id,
    )
    write_metadata(IO, f"{folder}/metadata/v1.metadata.json", metadata)
    IO.write(f"{folder}/metadata/version-hint.text", b"1")


def write_files(folder, file_format):
    paths = (f"{folder}/data/{i} é%20.{file_format}" for i in range(9))
    writer = DataFileWriter(lambda: next(paths), SCHEMA, {}, 0, (2,), 0, file_format)
    writer.write(pa.Table.from_pylist(ROWS, schema=_arrow()))
    return writer.close()


def _arrow():
    from icesql.io.arrow.types import to_arrow_schema

    return to_arrow_schema(SCHEMA)


def plain(row):
    """A row of Spark as the row that was written."""
    found = dict(zip([f.name for f in SCHEMA.fields], row, strict=True))
    found["u"] = None if found["u"] is None else uuid.UUID(found["u"]).bytes
    for name in ("fx", "bin"):
        found[name] = None if found[name] is None else bytes(found[name])
    found["st"] = None if found["st"] is None else found["st"].asDict()
    found["m"] = None if found["m"] is None else sorted(found["m"].items())
    found["tz"] = None if found["tz"] is None else found["tz"].astimezone(UTC)
    return found


def expected(ids):
    return [{**r, "m": None if r["m"] is None else sorted(r["m"])} for r in ROWS if r["id"] in ids]


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_the_runtime_reads_our_files(oracle, file_format, version):
    name = f"ours_{file_format}_{version}"
    folder = f"{oracle.warehouse}/io/{name}"
    publish(folder, version, write_files(folder, file_format))
    found = [plain(row) for row in oracle.rows(f"SELECT * FROM local.io.{name} ORDER BY id")]
    assert found == expected({1, 2, 3, 4, 5, 6})
    assert [r[0] for r in oracle.rows(f"SELECT id FROM local.io.{name} WHERE s = '{ONE['s'][0]}x' OR id > 5")] == [6]
    ((count, size),) = oracle.rows(f"SELECT record_count, file_size_in_bytes FROM local.io.{name}.files")
    assert count == 6
    assert size > 0
    ((low, high),) = oracle.rows(f"SELECT readable_metrics.id.lower_bound, readable_metrics.wide.upper_bound FROM local.io.{name}.files")
    assert (low, high) == ((None, None) if file_format == "avro" else (1, ONE["wide"]))  # Avro files carry no metrics, as the runtime's


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_the_runtime_applies_our_deletes(oracle, file_format):
    name = f"deletes_{file_format}"
    folder = f"{oracle.warehouse}/io/{name}"
    (file,) = write_files(folder, file_format)
    position = write_position_deletes(
        IO, f"{folder}/data/pos.{file_format}", {file.file_path: [0, 2]}, file_format=file_format, partition=(2,)
    )
    (equality,) = write_equality_deletes(
        IO, lambda: f"{folder}/data/eq.{file_format}", pa.table({"id": [5]}), SCHEMA, [1], file_format=file_format, partition=(2,)
    )
    publish(folder, 2, [file], [position, equality])
    assert [r[0] for r in oracle.rows(f"SELECT id FROM local.io.{name} ORDER BY id")] == [
        2,
        4,
        5,
        6,
    ]  # equality deletes need a later number


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_the_runtime_applies_our_deletion_vectors(oracle, file_format):
    name = f"vectors_{file_format}"
    folder = f"{oracle.warehouse}/io/{name}"
    (file,) = write_files(folder, file_format)
    vectors = write_dvs(IO, f"{folder}/data/dv.puffin", {file.file_path: [1, 4]}, targets={file.file_path: file})
    publish(folder, 3, [file], vectors)
    assert [r[0] for r in oracle.rows(f"SELECT id FROM local.io.{name} ORDER BY id")] == [1, 3, 4, 6]
    assert [tuple(r) for r in oracle.rows(f"SELECT id, _row_id FROM local.io.{name} ORDER BY id")] == [(1, 0), (3, 2), (4, 3), (6, 5)]


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_we_read_the_runtimes_files(oracle, file_format, version):
    name = f"theirs_{file_format}_{version}"
    table = f"local.io.{name}"
    oracle.sql(
        f"CREATE TABLE {table} (id BIGINT, x DOUBLE, s STRING, tz TIMESTAMP, n DECIMAL(9, 2), st STRUCT<p: INT, q: STRING>, "
        f"l ARRAY<BIGINT>, m MAP<STRING, DATE>) "
        f"USING iceberg PARTITIONED BY (bucket(2, id), truncate(2, s)) "
        f"TBLPROPERTIES ('format-version'='{version}', 'write.format.default'='{file_format}', "
        f"'write.delete.mode'='merge-on-read')"
    )
    time = "TIMESTAMP '2021-05-06 07:08:09.123456 UTC'"
    row = f"'abc', {time}, -1.25, named_struct('p', 1, 'q', 'z'), array(1, null), map('k', DATE '1960-02-29')"
    oracle.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, double(id), {row} FROM range(10)")
    if version > 1:
        oracle.sql(f"DELETE FROM {table} WHERE id IN (3, 7)")
    hint = IO.read(f"{oracle.warehouse}/io/{name}/metadata/version-hint.text").decode().strip()
    metadata = read_metadata(IO, f"{oracle.warehouse}/io/{name}/metadata/v{hint}.metadata.json")
    snapshot = metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.manifest_list is not None
    data, deleted = [], {}
    for manifest in read_manifest_list(IO, snapshot.manifest_list):
        entries = read_manifest(IO, manifest, metadata.specs_by_id)
        columns = read_manifest_columns(IO, manifest, spec=metadata.spec, bounds_for=frozenset({1}))
        assert [columns.entry(i) for i in range(len(columns))] == entries
        assert columns.can_copy(version, metadata.spec.partition_type(metadata.schema))
        for entry in entries:
            file = entry.data_file
            if file.content is FileContent.DATA:
                data.append(file)
            elif file.is_deletion_vector:
                deleted[file.referenced_data_file] = set(read_dv(IO, file))
            else:
                for path, found in read_position_deletes(IO, file).items():
                    deleted.setdefault(path, set()).update(found)
    schema = Schema((*metadata.schema.fields, POS))
    rows = [
        r for f in data for b in read_data_file(IO, f, schema) for r in b.to_pylist() if r.pop("_pos") not in deleted.get(f.file_path, ())
    ]
    wanted = [i for i in range(10) if version == 1 or i not in (3, 7)]
    one = {
        "s": "abc",
        "tz": TIME.replace(tzinfo=UTC),
        "n": ONE["n"],
        "st": {"p": 1, "q": "z"},
        "l": [1, None],
        "m": [("k", dt.date(1960, 2, 29))],
    }
    assert sorted(rows, key=lambda r: r["id"]) == [{"id": i, "x": float(i), **one} for i in wanted]
    assert {f.partition[1] for f in data} == {"ab"}
