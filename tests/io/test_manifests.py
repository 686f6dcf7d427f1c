"""Manifests and lists: what is written is read back, in every version; PyIceberg and fastavro read it too."""

import io as streams
import math
import uuid
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.io.manifests.entries import ManifestWriter, RollingManifestWriter, compression_of, read_manifest, write_manifest
from icesql.io.manifests.lists import RepeatedManifests, parse_manifest_list, read_manifest_list, write_manifest_list
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.files import DataFile, EntryStatus, FileContent, ManifestContent, ManifestEntry
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY, bucket
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
    TimeType,
    UUIDType,
)
from tests.effort import examples

IO = ArrowFileIO()
TYPES = {
    BooleanType(): st.booleans(),
    IntegerType(): st.integers(-(2**31), 2**31 - 1),
    LongType(): st.integers(-(2**63), 2**63 - 1),
    FloatType(): st.floats(width=32, allow_nan=False),
    DoubleType(): st.floats(allow_nan=False),
    DateType(): st.integers(-(2**20), 2**20),
    TimeType(): st.integers(0, 86_399_999_999),
    TimestamptzType(): st.integers(-(2**60), 2**60),
    StringType(): st.text(),
    UUIDType(): st.uuids(),
    FixedType(3): st.binary(min_size=3, max_size=3),
    BinaryType(): st.binary(),
    DecimalType(9, 2): st.decimals(-9_999_999, 9_999_999, places=2),
}
SCHEMA = Schema(tuple(NestedField(i, f"c {i}", type_) for i, type_ in enumerate(TYPES, 1)), schema_id=3)
SPEC = PartitionSpec(
    spec_id=4,
    fields=tuple(PartitionField(source_ids=(f.id,), field_id=999 + f.id, transform=IDENTITY, name=f"p {f.name}") for f in SCHEMA.fields),
)
counts = st.dictionaries(st.integers(0, 2**31 - 1), st.integers(0, 2**40), max_size=3)
bounds = st.dictionaries(st.integers(0, 2**31 - 1), st.binary(max_size=20), max_size=3)
maybe = lambda inner: st.one_of(st.none(), inner)  # noqa: E731
data_files = st.builds(
    DataFile,
    content=st.just(FileContent.DATA),
    file_path=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])).map("/{}".format),
    file_format=st.sampled_from(["parquet", "avro", "orc"]),
    spec_id=st.just(4),
    partition=st.tuples(*map(maybe, TYPES.values())),
    record_count=st.integers(0, 2**50),
    file_size_in_bytes=st.integers(0, 2**50),
    column_sizes=counts,
    value_counts=counts,
    null_value_counts=counts,
    nan_value_counts=counts,
    lower_bounds=bounds,
    upper_bounds=bounds,
    key_metadata=maybe(st.binary(max_size=5)),
    split_offsets=st.lists(st.integers(0, 2**40), max_size=3).map(tuple),
    equality_ids=st.lists(st.integers(1, 100), max_size=2).map(tuple),
    sort_order_id=maybe(st.integers(0, 9)),
    first_row_id=maybe(st.integers(0, 2**40)),
    referenced_data_file=maybe(st.text(max_size=9)),
    content_offset=maybe(st.integers(0, 2**40)),
    content_size_in_bytes=maybe(st.integers(0, 2**40)),
)


def kept_in(version: int, file: DataFile) -> DataFile:
    """What a format version can hold of a file."""
    if version < 3:
        file = replace(file, first_row_id=None, content_offset=None, content_size_in_bytes=None)
    return replace(file, referenced_data_file=None, equality_ids=()) if version == 1 else file


def entries_of(files):
    return [
        ManifestEntry(status=EntryStatus(i % 3), snapshot_id=7 + i, sequence_number=i, file_sequence_number=i, data_file=f)
        for i, f in enumerate(files)
    ]


def write(path, entries, version=2, **options):
    options = {"spec": SPEC, "schema": SCHEMA, "content": ManifestContent.DATA, "snapshot_id": 9, **options}
    return write_manifest(IO, str(path), format_version=version, entries=entries, **options)


