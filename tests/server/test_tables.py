from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.server.client import BY_ID, SCHEMA, Server, data_file, error, written_file


def test_a_table_is_created_and_loaded(server: Server) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    made = server.post(
        "/v1/namespaces/db/tables",
        {"name": "t", "schema": SCHEMA, "partition-spec": BY_ID, "properties": {"a": "1", "format-version": "3"}},
    ).json()
    metadata = made["metadata"]
    assert metadata["format-version"] == 3 and metadata["properties"]["a"] == "1"
    assert [field["name"] for field in metadata["partition-specs"][0]["fields"]] == ["id"]
    assert Path(made["metadata-location"]).exists()
    assert server.load() == made
    assert server.client.head("/v1/namespaces/db/tables/t").status_code == 204
    assert server.client.head("/v1/namespaces/db/tables/u").status_code == 404
    assert server.get("/v1/namespaces/db/tables").json()["identifiers"] == [{"namespace": ["db"], "name": "t"}]


def test_old_metadata_files_are_removed_unless_told_otherwise(server: Server) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    key = "write.metadata.delete-after-commit.enabled"
    assert server.create_table("t")["metadata"]["properties"][key] == "true"
    assert server.create_table("u", properties={key: "false"})["metadata"]["properties"][key] == "false"


def test_tables_that_cannot_be_created(server: Server, table: Any) -> None:
    path = "/v1/namespaces/db/tables"
    assert error(server.post(path, {"name": "t", "schema": SCHEMA})) == (409, "AlreadyExistsException", "Table already exists: db.t")
    assert error(server.post("/v1/namespaces/x/tables", {"name": "t", "schema": SCHEMA}))[:2] == (404, "NoSuchNamespaceException")
    assert error(server.post(path, {"name": "", "schema": SCHEMA}))[0] == 400
    assert error(server.post(path, {"name": "../x", "schema": SCHEMA}))[0] == 400
    status, _, message = error(server.post(path, {"name": "u", "schema": {"type": "struct", "fields": [{"id": 1}]}}))
    assert status == 400 and "schema.fields[0]" in message
    assert error(server.post(path, {"name": "u", "schema": SCHEMA, "location": table["metadata"]["location"] + "/below"}))[0] == 400
    assert server.get(path).json()["identifiers"] == [{"namespace": ["db"], "name": "t"}]


