"""The REST forms of updates and requirements, both ways."""

from __future__ import annotations

import json

import pytest

from icesql.errors import CorruptMetadataError, InvalidArgumentError
from icesql.spec.snapshots import BlobMetadata, EncryptedKey, PartitionStatisticsFile, RefType, Snapshot, SnapshotRef, StatisticsFile
from icesql.spec.sorting import SortField, SortOrder
from icesql.spec.transforms import bucket
from icesql.table.metadata import requirements as r
from icesql.table.metadata import updates as u
from icesql.table.metadata.updates_json import requirement_from_json, requirement_to_json, update_from_json, update_to_json
from tests.table.memory import BY_P, SCHEMA

BIG = 2**62 + 1  # ids are 64 bits wide
SNAPSHOT = Snapshot(
    snapshot_id=BIG,
    parent_snapshot_id=2,
    sequence_number=4,
    timestamp_ms=5,
    manifest_list="/l",
    summary={"operation": "append", "k": "v"},
    schema_id=0,
    first_row_id=7,
    added_rows=8,
)
STATISTICS = StatisticsFile(
    snapshot_id=BIG,
    statistics_path="/s",
    file_size_in_bytes=9,
    file_footer_size_in_bytes=2,
    blob_metadata=(
        BlobMetadata(type="apache-datasketches-theta-v1", snapshot_id=BIG, sequence_number=4, fields=(1,), properties={"ndv": "2"}),
    ),
)
UPDATES: list[u.Update] = [
    u.AssignUuid("00000000-0000-0000-0000-000000000001"),
    u.UpgradeFormatVersion(3),
    u.AddSchema(SCHEMA),
    u.SetCurrentSchema(),
    u.AddPartitionSpec(BY_P),
    u.SetDefaultSpec(2),
    u.AddSortOrder(SortOrder(order_id=1, fields=(SortField(source_ids=(1,), transform=bucket(4)),))),
    u.SetDefaultSortOrder(1),
    u.AddSnapshot(SNAPSHOT),
    u.SetSnapshotRef("b", SnapshotRef(snapshot_id=BIG, min_snapshots_to_keep=2, max_snapshot_age_ms=3, max_ref_age_ms=4)),
    u.SetSnapshotRef("g", SnapshotRef(snapshot_id=BIG, type=RefType.TAG)),
    u.RemoveSnapshots((1, BIG)),
    u.RemoveSnapshotRef("b"),
    u.SetLocation("/x"),
    u.SetProperties({"a": "b"}),
    u.RemoveProperties(("a",)),
    u.SetStatistics(STATISTICS),
    u.RemoveStatistics(BIG),
    u.SetPartitionStatistics(PartitionStatisticsFile(snapshot_id=BIG, statistics_path="/p", file_size_in_bytes=1)),
    u.RemovePartitionStatistics(BIG),
    u.RemovePartitionSpecs((1,)),
    u.RemoveSchemas((1,)),
    u.AddEncryptionKey(EncryptedKey(key_id="k", encrypted_key_metadata="AAEC")),
    u.RemoveEncryptionKey("k"),
]
REQUIREMENTS: list[r.Requirement] = [
    r.AssertCreate(),
    r.AssertTableUuid("00000000-0000-0000-0000-000000000001"),
    r.AssertRefSnapshotId("main", BIG),
    r.AssertRefSnapshotId("main", None),
    r.AssertLastAssignedFieldId(1),
    r.AssertCurrentSchemaId(2),
    r.AssertLastAssignedPartitionId(1000),
    r.AssertDefaultSpecId(0),
    r.AssertDefaultSortOrderId(0),
]


def test_every_update_is_covered() -> None:
    assert {type(update) for update in UPDATES} == set(u.Update.__args__)
    assert {type(requirement) for requirement in REQUIREMENTS} == set(r.Requirement.__args__)


@pytest.mark.parametrize("update", UPDATES, ids=lambda update: type(update).__name__)
def test_updates_round_trip(update: u.Update) -> None:
    again = update_from_json(json.loads(json.dumps(update_to_json(update))))
    if isinstance(update, u.AddSnapshot):  # a read summary is another kind of mapping
        assert isinstance(again, u.AddSnapshot)
        assert dict(again.snapshot.summary) == dict(update.snapshot.summary)
        assert again.snapshot.manifest_list == update.snapshot.manifest_list
        assert (again.snapshot.first_row_id, again.snapshot.added_rows) == (7, 8)
    else:
        assert again == update


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda requirement: type(requirement).__name__)
def test_requirements_round_trip(requirement: r.Requirement) -> None:
    assert requirement_from_json(json.loads(json.dumps(requirement_to_json(requirement)))) == requirement


def test_older_names_are_read() -> None:
    assert update_from_json({"action": "set-properties", "updated": {"a": "b"}}) == u.SetProperties({"a": "b"})
    assert update_from_json({"action": "remove-properties", "removed": ["a"]}) == u.RemoveProperties(("a",))


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="fly"):
        update_from_json({"action": "fly"})
    with pytest.raises(InvalidArgumentError, match="assert-fly"):
        requirement_from_json({"type": "assert-fly"})


def test_damage_is_named_by_its_path() -> None:
    with pytest.raises(CorruptMetadataError, match=r"add-snapshot.*snapshot-id"):
        update_from_json({"action": "add-snapshot", "snapshot": {"snapshot-id": "x", "timestamp-ms": 1}})


def test_pyiceberg_reads_our_updates() -> None:
    from pydantic import TypeAdapter
    from pyiceberg.table.update import TableRequirement, TableUpdate

    for update in UPDATES:
        node = update_to_json(update)
        if not node["action"].endswith("encryption-key"):  # newer than PyIceberg
            assert TypeAdapter(TableUpdate).validate_python(node).action == node["action"]
    for requirement in REQUIREMENTS:
        node = requirement_to_json(requirement)
        assert TypeAdapter(TableRequirement).validate_python(node).type == node["type"]
