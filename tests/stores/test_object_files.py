"""Files on a real S3 server: what each call of FileIO promises, and what is left behind when it fails."""

from __future__ import annotations

import os
import pickle
import time

import pytest

from icesql.errors import AlreadyExistsError, NotFoundError, UnsupportedError
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.storage.files import discard
from icesql.io.stores.failures import StoreDeniedError, StoreError
from icesql.io.stores.inputs import TAIL_BYTES, coalesced
from icesql.io.stores.object_files import ObjectFileIO
from tests.stores.s3_server import S3Server, free_port

pytestmark = pytest.mark.slow
NAMES = ["plain", "a b/c=d/e%3Af", "ü/#?&+~", "x:y/z'q\"", "deep/" * 20 + "end"]


@pytest.fixture
def io(s3: S3Server) -> ObjectFileIO:
    return ObjectFileIO(s3.properties())


@pytest.mark.parametrize("name", NAMES)
def test_names_are_taken_as_they_are(io: ObjectFileIO, s3: S3Server, bucket: str, name: str) -> None:
    location = f"s3://{bucket}/{name}"
    io.write(location, b"abc")
    assert s3.files(bucket) == [name]
    assert (io.read(location), io.size(location), io.exists(location)) == (b"abc", 3, True)
    assert [info.location for info in io.list_files(f"s3://{bucket}")] == [location]
    io.delete(location)
    assert s3.files(bucket) == []


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "S3"])
def test_schemes(io: ObjectFileIO, bucket: str, scheme: str) -> None:
    location = f"{scheme}://{bucket}/a/b"
    io.write(location, b"1")
    assert [info.location for info in io.list_files(f"{scheme}://{bucket}/a/")] == [location]


def test_missing(io: ObjectFileIO, bucket: str) -> None:
    location = f"s3://{bucket}/none"
    for call in (io.read, io.size, io.open_input):
        with pytest.raises(NotFoundError, match="File does not exist"):
            call(location)
    assert not io.exists(location)
    assert not io.exists(f"s3://{bucket}/")
    io.delete(location)
    assert list(io.list_files(location)) == []


def test_conditional_put(io: ObjectFileIO, bucket: str) -> None:
    location = f"s3://{bucket}/v1"
    io.write(location, b"first", overwrite=False)
    with pytest.raises(AlreadyExistsError):
        io.write(location, b"second", overwrite=False)
    with pytest.raises(AlreadyExistsError):
        io.write(location, b"first", overwrite=False)  # the same bytes of another writer are another write
    assert io.read(location) == b"first"
    assert io.creates_atomically(f"s3://{bucket}/wh")
    assert [info.location for info in io.list_files(f"s3://{bucket}")] == [location]


