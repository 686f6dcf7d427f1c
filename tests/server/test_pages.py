"""The web page: what it shows, that it shows nothing as HTML that is not its own, and how Chromium lays it out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.magic.browser import layout
from tests.server.client import Server, data_file, written_file
from tests.server.test_access import act_as, guarded  # noqa: F401 - a fixture

EVIL = "<script>alert(1)</script>'\"&"


def fill(server: Server, table: Any) -> str:
    location = table["metadata"]["location"]
    for ids in ([1, 2], [3, 4], [90, 99]):
        server.produce("append", add_data_files=[written_file(location, ids)])
    server.produce("append", add_data_files=[written_file(location, [5])], branch="dev")
    return location


def test_tables_snapshots_and_events(server: Server, table: Any) -> None:
    fill(server, table)
    home = server.get("/")
    assert home.headers["content-type"].startswith("text/html") and "default-src 'none'" in home.headers["content-security-policy"]
    assert "table=db.t" in home.text and "produce-snapshot" in home.text
    page = server.get("/?table=db.t").text
    ids = [str(one["snapshot-id"]) for one in server.load()["metadata"]["snapshots"]]
    assert all(one in page for one in ids) and "<span class='ref'>main</span>" in page and "<span class='ref'>dev</span>" in page


def pruned(page: str) -> dict[str, int]:
    return {text: int(count) for text, count in re.findall(r"<tr><td>([a-z ]+)</td><td>(\d+)</td></tr>", page)}


def test_a_filter_prunes(server: Server, table: Any) -> None:
    fill(server, table)
    assert pruned(server.get("/", params={"table": "db.t"}).text)["read"] == 3
    found = pruned(server.get("/", params={"table": "db.t", "filter": "id > 50"}).text)
    assert found["read"] == 1 and found["skipped by column metrics"] == 2
    wrong = server.get("/", params={"table": "db.t", "filter": "none = 1"})
    assert wrong.status_code == 200 and "class='error'" in wrong.text


def test_nothing_of_others_is_html(server: Server, table: Any) -> None:
    evil = {"filter": EVIL, "table": "db.t", "catalog": "lake"}
    server.post("/v1/namespaces", {"namespace": ["<b>x"]})
    server.commit([{"action": "produce-snapshot", "operation": "append", "branch": EVIL, "summary": {"x": EVIL},
                    "add-data-files": [data_file(table["metadata"]["location"])]}])  # fmt: skip
    for page in (server.get("/", params=evil).text, server.get("/").text, server.get("/?table=db.t").text):
        assert "<script>" not in page and "<b>x" not in page and EVIL not in page
    assert server.get("/?catalog=none").status_code == 404 and server.get("/?table=db.none").status_code == 404


def test_who_may_see_what(guarded: Server) -> None:  # noqa: F811
    act_as(guarded, "loader")
    home = guarded.get("/").text
    assert "table=db.t" in home and "table=db.u" not in home
    assert guarded.get("/?table=db.u").status_code == 403
    act_as(guarded, None)
    assert guarded.get("/").status_code == 401


@pytest.mark.slow
def test_a_browser_shows_it(server: Server, table: Any, tmp_path: Path) -> None:
    fill(server, table)
    page = server.get("/", params={"table": "db.t", "filter": "id > 50"}).text
    style, body = re.findall(r"<style>(.*?)</style>.*?<body>(.*)</body>", page, re.DOTALL)[0]
    elements = layout(f"<style>{style}</style>{body}", tmp_path)
    bar = {one.kind: one for one in elements if one.tag == "span" and one.kind in ("metrics", "read")}
    widths = {kind: one.right - one.left for kind, one in bar.items()}
    assert widths["metrics"] == pytest.approx(2 * widths["read"], rel=0.05) and not bar["metrics"].overlaps(bar["read"])
    texts = [one.text for one in elements]
    assert "Snapshots" in texts and "Prune" in texts
