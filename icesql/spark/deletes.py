"""Position deletes and deletion vectors, applied inside the JVM. Spec: "Position Delete Files", "Deletion Vectors".

Each file with deletes carries its deleted positions as a constant column: a 32-bit portable Roaring bitmap, which the JVM's
``ImmutableRoaringBitmap`` reads in place. So the plan needs no join, no broadcast and no Python worker, and a file's bitmap goes only to
the tasks that read the file.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from icesql.errors import UnsupportedError
from icesql.io.files import FileIO
from icesql.spark.bridge import bridge_of
from icesql.spark.columns import DELETES
from icesql.spec.files import DataFile, FileContent, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.manifest_access import manifests_of, of_content
from icesql.table.scan_tasks import ScannedFile

_BITMAP = "org.roaringbitmap.buffer.ImmutableRoaringBitmap"


def delete_kinds(io: FileIO, metadata: TableMetadata, snapshot: Snapshot | None) -> frozenset[FileContent]:
    """Which kinds of delete files a snapshot has; empty without delete manifests, and then nothing was read but the manifest list."""
    from icesql.io.manifest_columns import read_manifest_columns

    kinds: set[FileContent] = set()
    for manifest in of_content(manifests_of(io, snapshot), ManifestContent.DELETES):
        if not manifest.has_live_files:
            continue
        columns = read_manifest_columns(io, manifest, bounds_for=frozenset())
        kinds.update(FileContent(int(c)) for c in set(columns.content[columns.live].tolist()))
    return frozenset(kinds)


def has_equality_deletes(file: ScannedFile) -> bool:
    return any(delete.content is FileContent.EQUALITY_DELETES for delete in file.delete_files)


def is_deleted(spark: SparkSession, frame: DataFrame) -> Column:
    """True for deleted rows of a frame that has the column of bitmaps; never null."""
    bridge = bridge_of(spark)
    boolean = bridge.type_module("BooleanType")
    serialized = bridge.expression(frame[DELETES])
    buffer = bridge.static_invoke("java.nio.ByteBuffer", "wrap", bridge.object_type("java.nio.ByteBuffer"), serialized)
    bitmap = bridge.construct(_BITMAP, buffer)
    # Long.hashCode of a number below 2**32 is its low half, which is how Roaring takes unsigned positions.
    index = bridge.expression(F.col("_metadata.row_index"))
    position = bridge.static_invoke("java.lang.Long", "hashCode", bridge.type_module("IntegerType"), index)
    contains = bridge.invoke(bitmap, "contains", boolean, position)
    none = bridge.expressions.IsNull(serialized)
    return bridge.column(bridge.expressions.If(none, bridge.literal_class(False, boolean), contains))


class DeletedPositions:
    """Deleted positions of tasks' files as serialized bitmaps. Delete files that serve several data files are read once."""

    def __init__(self, io: FileIO, gone: Mapping[str, Any] | None = None) -> None:
        """``gone``: further positions to leave out, by data file."""
        self._io, self._gone = io, gone or {}
        self._files: dict[str, Mapping[str, Any]] = {}

    def __call__(self, file: ScannedFile) -> bytes | None:
        bitmap = self.bitmap(file)
        return None if bitmap is None else portable_32(bitmap, file.file_path)

    def bitmap(self, file: ScannedFile) -> Any:
        """The union of all position deletes and the deletion vector of a data file, ``None`` if there are none."""
        found = self._gone.get(file.file_path)
        for delete in file.delete_files:
            if delete.content is FileContent.POSITION_DELETES:
                more = self.positions(delete, file.file_path)
                found = more if found is None else found if more is None else found | more
        return found if found else None

    def positions(self, file: DataFile, data_path: str) -> Any:
        """Positions of one data file that one position delete file or deletion vector deletes, ``None`` if there are none."""
        if file.is_deletion_vector:
            from icesql.io.deletion_vectors import read_dv

            return read_dv(self._io, file)
        if file.file_path not in self._files:
            from icesql.io.delete_files import read_position_deletes

            self._files[file.file_path] = read_position_deletes(self._io, file)
        return self._files[file.file_path].get(data_path)


def portable_32(bitmap: Any, path: str) -> bytes:
    """A 64-bit bitmap of positions below 2**32 as a 32-bit one: the first and only part of its portable form."""
    data = bytes(bitmap.serialize())
    parts, key = struct.unpack_from("<QI", data)
    if parts != 1 or key != 0:
        raise UnsupportedError(f"Cannot read deletes: a position is beyond 4294967295: {path}")
    return data[12:]
