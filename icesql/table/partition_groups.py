"""Rows of a manifest grouped by partition tuple, a column at a time: one tuple is made a partition, not a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from icesql.io.manifest_columns import ManifestColumns
from icesql.io.partition_columns import PartitionColumn
from icesql.table.column_predicates import Rows


def partition_tuples(columns: ManifestColumns, chosen: Rows) -> list[tuple[object, ...]]:
    """The partition tuple of each chosen row; rows of one partition share the object."""
    if not len(chosen):
        return []
    groups, tuples = grouped_tuples(columns, chosen)
    return [tuples[group] for group in groups.tolist()]


def grouped_tuples(columns: ManifestColumns, chosen: Rows) -> tuple[np.ndarray[Any, Any], list[tuple[object, ...]]]:
    """(group of each chosen row, partition tuple of each group)."""
    groups, first = group_rows(columns, chosen)
    return groups, [columns.partition(int(chosen[place])) for place in first.tolist()]


def group_rows(columns: ManifestColumns, chosen: Rows) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(group of each chosen row, place of the first row of each group), by partition tuple."""
    codes = [_codes(column, chosen) for _, column in sorted(columns.partition_columns.items())]
    if not codes:
        return np.zeros(len(chosen), np.int64), np.zeros(1, np.int64)
    _, first, groups = np.unique(np.stack(codes), axis=1, return_index=True, return_inverse=True)
    return groups.reshape(-1), first


def _codes(column: PartitionColumn, chosen: Rows) -> np.ndarray[Any, Any]:
    """A small number a distinct value; null is -1."""
    valid = column.valid[chosen]
    if column.integers is not None:
        _, codes = np.unique(column.integers[chosen], return_inverse=True)
    else:
        known: dict[bytes | None, int] = {}
        spans = column.spans
        codes = np.fromiter(
            (known.setdefault(None if spans is None else spans[row], len(known)) for row in chosen.tolist()), np.int64, len(chosen)
        )
    return np.where(valid, codes.reshape(-1), -1)
