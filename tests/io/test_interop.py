"""PyIceberg reads what icesql writes, and icesql reads what PyIceberg writes."""

import datetime as dt
import decimal
import uuid

import pyarrow as pa
import pytest

pytest.importorskip("pyiceberg")
from pyiceberg.io.pyarrow import (
    PyArrowFileIO,
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.manifest import DataFile as PyDataFile
from pyiceberg.manifest import DataFileContent, FileFormat, ManifestEntryStatus, write_manifest
from pyiceberg.manifest import ManifestEntry as PyEntry
from pyiceberg.manifest import read_manifest_list as read_pyiceberg_list
from pyiceberg.manifest import write_manifest_list as write_pyiceberg_list
from pyiceberg.partitioning import PartitionField as PyPartitionField
from pyiceberg.partitioning import PartitionSpec as PySpec
from pyiceberg.schema import Schema as PySchema
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.typedef import Record

from icesql.io.data.files import data_file_of, read_data_file, write_data_file
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.entries import read_manifest
from icesql.io.manifests.entries import write_manifest as write_our_manifest
from icesql.io.manifests.lists import read_manifest_list, write_manifest_list
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.files import DataFile, EntryStatus, ManifestContent, ManifestEntry
from icesql.spec.json.types import schema_to_json
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY, bucket
from icesql.spec.types import (
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
    UUIDType,
)

pytestmark = pytest.mark.interop
IO, PYIO = ArrowFileIO(), PyArrowFileIO()
SCHEMA = Schema(
    (
        NestedField(1, "id", LongType(), True),
        NestedField(2, "d", DateType()),
        NestedField(3, "s", StringType()),
        NestedField(4, "n", DecimalType(9, 2)),
        NestedField(5, "t", TimestamptzType()),
        NestedField(6, "x", DoubleType()),
        NestedField(7, "u", UUIDType()),
        NestedField(8, "st", StructType((NestedField(10, "i", IntegerType()),))),
        NestedField(9, "l", ListType(11, StringType())),
    )
)
PY_SCHEMA = PySchema.model_validate(schema_to_json(SCHEMA))
SPEC = PartitionSpec(
    spec_id=1,
    fields=(
        PartitionField(source_ids=(1,), field_id=1000, transform=bucket(8), name="id_bucket"),
        PartitionField(source_ids=(2,), field_id=1001, transform=IDENTITY, name="d"),
        PartitionField(source_ids=(4,), field_id=1002, transform=IDENTITY, name="n"),
    ),
)
PY_SPEC = PySpec(
    PyPartitionField(1, 1000, BucketTransform(8), "id_bucket"),
    PyPartitionField(2, 1001, IdentityTransform(), "d"),
    PyPartitionField(4, 1002, IdentityTransform(), "n"),
    spec_id=1,
)
TUPLE = (5, 19_000, decimal.Decimal("-1.25"))
FILE = DataFile(
    file_path="/w/d=2022-01-08/f.parquet",
    file_format="parquet",
    spec_id=1,
    partition=TUPLE,
    record_count=10,
    file_size_in_bytes=99,
    column_sizes={1: 20},
    value_counts={1: 10, 3: 10},
    null_value_counts={1: 0},
    nan_value_counts={6: 1},
    lower_bounds={1: b"\1" + b"\0" * 7},
    upper_bounds={3: b"z"},
    split_offsets=(4, 50),
    sort_order_id=0,
)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_pyiceberg_reads_our_manifests(tmp_path, version):
    manifest = write_our_manifest(
        IO,
        str(tmp_path / "m.avro"),
        format_version=version,
        spec=SPEC,
        schema=SCHEMA,
        content=ManifestContent.DATA,
        snapshot_id=7,
        entries=[
            ManifestEntry(status=EntryStatus.ADDED, snapshot_id=7, data_file=FILE),
            ManifestEntry(status=EntryStatus.EXISTING, snapshot_id=6, sequence_number=1, file_sequence_number=1, data_file=FILE),
        ],
    )
    write_manifest_list(
        IO,
        str(tmp_path / "l.avro"),
        format_version=version,
        snapshot_id=7,
        parent_snapshot_id=6,
        sequence_number=2,
        manifests=[manifest],
        next_row_id=0,
    )
    (listed,) = list(read_pyiceberg_list(PYIO.new_input(str(tmp_path / "l.avro"))))
    assert (listed.manifest_path, listed.partition_spec_id, listed.added_snapshot_id) == (manifest.manifest_path, 1, 7)
    assert (listed.added_files_count, listed.existing_files_count, listed.added_rows_count) == (1, 1, 10)
    assert [(p.lower_bound, p.upper_bound, p.contains_null, p.contains_nan) for p in listed.partitions] == [
        (p.lower_bound, p.upper_bound, p.contains_null, p.contains_nan) for p in manifest.partitions or ()
    ]
    added, existing = listed.fetch_manifest_entry(PYIO, discard_deleted=False)
    assert (added.status, added.sequence_number, existing.status, existing.sequence_number) == (
        ManifestEntryStatus.ADDED,
        0 if version == 1 else 2,
        ManifestEntryStatus.EXISTING,
        0 if version == 1 else 1,
    )
    found = added.data_file
    assert (found.file_path, found.file_format, found.record_count) == (FILE.file_path, FileFormat.PARQUET, 10)
    assert [found.partition[0], found.partition[2]] == [TUPLE[0], TUPLE[2]]
    assert found.partition[1] in (TUPLE[1], dt.date(1970, 1, 1) + dt.timedelta(TUPLE[1]))
    assert (found.value_counts, found.lower_bounds, found.upper_bounds, list(found.split_offsets)) == (
        FILE.value_counts,
        FILE.lower_bounds,
        FILE.upper_bounds,
        [4, 50],
    )


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("codec", ["gzip", "zstandard", "null"])
def test_we_read_pyicebergs_manifests(tmp_path, version, codec):
    file = PyDataFile.from_args(
        content=DataFileContent.DATA,
        file_path=FILE.file_path,
        file_format=FileFormat.PARQUET,
        partition=Record(*TUPLE),
        record_count=10,
        file_size_in_bytes=99,
        column_sizes={1: 20},
        value_counts={1: 10, 3: 10},
        null_value_counts={1: 0},
        nan_value_counts={6: 1},
        lower_bounds={1: b"\1" + b"\0" * 7},
        upper_bounds={3: b"z"},
        split_offsets=[4, 50],
        sort_order_id=0,
        equality_ids=None,
        key_metadata=None,
    )
    try:
        with write_manifest(version, PY_SPEC, PY_SCHEMA, PYIO.new_output(str(tmp_path / "m.avro")), 7, codec) as writer:
            for _ in range(3):
                writer.add_entry(
                    PyEntry.from_args(
                        status=ManifestEntryStatus.ADDED, snapshot_id=7, sequence_number=None, file_sequence_number=None, data_file=file
                    )
                )
        with write_pyiceberg_list(version, PYIO.new_output(str(tmp_path / "l.avro")), 7, 6, 3, codec) as lists:
            lists.add_manifests([writer.to_manifest_file()])
    except ImportError as error:
        raise AssertionError("PyIceberg cannot write this codec here") from error
    (listed,) = read_manifest_list(IO, str(tmp_path / "l.avro"))
    entries = read_manifest(IO, listed, {1: SPEC})
    assert [e.data_file for e in entries] == [FILE] * 3
    assert {e.sequence_number for e in entries} == {0 if version == 1 else 3}
    columns = read_manifest_columns(IO, listed, spec=SPEC)
    assert [columns.entry(i) for i in range(3)] == entries
    assert columns.partition(0) == TUPLE


TABLE = pa.table(
    {
        "id": [1, 2, 3],
        "d": [dt.date(2020, 1, 1), None, dt.date(1969, 12, 31)],
        "s": ["a" * 40, None, "é"],
        "n": [decimal.Decimal("1.25"), decimal.Decimal("-9.99"), None],
        "t": pa.array([1, 2, None], pa.timestamp("us", "UTC")),
        "x": [1.5, float("nan"), None],
        "u": pa.array([uuid.UUID(int=1).bytes, None, uuid.UUID(int=2).bytes], pa.binary(16)),
        "st": [{"i": 1}, None, {"i": 5}],
        "l": [["a"], [], None],
    }
)


def test_parquet_metrics_agree_with_pyicebergs(tmp_path):
    import pyarrow.parquet as pq

    file = write_data_file(IO, str(tmp_path / "f.parquet"), "parquet", TABLE, SCHEMA)
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=pq.read_metadata(file.file_path),
        stats_columns=compute_statistics_plan(PY_SCHEMA, {}),
        parquet_column_mapping=parquet_path_to_id_mapping(PY_SCHEMA),
    )
    assert statistics.record_count == file.record_count
    assert statistics.column_sizes == file.column_sizes
    assert list(file.split_offsets) == statistics.split_offsets
    ours = {i: v for i, v in file.value_counts.items() if i != 11}
    assert {i: v for i, v in statistics.value_counts.items() if i != 11} == ours
    assert {i: v for i, v in statistics.null_value_counts.items() if i != 11} == file.null_value_counts
    theirs = statistics.to_serialized_dict()
    for bounds in ("lower_bounds", "upper_bounds"):
        assert theirs[bounds] == {i: v for i, v in getattr(file, bounds).items() if i != 10}  # PyIceberg keeps none for nested columns
    assert file.nan_value_counts == {6: 1}


