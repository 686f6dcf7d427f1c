"""Metadata files: both gzip names, the cache, damage."""

import gzip

import pytest

from icesql.errors import AlreadyExistsError, CorruptMetadataError, NotFoundError
from icesql.io.lru import LruCache
from icesql.io.metadata_files import read_metadata, write_metadata
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField

IO = ArrowFileIO()


def metadata(uuid="11111111-1111-1111-1111-111111111111"):
    return TableMetadata(
        format_version=2, table_uuid=uuid, location="/t", last_updated_ms=1, last_column_id=1, current_schema_id=0,
        schemas=(Schema((NestedField(1, "a", LongType()),)),), default_spec_id=0, partition_specs=(PartitionSpec(),),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["v1.metadata.json", "v1.gz.metadata.json", "00000-u.metadata.json.gz"])
def test_round_trip(tmp_path, name):
    location = str(tmp_path / name)
    write_metadata(IO, location, metadata())
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b") == ("gz" in name)
    assert read_metadata(IO, location, use_cache=False) == metadata()
    assert read_metadata(IO, location) is read_metadata(IO, location)
    with pytest.raises(AlreadyExistsError):
        write_metadata(IO, location, metadata())


def test_a_table_made_again_under_the_same_name_is_seen(tmp_path):
    location = str(tmp_path / "v1.metadata.json")
    write_metadata(IO, location, metadata())
    IO.delete(location)
    other = metadata("22222222-2222-2222-2222-222222222222")
    from icesql.spec.json.metadata import metadata_to_json

    IO.write(location, metadata_to_json(other))
    assert read_metadata(IO, location) == other


def test_errors(tmp_path):
    with pytest.raises(NotFoundError, match="none"):
        read_metadata(IO, str(tmp_path / "none"))
    (tmp_path / "cut").write_bytes(gzip.compress(b"{}" * 100)[:-9])
    (tmp_path / "text").write_bytes(b"{not json")
    for name in ("cut", "text"):
        with pytest.raises(CorruptMetadataError, match=name):
            read_metadata(IO, str(tmp_path / name))


def test_cache_is_bounded_and_drops_the_least_used():
    cache: LruCache[str, bytes] = LruCache(100, len)
    for key in "abcd":
        cache.put(key, b"x" * 25)
    assert cache.find("a") is not None
    cache.put("e", b"x" * 25)
    assert [cache.find(k) is not None for k in "abcde"] == [True, False, True, True, True]
    cache.put("big", b"x" * 26)
    assert cache.find("big") is None
    cache.drop("a")
    cache.clear()
    assert cache.find("e") is None
