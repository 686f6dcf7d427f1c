"""The rows that a statement affects, in the driver: which files they are in and at which positions.

Few are collected one by one. Where there may be many, Spark makes bitmaps of their positions first, so that at most some bits a row of
the table are collected; rows without a place, which a MERGE inserts, are collected as a count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from icesql.spark.jvm.local_rows import collect_arrow, size_in_bytes
from icesql.spark.read.columns import quoted
from icesql.spark.row_level.file_numbers import FILE_NUMBER, FileNumbers
from icesql.spec import metadata_columns
from icesql.spec.snapshots import Snapshot

if TYPE_CHECKING:
    from pyroaring import BitMap64

POS = metadata_columns.POS.name
MANY_ROWS = 2_000_000
MANY_BYTES = 512 << 20
_BITS_A_ROW = 1 << 15  # positions in one bitmap of Spark's aggregate
_PART, _BITS, _COUNT = "__part", "__bits", "__count"


@dataclass(frozen=True, slots=True)
class AffectedRows:
    """Columns ``__file_number`` (null for rows that are not in the table) and the asked-for ones, and either ``_pos`` (one row each) or
    bitmaps and counts. ``files``: what the numbers stand for."""

    table: pa.Table
    files: FileNumbers

    def where(self, mask: Any) -> AffectedRows:
        return AffectedRows(self.table.filter(mask), self.files)

    def column(self, name: str) -> Any:
        return self.table[name]

    @property
    def count(self) -> int:
        return int(pc.sum(self.table[_COUNT]).as_py() or 0) if _COUNT in self.table.column_names else self.table.num_rows

    def paths(self) -> frozenset[str]:
        """The files of the rows."""
        return frozenset(self.files.paths[number] for number in self.table[FILE_NUMBER].unique().to_pylist())

    def positions(self) -> tuple[dict[str, BitMap64], bool]:
        """A bitmap by file of the rows that are in one, and whether some row came twice."""
        from pyroaring import BitMap64  # which executors lack

        inside = self.where(pc.is_valid(self.table[FILE_NUMBER]))
        bitmaps: dict[str, BitMap64] = {}
        for number, positions in inside._pieces():
            bitmaps.setdefault(self.files.paths[number], BitMap64()).update(positions.tolist())
        return bitmaps, inside.count > sum(map(len, bitmaps.values()))

    def _pieces(self) -> Any:
        """(number of a file, positions) pairs, a file perhaps in several."""
        if _BITS in self.table.column_names:
            for number, part, bits in zip(*(self.table[name].to_pylist() for name in (FILE_NUMBER, _PART, _BITS)), strict=True):
                set_bits = np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little"))
                yield number, set_bits + part * _BITS_A_ROW
            return
        for batch in self.table.select([FILE_NUMBER, POS]).to_batches():
            numbers, positions = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            for number in np.unique(numbers).tolist():
                yield number, positions[numbers == number]


def affected_rows(frame: DataFrame, files: FileNumbers, *, many: bool, keys: Sequence[str] = ()) -> AffectedRows:
    """Collect a frame that has ``__file_number``, ``_pos`` and the columns ``keys``."""
    wanted = [FILE_NUMBER, POS, *keys]
    if not many:
        return AffectedRows(collect_arrow(frame if frame.columns == wanted else frame.select(*wanted)), files)
    part = F.expr(f"{POS} DIV {_BITS_A_ROW}").alias(_PART)
    bits = F.expr(f"bitmap_construct_agg({POS} % {_BITS_A_ROW})").alias(_BITS)
    grouped = frame.groupBy(FILE_NUMBER, part, *map(quoted, keys)).agg(bits, F.count(F.lit(1)).alias(_COUNT))
    return AffectedRows(collect_arrow(grouped), files)


def may_be_many(snapshot: Snapshot | None, source: DataFrame | None = None) -> bool:
    """Whether so many rows of the snapshot, or of a source, may be affected that they should not be collected one by one."""
    rows = 0 if snapshot is None else total(snapshot, "total-records")
    if rows is None or rows > MANY_ROWS:
        return True
    return source is not None and size_in_bytes(source) > MANY_BYTES


def total(snapshot: Snapshot | None, name: str) -> int | None:
    """A total of the snapshot's summary, ``None`` where it has none."""
    text = snapshot.summary.get(name, "") if snapshot else ""
    return int(text) if text.isdigit() else None


def positions_by_file(frame: DataFrame, files: FileNumbers, snapshot: Snapshot | None) -> Mapping[str, BitMap64]:
    """Positions by file of a frame's rows, which are of that snapshot."""
    return affected_rows(frame, files, many=may_be_many(snapshot)).positions()[0]
