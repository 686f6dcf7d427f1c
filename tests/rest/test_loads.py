"""What a load costs, and what is asked for when: refs alone, nothing that is known already, pages, and no route that is not offered."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from icesql.catalog.rest.catalog import RestCatalog
from icesql.catalog.rest.partial import LazyTableMetadata
from icesql.catalog.rest.vended_io import VendedFileIO
from icesql.errors import CorruptMetadataError, NotFoundError, ServiceError, UnsupportedError
from icesql.spec.views import replace_version
from tests.catalog.tables import SCHEMA, rows
from tests.catalog.test_views import version_of, view_of
from tests.rest.conftest import open_catalog
from tests.rest.proxy import Call, Fault, FaultProxy, not_json
from tests.rest.reference_server import start_server

pytestmark = pytest.mark.slow


@pytest.fixture
def of_refs(proxy: FaultProxy, warehouse: Path) -> Iterator[RestCatalog]:
    opened = open_catalog(proxy.uri, **{"snapshot-loading-mode": "refs", "rest-metrics-reporting-enabled": "false"})
    yield opened
    opened.close()


def gets(proxy: FaultProxy) -> list[str]:
    return [call.path for call in proxy.seen if call.verb == "GET" and "/tables/" in call.path]


def test_refs_alone_are_loaded_until_others_are_asked_for(of_refs: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    for number in range(4):
        table.append(rows(number))
    loaded = of_refs.load_table("db.t")
    assert isinstance(loaded.metadata, LazyTableMetadata)
    assert loaded.to_arrow().num_rows == 4
    assert [path.partition("?")[2] for path in gets(proxy)] == ["snapshots=refs"]
    assert len(loaded.snapshots) == 4
    assert [path.partition("?")[2] for path in gets(proxy)] == ["snapshots=refs", "snapshots=all"]
    loaded.append(rows(9))
    assert len(of_refs.load_table("db.t").snapshots) == 5 == len(catalog.load_table("db.t").snapshots)
    loaded.expire_snapshots().expire_older_than(4_000_000_000_000).retain_last(1).commit()
    assert len(catalog.load_table("db.t").snapshots) == 1


def test_what_is_not_newer_is_not_sent_again(behind: RestCatalog, proxy: FaultProxy) -> None:
    """The reference server gives tags since 1.10 only for loads by its Java client; a server that gives one is obeyed."""
    behind.create_table("db.t", SCHEMA)
    answers: list[int] = []

    def tagging(call: Call) -> tuple[int, dict[str, str], bytes]:
        if {key.lower(): value for key, value in call.headers.items()}.get("if-none-match") == '"one"':
            answers.append(304)
            return 304, {"ETag": '"one"'}, b""
        code, headers, data = call.forward()
        answers.append(code)
        return code, {**headers, "ETag": '"one"'}, data

    proxy.chosen, proxy.faults = (lambda call: call.verb == "GET"), [tagging] * 3
    first, second = behind.load_table("db.t"), behind.load_table("db.t")
    assert answers == [200, 304]
    assert second.metadata is first.metadata


def test_lists_come_in_pages(catalog: RestCatalog, proxy: FaultProxy) -> None:
    for number in range(7):
        catalog.create_namespace(f"n{number}")
        catalog.create_table(("n0", f"t{number}"), SCHEMA)
    paging = open_catalog(proxy.uri, **{"rest-page-size": "3"})
    assert paging.list_namespaces() == [(f"n{number}",) for number in range(7)]
    assert paging.list_tables("n0") == [("n0", f"t{number}") for number in range(7)]
    assert len([call for call in proxy.seen if "pageToken" in call.path and "/tables" in call.path]) >= 3


def test_a_server_that_goes_in_circles_is_left(behind: RestCatalog, proxy: FaultProxy) -> None:
    def again(call: Call) -> tuple[int, dict[str, str], bytes]:
        return 200, {"Content-Type": "application/json"}, json.dumps({"namespaces": [["a"]], "next-page-token": "x"}).encode()

    behind.list_namespaces()
    proxy.chosen, proxy.faults = (lambda call: True), [again] * 5
    with pytest.raises(ServiceError, match="the same page again"):
        behind.list_namespaces()


def test_what_a_server_does_not_offer_is_refused_here(proxy: FaultProxy, warehouse: Path) -> None:
    def few(call: Call) -> tuple[int, dict[str, str], bytes]:
        return 200, {}, json.dumps({"defaults": {}, "overrides": {}, "endpoints": ["GET /v1/{prefix}/namespaces"]}).encode()

    proxy.chosen, proxy.faults = (lambda call: "/config" in call.path), [few]
    catalog = open_catalog(proxy.uri)
    assert catalog.list_namespaces() == []
    with pytest.raises(UnsupportedError, match=r"does not offer it: POST /v1/\{prefix\}/namespaces$"):
        catalog.create_namespace("db")
    with pytest.raises(UnsupportedError, match="no transactions over tables"):
        catalog.commit_tables([])
    assert catalog.list_views("db") == []


def test_the_servers_settings_stand_around_the_users(proxy: FaultProxy, warehouse: Path) -> None:
    def config(call: Call) -> tuple[int, dict[str, str], bytes]:
        node = {
            "defaults": {"table-default.a": "1", "table-default.b": "1"},
            "overrides": {"table-override.c": "3", "header.X-Told": "yes"},
        }
        return 200, {}, json.dumps(node).encode()

    proxy.chosen, proxy.faults = (lambda call: "/config" in call.path), [config]
    catalog = open_catalog(proxy.uri, **{"table-default.b": "2"})
    table = catalog.create_table("db.t", SCHEMA)
    assert {key: table.properties[key] for key in "abc"} == {"a": "1", "b": "2", "c": "3"}
    assert {key.lower(): value for key, value in proxy.seen[-1].headers.items()}["x-told"] == "yes"


def test_answers_that_are_none_are_errors(behind: RestCatalog, proxy: FaultProxy) -> None:
    behind.create_table("db.t", SCHEMA)
    proxy.chosen, proxy.faults = (lambda call: call.verb == "GET"), [not_json]
    with pytest.raises(ServiceError, match="is no table"):
        behind.load_table("db.t")
    with pytest.raises(CorruptMetadataError, match="metadata file is missing"):
        behind.register_table("db.u", f"{behind.warehouse}/nothing.metadata.json")


def test_a_server_that_restarts_is_found_again(tmp_path: Path) -> None:
    server = start_server(tmp_path / "server")
    try:
        catalog = open_catalog(server.uri)
        table = catalog.create_table("db.t", SCHEMA)
        table.append(rows(1))
        server.restart()
        table.append(rows(2))
        assert catalog.load_table("db.t").to_arrow().num_rows == 2
    finally:
        server.stop()


def test_views(catalog: RestCatalog) -> None:
    catalog.create_namespace("db")
    catalog.commit_view("db.v", None, view_of(catalog, "SELECT 1 AS id"))
    first = catalog.load_view("db.v")
    assert first.current_version.sql_for("spark").sql == "SELECT 1 AS id"
    second = replace_version(first, version_of("SELECT 2 AS id"), SCHEMA)
    catalog.commit_view("db.v", first, second)
    held = catalog.load_view("db.v")
    assert held.current_version.sql_for("spark").sql == "SELECT 2 AS id" and len(held.versions) == 2
    catalog.rename_view("db.v", "db.w")
    assert catalog.list_views("db") == [("db", "w")]
    with pytest.raises(NotFoundError, match=r"Did you mean 'db\.w'"):
        catalog.load_view("db.ww")
    catalog.drop_view("db.w")
    with pytest.raises(NotFoundError, match="View does not exist"):
        catalog.drop_view("db.w")


def test_vended_credentials_open_the_tables_files_and_are_renewed(
    behind: RestCatalog, proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    """Credentials that are about to end are asked for anew before a file is opened, and never shown."""
    caplog.set_level("DEBUG")
    table = behind.create_table("db.t", SCHEMA)
    table.append(rows(1))
    behind.loads.forget(("db", "t"))

    def vending(ends_in_s: float) -> Fault:
        def answer(call: Call) -> tuple[int, dict[str, str], bytes]:
            code, headers, data = call.forward()
            expiry = str(int((time.time() + ends_in_s) * 1000))
            config = {"s3.secret-access-key": f"vended-{ends_in_s}", "s3.session-token-expires-at-ms": expiry}
            node = {**json.loads(data), "storage-credentials": [{"prefix": table.location, "config": config}]}
            return code, headers, json.dumps(node).encode()

        return answer

    proxy.chosen, proxy.faults = (lambda call: call.verb == "GET" and call.path.endswith("/tables/t")), [vending(60.0), vending(7200.0)]
    loaded = behind.load_table("db.t")
    assert proxy.failures == 1
    assert loaded.to_arrow().num_rows == 1
    assert proxy.failures == 2, "asked again, for the first ends within five minutes"
    assert loaded.to_arrow().num_rows == 1
    assert proxy.failures == 2
    assert type(loaded.io) is VendedFileIO and loaded.io._credentials[0].config["s3.secret-access-key"] == "vended-7200.0"
    assert "vended-" not in caplog.text + repr(loaded.io) + repr(behind.loads.held(("db", "t")))
