"""The page at ``/`` and those of tables: what they show to whom, and that nothing on them runs."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.magic.browser import dom
from tests.server.client import SCHEMA, Server, written_file
from tests.server.process import ServerProcess
from tests.server.test_access import TOKENS, act_as, guarded  # noqa: F401 - a fixture

_VOID = {"meta", "input", "br", "img", "link"}


class Page(HTMLParser):
    """``tags``: every element with its attributes. ``text``: by the nearest element above that has an id, ``""`` without one."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self._ids: list[str] = [""]
        self.feed(html)
        self.close()
        assert self._ids == [""], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._ids.append(dict(attrs).get("id") or self._ids[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self._ids.pop()

    def handle_data(self, data: str) -> None:
        self.text[self._ids[-1]] = self.text.get(self._ids[-1], "") + data

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)

    @property
    def links(self) -> list[str]:
        return [held["href"] or "" for name, held in self.tags if name == "a"]


def page(answer: Any) -> Page:
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html"), answer.text
    return Page(answer.text)


def filled(server: Server, table: Any) -> None:
    """Three snapshots of a file each: ids 0 to 9, 10 to 19, 20 to 29."""
    for start in (0, 10, 20):
        answer = server.produce("append", add_data_files=[written_file(table["metadata"]["location"], list(range(start, start + 10)))])
        assert answer.status_code == 200, answer.text


def test_home_shows_tables_and_events(server: Server, table: Any) -> None:
    filled(server, table)
    shown = page(server.get("/"))
    assert shown.links == ["/page/lake/db/t"]
    assert "Catalog lake" in shown.text[""]
    assert shown.text["events"].count("produce-snapshot, append") == 3 and "anonymous" in shown.text["events"]


def test_a_page_shows_snapshots_as_a_tree(server: Server, table: Any) -> None:
    assert "No snapshots" in page(server.get("/page/lake/db/t")).text["snapshots"]
    filled(server, table)
    shown = page(server.get(page(server.get("/")).links[0]))
    snapshots = server.load()["metadata"]["snapshots"]
    assert len(snapshots) == 3 and all(str(one["snapshot-id"]) in shown.text["snapshots"] for one in snapshots)
    assert shown.count("circle") == 3 and "main" in shown.text["snapshots"]
    assert "long" in shown.text["columns"] and "data" in shown.text["columns"]


@pytest.mark.parametrize(
    ("where", "ids"), [("", {0, 10, 20}), ("id >= 15", {10, 20}), ("ID = 25 AND data LIKE 'r%'", {20}), ("id > 99", set())]
)
def test_files_that_a_filter_leaves(server: Server, table: Any, where: str, ids: set[int]) -> None:
    location = table["metadata"]["location"]
    for start in (0, 10, 20):
        server.produce("append", add_data_files=[written_file(location, list(range(start, start + 10)), name=f"from-{start}")])
    shown = page(server.get("/page/lake/db/t", params={"where": where}))
    assert {start for start in (0, 10, 20) if f"/from-{start}.parquet" in shown.text["files"]} == ids
    assert "3 files" in shown.text["pruning"] and f"{len(ids)} file" in shown.text["pruning"]
    assert (("after" in shown.text["pruning"]) == bool(where)) and shown.count("rect") >= 2


@pytest.mark.parametrize("where", ["id >", "nothing = 1", "id = 1; DROP TABLE t", "(SELECT 1)", "<script>alert(1)</script>", "x" * 5000])
def test_a_filter_that_cannot_be_read_is_told_on_the_page(server: Server, table: Any, where: str) -> None:
    filled(server, table)
    answer = server.get("/page/lake/db/t", params={"where": where})
    shown = page(answer)
    assert 'class="error"' in answer.text and shown.count("script") == 0 and "files" not in shown.text
    assert ("input", where) in [(name, held.get("value")) for name, held in shown.tags]


def test_branches_and_summaries_are_text(server: Server, table: Any) -> None:
    evil = "<script>alert(1)</script>'\"&"
    file = written_file(table["metadata"]["location"], [1])
    answer = server.produce("append", add_data_files=[file], branch=evil, summary={"x": evil})
    assert answer.status_code == 200, answer.text
    shown = page(server.get("/page/lake/db/t"))
    assert shown.count("script") == 0 and evil in shown.text["snapshots"]


def test_names_are_text(server: Server) -> None:
    evil = '<img src=x onerror="alert(1)">&\'"'
    server.post("/v1/namespaces", {"namespace": ["db", evil]})
    namespace = "db%1F%3Cimg%20src%3Dx%20onerror%3D%22alert%281%29%22%3E%26%27%22"
    body = {"name": evil, "schema": {**SCHEMA, "fields": [{"id": 1, "name": evil, "required": False, "type": "long"}]}, "location": None}
    created = server.post(f"/v1/namespaces/{namespace}/tables", body)
    assert created.status_code in (200, 400), created.text  # a store may refuse the name for a folder
    for path in ["/", *page(server.get("/")).links]:
        shown = page(server.get(path))
        assert shown.count("img") == 0 and not any("onerror" in held for _, held in shown.tags)


def test_nothing_runs_and_nothing_is_fetched(server: Server, table: Any) -> None:
    for path in ("/", "/page/lake/db/t"):
        answer = server.get(path)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'") and answer.headers["cache-control"] == "no-store"
        assert page(answer).count("script") == 0


def test_a_table_that_is_not_there(server: Server, table: Any) -> None:
    assert server.get("/page/lake/db/none").status_code == 404 and server.get("/page/none/db/t").status_code == 404


def test_pages_show_what_the_reader_may_see(guarded: Server) -> None:  # noqa: F811
    act_as(guarded, None)
    refused = guarded.get("/")
    assert refused.status_code == 401 and refused.headers["www-authenticate"].startswith("Basic ")

    def shown(name: str) -> Page:
        return page(guarded.get("/", auth=("any", TOKENS[name])))

    assert shown("reader").links == ["/page/lake/db/t", "/page/lake/db/u"]
    assert shown("loader").links == ["/page/lake/db/t"] and "db.u" not in shown("loader").text["events"]
    assert shown("nobody").links == []
    assert guarded.get("/page/lake/db/u", auth=("", TOKENS["loader"])).status_code == 403
    assert guarded.get("/page/lake/db/none", auth=("", TOKENS["loader"])).status_code == 403
    assert guarded.get("/", auth=("", "wrong")).status_code == 401


def test_a_password_is_no_token_of_the_protocol(guarded: Server) -> None:  # noqa: F811
    act_as(guarded, None)
    assert guarded.get("/v1/config", auth=("", TOKENS["boss"])).status_code == 401


@pytest.mark.slow
def test_in_a_browser(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as process:
        client = httpx.Client(base_url=process.uri, timeout=60)
        client.post("/v1/namespaces", json={"namespace": ["db"]}).raise_for_status()
        created = client.post("/v1/namespaces/db/tables", json={"name": "t", "schema": SCHEMA}).raise_for_status().json()
        for start in (0, 10):
            file = written_file(created["metadata"]["location"], list(range(start, start + 10)), name=f"from-{start}")
            update = {"action": "produce-snapshot", "operation": "append", "add-data-files": [file]}
            client.post("/v1/namespaces/db/tables/t", json={"requirements": [], "updates": [update]}).raise_for_status()
        home = Page(dom(f"{process.uri}/", tmp_path))
        assert home.links == ["/page/local/db/t"] and home.text["events"].count("produce-snapshot") == 2
        shown = Page(dom(f"{process.uri}{home.links[0]}?where=id+%3E+15", tmp_path))
        assert "/from-10.parquet" in shown.text["files"] and "/from-0.parquet" not in shown.text["files"]
        assert shown.count("circle") == 2 and shown.count("svg") == 2
