"""Catalogs over a real S3 server: of many writers at once none loses a commit, and what is refused leaves nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import AlreadyExistsError, CommitFailedError, CommitStateUnknownError, UnsupportedError
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.stores.failures import StoreError
from icesql.io.stores.object_files import ObjectFileIO
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField
from tests.stores.s3_server import S3Server

pytestmark = pytest.mark.slow
SCHEMA = Schema((NestedField(1, "id", LongType()),))


def catalog(s3: S3Server, bucket: str, kind: str, folder: Path) -> Catalog:
    properties = {"type": kind, "warehouse": f"s3://{bucket}/wh", **s3.properties()}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{folder}/catalog.db"
    return load_catalog("c", properties)


@pytest.mark.parametrize("kind", ["sql", "hadoop"])
def test_of_many_writers_none_loses_a_commit(s3: S3Server, bucket: str, kind: str, tmp_path: Path) -> None:
    catalog(s3, bucket, kind, tmp_path).create_namespace("db")
    made = catalog(s3, bucket, kind, tmp_path).create_table("db.t", SCHEMA, properties={"commit.retry.num-retries": "50"})
    assert made.metadata.location.startswith(f"s3://{bucket}/wh/")
    failures: list[BaseException] = []

    def write(first: int) -> None:
        try:
            own = catalog(s3, bucket, kind, tmp_path)
            for number in range(5):
                own.load_table("db.t").append(pa.table({"id": [first + number]}))
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(100 * number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failures == []
    found = catalog(s3, bucket, kind, tmp_path).load_table("db.t").scan().to_arrow()["id"].to_pylist()
    assert sorted(found) == sorted(100 * writer + number for writer in range(4) for number in range(5))


@pytest.mark.parametrize("kind", ["sql", "hadoop"])
def test_of_many_creators_one_wins(s3: S3Server, bucket: str, kind: str, tmp_path: Path) -> None:
    catalog(s3, bucket, kind, tmp_path).create_namespace("db")
    outcomes: list[str] = []

    def create() -> None:
        try:
            catalog(s3, bucket, kind, tmp_path).create_table("db.t", SCHEMA)
            outcomes.append("made")
        except AlreadyExistsError:
            outcomes.append("taken")

    creators = [threading.Thread(target=create) for _ in range(6)]
    for creator in creators:
        creator.start()
    for creator in creators:
        creator.join()
    assert sorted(outcomes) == ["made"] + ["taken"] * 5


@pytest.mark.parametrize("kind", ["sql", "hadoop"])
def test_drop_leaves_nothing(s3: S3Server, bucket: str, kind: str, tmp_path: Path) -> None:
    own = catalog(s3, bucket, kind, tmp_path)
    own.create_namespace("db")
    own.create_table("db.t", SCHEMA).append(pa.table({"id": [1]}))
    own.drop_table("db.t", purge=True)
    assert s3.files(bucket) == []
    assert not own.table_exists("db.t")


def hadoop_table(s3: S3Server, bucket: str, tmp_path: Path) -> Any:
    own = catalog(s3, bucket, "hadoop", tmp_path)
    return own.create_table("db.t", SCHEMA)


def test_a_store_that_ignores_the_condition_is_refused(s3: S3Server, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = ObjectFileIO.write
    monkeypatch.setattr(ObjectFileIO, "write", lambda self, location, data, overwrite=True: write(self, location, data))
    with pytest.raises(UnsupportedError, match=r"conditional put .*Use a catalog of type sql"):
        hadoop_table(s3, bucket, tmp_path)
    assert s3.files(bucket) == []


@pytest.mark.parametrize(
    ("error", "kind", "stays"),
    [
        (StoreError("no answer"), CommitStateUnknownError, True),
        (StoreError("denied", status=403), CommitFailedError, False),
        (StoreError("busy", status=503), CommitStateUnknownError, True),
    ],
)
def test_a_put_without_an_answer_is_of_unknown_outcome(
    s3: S3Server, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: StoreError, kind: type, stays: bool
) -> None:
    table = hadoop_table(s3, bucket, tmp_path)
    write = ArrowFileIO.write

    def fails(self: ArrowFileIO, location: str, data: bytes, *, overwrite: bool = True) -> None:
        if location.endswith("v2.metadata.json"):
            raise error
        write(self, location, data, overwrite=overwrite)

    monkeypatch.setattr(ArrowFileIO, "write", fails)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(kind):
        table.append(pa.table({"id": [1]}))
    assert any(name.endswith(".parquet") for name in s3.files(bucket)) == stays