def test_tables_of_pyiceberg(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    table = catalog.create_table("n.t", schema=PY_SCHEMA, partition_spec=PY_SPEC)
    table.append(TABLE.cast(table.schema().as_arrow()))
    manifests = read_manifest_list(IO, table.current_snapshot().manifest_list)
    files = [e.data_file for m in manifests for e in read_manifest(IO, m)]
    assert table.schema().as_struct() == PY_SCHEMA.as_struct()
    ours = SCHEMA
    rows = [row for f in files for batch in read_data_file(IO, f, ours) for row in batch.to_pylist()]
    assert sorted(repr(r) for r in rows) == sorted(repr(r) for r in TABLE.to_pylist())
    for file in files:
        again = data_file_of(IO, file.file_path, ours, spec_id=1, partition=file.partition)
        for ours_again, theirs in ((again.lower_bounds, file.lower_bounds), (again.upper_bounds, file.upper_bounds)):
            assert {i: v for i, v in ours_again.items() if i != 10} == theirs
        assert again.record_count == file.record_count


def test_pyiceberg_reads_our_parquet(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    file = write_data_file(IO, str(tmp_path / "f.parquet"), "parquet", TABLE, SCHEMA)
    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    table = catalog.create_table("n.t", schema=PY_SCHEMA, location=str(tmp_path / "t"))
    from pyiceberg.table.update.snapshot import _FastAppendFiles

    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        assert isinstance(append, _FastAppendFiles)
        append.append_data_file(
            PyDataFile.from_args(
                content=DataFileContent.DATA,
                file_path=file.file_path,
                file_format=FileFormat.PARQUET,
                partition=Record(),
                record_count=3,
                file_size_in_bytes=file.file_size_in_bytes,
                column_sizes=dict(file.column_sizes),
                value_counts=dict(file.value_counts),
                null_value_counts=dict(file.null_value_counts),
                nan_value_counts=dict(file.nan_value_counts),
                lower_bounds=dict(file.lower_bounds),
                upper_bounds=dict(file.upper_bounds),
                split_offsets=list(file.split_offsets),
                spec_id=0,
            )
        )
    found = table.scan(row_filter="id > 1").to_arrow().to_pylist()
    assert [(r["id"], r["s"], r["n"], r["l"]) for r in found] == [(2, None, decimal.Decimal("-9.99"), []), (3, "é", None, None)]
