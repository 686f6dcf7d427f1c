"""Files and a hadoop catalog on a real Azure Blob server, Azurite (``scripts/fetch_azure_server.sh``)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pytest

from icesql.catalog.loading import load_catalog
from icesql.errors import AlreadyExistsError
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.stores.failures import StoreDeniedError, StoreError
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField
from tests.stores.file_checks import NAMES, SIZES, check_name, check_streams
from tests.stores.s3_server import answers, free_port

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).resolve().parents[2] / ".oracle" / "azurite-3.35.0" / "node_modules" / ".bin" / "azurite-blob"
ACCOUNT = "devstoreaccount1"
KEY = base64.b64encode(b"a key of the tests, 32 bytes long").decode()
LAKE = f"abfss://lake@{ACCOUNT}.dfs.core.windows.net"


@pytest.fixture(scope="module")
def properties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Iceberg's keys that reach a server with the container ``lake``."""
    if not PROGRAM.exists():
        raise RuntimeError("Cannot start the Azure server: it is not installed: run scripts/fetch_azure_server.sh")
    port, folder = free_port(), tmp_path_factory.mktemp("azure")
    options = ["--blobPort", str(port), "--location", str(folder), "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    environment = {**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}
    process = subprocess.Popen([str(PROGRAM), *options], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not answers(port):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
        _make_container(endpoint, "lake")
        text = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={endpoint};"
        yield {f"adls.connection-string.{ACCOUNT}": text}
    finally:
        process.terminate()
        process.wait(timeout=30)


def _make_container(endpoint: str, name: str) -> None:
    date = datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = {"x-ms-date": date, "x-ms-version": "2021-08-06"}
    lines = "".join(f"{key}:{value}\n" for key, value in sorted(headers.items()))
    text = "PUT" + "\n" * 12 + f"{lines}/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{signature}"
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}?restype=container", method="PUT", headers=headers)):
        pass


@pytest.mark.parametrize("name", NAMES)
def test_names_are_taken_as_they_are(properties: dict[str, str], name: str) -> None:
    check_name(ArrowFileIO(properties), LAKE, name)


@pytest.mark.parametrize("size", SIZES)
def test_outputs_and_inputs(properties: dict[str, str], size: int) -> None:
    check_streams(ArrowFileIO(properties), f"{LAKE}/large", size)


def test_conditional_put(properties: dict[str, str]) -> None:
    io = ArrowFileIO(properties)
    assert io.creates_atomically(f"{LAKE}/wh")
    io.write(f"{LAKE}/once", b"1", overwrite=False)
    with pytest.raises(AlreadyExistsError):
        io.write(f"{LAKE}/once", b"1", overwrite=False)


def test_a_table(properties: dict[str, str]) -> None:
    catalog = load_catalog("c", {"type": "hadoop", "warehouse": f"{LAKE}/wh", **properties})
    catalog.create_namespace("db")
    catalog.create_table("db.t", Schema((NestedField(1, "id", LongType()),)))
    for number in range(3):
        catalog.load_table("db.t").append(pa.table({"id": [number]}))
    assert sorted(catalog.load_table("db.t").scan().to_arrow()["id"].to_pylist()) == [0, 1, 2]
    catalog.drop_table("db.t", purge=True)
    assert list(catalog.io.list_files(f"{LAKE}/wh")) == []


def test_one_sentence(properties: dict[str, str]) -> None:
    ((key, text),) = properties.items()
    wrong = ArrowFileIO({key: text.replace(KEY, base64.b64encode(b"another").decode())})
    with pytest.raises(StoreDeniedError, match=r"Cannot read .*; set adls\.auth\.shared-key"):
        wrong.read(f"{LAKE}/x")
    with pytest.raises(StoreError, match="there is no bucket or container nolake"):
        ArrowFileIO(properties).write(f"{LAKE.replace('lake@', 'nolake@')}/x", b"")
