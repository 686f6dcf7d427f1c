"""Clients without keys on a real S3 server: their requests are signed by ours, and nothing else is."""

from __future__ import annotations

import base64
import hashlib
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from icesql.catalog.loading import load_catalog
from icesql.expr.tree import Op, Predicate, Reference
from tests.server.openapi import problems
from tests.server.process import ServerProcess
from tests.stores.s3_server import SECRET_KEY, S3Server, s3_server

pytestmark = pytest.mark.slow
TABLE = "/v1/namespaces/db/tables/t"
ROWS = pa.table({"id": pa.array(range(10), pa.int64()), "data": [f"row {number}" for number in range(10)]})


@pytest.fixture(scope="module")
def store() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


@pytest.fixture(scope="module")
def served(store: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("served")
    bucket = store.new_bucket("lake")
    keys = "\n".join(f'"{key}" = "{value}"' for key, value in store.properties().items())
    lake = f'[catalogs.lake]\nuri = "sqlite:///{folder}/catalog.db"\nwarehouse = "{bucket}/wh"\n{keys}\n'
    (folder / "settings.toml").write_text(f"{lake}[storage.lake]\nremote-signing = true\n")
    with ServerProcess(folder, ["--config", "settings.toml"]) as process:
        httpx.post(f"{process.uri}/v1/namespaces", json={"namespace": ["db"]}).raise_for_status()
        yield process


@pytest.fixture(scope="module")
def table(served: ServerProcess) -> Any:
    catalog = client_of(served)
    made = catalog.create_table("db.t", ROWS.schema)
    made.append(ROWS)
    return catalog.load_table("db.t")


def client_of(served: ServerProcess, **more: str) -> Any:
    """icesql's own client, which has no keys."""
    return load_catalog("remote", {"type": "rest", "uri": served.uri, "header.X-Iceberg-Access-Delegation": "remote-signing", **more})


def signed(served: ServerProcess, method: str, url: str, **more: Any) -> httpx.Response:
    request = {"region": "us-east-1", "method": method, "uri": url, "headers": {}, "provider": "s3", **more}
    return httpx.post(f"{served.uri}{TABLE}/sign", json=request, timeout=30)


def sent(served: ServerProcess, method: str, url: str, content: bytes = b"", **more: Any) -> httpx.Response:
    """Signed by our server, and sent to the store."""
    answer = signed(served, method, url, **more)
    assert answer.status_code == 200 and not problems("RemoteSignResponse", answer.json()), answer.text
    headers = {name: ",".join(values) for name, values in answer.json()["headers"].items()}
    return httpx.request(method, answer.json()["uri"], headers=headers, content=content, timeout=30)


def test_rows_go_round_without_keys(served: ServerProcess, table: Any) -> None:
    assert table.scan().to_arrow().num_rows == 10
    table.append(ROWS)
    table.delete(Predicate(Op.LT, Reference("id"), (5,)))
    assert client_of(served).load_table("db.t").scan().to_arrow().num_rows == 10
    assert SECRET_KEY not in served.log


def test_rows_go_round_where_the_client_builds_snapshots(served: ServerProcess) -> None:
    catalog = client_of(served, **{"icesql.produce-snapshot-enabled": "false"})
    catalog.create_table("db.own", ROWS.schema).append(ROWS)
    assert catalog.load_table("db.own").scan().to_arrow().num_rows == 10


@pytest.mark.parametrize("name", ["a b+c&d=e.txt", "\u00e4/\u4e16.txt", "per%20cent", "x~y*z(1)"])
def test_names_of_every_kind(served: ServerProcess, store: S3Server, table: Any, name: str) -> None:
    url = f"{store.endpoint}/lake/wh/db/t/data/{urllib.parse.quote(name)}"
    assert sent(served, "PUT", url, b"hello").status_code == 200
    assert sent(served, "GET", url).content == b"hello"
    assert sent(served, "HEAD", url).status_code == 200
    assert (Path(store.folder) / "data" / "lake" / "wh/db/t/data" / name).read_bytes() == b"hello"
    assert sent(served, "DELETE", url).status_code == 204


def test_a_signature_is_for_its_object_alone(served: ServerProcess, store: S3Server, table: Any) -> None:
    url = f"{store.endpoint}/lake/wh/db/t/data/one"
    assert sent(served, "PUT", url, b"1").status_code == 200
    headers = {name: ",".join(values) for name, values in signed(served, "GET", url).json()["headers"].items()}
    assert httpx.get(url, headers={**headers, "Range": "bytes=0-0"}).status_code == 206
    assert httpx.get(f"{store.endpoint}/lake/wh/db/u/data/one", headers=headers).status_code == 403
    assert httpx.delete(url, headers=headers).status_code == 403


def test_many_deletes_are_as_they_were_looked_at(served: ServerProcess, store: S3Server, table: Any) -> None:
    url, root = f"{store.endpoint}/lake?delete", f"{store.endpoint}/lake/wh/db/t/data"
    for name in ("d1", "d2"):
        sent(served, "PUT", f"{root}/{name}", b"x")
    body = '<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>wh/db/t/data/d1</Key></Object></Delete>'
    digest = base64.b64encode(hashlib.md5(body.encode()).digest()).decode()
    answer = signed(served, "POST", url, body=body, headers={"Content-MD5": [digest]})
    headers = {name: ",".join(values) for name, values in answer.json()["headers"].items()}
    assert httpx.post(url, headers=headers, content=body.replace("d1", "d2").encode()).status_code >= 400
    assert sent(served, "GET", f"{root}/d2").status_code == 200
    gone = httpx.post(url, headers=headers, content=body.encode())
    assert gone.status_code == 200, gone.text
    assert sent(served, "GET", f"{root}/d1").status_code == 404
    stranger = "<Delete><Object><Key>wh/db/t/data/d2</Key></Object><Object><Key>wh/db/u/data/x</Key></Object></Delete>"
    assert signed(served, "POST", url, body=stranger).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "lake/wh/db/u/data/x",
        "lake/wh/db/t/../u/x",
        "lake/wh/db/t/%2e%2e/u/x",
        "lake/wh/db/t/%252e%252e/u/x",
        "lake/wh/db/t",
        "lake/wh/db/t2/x",
        "lake/wh/DB/t/x",
        "other/wh/db/t/x",
        "lake//wh/db/t/x",
        "lake/wh/db/t/data//x",
        "lake?list-type=2&prefix=wh/db/",
        "lake?list-type=2&prefix=wh/db/t",
        "lake/wh/db/t/x?acl",
    ],
)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_what_is_not_the_tables(served: ServerProcess, store: S3Server, table: Any, method: str, path: str) -> None:
    assert signed(served, method, f"{store.endpoint}/{path}").status_code == 403


def test_listing_is_of_the_table(served: ServerProcess, store: S3Server, table: Any) -> None:
    answer = sent(served, "GET", f"{store.endpoint}/lake?list-type=2&prefix=wh%2Fdb%2Ft%2F")
    assert answer.status_code == 200 and "wh/db/t/data/" in answer.text
