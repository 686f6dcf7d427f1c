"""Puffin files: blobs (statistics, deletion vectors) and a JSON footer that says where they are. Puffin specification.

file:   magic, blobs, footer
footer: magic, payload, payload size (int32 little endian), flags (4 bytes), magic
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from icesql.errors import CorruptMetadataError, InvalidArgumentError, UnsupportedError
from icesql.io.inflate import Inflation
from icesql.io.storage.files import FileIO
from icesql.spec import budgets

MAGIC = b"PFA1"
_TAIL = struct.Struct("<i4s4s")
_FOOTER_COMPRESSED = 1  # bit 0 of the first flag byte
_FIRST_READ_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PuffinBlob:
    """What the footer says of a blob. ``codec``: ``None``, ``lz4`` or ``zstd``."""

    type: str
    fields: tuple[int, ...]
    snapshot_id: int
    sequence_number: int
    offset: int
    length: int
    codec: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBlob:
    """A blob to write; ``data`` is not compressed yet."""

    type: str
    fields: tuple[int, ...]
    data: bytes
    snapshot_id: int = -1
    sequence_number: int = -1
    codec: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PuffinFooter:
    blobs: tuple[PuffinBlob, ...]
    properties: Mapping[str, str]
    size_in_bytes: int


# -- writing ---------------------------------------------------------------------------------------------------------
def puffin_bytes(blobs: Sequence[NewBlob], properties: Mapping[str, str] | None = None) -> tuple[bytes, PuffinFooter]:
    """A whole file, and the footer that it has. Raises InvalidArgumentError for an unknown codec."""
    out, placed, offset = [MAGIC], [], len(MAGIC)
    for blob in blobs:
        data = _compress(blob.data, blob.codec)
        placed.append(
            PuffinBlob(
                type=blob.type, fields=blob.fields, snapshot_id=blob.snapshot_id, sequence_number=blob.sequence_number, offset=offset,
                length=len(data), codec=blob.codec, properties=blob.properties,
            )
        )  # fmt: skip
        out.append(data)
        offset += len(data)
    payload = json.dumps({"blobs": [_to_json(blob) for blob in placed], "properties": dict(properties or {})}).encode()
    footer = MAGIC + payload + _TAIL.pack(len(payload), b"\0\0\0\0", MAGIC)
    return b"".join((*out, footer)), PuffinFooter(tuple(placed), dict(properties or {}), len(footer))


def write_puffin(
    io: FileIO, location: str, blobs: Sequence[NewBlob], properties: Mapping[str, str] | None = None
) -> tuple[PuffinFooter, int]:
    """Write a file; returns its footer and its length in bytes. Raises InvalidArgumentError."""
    data, footer = puffin_bytes(blobs, properties)
    io.write(location, data)
    return footer, len(data)


def _to_json(blob: PuffinBlob) -> dict[str, Any]:
    node: dict[str, Any] = {
        "type": blob.type,
        "fields": list(blob.fields),
        "snapshot-id": blob.snapshot_id,
        "sequence-number": blob.sequence_number,
        "offset": blob.offset,
        "length": blob.length,
    }
    if blob.codec is not None:
        node["compression-codec"] = blob.codec
    if blob.properties:
        node["properties"] = dict(blob.properties)
    return node


# -- reading ---------------------------------------------------------------------------------------------------------
def read_puffin(io: FileIO, location: str) -> PuffinFooter:
    """The footer; blobs are not read. Raises NotFoundError, CorruptMetadataError."""
    size = io.size(location)
    tail = read_range(io, location, max(0, size - _FIRST_READ_BYTES), min(size, _FIRST_READ_BYTES))
    footer_size = _footer_size(tail, size, location)
    if footer_size > len(tail):
        tail = read_range(io, location, size - footer_size, footer_size)
    return parse_footer(tail[len(tail) - footer_size :], location, size)


def _footer_size(tail: bytes, size: int, location: str) -> int:
    if size < len(MAGIC) * 2 + _TAIL.size or tail[-4:] != MAGIC:
        raise _corrupt(location, "no magic at its end")
    payload_size = _TAIL.unpack(tail[-_TAIL.size :])[0]
    footer_size = int(payload_size) + _TAIL.size + len(MAGIC)
    if payload_size < 0 or footer_size > size - len(MAGIC):
        raise _corrupt(location, f"footer of {payload_size} bytes does not fit")
    return footer_size


def parse_footer(data: bytes, location: str, file_size: int) -> PuffinFooter:
    """A whole footer, from magic to magic. Raises CorruptMetadataError."""
    if data[:4] != MAGIC:
        raise _corrupt(location, "footer does not start with the magic")
    _, flags, _ = _TAIL.unpack(data[-_TAIL.size :])
    payload = data[len(MAGIC) : -_TAIL.size]
    if flags[0] & ~_FOOTER_COMPRESSED or any(flags[1:]):
        raise _corrupt(location, f"unknown flags {flags.hex()}")
    if flags[0] & _FOOTER_COMPRESSED:
        payload = decompress(payload, "lz4", location)
    if (excess := budgets.excess_of_json(payload, len(data))) is not None:
        raise _corrupt(location, f"footer of {excess}")
    try:
        node = json.loads(payload)
        blobs = tuple(_from_json(blob) for blob in node["blobs"])
        properties = {str(k): str(v) for k, v in (node.get("properties") or {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise _corrupt(location, f"damaged footer: {error!r}") from error
    for blob in blobs:
        if blob.offset < len(MAGIC) or blob.length < 0 or blob.offset + blob.length > file_size - len(data):
            raise _corrupt(location, f"blob at {blob.offset} of {blob.length} bytes does not fit")
    return PuffinFooter(blobs, properties, len(data))


def _from_json(node: Any) -> PuffinBlob:
    return PuffinBlob(
        type=str(node["type"]),
        fields=tuple(int(i) for i in node["fields"]),
        snapshot_id=int(node["snapshot-id"]),
        sequence_number=int(node["sequence-number"]),
        offset=int(node["offset"]),
        length=int(node["length"]),
        codec=None if node.get("compression-codec") is None else str(node["compression-codec"]),
        properties={str(k): str(v) for k, v in (node.get("properties") or {}).items()},
    )


def read_blob(io: FileIO, location: str, blob: PuffinBlob) -> bytes:
    """A blob's bytes, decompressed. Raises NotFoundError, CorruptMetadataError, UnsupportedError for an unknown codec."""
    data = read_range(io, location, blob.offset, blob.length)
    return decompress(data, blob.codec, location)


