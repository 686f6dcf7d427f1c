"""What holds of every request: configuration, errors, limits."""

from __future__ import annotations

import gzip
import json
import uuid
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from icesql.server.http.app import application
from icesql.server.service import Service
from icesql.server.settings import Limits, Settings
from tests.server.client import SCHEMA, Server, error


def test_config_lists_the_endpoints(server: Server) -> None:
    answer = server.get("/v1/config").json()
    assert answer["overrides"]["prefix"] == "lake" and answer["idempotency-key-lifetime"] == "PT30M"
    assert answer["defaults"]["icesql.produce-snapshot-enabled"] == "true"
    assert {"GET /v1/{prefix}/namespaces", "POST /v1/{prefix}/transactions/commit", "POST /v1/{prefix}/views/rename"} <= set(
        answer["endpoints"]
    )
    assert len(answer["endpoints"]) == len(set(answer["endpoints"]))


def test_every_endpoint_that_is_listed_answers(server: Server, table: Any) -> None:
    """None of them is one that the router does not know."""
    for endpoint in server.get("/v1/config").json()["endpoints"]:
        method, path = endpoint.split(" ")
        path = path.format_map({"prefix": "lake", "namespace": "none", "table": "none", "view": "none", "plan-id": "none"})
        answer = server.client.request(method, path, json={} if method == "POST" else None)
        message = "" if method == "HEAD" or answer.status_code < 400 else answer.json()["error"]["message"]
        assert answer.status_code < 500 and answer.status_code != 405 and "There is nothing at" not in message, endpoint


def test_a_warehouse_may_be_named_or_located(server: Server, settings: Settings) -> None:
    location = settings.catalogs["lake"]["warehouse"]
    assert server.get("/v1/config?warehouse=lake").status_code == 200
    assert server.get("/v1/config", params={"warehouse": location}).json()["overrides"]["prefix"] == "lake"
    assert error(server.get("/v1/config?warehouse=other"))[:2] == (404, "NoSuchWarehouseException")
    assert error(server.get("/v1/other/namespaces"))[:2] == (404, "NoSuchWarehouseException")


def test_what_is_not_there(server: Server) -> None:
    assert error(server.get("/v1/lake/nothing/here/at/all"))[0] == 404
    wrong = server.client.put("/v1/namespaces")
    assert wrong.status_code == 405 and wrong.headers["allow"] == "GET, POST"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"namespace": "db"}', b'{"namespace": [1]}', b"{}", b"[" * 100_000])
def test_bodies_that_are_none(server: Server, body: bytes) -> None:
    assert error(server.client.post("/v1/namespaces", content=body))[0] == 400


def test_a_body_may_be_compressed(server: Server) -> None:
    body = gzip.compress(json.dumps({"namespace": ["db"]}).encode())
    assert server.client.post("/v1/namespaces", content=body, headers={"Content-Encoding": "gzip"}).status_code == 200
    assert error(server.client.post("/v1/namespaces", content=b"no gzip", headers={"Content-Encoding": "gzip"}))[0] == 400
    assert error(server.client.post("/v1/namespaces", content=body, headers={"Content-Encoding": "br"}))[0] == 400


@pytest.mark.parametrize("compressed", [False, True])
def test_a_body_that_is_too_large(settings: Settings, compressed: bool) -> None:
    small = msgspec.structs.replace(settings, limits=Limits(max_body_bytes=1000))
    body = json.dumps({"namespace": ["db"], "properties": {"a": "x" * 1_000_000}}).encode()
    with TestClient(application(Service.of(small, environ={}))) as client:
        headers = {"Content-Encoding": "gzip"} if compressed else {}
        answer = client.post("/v1/namespaces", content=gzip.compress(body) if compressed else body, headers=headers)
        assert error(answer)[0] == 413


def test_every_answer_has_a_request_id(server: Server) -> None:
    assert server.get("/v1/config", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert uuid.UUID(server.get("/v1/config").headers["x-request-id"])
    assert uuid.UUID(server.get("/v1/none", headers={"X-Request-ID": "a b\tc"}).headers["x-request-id"])


def test_what_the_server_does_not_understand_is_told_apart(server: Server, table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read that fails is a failure; a change that fails in a way nobody foresaw may have been made."""
    catalog = server.service.catalogs["lake"].catalog

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(type(catalog), "namespace_exists", broken)
    status, kind, message = error(server.get("/v1/namespaces/db"))
    assert (status, kind) == (500, "InternalServerError") and "secret" not in message
    status, kind, message = error(server.post("/v1/namespaces/db/tables", {"name": "x", "schema": SCHEMA}))
    assert (status, kind) == (500, "CommitStateUnknownException") and "secret" not in message


def test_names_are_decoded_once(server: Server) -> None:
    for name in ("a b", "a+b", "a%20b", "ü~'\""):
        assert server.post("/v1/namespaces", {"namespace": [name]}).status_code == 200
    for path, name in {"a%20b": "a b", "a+b": "a b", "a%2Bb": "a+b", "a%2520b": "a%20b", "%C3%BC~'%22": "ü~'\""}.items():
        assert server.get(f"/v1/namespaces/{path}").json()["namespace"] == [name], path
