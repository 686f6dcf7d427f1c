"""File-level commits as JSON: the proposal's own keys, and that nothing is lost on the way."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import CorruptMetadataError, UnsupportedError, ValidationError
from icesql.expr.tree import Op, Predicate, Reference
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Operation
from icesql.spec.transforms import DAY, IDENTITY
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
    UUIDType,
)
from icesql.spec.values.binary import to_bytes
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.row_delta import RowDelta
from icesql.table.commit import commit
from icesql.table.metadata.create import new_metadata
from icesql.table.snapshot.produce import (
    NotAllowedAddedDataFiles,
    NotAllowedAddedDeleteFiles,
    NotAllowedKnownDataFiles,
    NotAllowedNewDeletesForDataFiles,
    ProduceSnapshot,
    RequiredDataFiles,
    RequiredDeleteFiles,
)
from icesql.table.snapshot.produce_json import produce_from_json, produce_to_json
from icesql.table.snapshot.producer import SnapshotProducer
from tests.table.memory import BY_P, data_file, deletion_vector, equality_deletes, new_table, position_deletes
from tests.table.test_snapshot_producer import live_files, names

VALUES: list[tuple[object, object]] = [
    (LongType(), -(2**40)),
    (StringType(), "ä\n"),
    (DecimalType(9, 2), Decimal("-1.50")),
    (DateType(), 18000),
    (TimestamptzType(), 1_600_000_000_000_001),
    (UUIDType(), uuid.UUID(int=7)),
    (BinaryType(), b"\x00\xff"),
    (BooleanType(), True),
    (DoubleType(), 1.5),
]
SCHEMA = Schema(tuple(NestedField(i + 1, f"c{i}", type_) for i, (type_, _) in enumerate(VALUES)))  # type: ignore[arg-type]
SPEC = PartitionSpec(
    fields=(
        PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="c1"),
        PartitionField(source_ids=(5,), field_id=1001, transform=DAY, name="d"),
    )
)
METADATA = new_metadata(SCHEMA, location="/t", spec=SPEC, format_version=3)
BOUNDS = {i + 1: to_bytes(type_, value) for i, (type_, value) in enumerate(VALUES)}  # type: ignore[arg-type]
FULL = DataFile(
    file_path="/d/x y%20.parquet",
    file_format="parquet",
    partition=("ä", None),
    record_count=2**40,
    file_size_in_bytes=2**41,
    column_sizes={1: 2**33},
    value_counts={1: 3},
    null_value_counts={1: 0},
    nan_value_counts={9: 1},
    lower_bounds=BOUNDS,
    upper_bounds=BOUNDS,
    key_metadata=b"\x01\xab",
    split_offsets=(4, 2**35),
    sort_order_id=0,
    first_row_id=2**45,
)
FILTER = Predicate(Op.GT, Reference("c0"), (5,))


def through(change: ProduceSnapshot, metadata: TableMetadata = METADATA) -> ProduceSnapshot:
    return produce_from_json(json.loads(json.dumps(produce_to_json(change, metadata))), metadata)


def test_everything_comes_back() -> None:
    equality = replace(FULL, content=type(FULL.content).EQUALITY_DELETES, equality_ids=(1, 2), file_path="/d/e.parquet", first_row_id=None)
    vector = replace(deletion_vector("v", FULL), partition=FULL.partition)
    change = ProduceSnapshot(
        action=Operation.OVERWRITE,
        branch="audit",
        stage_only=True,
        base_snapshot_id=2**61,
        add_data_files=(FULL,),
        add_delete_files=(equality, vector),
        remove_data_files=(replace(FULL, file_path="/d/old"),),
        remove_delete_files=(replace(equality, file_path="/d/old-e"),),
        drop_partitions=frozenset({(0, ("ä", 18000)), (0, (None, None))}),
        delete_row_filter=FILTER,
        case_sensitive=False,
        data_sequence_number=4,
        delete_sequence_numbers={equality.key: 9},
        merge_manifests=False,
        fail_missing_deletes=True,
        fail_any_delete=True,
        added_files_match_filter=FILTER,
        summary={"engine-name": "x"},
        validations=(
            NotAllowedAddedDataFiles(filter=FILTER),
            NotAllowedAddedDataFiles(partitions=frozenset({(0, ("p", 1))})),
            NotAllowedAddedDeleteFiles(filter=FILTER, and_deleted_data_files=True),
            RequiredDataFiles(file_paths=frozenset({"/a", "/b"}), allowed_remove_operations=frozenset({Operation.DELETE})),
            RequiredDeleteFiles(file_paths=frozenset({"/c"})),
            NotAllowedNewDeletesForDataFiles(file_paths=frozenset({"/a"}), ignore_equality_deletes=True),
            NotAllowedKnownDataFiles(file_paths=frozenset({"/a"})),
        ),
    )
    assert through(change) == change


def test_defaults_are_left_out() -> None:
    change = ProduceSnapshot(action=Operation.APPEND, add_data_files=(data_file("a"),))
    plain = new_metadata(SCHEMA, location="/t")
    node = produce_to_json(change, plain)
    assert set(node) == {"action", "add-data-files"}
    assert node["add-data-files"][0] == {
        "content": "data",
        "file-path": "/data/a.parquet",
        "file-format": "parquet",
        "spec-id": 0,
        "partition": [],
        "file-size-in-bytes": 100,
        "record-count": 10,
    }
    assert through(change, plain) == change


def test_the_proposals_own_form_is_read() -> None:
    node = {
        "action": "overwrite",
        "stage-only": False,
        "branch": "main",
        "summary": {"spark.app.id": "1"},
        "delete-row-filter": {"type": "eq", "term": "c0", "value": 3},
        "commit-validations": {"type": "required-data-files", "file-paths": ["/a"], "allowed-remove-operations": ["OVERWRITE", "REWRITE"]},
    }
    change = produce_from_json(node, METADATA)
    assert change.delete_row_filter == Predicate(Op.EQ, Reference("c0"), (3,))
    (validation,) = change.validations
    assert isinstance(validation, RequiredDataFiles)
    assert validation.allowed_remove_operations == {Operation.OVERWRITE, Operation.REPLACE}


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"action": "fly"}, "action.*fly"),
        ({}, "action"),
        ({"action": "append", "add-data-files": [{"content": "data"}]}, r"add-data-files\[0\].*"),
        ({"action": "append", "add-data-files": [{"content": "rows"}]}, "unknown content: rows"),
        ({"action": "append", "commit-validations": [{"type": "trust-me"}]}, r"commit-validations\[0\].*unknown validation: trust-me"),
        ({"action": "append", "stage-only": "yes"}, "stage-only"),
        ({"action": "append", "summary": {"a": 1}}, "summary"),
    ],
)
def test_damage_is_named(node: dict, words: str) -> None:
    with pytest.raises(CorruptMetadataError, match=words):
        produce_from_json(node, METADATA)


def test_files_must_fit_the_table() -> None:
    node = produce_to_json(ProduceSnapshot(action=Operation.APPEND, add_data_files=(FULL,)), METADATA)
    file = node["add-data-files"][0]
    broken: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"spec-id": 5}, ValidationError, "Cannot find partition spec 5"),
        ({"partition": [1]}, CorruptMetadataError, "expected 2 values, got 1"),
        ({"record-count": -1}, CorruptMetadataError, "must not be negative"),
        ({"lower-bounds": {"keys": [1], "values": []}}, CorruptMetadataError, "as many values as keys"),
        ({"key-metadata": "xyz"}, CorruptMetadataError, "key-metadata"),
    ]
    for change, error, words in broken:
        with pytest.raises(error, match=words):
            produce_from_json({"action": "append", "add-data-files": [{**file, **change}]}, METADATA)


def test_rewritten_manifests_cannot_be_sent() -> None:
    from icesql.spec.files import ManifestFile

    change = ProduceSnapshot(
        action=Operation.REPLACE, add_manifests=(ManifestFile(manifest_path="/m", manifest_length=1, partition_spec_id=0),)
    )
    with pytest.raises(UnsupportedError, match="it has manifests"):
        produce_to_json(change, METADATA)


def test_a_commit_sent_as_json_is_the_same_commit(tmp_path: Path) -> None:
    t = new_table(tmp_path, spec=BY_P)
    a = data_file("a", (1,), ids=(0, 9))

    def send(change: ProduceSnapshot) -> None:
        commit(t, [SnapshotProducer(through(change, t.metadata), t.io)])

    send(AppendFiles().append_files([a, data_file("b", (None,))]).change())
    send(RowDelta().add_deletes(position_deletes("d", of=a)).add_deletes(equality_deletes("e", (1,))).change())
    base = t.metadata.current_snapshot_id
    overwrite = OverwriteFiles().delete_file(a).add_file(data_file("a2", (1,))).validate_from_snapshot(base)
    send(overwrite.validate_no_conflicting_data().validate_no_conflicting_deletes().change())
    assert names(live_files(t)) == ["a2", "b"]
    again = OverwriteFiles().delete_file(a).add_file(data_file("a3", (1,))).validate_from_snapshot(t.metadata.current_snapshot_id)
    with pytest.raises(ValidationError, match="Missing required files to delete"):
        send(again.validate_no_conflicting_data().change())