def read_range(io: FileIO, location: str, offset: int, length: int) -> bytes:
    """Raises NotFoundError; CorruptMetadataError if the file ends before."""
    if offset < 0 or length < 0:
        raise _corrupt(location, f"no range of {length} bytes at {offset}")
    with io.open_input(location) as stream:
        end = stream.seek(0, 2)
        if offset + length > end:
            raise _corrupt(location, f"ends before byte {offset + length}")
        stream.seek(offset)
        return bytes(stream.read(length))


def decompress(data: bytes, codec: str | None, location: str) -> bytes:
    """Raises CorruptMetadataError, UnsupportedError for an unknown codec."""
    if codec is None:
        return data
    if codec not in ("zstd", "lz4"):
        raise UnsupportedError(f"Cannot read Puffin file {location}: unknown compression codec: {codec}", location=location)
    try:
        return Inflation("zstandard" if codec == "zstd" else codec)(data)
    except MemoryError:
        raise
    except Exception as error:  # each codec library raises errors of its own
        raise _corrupt(location, f"damaged {codec} data: {error}") from error


def _compress(data: bytes, codec: str | None) -> bytes:
    if codec is None:
        return data
    if codec == "zstd":
        from icesql.io.zstd import zstd

        return bytes(zstd.compress(data, level=3))
    if codec == "lz4":
        import cramjam

        return bytes(cramjam.lz4.compress(data))
    raise InvalidArgumentError(f"Cannot write Puffin file: unknown compression codec: {codec}", codec=codec)


def _corrupt(location: str, why: str) -> CorruptMetadataError:
    return CorruptMetadataError(f"Cannot read Puffin file {location}: {why}", location=location)
