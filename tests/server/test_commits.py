"""Classic commits: every requirement and update of the protocol, and what becomes of those that fail."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import SCHEMA, Server, data_file, error


def test_updates_that_change_metadata(server: Server, table: Any) -> None:
    wider = {**SCHEMA, "fields": [*SCHEMA["fields"], {"id": 3, "name": "more", "required": False, "type": "int"}]}
    updates = [
        {"action": "add-schema", "schema": wider, "last-column-id": 3},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"fields": [{"source-id": 3, "field-id": 1000, "transform": "bucket[4]", "name": "m"}]}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 1, "fields": [
            {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-properties", "updates": {"a": "1", "b": "2"}},
        {"action": "remove-properties", "removals": ["a"]},
        {"action": "upgrade-format-version", "format-version": 3},
    ]  # fmt: skip
    answer = server.commit(updates, [{"type": "assert-table-uuid", "uuid": table["metadata"]["table-uuid"]}])
    assert answer.status_code == 200, answer.text
    held = server.load()["metadata"]
    assert answer.json()["metadata"] == held
    assert (held["format-version"], held["current-schema-id"], held["default-spec-id"], held["default-sort-order-id"]) == (3, 1, 1, 1)
    assert held["properties"]["b"] == "2" and "a" not in held["properties"]
    removed = server.commit([{"action": "remove-partition-specs", "spec-ids": [0]}, {"action": "remove-schemas", "schema-ids": [0]}])
    assert removed.status_code == 200 and len(removed.json()["metadata"]["schemas"]) == 1


def test_statistics_refs_and_snapshots(server: Server, table: Any) -> None:
    location = table["metadata"]["location"]
    first, second = (
        server.produce("append", add_data_files=[data_file(location)]).json()["produced-snapshots"][0]["snapshot-id"] for _ in range(2)
    )
    statistics = {"snapshot-id": first, "statistics-path": f"{location}/metadata/x.puffin", "file-size-in-bytes": 10,
                  "file-footer-size-in-bytes": 5, "blob-metadata": []}  # fmt: skip
    partition_statistics = {"snapshot-id": first, "statistics-path": f"{location}/metadata/x.parquet", "file-size-in-bytes": 10}
    answer = server.commit([
        {"action": "set-statistics", "snapshot-id": first, "statistics": statistics},
        {"action": "set-partition-statistics", "partition-statistics": partition_statistics},
        {"action": "set-snapshot-ref", "ref-name": "keep", "type": "tag", "snapshot-id": first},
        {"action": "set-snapshot-ref", "ref-name": "dev", "type": "branch", "snapshot-id": first, "min-snapshots-to-keep": 2},
    ])  # fmt: skip
    assert answer.status_code == 200, answer.text
    held = answer.json()["metadata"]
    assert held["refs"]["keep"]["snapshot-id"] == first and held["refs"]["dev"]["min-snapshots-to-keep"] == 2
    assert len(held["statistics"]) == len(held["partition-statistics"]) == 1
    answer = server.commit([
        {"action": "remove-statistics", "snapshot-id": first},
        {"action": "remove-partition-statistics", "snapshot-id": first},
        {"action": "remove-snapshot-ref", "ref-name": "keep"},
        {"action": "remove-snapshot-ref", "ref-name": "dev"},
        {"action": "remove-snapshots", "snapshot-ids": [first]},
    ])  # fmt: skip
    held = answer.json()["metadata"]
    assert [one["snapshot-id"] for one in held["snapshots"]] == [second] and set(held["refs"]) == {"main"}
    assert not held.get("statistics") and not held.get("partition-statistics")


def test_removing_main_keeps_the_log(server: Server, table: Any) -> None:
    """As Java's servers do: clients replace a table so."""
    server.produce("append", add_data_files=[data_file(table["metadata"]["location"])])
    held = server.commit([{"action": "remove-snapshot-ref", "ref-name": "main"}]).json()["metadata"]
    assert held["current-snapshot-id"] == -1 and len(held["snapshot-log"]) == 1


