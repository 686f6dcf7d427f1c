"""What write tasks have written so far: files, rows and bytes, told by each task that is done."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from icesql.spec.files import DataFile


@dataclass(frozen=True, slots=True)
class Written:
    """Sums over all writes of a Spark context, tasks that ran twice counted twice: for progress only."""

    files: int = 0
    rows: int = 0
    bytes: int = 0

    def since(self, before: Written) -> Written:
        return Written(self.files - before.files, self.rows - before.rows, self.bytes - before.bytes)


@dataclass(frozen=True, slots=True)
class WrittenCounts:
    """Spark's accumulators: a task adds to them, the driver reads their sums."""

    files: Any
    rows: Any
    bytes: Any

    def add(self, files: Iterable[DataFile]) -> None:
        for file in files:
            self.files.add(1)
            self.rows.add(file.record_count)
            self.bytes.add(file.file_size_in_bytes)

    @property
    def so_far(self) -> Written:
        return Written(self.files.value, self.rows.value, self.bytes.value)


_counts: weakref.WeakKeyDictionary[Any, WrittenCounts] = weakref.WeakKeyDictionary()


def written_counts(spark: Any) -> WrittenCounts:
    """Those of the session's Spark context."""
    context = spark.sparkContext
    if context not in _counts:
        _counts[context] = WrittenCounts(context.accumulator(0), context.accumulator(0), context.accumulator(0))
    return _counts[context]
