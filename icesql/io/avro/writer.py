"""Avro data files are written by fastavro: schema, records, blocks and codecs are its work. Spec: appendix A, "Avro".

Rows are made of Arrow columns in the forms that it writes as they are, decimals and uuids as bytes, and each optional value names its
branch of the union: else fastavro 1.13 tries the branches one after the other, which takes a third more. Of six columns (long, int,
double, string, timestamp, decimal) it writes 127,000 rows a second of a core with deflate. Encoders of our own, which it replaced, wrote
145,000. Executors without fastavro run its Python sources, at half the speed.
"""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.arrow.compact_arrays import compacted
from icesql.io.arrow.types import internal_values, is_uuid
from icesql.io.avro.container import BLOCK_BYTES, avro_codec
from icesql.io.avro.library import fastavro
from icesql.io.metrics.column_metrics import Metrics, MetricsConfig
from icesql.io.metrics.written_counts import GivenCounts, avro_counts
from icesql.io.storage.files import discard
from icesql.spec.avro_schema import decimal_bytes, struct_to_avro
from icesql.spec.json.types import schema_to_json
from icesql.spec.properties import AVRO_COMPRESSION, AVRO_COMPRESSION_LEVEL, property_as_int
from icesql.spec.schema import Schema
from icesql.spec.types import DecimalType, ListType, MapType, StringType, StructType, Type, UUIDType

_ZSTD_LEVELS = (-131072, 22)
_CODEC_PACKAGES = {"snappy": "cramjam", "zstandard": "compression" if sys.version_info >= (3, 14) else "backports.zstd"}


class AvroFileWriter:
    """One Avro file of tables whose columns are those of ``schema``."""

    def __init__(self, sink: BinaryIO, schema: Schema, properties: Mapping[str, str], config: MetricsConfig) -> None:
        codec = avro_codec(properties.get(AVRO_COMPRESSION, "gzip"))
        level = _level(codec, properties)
        _check_codec(codec)
        self._sink, self._buffer, self._metrics = sink, io.BytesIO(), Metrics()
        self._schema, self._given = schema, GivenCounts("Avro")
        self._avro = struct_to_avro(schema.as_struct(), "table")
        metadata = {"iceberg.schema": json.dumps(schema_to_json(schema))}
        self._writer = fastavro().write.Writer(
            self._buffer, self._avro, codec, BLOCK_BYTES, metadata=metadata, compression_level=level
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Bytes so far: a block ends with each ``write``."""
        return self._buffer.tell()

    def write(self, table: pa.Table) -> None:
        self._metrics.record_count += table.num_rows
        self._given.add(table.num_rows)
        for batch in table.to_batches():
            for row in _records(self._schema.as_struct(), self._avro, list(map(compacted, batch.columns)), batch.num_rows):
                self._writer.write(row)
        self._writer.flush()

    def close(self) -> tuple[Metrics, int]:
        """(metrics, length in bytes). Raises CorruptMetadataError for a file whose blocks count other rows than were given."""
        data = self._buffer.getvalue()
        self._given.check(avro_counts(data))
        self._sink.write(data)
        self._sink.close()
        return self._metrics, len(data)

    def abandon(self) -> None:
        discard(self._sink)


def _level(codec: str, properties: Mapping[str, str]) -> int | None:
    """``write.avro.compression-level`` of the codecs that have levels; ``None`` for the library's own. zstd takes the nearest that it has.

    Raises InvalidArgumentError.
    """
    if AVRO_COMPRESSION_LEVEL not in properties or codec not in ("deflate", "zstandard"):
        return None
    level = property_as_int(properties, AVRO_COMPRESSION_LEVEL)
    if codec == "zstandard":
        return max(_ZSTD_LEVELS[0], min(level, _ZSTD_LEVELS[1]))
    if not -1 <= level <= 9:
        raise InvalidArgumentError(f"Cannot write Avro file: gzip has no compression level {level}", level=level)
    return level


def _check_codec(codec: str) -> None:
    """Raises UnsupportedError where the codec's package is missing, as on executors that have pyarrow and numpy alone."""
    package = _CODEC_PACKAGES.get(codec)
    try:
        if package is not None:
            importlib.import_module(package)
    except ImportError as error:
        name = package.replace(".", "-") if package is not None else ""
        what = f"codec {codec} needs the package {name} in {sys.executable}: install it there, or set {AVRO_COMPRESSION} to gzip"
        raise UnsupportedError(f"Cannot write Avro file: {what}", codec=codec) from error


# -- Arrow columns as what fastavro writes -----------------------------------------------------------------------------
def _records(struct: StructType, avro: Any, columns: list[pa.Array], length: int) -> list[dict[str, Any]]:
    names = [field["name"] for field in avro["fields"]]
    parts = [
        _branch_values(field.type, avro_field["type"], column)
        for field, avro_field, column in zip(struct.fields, avro["fields"], columns, strict=True)
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)] if parts else [{} for _ in range(length)]


def _branch_values(type_: Type, avro: Any, array: pa.Array) -> list[Any]:
    """The values of a type that may be a union with null: then each but null with the name of its branch."""
    if not isinstance(avro, list):
        return _values(type_, avro, array)
    branch = next(part for part in avro if part != "null")
    name = branch
    if isinstance(branch, dict):
        name = branch["name"] if branch["type"] in ("record", "fixed") else branch["type"]
    return [None if value is None else (name, value) for value in _values(type_, branch, array)]


def _values(type_: Type, avro: Any, array: pa.Array) -> list[Any]:
    match type_:
        case StructType():
            return _unless_null(array, _records(type_, avro, array.flatten(), len(array)))
        case ListType():
            return _spans(array, _branch_values(type_.element, avro["items"], array.values))
        case MapType(key=StringType()):
            pairs = zip(array.keys.to_pylist(), _branch_values(type_.value, avro["values"], array.items), strict=True)
            return [None if entries is None else dict(entries) for entries in _spans(array, list(pairs))]
        case MapType():
            entry = StructType((type_.key_field, type_.value_field))
            return _spans(array, _records(entry, avro["items"], [array.keys, array.items], len(array.keys)))
        case DecimalType(precision=precision):
            return _unscaled(array, decimal_bytes(precision))
        case UUIDType():
            return list((array.storage if is_uuid(array.type) else array).to_pylist())
        case _:
            return internal_values(type_, array)


def _unscaled(array: pa.Array, size: int) -> list[bytes | None]:
    """Unscaled decimals in two's complement of ``size`` bytes, the first byte first."""
    if not len(array):
        return []
    stored = np.frombuffer(array.buffers()[1], np.uint8)[16 * array.offset : 16 * (array.offset + len(array))].reshape(-1, 16)
    data = stored[:, size - 1 :: -1].tobytes() if size < 16 else stored[:, ::-1].tobytes()
    return _unless_null(array, [data[i : i + size] for i in range(0, len(data), size)])


def _spans(array: pa.Array, values: list[Any]) -> list[Any]:
    offsets = array.offsets.to_pylist()
    return _unless_null(array, [values[start:end] for start, end in pairwise(offsets)])


def _unless_null(array: pa.Array, values: list[Any]) -> list[Any]:
    if not array.null_count:
        return values
    return [value if valid else None for value, valid in zip(values, array.is_valid().to_pylist(), strict=True)]
