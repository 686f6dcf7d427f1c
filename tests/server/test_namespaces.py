from __future__ import annotations

from typing import Any

import pytest

from tests.server.client import Server, error


def test_a_namespace_is_created_described_and_dropped(server: Server) -> None:
    made = server.post("/v1/namespaces", {"namespace": ["db"], "properties": {"owner": "me"}})
    assert made.status_code == 200 and made.json()["namespace"] == ["db"] and made.json()["properties"]["owner"] == "me"
    assert server.get("/v1/lake/namespaces/db").json()["properties"]["owner"] == "me"
    assert server.client.head("/v1/namespaces/db").status_code == 204
    assert server.client.delete("/v1/namespaces/db").status_code == 204
    assert server.client.head("/v1/namespaces/db").status_code == 404
    assert error(server.get("/v1/namespaces/db")) == (404, "NoSuchNamespaceException", "Namespace does not exist: db")


def test_a_name_that_is_taken(server: Server) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    assert error(server.post("/v1/namespaces", {"namespace": ["db"]})) == (409, "AlreadyExistsException", "Namespace already exists: db")


def test_namespaces_within_namespaces(server: Server) -> None:
    for levels in (["a"], ["a", "b"], ["a", "b", "c"], ["d"]):
        assert server.post("/v1/namespaces", {"namespace": levels}).status_code == 200
    assert server.get("/v1/namespaces").json()["namespaces"] == [["a"], ["d"]]
    assert server.get("/v1/namespaces?parent=a").json()["namespaces"] == [["a", "b"]]
    assert server.get("/v1/namespaces?parent=a%1Fb").json()["namespaces"] == [["a", "b", "c"]]
    assert server.get("/v1/namespaces/a%1Fb%1Fc").json()["namespace"] == ["a", "b", "c"]
    assert error(server.get("/v1/namespaces?parent=x"))[:2] == (404, "NoSuchNamespaceException")


def test_properties_are_set_and_removed(server: Server) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"], "properties": {"a": "1", "b": "2"}})
    answer = server.post("/v1/namespaces/db/properties", {"removals": ["a", "z"], "updates": {"c": "3"}})
    assert answer.json() == {"updated": ["c"], "removed": ["a"], "missing": ["z"]}
    held = server.get("/v1/namespaces/db").json()["properties"]
    assert (held.get("a"), held["b"], held["c"]) == (None, "2", "3")
    both = server.post("/v1/namespaces/db/properties", {"removals": ["b"], "updates": {"b": "3"}})
    assert error(both)[:2] == (422, "UnprocessableEntityException")


def test_one_that_holds_a_table_stays(server: Server, table: Any) -> None:
    assert error(server.client.delete("/v1/namespaces/db")) == (409, "NamespaceNotEmptyException", "Namespace is not empty: db")


def test_lists_come_in_pages(server: Server) -> None:
    names = [f"n{number:02}" for number in range(7)]
    for name in reversed(names):
        server.post("/v1/namespaces", {"namespace": [name]})
    seen, token = [], ""
    while token is not None:
        answer = server.get("/v1/namespaces", params={"pageToken": token, "pageSize": 3}).json()
        seen.append([levels[0] for levels in answer["namespaces"]])
        token = answer["next-page-token"]
    assert seen == [names[:3], names[3:6], names[6:]]
    assert server.get("/v1/namespaces?pageSize=3").json()["next-page-token"] is None  # without a token all come at once


def test_a_page_is_not_disturbed_by_what_is_dropped_meanwhile(server: Server) -> None:
    for name in "abcd":
        server.post("/v1/namespaces", {"namespace": [name]})
    token = server.get("/v1/namespaces?pageToken=&pageSize=2").json()["next-page-token"]
    server.client.delete("/v1/namespaces/b")
    assert server.get("/v1/namespaces", params={"pageToken": token, "pageSize": 2}).json()["namespaces"] == [["c"], ["d"]]


@pytest.mark.parametrize("query", ["pageSize=0", "pageSize=x", "pageSize=-1"])
def test_a_page_size_that_is_none(server: Server, query: str) -> None:
    assert error(server.get(f"/v1/namespaces?pageToken=&{query}"))[0] == 400


def test_a_token_that_is_none(server: Server) -> None:
    assert error(server.get("/v1/namespaces?pageToken=!!&pageSize=1"))[0] == 400
