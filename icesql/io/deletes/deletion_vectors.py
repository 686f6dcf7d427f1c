"""Deletion vectors: the deleted positions of one data file as a 64-bit roaring bitmap in a Puffin blob. Spec: "Deletion Vectors";
Puffin specification: "deletion-vector-v1".

    blob: length of what follows without the CRC (int32 big endian), magic D1 D3 39 64, bitmap (portable form), CRC-32 of magic and bitmap
    (big endian)
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from icesql.errors import CorruptMetadataError, InvalidArgumentError
from icesql.io.deletes.roaring import RoaringBitmap
from icesql.io.puffin import NewBlob, read_range, write_puffin
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, FileContent

if TYPE_CHECKING:
    from pyroaring import BitMap64

BLOB_TYPE = "deletion-vector-v1"
MAGIC = b"\xd1\xd3\x39\x64"
MAX_POSITION = (1 << 63) - 1
_POSITION_FIELD_ID = 2147483645  # the reserved id of _pos
_PAIR = struct.Struct(">i4s")


def bitmap_of(positions: Iterable[int] | BitMap64) -> BitMap64:
    """Positions as a bitmap; a bitmap is returned as it is. Raises InvalidArgumentError for a negative position."""
    from pyroaring import BitMap64

    if isinstance(positions, BitMap64):
        return positions
    try:
        return BitMap64(positions)
    except (OverflowError, TypeError) as error:
        raise InvalidArgumentError(f"Cannot write deletion vector: not positions: {error}") from error


def serialize_dv(positions: Iterable[int] | BitMap64) -> bytes:
    """The blob. Raises InvalidArgumentError for positions that are negative or too large."""
    bitmap = bitmap_of(positions)
    if bitmap and bitmap.max() > MAX_POSITION:
        raise InvalidArgumentError(f"Cannot write deletion vector: position too large: {bitmap.max()}")
    bitmap = bitmap.copy()
    bitmap.run_optimize()
    body = MAGIC + bytes(bitmap.serialize())
    return struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def deserialize_dv(data: bytes, location: str = "") -> BitMap64:
    """Raises CorruptMetadataError where length, magic, checksum or bitmap are wrong."""
    serialized, _ = _bitmap(data, location)
    return _deserialized(serialized, location)


def _deserialized(serialized: bytes, location: str) -> BitMap64:
    from pyroaring import BitMap64

    try:
        bitmap = BitMap64.deserialize(serialized)
    except Exception as error:  # pyroaring documents no error of its own
        raise _corrupt(location, f"damaged bitmap: {error}") from error
    if bitmap and bitmap.max() > MAX_POSITION:
        raise _corrupt(location, f"position too large: {bitmap.max()}")
    return bitmap


def _bitmap(data: bytes, location: str) -> tuple[bytes, RoaringBitmap]:
    """The bitmap within a blob, as bytes and checked: pyroaring takes what it is given. Raises CorruptMetadataError."""
    serialized = _bitmap_bytes(data, location)
    try:
        return serialized, RoaringBitmap(serialized)
    except (ValueError, struct.error) as error:
        raise _corrupt(location, f"damaged bitmap: {error}") from error


def _bitmap_bytes(data: bytes, location: str) -> bytes:
    """The bitmap within a blob. Raises CorruptMetadataError where length, magic or checksum are wrong."""
    if len(data) < _PAIR.size + 4:
        raise _corrupt(location, f"only {len(data)} bytes")
    length, magic = _PAIR.unpack_from(data)
    if length != len(data) - 8:
        raise _corrupt(location, f"length {length} in {len(data)} bytes")
    if magic != MAGIC:
        raise _corrupt(location, f"wrong magic {magic.hex()}")
    body = data[4:-4]
    if zlib.crc32(body) != struct.unpack(">I", data[-4:])[0]:
        raise _corrupt(location, "checksum differs")
    return body[4:]


def read_dv(io: FileIO, file: DataFile) -> BitMap64:
    """The deleted positions of ``file.referenced_data_file``. Raises NotFoundError, CorruptMetadataError, InvalidArgumentError for
    another file."""
    serialized, bitmap = _bitmap(_blob(io, file), file.file_path)
    _check_count(file, len(bitmap))
    return _deserialized(serialized, file.file_path)


def read_dv_bitmap(io: FileIO, file: DataFile) -> RoaringBitmap:
    """What ``read_dv`` finds, without pyroaring. Raises as ``read_dv`` does."""
    _, bitmap = _bitmap(_blob(io, file), file.file_path)
    _check_count(file, len(bitmap))
    return bitmap


def _blob(io: FileIO, file: DataFile) -> bytes:
    if not file.is_deletion_vector:
        raise InvalidArgumentError(f"Cannot read deletion vector: not one: {file.file_path}", location=file.file_path)
    offset, size = file.content_offset, file.content_size_in_bytes
    if offset is None or size is None or file.referenced_data_file is None:
        raise _corrupt(file.file_path, "content offset, content size or referenced data file is missing")
    return read_range(io, file.file_path, offset, size)


def _check_count(file: DataFile, count: int) -> None:
    if count != file.record_count:
        raise _corrupt(file.file_path, f"{count} positions, {file.record_count} in the manifest")


def write_dvs(
    io: FileIO,
    location: str,
    vectors: Mapping[str, Iterable[int] | BitMap64],
    *,
    targets: Mapping[str, DataFile] | None = None,
    spec_id: int = 0,
    partition: tuple[object, ...] = (),
    previous: Mapping[str, Iterable[int] | BitMap64] | None = None,
) -> list[DataFile]:
    """Write many vectors, by path of their data file, into one Puffin file; returns a DataFile for each, in order.

    ``targets`` (by path) gives each vector the spec and partition of its data file; ``spec_id`` and ``partition`` are for those it lacks.
    ``previous`` holds positions deleted before, which the new vectors take over. Raises InvalidArgumentError for a vector without
    positions.
    """
    merged = {path: _merged(path, positions, previous or {}) for path, positions in vectors.items()}
    blobs = [
        NewBlob(
            type=BLOB_TYPE,
            fields=(_POSITION_FIELD_ID,),
            data=serialize_dv(bitmap),
            properties={"referenced-data-file": path, "cardinality": str(len(bitmap))},
        )
        for path, bitmap in merged.items()
    ]
    if not blobs:
        return []
    footer, size = write_puffin(io, location, blobs, {"created-by": "icesql"})
    files: list[DataFile] = []
    for (path, bitmap), blob in zip(merged.items(), footer.blobs, strict=True):
        target = (targets or {}).get(path)
        files.append(
            DataFile(
                content=FileContent.POSITION_DELETES,
                file_path=location,
                file_format="puffin",
                spec_id=spec_id if target is None else target.spec_id,
                partition=partition if target is None else target.partition,
                record_count=len(bitmap),
                file_size_in_bytes=size,
                referenced_data_file=path,
                content_offset=blob.offset,
                content_size_in_bytes=blob.length,
            )
        )
    return files


def _merged(path: str, positions: Iterable[int] | BitMap64, previous: Mapping[str, Any]) -> BitMap64:
    bitmap = bitmap_of(positions)
    if path in previous:
        bitmap = bitmap | bitmap_of(previous[path])
    if not bitmap:
        raise InvalidArgumentError(f"Cannot write deletion vector: no positions: {path}", path=path)
    return bitmap


def _corrupt(location: str, why: str) -> CorruptMetadataError:
    return CorruptMetadataError(f"Cannot read deletion vector {location}: {why}", location=location)
