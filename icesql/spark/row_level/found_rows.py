"""The rows that a statement found, in the driver: which files they are in and at which positions.

Few come one by one. Where there may be many, Spark makes bitmaps of their positions first, so that what comes is at most some bits a row
of the table, and what has no place (rows that a MERGE inserts) comes as a count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from icesql.spark.columns import quoted
from icesql.spark.local_rows import collect_arrow, size_in_bytes
from icesql.spec.snapshots import Snapshot

FILE, POS = "_file", "_pos"
MANY_ROWS = 2_000_000
MANY_BYTES = 512 << 20
_BITS_A_ROW = 1 << 15  # positions in one bitmap of Spark's aggregate
_PART, _BITS, _COUNT = "__part", "__bits", "__count"


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Columns ``_file`` (null for rows that are not in the table) and the asked-for ones, and either ``_pos`` (one row each) or
    bitmaps and counts."""

    table: pa.Table

    def where(self, mask: Any) -> FoundRows:
        return FoundRows(self.table.filter(mask))

    def column(self, name: str) -> Any:
        return self.table[name]

    @property
    def count(self) -> int:
        return int(pc.sum(self.table[_COUNT]).as_py() or 0) if _COUNT in self.table.column_names else self.table.num_rows

    def positions(self) -> tuple[dict[str, Any], bool]:
        """A bitmap by file of the rows that are in one, and whether some row came twice."""
        from pyroaring import BitMap64

        inside = self.where(pc.is_valid(self.table[FILE]))
        found: dict[str, Any] = {}
        for path, positions in inside._pieces():
            found.setdefault(path, BitMap64()).update(positions.tolist())
        return found, inside.count > sum(map(len, found.values()))

    def _pieces(self) -> Any:
        """(file, positions) pairs, a file perhaps in several."""
        if _BITS in self.table.column_names:
            for path, part, bits in zip(*(self.table[name].to_pylist() for name in (FILE, _PART, _BITS)), strict=True):
                set_bits = np.flatnonzero(np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little"))
                yield path, set_bits + part * _BITS_A_ROW
            return
        for batch in self.table.select([FILE, POS]).to_batches():
            encoded = batch.column(0).dictionary_encode()
            codes, positions = encoded.indices.to_numpy(zero_copy_only=False), batch.column(1).to_numpy(zero_copy_only=False)
            for code, path in enumerate(encoded.dictionary.to_pylist()):
                yield path, positions[codes == code]


def found_rows(frame: DataFrame, *, many: bool, keys: Sequence[str] = ()) -> FoundRows:
    """Collect a frame that has ``_file``, ``_pos`` and the columns ``keys``."""
    wanted = [FILE, POS, *keys]
    if not many:
        return FoundRows(collect_arrow(frame if frame.columns == wanted else frame.select(*wanted)))
    part = F.expr(f"{POS} DIV {_BITS_A_ROW}").alias(_PART)
    bits = F.expr(f"bitmap_construct_agg({POS} % {_BITS_A_ROW})").alias(_BITS)
    grouped = frame.groupBy(FILE, part, *map(quoted, keys)).agg(bits, F.count(F.lit(1)).alias(_COUNT))
    return FoundRows(collect_arrow(grouped))


def may_be_many(snapshot: Snapshot | None, source: DataFrame | None = None) -> bool:
    """Whether so many rows of the snapshot, or of a source, may be found that they should not come one by one."""
    total = snapshot.summary.get("total-records", "") if snapshot else "0"
    if not total.isdigit() or int(total) > MANY_ROWS:
        return True
    return source is not None and size_in_bytes(source) > MANY_BYTES


def positions_by_file(frame: DataFrame, snapshot: Snapshot | None) -> Mapping[str, Any]:
    """Positions by file of a frame's rows, which are of that snapshot."""
    return found_rows(frame, many=may_be_many(snapshot)).positions()[0]
