"""Files of an S3 server whose keys only a signer has: every operation, in tasks too, and what it costs."""

from __future__ import annotations

import logging
import os
import pickle
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from icesql.catalog.rest.auth import BearerAuth
from icesql.catalog.rest.http import HttpSettings
from icesql.catalog.rest.signing import RemoteSigner
from icesql.errors import AlreadyExistsError, NotFoundError
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.stores.failures import StoreDeniedError, StoreError
from tests.catalog.tables import rows
from tests.stores.proxy import FAULTS, proxy
from tests.stores.s3_server import SECRET_KEY, S3Server
from tests.stores.signer import Signer

pytestmark = pytest.mark.slow
TOKEN = "the-token-of-the-catalog"


@pytest.fixture
def signer() -> Iterator[Signer]:
    running = Signer(token=TOKEN)
    yield running
    running.stop()


def files(s3: S3Server, signer: Signer, endpoint: str | None = None, **more: str) -> ArrowFileIO:
    kept = {key: value for key, value in s3.properties(endpoint).items() if "key" not in key}
    return ArrowFileIO(kept | more, RemoteSigner(signer.address, HttpSettings(max_retries=1), {}, BearerAuth(TOKEN)))


@pytest.fixture
def io(s3: S3Server, signer: Signer) -> ArrowFileIO:
    return files(s3, signer)


ODD = "a b/c+d/100%/ü=1&2/~x!'()*;,@$.txt"


def test_objects_of_every_name(io: ArrowFileIO, bucket: str) -> None:
    place = f"s3://{bucket}/t/{ODD}"
    io.write(place, b"first")
    io.write(place, b"second")
    assert io.read(place) == b"second" and io.size(place) == 6 and io.exists(place)
    assert [info.location for info in io.list_files(f"s3://{bucket}/t")] == [place]
    assert io.list_folders(f"s3://{bucket}/t") == ["a b"]
    io.delete(place)
    io.delete(place)
    assert not io.exists(place) and list(io.list_files(f"s3://{bucket}/t")) == []
    with pytest.raises(NotFoundError, match="File does not exist"):
        io.read(place)
    io.write(f"s3://{bucket}/t/empty", b"")
    assert io.open_input(f"s3://{bucket}/t/empty").read() == b""


def test_conditional_puts(io: ArrowFileIO, bucket: str) -> None:
    place = f"s3://{bucket}/t/one"
    io.write(place, b"1", overwrite=False)
    with pytest.raises(AlreadyExistsError):
        io.write(place, b"2", overwrite=False)
    assert io.read(place) == b"1" and io.creates_atomically(f"s3://{bucket}/t")


def test_large_files_go_in_parts_and_are_read_in_ranges(s3: S3Server, io: ArrowFileIO, bucket: str) -> None:
    place, data = f"s3://{bucket}/t/large.bin", os.urandom(40 << 20)
    with io.open_output(place) as stream:
        for start in range(0, len(data), 3 << 20):
            stream.write(data[start : start + (3 << 20)])
    assert io.size(place) == len(data)
    with io.open_input(place) as stream:
        stream.seek(17 << 20)
        assert stream.read(1000) == data[17 << 20 : (17 << 20) + 1000]
        stream.seek(-5, os.SEEK_END)
        assert stream.read() == data[-5:]
    with pytest.raises(ZeroDivisionError), io.open_output(f"s3://{bucket}/t/given-up") as stream:
        stream.write(data)
        raise ZeroDivisionError
    assert s3.files(bucket) == ["t/large.bin"] and s3.unfinished_uploads(bucket) == []


def test_many_are_removed_at_once(io: ArrowFileIO, signer: Signer, bucket: str) -> None:
    places = [f"s3://{bucket}/t/{number} & <{number}>.txt" for number in range(30)]
    for place in places:
        io.write(place, b"x")
    signer.seen.clear()
    assert io.delete_many([*places, f"s3://{bucket}/t/absent"]) == []
    assert [(node["method"], "body" in node) for node in signer.seen] == [("POST", True)], "the signer sees what is to be removed"
    assert list(io.list_files(f"s3://{bucket}/t")) == []


def test_pages_of_a_list(io: ArrowFileIO, bucket: str, s3: S3Server) -> None:
    folder = s3.folder / "data" / bucket / "t"
    for number in range(1100):
        (folder / f"f{number % 3}").mkdir(parents=True, exist_ok=True)
        (folder / f"f{number % 3}" / f"{number:04d}").touch()
    assert len(list(io.list_files(f"s3://{bucket}/t"))) == 1100
    assert io.list_folders(f"s3://{bucket}/t") == ["f0", "f1", "f2"]