@examples(60)
@given(
    files=st.lists(data_files, max_size=4),
    version=st.sampled_from([1, 2, 3]),
    codec=st.sampled_from(["deflate", "zstd", "snappy", "uncompressed"]),
)
def test_entries_round_trip(tmp_path_factory, files, version, codec):
    path = tmp_path_factory.mktemp("m") / "m.avro"
    entries = entries_of(files)
    manifest = write(path, entries, version, compression=codec, sequence_number=5, first_row_id=0 if version == 3 else None)
    found = read_manifest(IO, manifest, {4: SPEC})
    assert len(found) == len(entries)
    for before, after in zip(entries, found, strict=True):
        assert (after.status, after.snapshot_id) == (before.status, before.snapshot_id)
        assert after.sequence_number == (0 if version == 1 else before.sequence_number)
        expected = kept_in(version, before.data_file)
        if version == 3 and expected.first_row_id is None:
            expected = replace(expected, first_row_id=after.data_file.first_row_id)
        assert after.data_file == expected


@pytest.mark.parametrize("version", [1, 2, 3])
def test_fastavro_reads_the_same(tmp_path, version):
    file = DataFile(
        file_path="/a",
        file_format="parquet",
        spec_id=4,
        record_count=3,
        file_size_in_bytes=9,
        value_counts={1: 3},
        lower_bounds={1: b"x"},
        partition=(True, 1, 2, 1.5, -0.5, 19_000, 5, 10**15, "é", uuid.UUID(int=7), b"abc", b"", Decimal("-1.25")),
    )
    write(tmp_path / "m.avro", [ManifestEntry(status=EntryStatus.ADDED, snapshot_id=9, data_file=file)], version)
    reader = fastavro.reader(streams.BytesIO((tmp_path / "m.avro").read_bytes()))
    assert reader.metadata["format-version"] == str(version)
    assert reader.metadata["schema-id"] == "3"
    (record,) = reader
    found = record["data_file"]
    assert (found["file_path"], found["file_format"], found["record_count"]) == ("/a", "PARQUET", 3)
    assert found["value_counts"] == [{"key": 1, "value": 3}]
    partition = list(found["partition"].values())
    assert partition[8:] == ["é", uuid.UUID(int=7).bytes, b"abc", b"", Decimal("-1.25")]
    assert next(iter(found["partition"])) == "p_x20c_x201"


def test_summaries_and_counts(tmp_path):
    schema = Schema((NestedField(1, "x", DoubleType()), NestedField(2, "s", StringType())))
    spec = PartitionSpec(
        fields=(
            PartitionField(source_ids=(1,), field_id=1000, transform=IDENTITY, name="x"),
            PartitionField(source_ids=(2,), field_id=1001, transform=bucket(4), name="b"),
        )
    )
    file = DataFile(file_path="/a", file_format="parquet", partition=(), record_count=10, file_size_in_bytes=1)
    rows = [(math.nan, 1), (0.0, 3), (-0.0, None), (7.5, 2)]
    entries = [
        ManifestEntry(status=status, snapshot_id=1, sequence_number=number, data_file=replace(file, partition=row))
        for row, status, number in zip(
            rows, (EntryStatus.ADDED, EntryStatus.EXISTING, EntryStatus.DELETED, EntryStatus.EXISTING), (None, 4, 2, 6), strict=True
        )
    ]
    manifest = write(tmp_path / "m.avro", entries, spec=spec, schema=schema)
    from icesql.spec.values.binary import to_bytes

    first, second = manifest.partitions
    assert (first.contains_null, first.contains_nan) == (False, True)
    assert (first.lower_bound, first.upper_bound) == (to_bytes(DoubleType(), -0.0), to_bytes(DoubleType(), 7.5))
    assert (second.contains_null, second.contains_nan) == (True, False)
    assert (second.lower_bound, second.upper_bound) == (to_bytes(IntegerType(), 1), to_bytes(IntegerType(), 3))
    assert (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count) == (1, 2, 1)
    assert (manifest.added_rows_count, manifest.existing_rows_count, manifest.deleted_rows_count) == (10, 20, 10)
    assert manifest.min_sequence_number == 4  # deleted entries do not count
    assert manifest.manifest_length == (tmp_path / "m.avro").stat().st_size


