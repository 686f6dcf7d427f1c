"""Files and a hadoop catalog on a real Google Cloud Storage server, fake-gcs-server (``scripts/fetch_gcs_server.sh``)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pyarrow as pa
import pytest

from icesql.catalog.loading import load_catalog
from icesql.errors import AlreadyExistsError
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.storage.files import discard
from icesql.io.stores.failures import StoreDeniedError, StoreError
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField
from tests.stores.file_checks import NAMES, SIZES, check_name, check_streams
from tests.stores.gcs_server import GcsServer, gcs_server

pytestmark = pytest.mark.slow
LAKE = "gs://lake"


@pytest.fixture(scope="module")
def server() -> Iterator[GcsServer]:
    with gcs_server() as made:
        made.new_bucket("lake")
        yield made


@pytest.fixture
def io(server: GcsServer) -> ArrowFileIO:
    return ArrowFileIO(server.properties)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_taken_as_they_are(io: ArrowFileIO, name: str) -> None:
    check_name(io, LAKE, name)


@pytest.mark.parametrize("size", SIZES)
def test_outputs_and_inputs(io: ArrowFileIO, server: GcsServer, size: int) -> None:
    check_streams(io, f"{LAKE}/large", size)
    assert server.uploads == {}


def test_an_upload_that_fails_leaves_no_parts(io: ArrowFileIO, server: GcsServer) -> None:
    stream = io.open_output(f"{LAKE}/given-up")
    stream.write(os.urandom(40 << 20))
    discard(stream)
    assert server.uploads == {}
    assert not io.exists(f"{LAKE}/given-up")


def test_conditional_put(io: ArrowFileIO) -> None:
    assert io.creates_atomically(f"{LAKE}/wh")
    io.write(f"{LAKE}/once", b"1", overwrite=False)
    with pytest.raises(AlreadyExistsError):
        io.write(f"{LAKE}/once", b"1", overwrite=False)


def test_a_table(server: GcsServer) -> None:
    catalog = load_catalog("c", {"type": "hadoop", "warehouse": f"{LAKE}/wh", **server.properties})
    catalog.create_namespace("db")
    catalog.create_table("db.t", Schema((NestedField(1, "id", LongType()),)))
    for number in range(3):
        catalog.load_table("db.t").append(pa.table({"id": [number]}))
    assert sorted(catalog.load_table("db.t").scan().to_arrow()["id"].to_pylist()) == [0, 1, 2]
    catalog.drop_table("db.t", purge=True)
    assert list(catalog.io.list_files(f"{LAKE}/wh")) == []


def test_one_sentence(server: GcsServer) -> None:
    wrong = ArrowFileIO({**server.properties, "gcs.oauth2.token": "another"})
    with pytest.raises(StoreDeniedError, match=r"Cannot read .*; set gcs\.oauth2\.token"):
        wrong.read(f"{LAKE}/x")
    with pytest.raises(StoreError, match="there is no bucket or container nolake"):
        ArrowFileIO(server.properties).write("gs://nolake/x", b"")
