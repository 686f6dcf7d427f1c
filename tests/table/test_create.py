"""New tables, replaced tables, transactions, and where files go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import AlreadyExistsError, CommitFailedError, InvalidArgumentError, NotFoundError, ValidationError
from icesql.expr.tree import TRUE
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN
from icesql.spec.sorting import SortField, SortOrder
from icesql.spec.transforms import DAY, HOUR, IDENTITY, bucket
from icesql.spec.types import ListType, LongType, MapType, NestedField, StringType, StructType, TimestampType, UnknownType, VariantType
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.manage_snapshots import ManageSnapshots
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.update_properties import UpdateProperties
from icesql.table.changes.update_schema import UpdateSchema
from icesql.table.manifests.location_provider import LocationProvider, location_provider
from icesql.table.metadata.create import new_metadata
from icesql.table.transaction import Transaction
from tests.table.memory import BY_P, SCHEMA, MemoryOperations, data_file, new_table
from tests.table.test_snapshot_producer import live_files, metadata_files, names

GIVEN = Schema(
    (
        NestedField(70, "s", StructType((NestedField(71, "a", LongType()),))),
        NestedField(80, "l", ListType(81, StringType())),
        NestedField(90, "id", LongType(), True),
        NestedField(91, "ts", TimestampType()),
    ),
    identifier_field_ids=(90,),
)


def spec(*fields: tuple[int, object, str]) -> PartitionSpec:
    return PartitionSpec(
        fields=tuple(PartitionField(source_ids=(i,), field_id=0, transform=t, name=n) for i, t, n in fields)  # type: ignore[arg-type]
    )


def test_ids_are_assigned_afresh() -> None:
    order = SortOrder(order_id=9, fields=(SortField(source_ids=(91,), transform=DAY),))
    metadata = new_metadata(GIVEN, location="/t/", spec=spec((90, bucket(4), "b"), (71, IDENTITY, "s.a")), sort_order=order)
    assert [f.id for f in metadata.schema.fields] == [1, 2, 3, 4]
    assert (metadata.last_column_id, metadata.schema.identifier_names(), metadata.location) == (6, ("id",), "/t")
    assert [(f.source_id, f.field_id) for f in metadata.spec.fields] == [(3, 1000), (5, 1001)]
    assert (metadata.last_partition_id, metadata.sort_order.order_id, metadata.sort_order.fields[0].source_id) == (1001, 1, 4)
    assert (metadata.format_version, metadata.next_row_id, metadata.current_snapshot_id) == (2, None, None)
    unsorted = new_metadata(GIVEN, location="/t")
    assert (unsorted.default_sort_order_id, unsorted.last_partition_id, unsorted.spec.spec_id) == (0, 999, 0)


def test_properties_of_a_new_table() -> None:
    given = {"format-version": "3", "uuid": "x", "current-snapshot-id": "1", "a": "b"}
    metadata = new_metadata(GIVEN, location="/t", properties=given)
    assert (metadata.format_version, metadata.next_row_id) == (3, 0)
    assert metadata.properties == {"write.parquet.compression-codec": "zstd", "a": "b"}
    kept = new_metadata(GIVEN, location="/t", properties={"write.parquet.compression-codec": "gzip"})
    assert kept.properties == {"write.parquet.compression-codec": "gzip"}
    for properties, words in [
        ({"format-version": "4"}, "Unsupported format version: v4"),
        ({"format-version": "0"}, "Unsupported format version: v0"),
        ({"format-version": "x"}, "not a number"),
        ({"commit.retry.num-retries": "x"}, "must have integer value"),
    ]:
        with pytest.raises(InvalidArgumentError, match=words):
            new_metadata(GIVEN, location="/t", properties=properties)
    with pytest.raises(InvalidArgumentError, match="Invalid type for v: variant is not supported until v3"):
        new_metadata(Schema((NestedField(1, "v", VariantType()),)), location="/t")
    unknown_keys = Schema((NestedField(1, "m", MapType(2, UnknownType(), 3, LongType())),))
    with pytest.raises(InvalidArgumentError, match="Cannot create required field with unknown type: key"):
        new_metadata(unknown_keys, location="/t", format_version=3)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (((90, bucket(4), "b"), (91, DAY, "b")), "Cannot use partition name more than once: b"),
        (((91, DAY, "d"), (91, HOUR, "h")), "Cannot add redundant partition: .* conflicts with"),
        (((90, IDENTITY, "ts"),), "Cannot create identity partition sourced from different field in schema: ts"),
        (((90, bucket(4), "ts"),), "Cannot create partition from name that exists in schema: ts"),
        (((70, IDENTITY, "s"),), "Cannot partition by non-primitive source field"),
        (((80, IDENTITY, "x"),), "Cannot partition by non-primitive source field"),
        (((90, DAY, "d"),), "Invalid source type long for transform: day"),
        (((5, IDENTITY, "d"),), "Cannot find source column: 5"),
    ],
)
def test_specs_that_cannot_be(fields: Any, words: str) -> None:
    with pytest.raises((InvalidArgumentError, ValidationError, NotFoundError), match=words):
        new_metadata(GIVEN, location="/t", spec=spec(*fields))


# -- transactions --------------------------------------------------------------------------------------------------
def test_a_staged_create_appears_with_its_rows(tmp_path: Path) -> None:
    t = MemoryOperations(tmp_path)
    transaction = Transaction.creating(t, new_metadata(SCHEMA, location=str(tmp_path / "t"), spec=BY_P))
    transaction.add(AppendFiles().append_file(data_file("a", (1,))).change())
    assert t.version is None
    transaction.commit()
    assert names(live_files(t)) == ["a"]
    late = Transaction.creating(t, new_metadata(SCHEMA, location=str(tmp_path / "late"), spec=BY_P))
    late.add(AppendFiles().append_file(data_file("b", (1,))).change())
    with pytest.raises(AlreadyExistsError):
        late.commit()
    assert list((tmp_path / "late").rglob("*.avro")) == []


def test_replacing_keeps_history_and_ids_of_equal_names(tmp_path: Path) -> None:
    t = new_table(tmp_path, spec=BY_P)
    AppendFiles(t).append_file(data_file("a", (1,))).commit()
    ManageSnapshots(t).create_tag("before").commit()
    UpdateProperties(t).set("keep", "1").commit()
    schema = Schema((NestedField(1, "data", StringType()), NestedField(2, "new", LongType())))
    by_data = spec((1, IDENTITY, "data"))
    transaction = Transaction.replacing(t, t.load(), schema, spec=by_data, properties={"more": "2", "uuid": "no"})
    assert transaction.metadata.current_snapshot_id is None
    transaction.add(OverwriteFiles().overwrite_by_row_filter(TRUE).add_file(data_file("n", ("x",), spec_id=1)).change())
    transaction.commit()
    metadata = t.metadata
    assert [(f.id, f.name) for f in metadata.schema.fields] == [(2, "data"), (4, "new")]
    assert set(metadata.refs) == {MAIN, "before"}
    assert (metadata.properties["keep"], metadata.properties["more"], "uuid" in metadata.properties) == ("1", "2", False)
    assert [(f.source_id, f.field_id) for f in metadata.spec.fields] == [(2, 1001)]
    assert len(metadata.schemas) == 2
    assert metadata.current_snapshot is not None
    assert (metadata.current_snapshot.parent_snapshot_id, metadata.current_snapshot.summary["total-data-files"]) == (None, "1")
    assert [e.snapshot_id for e in metadata.snapshot_log] == [s.snapshot_id for s in metadata.snapshots], "history stays"


def test_replacing_a_version_1_table_keeps_void_fields(tmp_path: Path) -> None:
    t = new_table(tmp_path, spec=BY_P, version=1)
    schema = Schema((NestedField(1, "p", LongType()), NestedField(2, "data", StringType())))
    Transaction.replacing(t, t.load(), schema, spec=spec((2, IDENTITY, "data"))).commit()
    assert [(f.field_id, f.name, str(f.transform)) for f in t.metadata.spec.fields] == [(1000, "p", "void"), (1001, "data", "identity")]


def test_several_changes_are_one_commit_and_see_each_other(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    commits = t.commits
    transaction = Transaction(t)
    transaction.add(UpdateSchema(metadata=transaction.metadata).add_column("x", LongType()))
    transaction.add(AppendFiles(t).append_file(data_file("a")))
    transaction.add(AppendFiles().append_file(data_file("b")).change())
    transaction.add(UpdateProperties().set("k", "v"))
    assert transaction.metadata.schema.find("x") is not None
    with pytest.raises(InvalidArgumentError, match="name already exists: x"):
        transaction.add(UpdateSchema(metadata=t.metadata).add_column("x", LongType()))
    transaction.commit()
    assert t.commits == commits + 1
    assert names(live_files(t)) == ["a", "b"]
    assert [s.schema_id for s in t.metadata.snapshots] == [1, 1]
    assert len(t.metadata.snapshot_log) == 1
    with pytest.raises(InvalidArgumentError, match="committed or abandoned already"):
        transaction.commit()


def test_a_transaction_is_replayed_on_what_others_did(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    transaction = Transaction(t)
    transaction.add(AppendFiles().append_file(data_file("mine")).change())
    transaction.add(UpdateSchema(metadata=t.metadata).add_column("x", LongType()))
    AppendFiles(t).append_file(data_file("theirs")).commit()
    UpdateSchema(t).add_column("y", LongType()).commit()
    transaction.commit()
    assert names(live_files(t)) == ["mine", "theirs"]
    assert [f.name for f in t.metadata.schema.fields] == ["id", "data", "p", "y", "x"]


def test_an_abandoned_transaction_leaves_nothing(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    transaction = Transaction(t)
    transaction.add(AppendFiles().append_file(data_file("a")).change())
    assert metadata_files(t)
    transaction.abandon()
    assert metadata_files(t) == set()
    failing = Transaction(t)
    failing.add(AppendFiles().append_file(data_file("a")).change())
    t.fail_next = [CommitFailedError("lost")] * 9
    with pytest.raises(CommitFailedError):
        failing.commit()
    assert metadata_files(t) == set()


# -- properties and locations ----------------------------------------------------------------------------------------
def test_properties_are_set_removed_and_checked(tmp_path: Path) -> None:
    t = new_table(tmp_path)
    UpdateProperties(t).set_all({"a": "1", "b": "2", "current-schema": "x"}).commit()
    UpdateProperties(t).remove("a", "never").set("format-version", "3").commit()
    assert t.metadata.format_version == 3
    assert {k: v for k, v in t.metadata.properties.items() if k in ("a", "b", "current-schema", "format-version")} == {"b": "2"}
    with pytest.raises(InvalidArgumentError, match="Cannot remove and update the same key: a"):
        UpdateProperties(t).set("a", "1").remove("a")
    with pytest.raises(InvalidArgumentError, match="must have integer value: x"):
        UpdateProperties(t).set("commit.retry.num-retries", "x").commit()
    with pytest.raises(InvalidArgumentError, match="Cannot downgrade v3 table to v1"):
        UpdateProperties(t).set("format-version", "1").commit()


def test_where_files_go() -> None:
    plain = LocationProvider("s3://b/db/t")
    assert plain.data_file("f", "p=1/q=a%2Fb") == "s3://b/db/t/data/p=1/q=a%2Fb/f"
    assert plain.metadata_file("m") == "s3://b/db/t/metadata/m"
    moved = LocationProvider("/t", {"write.data.path": "/d/", "write.metadata.path": "/m/"})
    assert (moved.data_file("f"), moved.metadata_file("m")) == ("/d/f", "/m/m")


def test_object_store_layout_spreads_by_hash() -> None:
    on = {"write.object-storage.enabled": "true"}
    hashed = LocationProvider("/db/t", on).data_file("test.parquet")
    folders = hashed.removeprefix("/db/t/data/").removesuffix("/test.parquet").split("/")
    assert [len(f) for f in folders] == [4, 4, 4, 8]
    assert set("".join(folders)) <= {"0", "1"}
    assert LocationProvider("/db/t", on).data_file("test.parquet") == hashed
    assert LocationProvider("/db/t", on).data_file("f", "p=1").endswith("/p=1/f")
    off = {**on, "write.object-storage.partitioned-paths": "false"}
    assert LocationProvider("/db/t", off).data_file("f", "p=1").rsplit("/", 1)[1].endswith("-f")
    outside = LocationProvider("/w/db/t", {**on, "write.data.path": "/other"}).data_file("f")
    assert outside.startswith("/other/") and outside.endswith("/db/t/f")


def test_locations_agree_with_pyiceberg() -> None:
    from pyiceberg.table.locations import load_location_provider

    for name in ("a.parquet", "00000-0-b.parquet", "x y.parquet"):
        theirs = load_location_provider("/db/t", {"write.object-storage.enabled": "true"}).new_data_location(name)
        assert LocationProvider("/db/t", {"write.object-storage.enabled": "true"}).data_file(name) == theirs


def test_a_custom_java_provider_is_refused() -> None:
    metadata = new_metadata(GIVEN, location="/t", properties={"write.location-provider.impl": "x.Y"})
    with pytest.raises(NotImplementedError, match=r"Java classes cannot be loaded: x.Y"):
        location_provider(metadata)
    assert location_provider(replace(metadata, properties={})).data_folder == "/t/data"