def test_inheritance(tmp_path):
    plain = PartitionSpec()
    file = DataFile(file_path="/a", file_format="parquet", record_count=10, file_size_in_bytes=1)
    entries = [
        ManifestEntry(status=EntryStatus.ADDED, snapshot_id=None, data_file=file),
        ManifestEntry(status=EntryStatus.DELETED, snapshot_id=3, sequence_number=1, file_sequence_number=1, data_file=file),
        ManifestEntry(
            status=EntryStatus.EXISTING, snapshot_id=3, sequence_number=1, file_sequence_number=2, data_file=replace(file, first_row_id=99)
        ),
        ManifestEntry(status=EntryStatus.ADDED, snapshot_id=None, data_file=file),
    ]
    manifest = write(tmp_path / "m.avro", entries, 3, spec=plain)
    assert [e.sequence_number for e in read_manifest(IO, manifest)] == [None, 1, 1, None]  # no list has named it yet
    next_id = write_manifest_list(
        IO,
        str(tmp_path / "l.avro"),
        format_version=3,
        snapshot_id=9,
        parent_snapshot_id=None,
        sequence_number=12,
        manifests=[manifest],
        next_row_id=500,
    )
    assert next_id == 530
    (listed,) = read_manifest_list(IO, str(tmp_path / "l.avro"), use_cache=False)
    assert (listed.sequence_number, listed.min_sequence_number, listed.first_row_id) == (12, 1, 500)
    found = read_manifest(IO, listed)
    assert [e.snapshot_id for e in found] == [9, 3, 3, 9]
    assert [e.sequence_number for e in found] == [12, 1, 1, 12]
    assert [e.file_sequence_number for e in found] == [12, 1, 2, 12]
    assert [e.data_file.first_row_id for e in found] == [500, None, 99, 510]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_entries_that_lists_share_are_read_once_and_right(tmp_path, version):
    file = DataFile(file_path="/a", file_format="parquet", partition=(1,), record_count=10, file_size_in_bytes=1)
    spec = PartitionSpec(fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="i"),))
    entry = ManifestEntry(status=EntryStatus.ADDED, snapshot_id=9, data_file=file)
    made = [replace(write(tmp_path / f"m{i}.avro", [entry], version, spec=spec), first_row_id=100 * i) for i in range(3)]
    other = replace(made[1], manifest_length=7, partitions=None)  # the same path, told otherwise
    lists = [made[:1], [made[1], made[0]], [made[2], made[1], made[0]], [made[2], other], [made[0], other, made[1]], []]
    repeated, shared = RepeatedManifests(), []
    for number, manifests in enumerate(lists):
        target = str(tmp_path / f"l{number}.avro")
        write_manifest_list(
            IO, target, format_version=version, snapshot_id=9, parent_snapshot_id=8, sequence_number=2, manifests=manifests, next_row_id=0
        )
        shared.append(parse_manifest_list(Path(target).read_bytes(), target, repeated))
        assert shared[-1] == parse_manifest_list(Path(target).read_bytes(), target)
    assert shared[1][1] is shared[0][0] and shared[2][1:] == shared[1]
    damaged = Path(target := str(tmp_path / "l2.avro")).read_bytes()
    for place in range(0, len(damaged), 7):
        broken = damaged[:place] + bytes([damaged[place] ^ 0x15]) + damaged[place + 1 :]
        assert _read_or_refused(broken, target, repeated) == _read_or_refused(broken, target, None)


def _read_or_refused(data, location, repeated):
    try:
        return parse_manifest_list(data, location, repeated)
    except (CorruptMetadataError, UnsupportedError) as error:
        return type(error)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_manifest_list_round_trip(tmp_path, version):
    file = DataFile(file_path="/a", file_format="parquet", partition=(1,), record_count=10, file_size_in_bytes=1)
    spec = PartitionSpec(fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="i"),))
    manifest = write(tmp_path / "m.avro", [ManifestEntry(status=EntryStatus.ADDED, snapshot_id=9, data_file=file)], version, spec=spec)
    target = str(tmp_path / "l.avro")
    write_manifest_list(
        IO, target, format_version=version, snapshot_id=9, parent_snapshot_id=8, sequence_number=2, manifests=[manifest], next_row_id=0
    )
    written = read_manifest_list(IO, target)
    assert read_manifest_list(IO, target, use_cache=False) == written
    assert written[0].sequence_number == (0 if version == 1 else 2)
    assert written[0].partitions == manifest.partitions
    assert fastavro.reader(streams.BytesIO((tmp_path / "l.avro").read_bytes())).metadata["parent-snapshot-id"] == "8"


