"""Metadata tables: columns, rows, pruning, time travel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from icesql.errors import NotFoundError, UnsupportedError
from icesql.expr.tree import TRUE, Expression, Op, Predicate, Reference
from icesql.spec.partitioning import UNPARTITIONED, PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import DAY, IDENTITY, VOID, bucket
from icesql.spec.types import DoubleType, LongType, NestedField, StringType, StructType, TimestamptzType
from icesql.table.metadata.partition_types import union_partition_type
from icesql.table.metadata_tables.registry import METADATA_TABLES, metadata_table, metadata_table_schema, scan_metadata_table
from tests.table.test_arrow_scan import BY_P, SCHEMA, RealForge, rows
from tests.table.test_changelog import merge_on_read

FILE_COLUMNS = [
    "content", "file_path", "file_format", "spec_id", "partition", "record_count", "file_size_in_bytes", "column_sizes", "value_counts",
    "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds", "key_metadata", "split_offsets", "equality_ids",
    "sort_order_id", "first_row_id", "referenced_data_file", "content_offset", "content_size_in_bytes",
]  # fmt: skip
COLUMNS = {
    "history": "made_current_at snapshot_id parent_id is_current_ancestor",
    "snapshots": "committed_at snapshot_id parent_id operation manifest_list summary",
    "refs": "name type snapshot_id max_reference_age_in_ms min_snapshots_to_keep max_snapshot_age_in_ms",
    "metadata_log_entries": "timestamp file latest_snapshot_id latest_schema_id latest_sequence_number",
    "manifests": "content path length partition_spec_id added_snapshot_id added_data_files_count existing_data_files_count"
    " deleted_data_files_count added_delete_files_count existing_delete_files_count deleted_delete_files_count partition_summaries",
    "partitions": "partition spec_id record_count file_count total_data_file_size_in_bytes position_delete_record_count"
    " position_delete_file_count equality_delete_record_count equality_delete_file_count last_updated_at last_updated_snapshot_id",
    "position_deletes": "file_path pos row partition spec_id delete_file_path",
    "entries": "status snapshot_id sequence_number file_sequence_number data_file readable_metrics",
}


def table(forge: RealForge, name: str, where: Expression = TRUE, **more: Any) -> pa.Table:
    return scan_metadata_table(name, io=forge.io, metadata=forge.metadata, metadata_location="v9.metadata.json", filter=where, **more)


def listed(forge: RealForge, name: str, *columns: str, where: Expression = TRUE, **more: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table(forge, name, where, select=columns, **more).to_pylist()]


def eq(name: str, value: object) -> Expression:
    return Predicate(Op.EQ, Reference(name), (value,))


@pytest.fixture
def forge(tmp_path: Path) -> RealForge:
    return merge_on_read(tmp_path)


def test_columns_and_their_order(forge: RealForge) -> None:
    assert len(METADATA_TABLES) == 16
    expected = {name: text.split() for name, text in COLUMNS.items()}
    expected |= {name: [*FILE_COLUMNS, "readable_metrics"] for name in METADATA_TABLES if name.endswith("files")}
    expected |= {"all_entries": expected["entries"], "all_manifests": [*expected["manifests"], "reference_snapshot_id", "key_metadata"]}
    for name in METADATA_TABLES:
        schema = metadata_table_schema(name, forge.metadata)
        found = table(forge, name)
        assert [field.name for field in schema.fields] == expected[name] == found.column_names, name
        assert [field.nullable for field in found.schema] == [field.optional for field in schema.fields], name
        found.validate(full=True)
    fields = metadata_table_schema("entries", forge.metadata).field("data_file").type
    assert isinstance(fields, StructType) and [field.name for field in fields.fields] == FILE_COLUMNS


def test_partition_columns_are_absent_without_partitions(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, UNPARTITIONED)
    forge.commit([forge.file("f", rows(0, 3))])
    assert "partition" not in table(forge, "files").column_names
    assert table(forge, "partitions").column_names[0] == "record_count"
    assert listed(forge, "partitions", "record_count", "file_count") == [(3, 1)]
    assert "partition" not in table(forge, "position_deletes").column_names


def test_files_and_their_kinds(forge: RealForge) -> None:
    assert sorted(listed(forge, "files", "content", "record_count")) == [(0, 2), (0, 5), (0, 10), (1, 2), (2, 3)]
    assert {content for (content,) in listed(forge, "data_files", "content")} == {0}
    assert sorted(listed(forge, "delete_files", "content", "equality_ids")) == [(1, None), (2, [1])]
    assert sorted(listed(forge, "files", "partition", where=eq("record_count", 5))) == [({"p": "b"},)]
    assert listed(forge, "files", "record_count", where=eq("partition.p", "b")) == [(5,)]
    assert len(listed(forge, "all_files", "content")) == 5
    assert {text for (text,) in listed(forge, "files", "file_format")} == {"PARQUET"}


def test_metrics_are_shown_raw_and_readable(forge: RealForge) -> None:
    (row,) = table(forge, "data_files", eq("record_count", 10)).to_pylist()
    assert dict(row["value_counts"]) == {1: 10, 2: 10, 3: 10} and dict(row["nan_value_counts"]) == {3: 0}
    assert dict(row["lower_bounds"])[1] == (0).to_bytes(8, "little")
    assert list(row["readable_metrics"]) == ["id", "p", "x"]
    readable = row["readable_metrics"]["id"]
    assert (readable["value_count"], readable["lower_bound"], readable["upper_bound"]) == (10, 0, 9)
    where = Predicate(Op.GT, Reference("readable_metrics.id.upper_bound"), (14,))
    assert listed(forge, "data_files", "record_count", where=where) == [(2,)]
    part = table(forge, "data_files", where, select=("readable_metrics.p.lower_bound",)).to_pylist()
    assert part == [{"readable_metrics": {"p": {"lower_bound": "a"}}}], "what only the filter needs is not returned"


def test_nested_columns_have_dotted_metrics(tmp_path: Path) -> None:
    inner = StructType((NestedField(3, "b", DoubleType()), NestedField(4, "a", StringType())))
    forge = RealForge(tmp_path, Schema((NestedField(1, "z", LongType()), NestedField(2, "n", inner))), UNPARTITIONED)
    forge.commit([forge.file("f", [{"z": 1, "n": {"a": "x", "b": float("nan")}}])])
    (row,) = table(forge, "files", select=("readable_metrics",)).to_pylist()
    assert list(row["readable_metrics"]) == ["n.a", "n.b", "z"]
    assert row["readable_metrics"]["n.b"]["nan_value_count"] == 1


def test_entries_and_manifests(forge: RealForge) -> None:
    assert sorted(listed(forge, "entries", "status", "sequence_number", "snapshot_id")) == [
        (1, 1, 100),
        (1, 1, 100),
        (1, 2, 101),
        (1, 3, 102),
        (1, 3, 102),
    ]
    parts = table(forge, "entries", select=("data_file.content", "data_file.partition")).to_pylist()
    assert parts[0] == {"data_file": {"content": 0, "partition": {"p": "a"}}}
    shown = table(forge, "manifests", eq("content", 1)).to_pylist()
    assert [(row["added_data_files_count"], row["added_delete_files_count"]) for row in shown] == [(0, 1), (0, 1)]
    assert shown[0]["partition_summaries"] == [{"contains_null": False, "contains_nan": False, "lower_bound": "a", "upper_bound": "a"}]
    referenced = sorted(reference for (reference,) in listed(forge, "all_manifests", "reference_snapshot_id"))
    assert referenced == [100, 101, 101, 102, 102, 102, 102]


def test_partition_totals(forge: RealForge) -> None:
    columns = (
        "partition", "record_count", "file_count", "position_delete_record_count", "equality_delete_file_count", "last_updated_snapshot_id",
    )  # fmt: skip
    found = {row[0]["p"]: row[1:] for row in listed(forge, "partitions", *columns)}
    assert found == {"a": (12, 2, 2, 1, 102), "b": (5, 1, 0, 0, 100)}
    size = sum(size for size, content in listed(forge, "files", "file_size_in_bytes", "content") if content == 0)
    assert sum(total for (total,) in listed(forge, "partitions", "total_data_file_size_in_bytes")) == size


def test_positions_of_files_and_vectors(tmp_path: Path, forge: RealForge) -> None:
    found = listed(forge, "position_deletes", "pos", "row", "partition", "spec_id")
    assert found == [(0, None, {"p": "a"}, 0), (9, None, {"p": "a"}, 0)]
    newer = RealForge(tmp_path / "v3", SCHEMA, BY_P, format_version=3)
    newer.commit([newer.file("a1", rows(0, 5), ("a",))])
    newer.commit([newer.vector_file("dv", "a1", [1, 3], ("a",))])
    (first, second) = table(newer, "position_deletes").to_pylist()
    assert (first["pos"], second["pos"]) == (1, 3) and first["file_path"].endswith("a1.parquet") and first["content_offset"] == 4
    assert table(newer, "position_deletes").column_names[-2:] == ["content_offset", "content_size_in_bytes"]


def test_logs(forge: RealForge) -> None:
    forge.metadata = replace(forge.metadata, last_updated_ms=5000)
    assert [row[1:] for row in listed(forge, "history", "made_current_at", "snapshot_id", "parent_id", "is_current_ancestor")] == [
        (100, None, True), (101, 100, True), (102, 101, True)
    ]  # fmt: skip
    assert listed(forge, "snapshots", "snapshot_id", "operation") == [(100, "append"), (101, "delete"), (102, "overwrite")]
    assert "operation" not in dict(listed(forge, "snapshots", "summary")[0][0])
    assert listed(forge, "refs", "name", "type", "snapshot_id") == [("main", "BRANCH", 102)]
    assert listed(forge, "metadata_log_entries", "file", "latest_snapshot_id", "latest_schema_id") == [("v9.metadata.json", 102, 0)]
    assert listed(forge, "snapshots", "snapshot_id", where=eq("operation", "delete")) == [(101,)]


def test_time_travel(forge: RealForge) -> None:
    assert len(listed(forge, "files", "content", snapshot_id=100)) == 2
    assert len(listed(forge, "manifests", "path", timestamp_ms=2500)) == 2
    assert len(listed(forge, "snapshots", "snapshot_id", snapshot_id=100)) == 3, "logs ignore it"
    for name in METADATA_TABLES:
        if name.startswith("all_"):
            with pytest.raises(UnsupportedError, match=f"Cannot select snapshot in table: {name.upper()}"):
                table(forge, name, snapshot_id=100)
    with pytest.raises(NotFoundError, match="Cannot find snapshot with ID 7"):
        table(forge, "files", snapshot_id=7)
    assert metadata_table("FILES").name == "files"
    with pytest.raises(NotFoundError, match="Did you mean 'snapshots'"):
        metadata_table("snapshot")


def test_an_empty_table_has_empty_metadata_tables(tmp_path: Path) -> None:
    forge = RealForge(tmp_path, SCHEMA, BY_P)
    for name in METADATA_TABLES:
        assert table(forge, name).num_rows == (1 if name == "metadata_log_entries" else 0), name


# -- partitions of several specs ---------------------------------------------------------------------------------

WIDE = Schema((NestedField(1, "id", LongType()), NestedField(2, "s", StringType()), NestedField(3, "ts", TimestamptzType())))


def field(source: int, field_id: int, transform: Any, name: str) -> PartitionField:
    return PartitionField(source_ids=(source,), field_id=field_id, transform=transform, name=name)


def union_of(*specs: PartitionSpec) -> list[tuple[int, str, str]]:
    forge = RealForge(Path("/nowhere"), WIDE, *specs)
    return [(f.id, f.name, str(f.type)) for f in union_partition_type(forge.metadata).fields]


def test_the_union_of_partition_types() -> None:
    first = PartitionSpec(spec_id=0, fields=(field(2, 1000, IDENTITY, "s"),))
    second = PartitionSpec(spec_id=1, fields=(field(1, 1001, bucket(2), "shard"), field(3, 1002, DAY, "ts_day")))
    assert union_of(first, second) == [(1000, "s", "string"), (1001, "shard", "int"), (1002, "ts_day", "date")]
    dropped = PartitionSpec(spec_id=1, fields=(field(2, 1000, VOID, "s_1000"), field(2, 1001, IDENTITY, "s")))
    assert union_of(first, dropped) == [(1000, "s_1000", "string"), (1001, "s", "string")], "a field made void keeps its type"
    renamed = PartitionSpec(spec_id=1, fields=(field(2, 1000, IDENTITY, "text"),))
    assert union_of(first, renamed) == [(1000, "text", "string")]
    clash = PartitionSpec(spec_id=1, fields=(field(1, 1001, bucket(4), "s"),))
    assert union_of(first, clash) == [(1000, "s_1000", "string"), (1001, "s", "int")], "two fields may not share a name"
    assert union_of(UNPARTITIONED) == []


def test_files_of_several_specs_share_one_partition_struct(tmp_path: Path) -> None:
    first = PartitionSpec(spec_id=0, fields=(field(2, 1000, IDENTITY, "s"),))
    second = PartitionSpec(spec_id=1, fields=(field(1, 1001, bucket(2), "shard"), field(3, 1002, DAY, "ts_day")))
    forge = RealForge(tmp_path, WIDE, first, second)
    forge.commit([forge.data("a", ("x",), spec_id=0)], [forge.data("b", (1, -1), spec_id=1), forge.data("c", (1, None), spec_id=1)])
    shown = {row["record_count"]: row for row in table(forge, "partitions").to_pylist()}
    assert len(table(forge, "partitions")) == 3 and shown
    partitions = [part for (part,) in listed(forge, "files", "partition")]
    assert [tuple(str(value) for value in part.values()) for part in partitions] == [
        ("x", "None", "None"), ("None", "1", "1969-12-31"), ("None", "1", "None")
    ]  # fmt: skip
    summaries = listed(forge, "manifests", "partition_summaries", where=eq("partition_spec_id", 1))[0][0]
    assert [(s["contains_null"], s["lower_bound"], s["upper_bound"]) for s in summaries] == [
        (False, "1", "1"),
        (True, "1969-12-31", "1969-12-31"),
    ]


@pytest.mark.interop
def test_pyiceberg_inspects_the_same(forge: RealForge, tmp_path: Path) -> None:
    from pyiceberg.table import StaticTable

    from icesql.spec.json.metadata import metadata_to_json

    location = tmp_path / "v1.metadata.json"
    location.write_bytes(metadata_to_json(forge.metadata))
    inspect = StaticTable.from_metadata(str(location)).inspect
    for name, columns in (
        ("files", ["content", "file_path", "record_count", "file_size_in_bytes", "split_offsets", "equality_ids"]),
        ("snapshots", ["committed_at", "snapshot_id", "parent_id", "operation", "manifest_list"]),
        ("history", ["snapshot_id", "parent_id", "is_current_ancestor"]),
        ("refs", ["name", "type", "snapshot_id"]),
        ("manifests", ["content", "path", "length", "added_data_files_count", "added_delete_files_count", "partition_summaries"]),
        ("partitions", ["partition", "record_count", "file_count", "position_delete_record_count", "equality_delete_file_count"]),
    ):
        theirs = getattr(inspect, name)().select(columns).to_pylist()
        ours = table(forge, name, select=columns).to_pylist()
        for row in theirs:  # PyIceberg writes unknown as an empty list
            row.update({key: None for key in ("split_offsets", "equality_ids") if row.get(key) == []})
            row.update({"committed_at": row["committed_at"].replace(tzinfo=None)} if "committed_at" in row else {})
        for row in ours:
            row.update({"committed_at": row["committed_at"].replace(tzinfo=None)} if "committed_at" in row else {})
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs)), name