@pytest.mark.parametrize("size", [0, 1, TAIL_BYTES, TAIL_BYTES + 1, 3 * TAIL_BYTES + 17, 20 << 20])
def test_random_reads(io: ObjectFileIO, bucket: str, size: int) -> None:
    data = os.urandom(size)
    location = f"s3://{bucket}/x"
    io.write(location, data)
    with io.open_input(location) as stream:
        assert (stream.seek(0, 2), stream.tell()) == (size, size)
        for start, length in ((0, 10), (size // 2, 1000), (max(0, size - 8), 8), (size, 5), (size // 3, size)):
            stream.seek(start)
            assert stream.read(length) == data[start : start + length]
        stream.seek(0)
        stream.prefetch([(0, size // 2), (size // 4, size // 2 + 5), (size - 3, size + 10)])
        assert stream.read() == data


def test_prefetched_ranges_are_not_asked_for_again(io: ObjectFileIO, bucket: str) -> None:
    data = os.urandom(8 << 20)
    location = f"s3://{bucket}/x"
    io.write(location, data)
    stream = io.open_input(location)
    fetched = []
    fetch = stream._fetch

    def counted(start: int, end: int) -> object:
        fetched.append((start, end))
        return fetch(start, end)

    stream._fetch = counted
    stream.prefetch([(0, 1000), (2000, 3000), (4 << 20, (4 << 20) + 1000)])
    for start, length in ((0, 1000), (2500, 400), (4 << 20, 1000), (2000, 10)):
        stream.seek(start)
        assert stream.read(length) == data[start : start + length]
    assert sorted(fetched) == [(0, 3000), (4 << 20, (4 << 20) + 1000)]


def test_near_ranges_are_one() -> None:
    assert coalesced([(0, 10), (20, 30), (5 << 20, 6 << 20)]) == [(0, 30), (5 << 20, 6 << 20)]


@pytest.mark.parametrize("size", [0, 5, 6 << 20, 30 << 20])
def test_outputs(s3: S3Server, bucket: str, size: int) -> None:
    io = ObjectFileIO({**s3.properties(), "s3.multipart.part-size-bytes": str(5 << 20)})
    data = os.urandom(size)
    location = f"s3://{bucket}/x"
    stream = io.open_output(location)
    for start in range(0, size, 1 << 20):
        stream.write(memoryview(data)[start : start + (1 << 20)])
        assert not io.exists(location)
    assert stream.tell() == size
    stream.close()
    stream.close()
    assert io.read(location) == data
    assert s3.unfinished_uploads(bucket) == []


@pytest.mark.parametrize("how", ["discard", "raise", "forget"])
def test_what_is_given_up_leaves_nothing(s3: S3Server, bucket: str, how: str) -> None:
    io = ObjectFileIO({**s3.properties(), "s3.multipart.part-size-bytes": str(5 << 20)})
    stream = io.open_output(f"s3://{bucket}/x")
    for _ in range(4):
        stream.write(os.urandom(5 << 20))
    deadline = time.monotonic() + 10
    while not s3.unfinished_uploads(bucket) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert s3.unfinished_uploads(bucket) == ["x"]
    if how == "discard":
        discard(stream)
    elif how == "raise":
        with pytest.raises(ZeroDivisionError), stream:
            raise ZeroDivisionError
    else:
        del stream
    assert s3.unfinished_uploads(bucket) == []
    assert s3.files(bucket) == []


def test_listing_of_many(io: ObjectFileIO, s3: S3Server, bucket: str) -> None:
    root = s3.folder / "data" / bucket
    for folder in range(13):
        (root / "t" / f"p={folder}").mkdir(parents=True)
        for number in range(200):
            (root / "t" / f"p={folder}" / f"{number}").write_bytes(b"x")
    (root / "t" / "top").write_bytes(b"x")
    (root / "tt").mkdir()
    (root / "tt" / "other").write_bytes(b"x")
    found = [info.location for info in io.list_files(f"s3://{bucket}/t")]
    assert len(found) == len(set(found)) == 2601
    assert all(location.startswith(f"s3://{bucket}/t/") for location in found)
    assert [info.location for info in io.list_files(f"s3://{bucket}/t", recursive=False)] == [f"s3://{bucket}/t/top"]
    assert io.list_folders(f"s3://{bucket}/t") == sorted(f"p={folder}" for folder in range(13))
    assert io.list_folders(f"s3://{bucket}") == ["t", "tt"]
    assert io.delete_many(found) == []
    assert s3.files(bucket) == ["tt/other"]


def test_deletes_that_fail_are_named(io: ObjectFileIO, bucket: str) -> None:
    io.write(f"s3://{bucket}/a", b"1")
    failures = io.delete_many([f"s3://{bucket}/a", "s3://no-such-bucket/b"])
    assert [location for location, _ in failures] == ["s3://no-such-bucket/b"]
    assert not io.exists(f"s3://{bucket}/a")


def test_mixed_deletes(s3: S3Server, bucket: str, tmp_path: object) -> None:
    io = ArrowFileIO(s3.properties())
    local = f"{tmp_path}/x"
    io.write(local, b"1")
    io.write(f"s3://{bucket}/a", b"1")
    assert io.delete_many([local, f"s3://{bucket}/a"]) == []
    assert not io.exists(local)
    assert not io.exists(f"s3://{bucket}/a")


def test_there_are_no_renames(io: ObjectFileIO, bucket: str) -> None:
    with pytest.raises(UnsupportedError, match="no atomic rename"):
        io.rename_without_overwrite(f"s3://{bucket}/a", f"s3://{bucket}/b")


def test_it_goes_to_tasks(s3: S3Server, bucket: str) -> None:
    io = ArrowFileIO(s3.properties())
    io.write(f"s3://{bucket}/a", b"1")
    assert pickle.loads(pickle.dumps(io)).read(f"s3://{bucket}/a") == b"1"


# -- bad input: one sentence, at once -----------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["read", "exists", "write", "create", "list", "output", "delete"])
@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"s3.secret-access-key": "wrong"}, StoreDeniedError, "the secret key is wrong .*; set s3.access-key-id"),
        ({"s3.access-key-id": "nobody"}, StoreDeniedError, "the access key is unknown"),
        ({"s3.region": "eu-west-1"}, StoreError, "another region, it is us-east-1 .*; set s3.region"),
        ({"bucket": "no-such-bucket"}, StoreError, "no bucket or container no-such-bucket"),
        ({"s3.endpoint": "unused port"}, StoreError, "does not answer at http://127.0.0.1:.* tries in .*see the network, and s3.endpoint"),
    ],
    ids=["secret", "key", "region", "bucket", "network"],
)
def test_one_sentence(s3: S3Server, bucket: str, call: str, change: dict[str, str], kind: type, words: str) -> None:
    if change.get("s3.endpoint"):
        change = {"s3.endpoint": f"http://127.0.0.1:{free_port()}"}
    io = ObjectFileIO({**s3.properties(), **change})
    location = f"s3://{change.get('bucket', bucket)}/x"

    def output() -> None:
        with io.open_output(location) as stream:
            stream.write(b"1")

    calls = {
        "read": lambda: io.read(location),
        "exists": lambda: io.exists(location),
        "write": lambda: io.write(location, b"1"),
        "create": lambda: io.write(location, b"1", overwrite=False),
        "list": lambda: list(io.list_files(location)),
        "output": output,
        "delete": lambda: io.delete(location),
    }
    begun = time.monotonic()
    with pytest.raises(kind, match=words) as raised:
        calls[call]()
    assert time.monotonic() - begun < 10
    assert "\n" not in str(raised.value)
    assert location in str(raised.value)
