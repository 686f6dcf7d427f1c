"""Requirements: what they check, in which words, and which follow from which update."""

from __future__ import annotations

from dataclasses import replace

import pytest

from icesql.errors import CommitFailedError
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.snapshots import MAIN, SnapshotRef
from icesql.table.metadata import requirements as r
from icesql.table.metadata import updates as u
from tests.table.memory import SCHEMA
from tests.table.test_updates import on_main, table

BASE = u.apply(on_main(table(), 1, 2), u.SetSnapshotRef("audit", SnapshotRef(snapshot_id=1)))


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        (r.AssertCreate(), "table already exists"),
        (r.AssertTableUuid("00000000-0000-0000-0000-000000000000"), "UUID does not match: expected 00000000"),
        (r.AssertRefSnapshotId(MAIN, None), "branch main was created concurrently"),
        (r.AssertRefSnapshotId(MAIN, 1), "branch main has changed: expected id 1 != 2"),
        (r.AssertRefSnapshotId("nope", 1), "branch or tag nope is missing, expected 1"),
        (r.AssertLastAssignedFieldId(9), "last assigned field id changed: expected id 9 != 3"),
        (r.AssertCurrentSchemaId(9), "current schema changed: expected id 9 != 0"),
        (r.AssertLastAssignedPartitionId(9), "last assigned partition id changed: expected id 9 != 1000"),
        (r.AssertDefaultSpecId(9), "default partition spec changed: expected id 9 != 0"),
        (r.AssertDefaultSortOrderId(9), "default sort order changed: expected id 9 != 0"),
    ],
)
def test_failures_are_named(requirement: r.Requirement, words: str) -> None:
    with pytest.raises(CommitFailedError, match=f"Requirement failed: {words}"):
        r.check(requirement, BASE)


def test_what_holds_passes() -> None:
    holding = (
        r.AssertTableUuid(BASE.table_uuid.upper()),
        r.AssertRefSnapshotId(MAIN, 2),
        r.AssertRefSnapshotId("nope", None),
        r.AssertLastAssignedFieldId(3),
        r.AssertCurrentSchemaId(0),
        r.AssertLastAssignedPartitionId(1000),
        r.AssertDefaultSpecId(0),
        r.AssertDefaultSortOrderId(0),
    )
    r.check_all(holding, BASE)
    r.check(r.AssertCreate(), None)
    with pytest.raises(CommitFailedError, match="metadata is missing"):
        r.check(r.AssertCurrentSchemaId(0), None)


def test_requirements_follow_from_updates() -> None:
    uuid = r.AssertTableUuid(BASE.table_uuid)
    new_main = u.SetSnapshotRef(MAIN, SnapshotRef(snapshot_id=1))
    assert r.requirements_for(None, [u.AddSchema(SCHEMA)]) == (r.AssertCreate(),)
    assert r.requirements_for(BASE, [u.SetProperties({})]) == (uuid,)
    assert r.requirements_for(BASE, [new_main, new_main]) == (uuid, r.AssertRefSnapshotId(MAIN, 2))
    assert r.requirements_for(BASE, [new_main, u.SetCurrentSchema(0)], replace=True) == (uuid,)
    assert r.requirements_for(BASE, [u.AddSchema(SCHEMA), u.SetCurrentSchema()]) == (
        uuid,
        r.AssertLastAssignedFieldId(3),
        r.AssertCurrentSchemaId(0),
    )
    assert r.requirements_for(BASE, [u.AddPartitionSpec(PartitionSpec()), u.SetDefaultSpec()]) == (
        uuid,
        r.AssertLastAssignedPartitionId(1000),
        r.AssertDefaultSpecId(0),
    )
    assert r.requirements_for(BASE, [u.RemoveSchemas((4,))]) == (uuid, r.AssertCurrentSchemaId(0), r.AssertRefSnapshotId("audit", 1))


def test_a_requirement_holds_until_the_table_moves_on() -> None:
    updates = [u.SetSnapshotRef(MAIN, SnapshotRef(snapshot_id=1))]
    required = r.requirements_for(BASE, updates)
    r.check_all(required, BASE)
    with pytest.raises(CommitFailedError):
        r.check_all(required, u.fold(BASE, updates))
    r.check_all(required, replace(BASE, location="/elsewhere"))
