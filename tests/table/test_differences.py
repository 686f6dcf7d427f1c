"""Updates from one version to another, over every pair of versions of histories that use every kind of change."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.spec.json.metadata import metadata_to_object
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import StatisticsFile
from icesql.spec.types import IntegerType, LongType
from icesql.table.metadata import update_values as u
from icesql.table.metadata.differences import requirements_between, updates_between
from icesql.table.metadata.requirements import AssertCreate, AssertRefSnapshotId, AssertTableUuid, check_all
from icesql.table.metadata.updates import fold
from icesql.table.metadata.updates_json import requirement_to_json, update_from_json, update_to_json
from tests.catalog.tables import BY_ID, SCHEMA, rows

_FOLLOWS = ("last-updated-ms", "metadata-log", "snapshot-log", "last-sequence-number", "next-row-id", "last-column-id", "last-partition-id")


def content(metadata: TableMetadata) -> dict[str, object]:
    """The document without what follows from folding, lists by id."""
    node = {key: value for key, value in metadata_to_object(metadata).items() if key not in _FOLLOWS}
    node["snapshots"] = sorted(node.get("snapshots") or [], key=lambda one: one["snapshot-id"])
    return node


@pytest.fixture(params=[1, 2, 3])
def versions(request: pytest.FixtureRequest, tmp_path: Path) -> list[TableMetadata]:
    catalog: Catalog = load_catalog("test", {"type": "memory", "warehouse": str(tmp_path)})
    table = catalog.create_table("db.t", SCHEMA, properties={"format-version": str(request.param), "k": "v", "gone": "1"})
    found = [table.metadata]

    def note() -> None:
        found.append(table.refresh().metadata)

    for step in (
        lambda: table.append(rows(1, 2)),
        lambda: table.update_properties().set("k", "w").set("new", "n").remove("gone").commit(),
        lambda: table.update_schema().add_column("extra", IntegerType()).commit(),
        lambda: table.update_schema().add_column("more", LongType()).rename_column("extra", "other").commit(),
        lambda: table.append(rows(3)),
        lambda: table.manage_snapshots().create_branch("b", table.current_snapshot.snapshot_id).commit(),
        lambda: table.append(rows(4), branch="b"),
        lambda: table.manage_snapshots().create_tag("t", table.snapshots[0].snapshot_id).commit(),
        lambda: table.update_spec().add_field("id").commit(),
        lambda: table.append(rows(5)),
        lambda: table.replace_sort_order().asc("id").commit(),
        lambda: table.update_schema().delete_column("other").commit(),
        lambda: catalog.stage_replace("db.t", SCHEMA, spec=BY_ID, properties={"replaced": "yes"}).commit(),
        lambda: table.append(rows(6)),
        lambda: table.manage_snapshots().remove_tag("t").commit(),
        lambda: table.manage_snapshots().remove_branch("b").commit(),
        lambda: table.expire_snapshots().expire_older_than(4_000_000_000_000).retain_last(1).commit(),
    ):
        step()
        note()
    statistics = StatisticsFile(
        snapshot_id=table.current_snapshot.snapshot_id, statistics_path="/s", file_size_in_bytes=1, file_footer_size_in_bytes=1
    )
    found.append(fold(table.metadata, [u.SetStatistics(statistics)]))
    found.append(fold(found[-1], [u.RemoveStatistics(statistics.snapshot_id), u.SetLocation(f"{tmp_path}/elsewhere")]))
    return found


def test_folding_the_updates_gives_the_later_version(versions: list[TableMetadata]) -> None:
    for number, base in enumerate(versions):
        for later in versions[number:]:
            updates = [update_from_json(json.loads(json.dumps(update_to_json(one)))) for one in updates_between(base, later)]
            if _takes_back(base, later):
                continue
            assert content(fold(base, updates)) == content(later), [type(one).__name__ for one in updates]


def _takes_back(base: TableMetadata, later: TableMetadata) -> bool:
    """A snapshot that was added and expired in between leaves a sequence number behind that the next must be above, which only
    neighbours need not mind."""
    added = [s for s in later.snapshots if s.snapshot_id not in base.snapshots_by_id]
    return any(s.parent_snapshot_id is not None and s.parent_snapshot_id not in later.snapshots_by_id for s in added)


def test_a_version_and_itself_differ_in_nothing(versions: list[TableMetadata]) -> None:
    for version in versions:
        assert updates_between(version, version) == ()
        assert updates_between(version, replace(version)) == ()


def test_a_create_says_everything_and_asks_that_nothing_is_there(versions: list[TableMetadata]) -> None:
    updates = updates_between(None, versions[1])
    assert isinstance(updates[0], u.AssignUuid) and isinstance(updates[1], u.UpgradeFormatVersion)
    assert requirements_between(None, updates) == (AssertCreate(),)
    assert {type(one) for one in updates} >= {
        u.AddSchema,
        u.SetCurrentSchema,
        u.AddPartitionSpec,
        u.AddSortOrder,
        u.SetLocation,
        u.AddSnapshot,
    }


def test_requirements_hold_on_the_base_and_name_the_refs_that_matter(versions: list[TableMetadata]) -> None:
    for base, later in itertools.pairwise(versions):
        asked = requirements_between(base, updates_between(base, later))
        check_all(asked, base)
        assert AssertTableUuid(base.table_uuid) in asked
        assert all(requirement_to_json(one)["type"].startswith("assert-") for one in asked)
        if any(isinstance(one, u.RemoveSnapshots | u.RemoveSnapshotRef) for one in updates_between(base, later)):
            assert {one.ref for one in asked if isinstance(one, AssertRefSnapshotId)} >= set(base.refs)