REQUIREMENTS: list[tuple[dict[str, Any], str]] = [
    ({"type": "assert-table-uuid", "uuid": str(uuid.uuid4())}, "UUID does not match"),
    ({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 5}, "branch or tag main is missing, expected 5"),
    ({"type": "assert-last-assigned-field-id", "last-assigned-field-id": 9}, "last assigned field id changed: expected id 9 != 2"),
    ({"type": "assert-current-schema-id", "current-schema-id": 9}, "current schema changed: expected id 9 != 0"),
    ({"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 9}, "last assigned partition id changed"),
    ({"type": "assert-default-spec-id", "default-spec-id": 9}, "default partition spec changed: expected id 9 != 0"),
    ({"type": "assert-default-sort-order-id", "default-sort-order-id": 9}, "default sort order changed: expected id 9 != 0"),
    ({"type": "assert-create"}, "table already exists"),
]


@pytest.mark.parametrize(("requirement", "why"), REQUIREMENTS, ids=[one["type"] for one, _ in REQUIREMENTS])
def test_a_requirement_that_does_not_hold(server: Server, table: Any, requirement: Any, why: str) -> None:
    status, kind, message = error(server.commit([{"action": "set-properties", "updates": {"a": "1"}}], [requirement]))
    assert (status, kind) == (409, "CommitFailedException") and message.startswith("Requirement failed: ") and why in message
    assert server.load()["metadata-location"] == table["metadata-location"]


@pytest.mark.parametrize(
    ("requirements", "updates"),
    [
        ([{"type": "assert-nothing"}], []),
        ([{}], []),
        ([], [{"action": "dance"}]),
        ([], [{}]),
        ([], [{"action": "set-properties", "updates": {"a": 1}}]),
        ([], [{"action": "set-current-schema", "schema-id": 9}]),
        ([], [{"action": "upgrade-format-version", "format-version": 9}]),
        ([], [{"action": "set-snapshot-ref", "ref-name": "x", "type": "branch", "snapshot-id": 1}]),
    ],
)
def test_commits_that_are_wrong(server: Server, table: Any, requirements: list[Any], updates: list[Any]) -> None:
    assert error(server.commit(updates, requirements))[0] == 400
    assert server.load()["metadata-location"] == table["metadata-location"]


def test_a_commit_that_changes_nothing(server: Server, table: Any) -> None:
    assert server.commit([]).json()["metadata-location"] == table["metadata-location"]


def test_a_table_that_is_not_there(server: Server, table: Any) -> None:
    assert error(server.commit([], name="u")) == (404, "NoSuchTableException", "Table does not exist: db.u")


def test_the_name_in_the_body_is_the_paths(server: Server, table: Any) -> None:
    body = {"identifier": {"namespace": ["db"], "name": "u"}, "requirements": [], "updates": []}
    assert error(server.post("/v1/namespaces/db/tables/t", body))[0] == 400


# -- several tables ----------------------------------------------------------------------------------------------------
def change(name: str, updates: list[Any], requirements: list[Any] | None = None) -> dict[str, Any]:
    return {"identifier": {"namespace": ["db"], "name": name}, "requirements": requirements or [], "updates": updates}


def test_tables_are_committed_together(server: Server, table: Any) -> None:
    other = server.create_table("u")
    files = [data_file(one["metadata"]["location"]) for one in (table, other)]
    produced = {"action": "produce-snapshot", "operation": "append", "add-data-files": [files[0]]}
    changes = [
        change("t", [{"action": "set-properties", "updates": {"a": "1"}}, produced]),
        change("u", [{"action": "produce-snapshot", "operation": "append", "add-data-files": [files[1]]}]),
    ]
    assert server.post("/v1/transactions/commit", {"table-changes": changes}).status_code == 204
    assert server.load("t")["metadata"]["properties"]["a"] == "1"
    assert [len(server.load(name)["metadata"]["snapshots"]) for name in "tu"] == [1, 1]


def test_one_that_fails_undoes_all(server: Server, table: Any) -> None:
    other = server.create_table("u")
    file = data_file(table["metadata"]["location"])
    changes = [
        change("t", [{"action": "produce-snapshot", "operation": "append", "add-data-files": [file]}]),
        change("u", [{"action": "set-properties", "updates": {"a": "1"}}], [{"type": "assert-current-schema-id", "current-schema-id": 9}]),
    ]
    assert error(server.post("/v1/transactions/commit", {"table-changes": changes}))[:2] == (409, "CommitFailedException")
    assert server.load("t") == table and server.load("u") == other
    folder = Path(table["metadata-location"]).parent
    assert [file.name for file in folder.iterdir()] == [Path(table["metadata-location"]).name]  # nothing is left of what was written


def test_a_table_may_be_created_in_a_transaction(server: Server, table: Any) -> None:
    staged = server.create_table("new", stage=True)["metadata"]
    updates = [
        {"action": "assign-uuid", "uuid": staged["table-uuid"]},
        {"action": "add-schema", "schema": staged["schemas"][0]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": staged["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "set-location", "location": staged["location"]},
    ]
    changes = [change("new", updates, [{"type": "assert-create"}]), change("t", [{"action": "set-properties", "updates": {"a": "1"}}])]
    assert server.post("/v1/transactions/commit", {"table-changes": changes}).status_code == 204
    assert server.load("new")["metadata"]["table-uuid"] == staged["table-uuid"] and server.load()["metadata"]["properties"]["a"] == "1"
    assert error(server.post("/v1/transactions/commit", {"table-changes": changes}))[:2] == (409, "CommitFailedException")


@pytest.mark.parametrize("changes", [[], [{"requirements": [], "updates": []}], [change("t", []), change("t", [])]])
def test_transactions_that_are_wrong(server: Server, table: Any, changes: list[Any]) -> None:
    assert error(server.post("/v1/transactions/commit", {"table-changes": changes}))[0] == 400