def test_a_staged_create_is_nothing_until_it_is_committed(server: Server) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    staged = server.create_table("t", stage=True)
    assert "metadata-location" not in staged
    assert server.client.head("/v1/namespaces/db/tables/t").status_code == 404
    metadata = staged["metadata"]
    updates = [
        {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": metadata["schemas"][0], "last-column-id": 2},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": metadata["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": metadata["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": metadata["location"]},
        {"action": "set-properties", "updates": {"a": "1"}},
        {"action": "produce-snapshot", "operation": "append", "add-data-files": [data_file(metadata["location"])]},
    ]
    answer = server.commit(updates, [{"type": "assert-create"}])
    assert answer.status_code == 200, answer.text
    held = server.load()["metadata"]
    assert held["table-uuid"] == metadata["table-uuid"] and held["properties"] == {"a": "1"}
    assert [one["snapshot-id"] for one in held["snapshots"]] == [one["snapshot-id"] for one in answer.json()["produced-snapshots"]]
    assert error(server.commit(updates, [{"type": "assert-create"}])) == (
        409, "CommitFailedException", "Requirement failed: table already exists",
    )  # fmt: skip


@pytest.mark.parametrize("left_out", ["add-schema", "add-spec", "set-location"])
def test_a_create_without_what_a_table_needs(server: Server, left_out: str) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    updates: list[dict[str, Any]] = [
        {"action": "add-schema", "schema": SCHEMA},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "set-location", "location": server.service.catalogs["lake"].catalog.default_location(("db", "t"))},
    ]
    assert error(server.commit([one for one in updates if one["action"] != left_out], [{"type": "assert-create"}]))[0] == 400
    assert server.client.head("/v1/namespaces/db/tables/t").status_code == 404


def test_entity_tags(server: Server, table: Any) -> None:
    path = "/v1/namespaces/db/tables/t"
    loaded = server.get(path)
    tag = loaded.headers["etag"]
    again = server.get(path, headers={"If-None-Match": tag})
    assert again.status_code == 304 and again.content == b"" and again.headers["etag"] == tag
    assert server.get(f"{path}?snapshots=refs", headers={"If-None-Match": tag}).status_code == 200  # another representation
    changed = server.commit([{"action": "set-properties", "updates": {"a": "1"}}])
    assert changed.headers["etag"] != tag
    assert server.get(path, headers={"If-None-Match": tag}).status_code == 200
    assert server.get(path, headers={"If-None-Match": f'"x", W/{changed.headers["etag"]}'}).status_code == 304


def test_only_the_snapshots_of_refs(server: Server, table: Any) -> None:
    for _ in range(3):
        assert server.produce("append", add_data_files=[data_file(table["metadata"]["location"])]).status_code == 200
    path = "/v1/namespaces/db/tables/t"
    everything, refs = server.get(path).json()["metadata"], server.get(f"{path}?snapshots=refs").json()["metadata"]
    assert len(everything["snapshots"]) == 3
    assert [one["snapshot-id"] for one in refs["snapshots"]] == [everything["current-snapshot-id"]]
    assert error(server.get(f"{path}?snapshots=some"))[0] == 400


@pytest.mark.parametrize("purge", [False, True])
def test_a_drop_purges_when_asked(server: Server, table: Any, purge: bool) -> None:
    file = written_file(table["metadata"]["location"], [1, 2])
    assert server.produce("append", add_data_files=[file]).status_code == 200
    assert server.client.delete(f"/v1/namespaces/db/tables/t?purgeRequested={str(purge).lower()}").status_code == 204
    assert Path(file["file-path"]).exists() is not purge
    assert error(server.get("/v1/namespaces/db/tables/t"))[:2] == (404, "NoSuchTableException")
    assert error(server.client.delete("/v1/namespaces/db/tables/t"))[:2] == (404, "NoSuchTableException")


def test_renaming(server: Server, table: Any) -> None:
    server.post("/v1/namespaces", {"namespace": ["other"]})
    server.create_table("u")

    def rename(source: str, namespace: str, target: str) -> Any:
        body = {"source": {"namespace": ["db"], "name": source}, "destination": {"namespace": [namespace], "name": target}}
        return server.post("/v1/tables/rename", body)

    assert error(rename("t", "db", "u"))[:2] == (409, "AlreadyExistsException")
    assert error(rename("none", "db", "v"))[:2] == (404, "NoSuchTableException")
    assert error(rename("t", "none", "v"))[:2] == (404, "NoSuchNamespaceException")
    assert rename("t", "other", "v").status_code == 204
    assert server.load("v", "other")["metadata"]["table-uuid"] == table["metadata"]["table-uuid"]


def test_registering(server: Server, table: Any) -> None:
    location = table["metadata-location"]
    left = server.post("/v1/namespaces/db/tables/t/unregister", {})
    assert left.json()["metadata-location"] == location and Path(location).exists()
    assert server.client.head("/v1/namespaces/db/tables/t").status_code == 404
    path = "/v1/namespaces/db/register"
    assert server.post(path, {"name": "t", "metadata-location": location}).json()["metadata-location"] == location
    assert error(server.post(path, {"name": "t", "metadata-location": location}))[:2] == (409, "AlreadyExistsException")
    server.commit([{"action": "set-properties", "updates": {"a": "1"}}])
    back = server.post(path, {"name": "t", "metadata-location": location, "overwrite": True})
    assert back.status_code == 200 and "a" not in server.load()["metadata"]["properties"]
    assert error(server.post(path, {"name": "u", "metadata-location": location + ".none"}))[0] in (400, 404)


def test_metrics_are_taken(server: Server, table: Any) -> None:
    path = "/v1/namespaces/db/tables/t/metrics"
    assert server.post(path, {"report-type": "scan-report", "table-name": "db.t"}).status_code == 204
    assert error(server.post(path, {"report-type": "other"}))[0] == 400
    assert error(server.post("/v1/namespaces/db/tables/x/metrics", {"report-type": "scan-report"}))[0] == 404


def test_a_table_whose_metadata_is_gone(server: Server, table: Any) -> None:
    Path(table["metadata-location"]).unlink()
    status, kind, message = error(server.get("/v1/namespaces/db/tables/t"))
    assert (status, kind) == (404, "NotFoundException") and table["metadata-location"] in message