def test_a_task_signs_with_the_token_it_was_given(io: ArrowFileIO, bucket: str) -> None:
    place = f"s3://{bucket}/t/a.parquet"
    sent = pickle.dumps(io)
    there: ArrowFileIO = pickle.loads(sent)
    with there.open_output(place) as stream:
        pq.write_table(rows(1, 2, 3), stream)
    with io.open_input(place) as stream:
        assert pq.read_table(stream)["id"].to_pylist() == [1, 2, 3]
    assert there.signer == io.signer and hash(there.signer) == hash(io.signer)


def test_signatures_are_kept_where_the_server_allows_it(s3: S3Server, signer: Signer, bucket: str) -> None:
    signer.is_cacheable = True
    io, place = files(s3, signer), f"s3://{bucket}/t/a"
    io.write(place, b"1")
    signer.seen.clear()
    assert [io.read(place) for _ in range(5)] == [b"1"] * 5 and len(signer.seen) == 1
    io.write(place, b"2")
    assert io.read(place) == b"2" and len(signer.seen) == 2, "writes are signed one by one"
    assert not any("range" in key.lower() for node in signer.seen for key in node["headers"]), "one signature serves all ranges"


def test_what_the_catalog_does_not_sign(s3: S3Server, signer: Signer, bucket: str) -> None:
    signer.below = f"/{bucket}/t/"
    io = files(s3, signer)
    io.write(f"s3://{bucket}/t/own", b"1")
    for attempt in (lambda: io.read(f"s3://{bucket}/u/other"), lambda: io.write(f"s3://{bucket}/u/other", b"1")):
        with pytest.raises(StoreDeniedError, match=r"the catalog does not sign: .*not allowed \(403\): not of this table"):
            attempt()
    signer.token = "another"
    with pytest.raises(StoreDeniedError, match=r"does not accept the credentials \(401\)") as caught:
        io.read(f"s3://{bucket}/t/own")
    assert TOKEN not in str(caught.value) + repr(io.signer)


def test_a_wrong_bucket_and_a_silent_store_are_named(s3: S3Server, signer: Signer) -> None:
    with pytest.raises(StoreError, match="there is no bucket or container nowhere"):
        files(s3, signer).read("s3://nowhere/x")
    with pytest.raises(StoreError, match=r"the store does not answer at http://127\.0\.0\.1:9"):
        files(s3, signer, "http://127.0.0.1:9", **{"s3.retry.num-retries": "1"}).read("s3://lake/x")


@pytest.mark.parametrize("seed", [1, 2])
def test_a_store_that_fails_now_and_then(s3: S3Server, signer: Signer, bucket: str, seed: int) -> None:
    import random

    dice = random.Random(seed)
    quick = {"s3.retry.min-wait-ms": "20", "s3.retry.max-wait-ms": "200"}
    with proxy(s3.port, lambda method, path, number: dice.choice(FAULTS) if dice.random() < 0.25 else None) as through:
        io = files(s3, signer, through.endpoint, **quick)
        for number in range(12):
            data = os.urandom(dice.choice([10, 100_000]))
            io.write(f"s3://{bucket}/t/{number}", data, overwrite=number % 2 == 0)
            assert io.read(f"s3://{bucket}/t/{number}") == data
        big = os.urandom(20 << 20)
        with io.open_output(f"s3://{bucket}/t/big") as stream:
            stream.write(big)
        assert io.read(f"s3://{bucket}/t/big") == big
        assert len(through.faults) > 3


def test_an_address_is_not_rewritten_on_its_way() -> None:
    """httpx must send what was signed, to the letter."""
    address = "http://h/b/a%20b/%25/%2B/%C3%BC%3D1%262/~x%21%27%28%29%2A?list-type=2&prefix=a%2Fb%20c%2F"
    assert str(httpx.URL(address)) == address


def test_settings_for_objects_go_along(s3: S3Server, signer: Signer, bucket: str) -> None:
    settings: dict[str, Any] = {"s3.write.tags.team": "a b", "s3.write.storage-class": "STANDARD"}
    files(s3, signer, **settings).write(f"s3://{bucket}/t/x", b"1")
    sent = {key.lower(): values for node in signer.seen for key, values in node["headers"].items()}
    assert sent["x-amz-tagging"] == ["team=a%20b"] and sent["x-amz-storage-class"] == ["STANDARD"]


def test_signatures_in_addresses_are_in_no_log(s3: S3Server, signer: Signer, bucket: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "icesql"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    (s3.folder / "data" / bucket / "x").write_bytes(b"1")
    signer.in_address = True
    assert files(s3, signer).read(f"s3://{bucket}/x") == b"1"
    records = [record for record in caplog.records if not record.name.startswith("botocore")]  # the signer is in this process, too
    told = "".join(record.getMessage() + str(record.args) for record in records)
    assert "X-Amz-Signature=***" in told
    assert not re.search(r"(?i)x-amz-(signature|credential)=[0-9a-z]", told) and TOKEN not in told and SECRET_KEY not in told
