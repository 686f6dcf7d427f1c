from __future__ import annotations

from typing import Any

from tests.server.client import SCHEMA, Server, error


def version(sql: str, *, schema_id: int = 0, dialect: str = "spark") -> dict[str, Any]:
    return {
        "version-id": 1,
        "timestamp-ms": 1_700_000_000_000,
        "schema-id": schema_id,
        "summary": {},
        "default-namespace": ["db"],
        "representations": [{"type": "sql", "sql": sql, "dialect": dialect}],
    }


def create(server: Server, name: str = "v", sql: str = "SELECT 1") -> Any:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    return server.post("/v1/namespaces/db/views", {"name": name, "schema": SCHEMA, "view-version": version(sql), "properties": {"a": "1"}})


def test_a_view_is_created_replaced_and_dropped(server: Server) -> None:
    made = create(server).json()
    path = "/v1/namespaces/db/views/v"
    assert server.get(path).json() == made and made["metadata"]["properties"] == {"a": "1"}
    assert server.get("/v1/namespaces/db/views").json()["identifiers"] == [{"namespace": ["db"], "name": "v"}]
    updates = [
        {"action": "add-schema", "schema": {**SCHEMA, "fields": SCHEMA["fields"][:1]}},
        {"action": "add-view-version", "view-version": version("SELECT 2", schema_id=-1)},
        {"action": "set-current-view-version", "view-version-id": -1},
        {"action": "set-properties", "updates": {"b": "2"}},
        {"action": "remove-properties", "removals": ["a"]},
    ]
    requirements = [{"type": "assert-view-uuid", "uuid": made["metadata"]["view-uuid"]}]
    changed = server.post(path, {"requirements": requirements, "updates": updates}).json()["metadata"]
    assert changed["current-version-id"] == 2 and changed["properties"] == {"b": "2"} and len(changed["version-log"]) == 2
    assert changed["versions"][1]["schema-id"] == 1
    assert server.client.head(path).status_code == 204
    assert server.client.delete(path).status_code == 204
    assert error(server.get(path)) == (404, "NoSuchViewException", "View does not exist: db.v")


def test_views_that_are_refused(server: Server) -> None:
    made = create(server).json()
    assert error(create(server))[:2] == (409, "AlreadyExistsException")
    path = "/v1/namespaces/db/views/v"
    other = [{"type": "assert-view-uuid", "uuid": "0" * 8}]
    assert error(server.post(path, {"requirements": other, "updates": []}))[:2] == (409, "CommitFailedException")
    assert error(server.post(path, {"updates": [{"action": "dance"}]}))[0] == 400
    lost = [
        {"action": "add-view-version", "view-version": version("SELECT 2", dialect="trino")},
        {"action": "set-current-view-version", "view-version-id": -1},
    ]
    assert error(server.post(path, {"updates": lost}))[:2] == (400, "ValidationException")  # a dialect would be lost
    assert server.get(path).json() == made


def test_tables_and_views_share_their_names(server: Server, table: Any) -> None:
    create(server, "v")
    status, kind, message = error(create(server, "t"))
    assert (status, kind, message) == (409, "AlreadyExistsException", "Table with same name already exists: db.t")
    assert error(server.post("/v1/namespaces/db/tables", {"name": "v", "schema": SCHEMA}))[2] == "View with same name already exists: db.v"
    body = {"source": {"namespace": ["db"], "name": "v"}, "destination": {"namespace": ["db"], "name": "t"}}
    assert error(server.post("/v1/views/rename", body))[2] == "Cannot rename db.v to db.t. Table already exists"


def test_renaming_and_registering(server: Server) -> None:
    made = create(server).json()
    body = {"source": {"namespace": ["db"], "name": "v"}, "destination": {"namespace": ["db"], "name": "w"}}
    assert server.post("/v1/views/rename", body).status_code == 204
    assert server.get("/v1/namespaces/db/views/w").json() == made
    again = server.post("/v1/namespaces/db/register-view", {"name": "x", "metadata-location": made["metadata-location"]})
    assert again.json() == made