def test_v1_file_without_ids_and_with_old_columns(tmp_path):
    schema = {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            {"name": "status", "type": "int"},
            {"name": "snapshot_id", "type": ["null", "long"]},
            {
                "name": "data_file",
                "type": {
                    "type": "record",
                    "name": "r2",
                    "fields": [
                        {"name": "file_path", "type": "string"},
                        {"name": "file_format", "type": "string"},
                        {
                            "name": "partition",
                            "type": {"type": "record", "name": "r102", "fields": [{"name": "i", "type": ["null", "int"]}]},
                        },
                        {"name": "record_count", "type": "long"},
                        {"name": "file_size_in_bytes", "type": "long"},
                        {"name": "block_size_in_bytes", "type": "long"},
                        {"name": "file_ordinal", "type": ["null", "int"]},
                        {"name": "sort_columns", "type": ["null", {"type": "array", "items": "int"}]},
                    ],
                },
            },
        ],
    }
    record = {
        "status": 1,
        "snapshot_id": 5,
        "data_file": {
            "file_path": "/f",
            "file_format": "ORC",
            "partition": {"i": 8},
            "record_count": 2,
            "file_size_in_bytes": 3,
            "block_size_in_bytes": 4,
            "file_ordinal": 1,
            "sort_columns": [1, 2],
        },
    }
    with open(tmp_path / "m.avro", "wb") as out:  # noqa: PTH123
        fastavro.writer(out, fastavro.parse_schema(schema), [record])
    from icesql.spec.files import ManifestFile

    spec = PartitionSpec(fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="i"),))
    (entry,) = read_manifest(IO, ManifestFile(manifest_path=str(tmp_path / "m.avro"), manifest_length=1, partition_spec_id=0), {0: spec})
    assert (entry.sequence_number, entry.file_sequence_number, entry.snapshot_id) == (0, 0, 5)
    assert entry.data_file == DataFile(file_path="/f", file_format="orc", partition=(8,), record_count=2, file_size_in_bytes=3)


def test_rolling_writer(tmp_path):
    made: list[str] = []

    def open_next():
        made.append(str(tmp_path / f"{len(made)}.avro"))
        return ManifestWriter(
            IO,
            made[-1],
            format_version=2,
            spec=PartitionSpec(),
            schema=SCHEMA,
            content=ManifestContent.DATA,
            snapshot_id=9,
            compression="null",
        )

    rolling = RollingManifestWriter(open_next, target_size_bytes=20_000)
    file = DataFile(file_path="/a" * 50, file_format="parquet", record_count=10, file_size_in_bytes=1)
    for _ in range(1000):
        rolling.add(ManifestEntry(status=EntryStatus.ADDED, snapshot_id=None, data_file=file))
    written = rolling.close()
    assert len(written) == len(made) > 3
    assert sum(m.added_files_count or 0 for m in written) == 1000
    assert all(m.manifest_length < 30_000 for m in written)


def test_errors(tmp_path):
    file = DataFile(file_path="/a", file_format="parquet", record_count=10, file_size_in_bytes=1)
    entry = ManifestEntry(status=EntryStatus.EXISTING, snapshot_id=1, data_file=file)
    with pytest.raises(InvalidArgumentError, match="null sequence number"):
        write(tmp_path / "m", [entry], spec=PartitionSpec())
    with pytest.raises(InvalidArgumentError, match="partition has 0 values"):
        write(tmp_path / "m", [replace(entry, sequence_number=1)])
    with pytest.raises(InvalidArgumentError, match="codec"):
        write(tmp_path / "m", [], compression="lz5")
    with pytest.raises(UnsupportedError):
        write(tmp_path / "m", [], 4)
    with pytest.raises(InvalidArgumentError):
        write(tmp_path / "m", [], 1, content=ManifestContent.DELETES)
    manifest = write(tmp_path / "m", [])
    with pytest.raises(NotFoundError):
        read_manifest(IO, replace(manifest, manifest_path=str(tmp_path / "none")))
    (tmp_path / "json").write_text("{}")
    with pytest.raises(CorruptMetadataError, match="json"):
        read_manifest_list(IO, str(tmp_path / "json"))


def test_compression_property():
    assert compression_of({}) == "deflate"
    assert compression_of({"write.avro.compression-codec": "zstd"}) == "deflate"
    assert compression_of({"write.avro.compression-codec": "zstd", "write.manifest.compression-codec": "gzip"}) == "gzip"
