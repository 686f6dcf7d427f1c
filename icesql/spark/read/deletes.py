"""Position deletes and deletion vectors, applied inside the JVM. Spec: "Position Delete Files", "Deletion Vectors".

Each file carries its deleted positions as a constant column: bits (``deleted_bits``), or, where these would be large, a 32-bit portable
Roaring bitmap, which the JVM's ``ImmutableRoaringBitmap`` reads in place but opens anew for each row. So the plan needs no join, no
broadcast and no Python worker, and a file's deletes go only to the tasks that read the file.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from icesql.errors import UnsupportedError
from icesql.io.deletes.deletion_vectors import read_dv
from icesql.io.deletes.files import read_position_deletes
from icesql.io.deletes.roaring import positions_in
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.storage.files import FileIO
from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.expressions import if_else
from icesql.spark.read.columns import DELETES, ROW_INDEX
from icesql.spark.read.deleted_bits import (
    NOTHING_DELETED,
    deleted_bits,
    has_bit_in_a_row,
    has_bit_in_pages,
    holds_bits,
    is_in_a_row,
    is_in_pages,
    size_in_bytes,
)
from icesql.spec.files import DataFile, FileContent, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.manifests.access import manifests_of, of_content
from icesql.table.scan.tasks import ScannedFile

if TYPE_CHECKING:
    from pyroaring import BitMap64

BITS_LIMIT_BYTES = 256 << 10
ALL_BITS_BYTES = 64 << 20


def delete_kinds(io: FileIO, metadata: TableMetadata, snapshot: Snapshot | None) -> frozenset[FileContent]:
    """Which kinds of delete files a snapshot has; empty without delete manifests, and then nothing was read but the manifest list."""
    kinds: set[FileContent] = set()
    for manifest in of_content(manifests_of(io, snapshot), ManifestContent.DELETES):
        if not manifest.has_live_files:
            continue
        columns = read_manifest_columns(io, manifest, bounds_for=frozenset())
        kinds.update(FileContent(int(c)) for c in set(columns.content[columns.live].tolist()))
    return frozenset(kinds)


def has_equality_deletes(file: ScannedFile) -> bool:
    return any(delete.content is FileContent.EQUALITY_DELETES for delete in file.delete_files)


def is_deleted(spark: SparkSession) -> Column:
    """True for deleted rows of a relation that has the columns ``DELETES`` and ``ROW_INDEX``; never null."""
    bridge = bridge_of(spark)
    made: Column = bridge.once(("is deleted",), lambda: _is_deleted(bridge))
    return made


def is_kept(spark: SparkSession) -> Column:
    """The opposite of ``is_deleted``."""
    made: Column = bridge_of(spark).once(("is kept",), lambda: ~is_deleted(spark))
    return made


def _is_deleted(bridge: Bridge) -> Column:
    data, position = F.col(DELETES), F.col(ROW_INDEX.name)
    elsewhere = if_else(bridge, is_in_pages(bridge, data), has_bit_in_pages(bridge, data, position), _in_bitmap(bridge, data, position))
    return if_else(bridge, is_in_a_row(bridge, data), has_bit_in_a_row(bridge, data, position), elsewhere)


def _in_bitmap(bridge: Bridge, data: Column, position: Column) -> Column:
    buffer = bridge.static_invoke("java.nio.ByteBuffer", "wrap", bridge.object_type("java.nio.ByteBuffer"), bridge.expression(data))
    # Long.hashCode of a number below 2**32 is its low half, which is how Roaring takes unsigned positions.
    index = bridge.static_invoke("java.lang.Long", "hashCode", bridge.type_module("IntegerType"), bridge.expression(position))
    return bridge.column(
        bridge.invoke(bridge.construct(classes.ROARING_BITMAP, buffer), "contains", bridge.type_module("BooleanType"), index)
    )


class DeletedPositions:
    """Deleted positions of tasks' files in the form that ``is_deleted`` tests. Delete files that serve several data files are read once."""

    def __init__(self, io: FileIO, deleted_positions: Mapping[str, BitMap64] | None = None, *, bits_bytes: int = ALL_BITS_BYTES) -> None:
        """``deleted_positions``: more of them, by data file. ``bits_bytes``: what the bits of all files may take together; later
        files get Roaring bitmaps."""
        self._io, self._further, self._left = io, deleted_positions or {}, bits_bytes
        self._files: dict[str, Mapping[str, BitMap64]] = {}
        self._made: dict[str, bytes] = {}

    def __call__(self, file: ScannedFile) -> bytes:
        path = file.file_path
        if path in self._made:
            return self._made[path]
        bitmap = self.bitmap(file)
        if bitmap is None:
            return NOTHING_DELETED
        data = self._made[path] = for_the_jvm(bitmap, path, limit_bytes=min(BITS_LIMIT_BYTES, self._left))
        self._left -= len(data) if holds_bits(data) else 0
        return data

    def bitmap(self, file: ScannedFile) -> BitMap64 | None:
        """The union of all position deletes and the deletion vector of a data file, ``None`` if there are none."""
        bitmap = self._further.get(file.file_path)
        for delete in file.delete_files:
            if delete.content is FileContent.POSITION_DELETES:
                more = self.positions(delete, file.file_path)
                bitmap = more if bitmap is None else bitmap if more is None else bitmap | more
        return bitmap if bitmap else None

    def positions(self, file: DataFile, data_path: str) -> BitMap64 | None:
        """Positions of one data file that one position delete file or deletion vector deletes, ``None`` if there are none."""
        if file.is_deletion_vector:
            return read_dv(self._io, file)
        if file.file_path not in self._files:
            self._files[file.file_path] = read_position_deletes(self._io, file)
        return self._files[file.file_path].get(data_path)


def for_the_jvm(bitmap: BitMap64, path: str, *, limit_bytes: int = BITS_LIMIT_BYTES) -> bytes:
    """Positions as bits, or as a 32-bit Roaring bitmap where the bits would take more than the limit."""
    serialized = bytes(bitmap.serialize())
    if len(bitmap) > 8 * limit_bytes:  # a bit each at least: they need not be expanded to see it
        return portable_32(serialized, path)
    positions = positions_in(serialized)
    return deleted_bits(positions) if size_in_bytes(positions) <= limit_bytes else portable_32(serialized, path)


def portable_32(data: bytes, path: str) -> bytes:
    """A serialized 64-bit bitmap of positions below 2**32 as a 32-bit one: the first and only part of its portable form."""
    parts, key = struct.unpack_from("<QI", data)
    if parts != 1 or key != 0:
        raise UnsupportedError(f"Cannot read deletes: a position is beyond 4294967295: {path}")
    return data[12:]
