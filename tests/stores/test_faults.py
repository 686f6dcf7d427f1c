"""A store that refuses, resets, cuts, delays, and loses answers: nothing is lost, nothing is read wrong, and what fails says what."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pyarrow as pa
import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.stores.failures import StoreError
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField
from tests.stores.proxy import CUT, FAULTS, INTERNAL, LOST, REFUSED, SLOW, SLOW_DOWN, Proxy, proxy
from tests.stores.s3_server import S3Server

pytestmark = pytest.mark.slow
SCHEMA = Schema((NestedField(1, "id", LongType()),))
QUICK = {"s3.retry.min-wait-ms": "20", "s3.retry.max-wait-ms": "200"}


def catalog(s3: S3Server, through: Proxy, bucket: str, kind: str, folder: Path) -> Catalog:
    properties = {"type": kind, "warehouse": f"s3://{bucket}/wh", **s3.properties(through.endpoint), **QUICK}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{folder}/catalog.db"
    return load_catalog("c", properties)


@pytest.mark.parametrize("kind", ["sql", "hadoop"])
@pytest.mark.parametrize("seed", range(4))
def test_a_table_under_random_faults(s3: S3Server, bucket: str, tmp_path: Path, kind: str, seed: int) -> None:
    dice = random.Random(seed)
    with proxy(s3.port, lambda method, path, number: dice.choice(FAULTS) if dice.random() < 0.25 else None) as through:
        own = catalog(s3, through, bucket, kind, tmp_path)
        own.create_namespace("db")
        own.create_table("db.t", SCHEMA)
        for number in range(6):
            own.load_table("db.t").append(pa.table({"id": [number]}))
            found = own.load_table("db.t").scan().to_arrow()["id"].to_pylist()
            assert sorted(found) == list(range(number + 1))
        assert len(through.faults) > 5
    with proxy(s3.port) as clean:
        table = catalog(s3, clean, bucket, kind, tmp_path).load_table("db.t")
        assert len(table.metadata.snapshots) == 6
        assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(6))


@pytest.mark.parametrize("kind", ["sql", "hadoop"])
def test_every_put_loses_its_first_answer(s3: S3Server, bucket: str, tmp_path: Path, kind: str) -> None:
    """A conditional put is then found taken, by itself: that is no other writer."""
    lost: set[str] = set()

    def fault(method: str, path: str, number: int) -> str | None:
        if method != "PUT" or path in lost:
            return None
        lost.add(path)
        return LOST

    with proxy(s3.port, fault) as through:
        own = catalog(s3, through, bucket, kind, tmp_path)
        own.create_namespace("db")
        own.create_table("db.t", SCHEMA)
        for number in range(3):
            own.load_table("db.t").append(pa.table({"id": [number]}))
        assert sorted(own.load_table("db.t").scan().to_arrow()["id"].to_pylist()) == [0, 1, 2]
        assert len(own.load_table("db.t").metadata.snapshots) == 3
        assert len(lost) > 10


@pytest.mark.parametrize("fault", [SLOW_DOWN, INTERNAL, REFUSED, CUT, SLOW])
def test_large_objects(s3: S3Server, bucket: str, fault: str) -> None:
    data = os.urandom(23 << 20)
    location = f"s3://{bucket}/x"
    with proxy(s3.port, lambda method, path, number: fault if number % 3 == 0 else None) as through:
        io = ArrowFileIO({**s3.properties(through.endpoint), **QUICK, "s3.multipart.part-size-bytes": str(5 << 20)})
        with io.open_output(location) as stream:
            for start in range(0, len(data), 1 << 20):
                stream.write(data[start : start + (1 << 20)])
        assert io.read(location) == data
        with io.open_input(location) as stream:
            stream.prefetch([(0, 9 << 20), (15 << 20, 20 << 20)])
            assert stream.read() == data
        assert through.faults
    assert s3.unfinished_uploads(bucket) == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (SLOW_DOWN, r"the store asks to slow down \(SlowDown\), 4 tries in .*; run it again later"),
        (INTERNAL, r"the store answered 500 InternalError, 4 tries in .*: made by the test"),
        (REFUSED, r"the store does not answer at http://127.0.0.1:\d+, 4 tries in .*"),
    ],
)
@pytest.mark.parametrize("operation", ["read", "write", "create", "list", "delete"])
def test_in_the_end_it_says_what_failed(s3: S3Server, bucket: str, fault: str, words: str, operation: str) -> None:
    location = f"s3://{bucket}/x"
    with proxy(s3.port, lambda method, path, number: fault) as through:
        io = ArrowFileIO({**s3.properties(through.endpoint), **QUICK, "s3.retry.num-retries": "3"})
        calls = {
            "read": lambda: io.read(location),
            "write": lambda: io.write(location, b"1"),
            "create": lambda: io.write(location, b"1", overwrite=False),
            "list": lambda: list(io.list_files(location)),
            "delete": lambda: io.delete(location),
        }
        begun = time.monotonic()
        with pytest.raises(StoreError, match=f"^Cannot {operation} {location}: {words}") as raised:
            calls[operation]()
        assert time.monotonic() - begun < 10
        assert "\n" not in str(raised.value)


def test_a_failed_upload_leaves_no_parts(s3: S3Server, bucket: str) -> None:
    def fault(method: str, path: str, number: int) -> str | None:
        return INTERNAL if "partNumber=3" in path else None

    with proxy(s3.port, fault) as through:
        properties = {**s3.properties(through.endpoint), **QUICK, "s3.retry.num-retries": "1", "s3.multipart.part-size-bytes": str(5 << 20)}
        stream = ArrowFileIO(properties).open_output(f"s3://{bucket}/x")
        with pytest.raises(StoreError, match=f"Cannot write s3://{bucket}/x: the store answered 500"):
            for _ in range(30):
                stream.write(os.urandom(1 << 20))
            stream.close()
        stream.abandon()
    assert s3.unfinished_uploads(bucket) == []
    assert s3.files(bucket) == []
