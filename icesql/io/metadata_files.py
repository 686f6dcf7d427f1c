"""Table metadata files: JSON, plain or gzip. Spec: "Table Metadata", "File System Tables". Files never change, so parsed ones are cached
by location."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Hashable
from pathlib import Path

from icesql.errors import CorruptMetadataError, NotFoundError
from icesql.io.garbage import collector_paused
from icesql.io.inflate import Inflation, OverBudgetError
from icesql.io.lru import LruCache
from icesql.io.storage.file_systems import local_path, scheme_of
from icesql.io.storage.files import FileIO
from icesql.spec import budgets
from icesql.spec.metadata import TableMetadata

_CACHE_BYTES = 64 * 1024 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_cache: LruCache[Hashable, tuple[TableMetadata, int]] = LruCache(_CACHE_BYTES, lambda held: held[1])


def is_compressed(location: str) -> bool:
    """True for both names in use: ``x.gz.metadata.json`` and ``x.metadata.json.gz``."""
    return location.endswith((".gz.metadata.json", ".metadata.json.gz"))


def read_metadata(io: FileIO, location: str, *, use_cache: bool = True) -> TableMetadata:
    """The metadata a file holds; compression is told by content. Raises NotFoundError, CorruptMetadataError, UnsupportedError (format
    version)."""
    from icesql.spec.json.metadata import metadata_from_json

    key = _key(location)
    if use_cache and (held := _cache.find(key)) is not None:
        return held[0]
    data = read_json_bytes(io, location)
    with collector_paused():
        metadata = metadata_from_json(data, location)
    _cache.put(key, (metadata, 4 * len(data)))
    return metadata


def read_identity(io: FileIO, location: str) -> tuple[str | None, int]:
    """(table uuid, last update in ms) of a metadata file, without parsing the rest.

    Raises NotFoundError, CorruptMetadataError.
    """
    return _identity(read_json_bytes(io, location), location)


def identity_of(data: bytes, location: str) -> tuple[str | None, int]:
    """As ``read_identity``, from the file's bytes. Raises CorruptMetadataError."""
    return _identity(_inflated(data, location), location)


def _identity(text: bytes, location: str) -> tuple[str | None, int]:
    import msgspec

    from icesql.spec.json.metadata_wire import IdentityWire

    try:
        wire = msgspec.json.decode(text, type=IdentityWire)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CorruptMetadataError(f"Cannot read metadata file {location}: {error}", location=location) from error
    return wire.table_uuid, wire.last_updated_ms


def metadata_bytes(location: str, metadata: TableMetadata) -> bytes:
    """What ``write_metadata`` puts into the file: equal metadata gives equal bytes."""
    from icesql.spec.json.metadata import metadata_to_json

    data = metadata_to_json(metadata)
    return compress(data) if is_compressed(location) else data


def write_metadata(io: FileIO, location: str, metadata: TableMetadata, *, overwrite: bool = False) -> None:
    """Write metadata durably, compressed where the name says so. Raises AlreadyExistsError if the file is there, unless ``overwrite``."""
    from icesql.spec.json.metadata import metadata_to_json

    data = metadata_to_json(metadata)
    io.write(location, compress(data) if is_compressed(location) else data, overwrite=overwrite)
    _cache.put(_key(location), (metadata, 4 * len(data)))


def _key(location: str) -> Hashable:
    """The cache key. For local files it includes inode and time: a file-system table that was dropped and made again reuses
    ``v1.metadata.json``.
    """
    if scheme_of(location) != "file":
        return location
    try:
        status = Path(local_path(location)).stat()
    except OSError:
        return location
    return (location, status.st_ino, status.st_mtime_ns, status.st_size)


def read_json_bytes(io: FileIO, location: str) -> bytes:
    """A metadata file's JSON text (of tables or views), inflated if need be. Raises NotFoundError, CorruptMetadataError."""
    try:
        data = io.read(location)
    except NotFoundError as error:
        raise NotFoundError(f"Cannot read metadata: File does not exist: {location}", location=location) from error
    return _inflated(data, location)


def _inflated(data: bytes, location: str) -> bytes:
    """The text, within its budget. Raises CorruptMetadataError."""
    text = _unzipped(data, location) if data.startswith(_GZIP_MAGIC) else data
    if (excess := budgets.excess_of_json(text, len(data))) is not None:
        raise CorruptMetadataError(f"Cannot read metadata file {location}: {excess}", location=location)
    return text


def _unzipped(data: bytes, location: str) -> bytes:
    try:
        return Inflation("gzip")(data)
    except OverBudgetError as error:
        raise CorruptMetadataError(f"Cannot read metadata file {location}: {error}", location=location) from error
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptMetadataError(f"Cannot read metadata file {location}: damaged gzip data: {error}", location=location) from error


def compress(data: bytes) -> bytes:
    """gzip without a timestamp, so that equal metadata gives equal bytes."""
    return gzip.compress(data, compresslevel=6, mtime=0)
