"""Reads manifests as columns. A manifest is inflated once and decoded once for each set of wanted field ids; both are cached by path."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from icesql.io.avro import columns_python as avro_columns_python
from icesql.io.avro.container import AvroRecords, corrupt
from icesql.io.lru import LruCache
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.manifests.entries import entry_parts, read_manifest_records
from icesql.io.manifests.location_columns import first_stray
from icesql.io.manifests.program import Program, compile_program
from icesql.io.native import native
from icesql.io.storage.files import FileIO
from icesql.spec.files import FileContent, ManifestContent, ManifestFile
from icesql.spec.partitioning import PartitionSpec

RECORDS_CACHE_BYTES = 256 * 1024 * 1024
COLUMNS_CACHE_BYTES = 256 * 1024 * 1024
_NONE: frozenset[int] = frozenset()

_records_cache: LruCache[Hashable, AvroRecords] = LruCache(
    RECORDS_CACHE_BYTES, lambda held: len(held.buffer) + 24 * len(held.blocks) + 4096
)
_columns_cache: LruCache[Hashable, ManifestColumns] = LruCache(COLUMNS_CACHE_BYTES, lambda held: held.byte_size)


def read_manifest_columns(
    io: FileIO,
    manifest: ManifestFile,
    *,
    spec: PartitionSpec | None = None,
    bounds_for: frozenset[int] | None = None,
    use_cache: bool = True,
    use_native: bool = True,
) -> ManifestColumns:
    """Decode a manifest into columns. ``bounds_for``: the field ids whose counts and bounds are kept (``None``: none).

    ``spec`` orders partition tuples, and finds partition fields by name where the writer left ids out.
    Raises NotFoundError, CorruptMetadataError, UnsupportedError (unknown codec).
    """
    wanted = tuple(sorted(bounds_for or _NONE))
    location = manifest.manifest_path
    key = (location, manifest.sequence_number, manifest.added_snapshot_id, manifest.first_row_id, manifest.content, spec, wanted)
    if use_cache and (held := _columns_cache.find(key)) is not None:
        return held
    records = _records_cache.find(location) if use_cache else None
    if records is None:
        records = read_manifest_records(io, location)
        if use_cache:
            _records_cache.put(location, records)
    columns = decode_columns(records, manifest, spec=spec, wanted=wanted, use_native=use_native)
    if use_cache:
        _columns_cache.put(key, columns)
    return columns


_programs: LruCache[tuple[bytes, int], Program] = LruCache(256)  # by the schema's text: most manifests of a table have the same


def _program(records: AvroRecords, wanted_count: int) -> Program:
    entry_parts(records.header.schema)
    return compile_program(records.header.schema, wanted_count)


def decode_columns(
    records: AvroRecords,
    manifest: ManifestFile,
    *,
    spec: PartitionSpec | None = None,
    wanted: tuple[int, ...] = (),
    use_native: bool = True,
) -> ManifestColumns:
    """Run the decoder over inflated records. Raises CorruptMetadataError."""
    location = manifest.manifest_path
    try:
        program = _programs.find_or_make((records.header.metadata["avro.schema"], len(wanted)), lambda: _program(records, len(wanted)))
    except (StopIteration, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise corrupt(location, f"not a manifest: {error!r}") from error
    rows = records.record_count
    ints, present = np.zeros((max(1, program.int_count), rows), np.int64), np.zeros((max(1, program.int_count), rows), np.uint8)
    offsets, lengths = np.zeros((max(1, program.span_count), rows), np.int64), np.full((max(1, program.span_count), rows), -1, np.int32)
    marks = np.zeros((4, rows), np.int64)
    blocks = np.array(records.blocks, np.int64).reshape(-1, 3)
    module = (native if use_native else None) or avro_columns_python
    try:
        module.decode_rows(records.buffer, blocks, program.nodes, np.array(wanted, np.int64), rows, ints, present, offsets, lengths, marks)
    except ValueError as error:
        why, place = error.args if len(error.args) == 2 else (str(error), None)
        raise corrupt(location, f"damaged entry: {why}", place) from error
    return _checked(ManifestColumns(location, manifest, spec, wanted, records, program, ints, present, offsets, lengths, marks))


def _checked(columns: ManifestColumns) -> ManifestColumns:
    """Raises CorruptMetadataError where a required column is missing or a value is out of range."""
    if len(columns):
        required: dict[str, npt.NDArray[Any]] = {
            "file path": columns.file_path.lengths,
            "file format": columns.file_format.lengths,
            "record count": columns.record_count,
            "file size": columns.file_size_in_bytes,
            "status": columns.status,
            "content": columns.content,
        }
        for what, values in required.items():
            if values.min() < 0:
                raise corrupt(columns.location, f"entry without {what}")
        if columns.manifest.content is ManifestContent.DATA and columns.content.max() != FileContent.DATA:
            raise corrupt(columns.location, "delete file in a data manifest")
        try:
            stray = first_stray(columns.file_path)
        except UnicodeDecodeError as error:
            raise corrupt(columns.location, f"text that is not UTF-8: {error}") from error
        if stray is not None:
            raise corrupt(columns.location, f"file path is not a location: {stray!r}")
    return columns


def clear_caches() -> None:
    """Forget every decoded manifest."""
    _records_cache.clear()
    _columns_cache.clear()
