"""Rows of a manifest grouped by partition tuple, column by column: tuples are made once a partition, not once a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from icesql.io.manifests.columns import ManifestColumns
from icesql.io.manifests.partition_columns import PartitionColumn
from icesql.table.manifests.column_predicates import Rows


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
    keys, size = np.zeros(len(chosen), np.int64), 1
    for _, column in sorted(columns.partition_columns.items()):
        codes = _codes(column, chosen)
        width = int(codes.max(initial=-1)) + 2
        if size * width >= 2**62:
            _, keys = np.unique(keys, return_inverse=True)
            size = len(chosen)
        keys, size = keys.reshape(-1) * width + codes + 1, size * width
    _, first, groups = np.unique(keys, return_index=True, return_inverse=True)
    return groups.reshape(-1), first


def _codes(column: PartitionColumn, chosen: Rows) -> np.ndarray[Any, Any]:
    """A small number for each distinct value; null is -1."""
    valid = column.valid[chosen]
    if column.integers is not None:
        codes = _ranks(column.integers[chosen])
    else:
        known: dict[bytes | None, int] = {}
        spans = column.spans
        codes = np.fromiter(
            (known.setdefault(None if spans is None else spans[row], len(known)) for row in chosen.tolist()), np.int64, len(chosen)
        )
    return np.where(valid, codes.reshape(-1), -1)


def _ranks(numbers: Rows) -> np.ndarray[Any, Any]:
    """Numbers from 0 on that are equal where the given ones are; distances are kept where they are small, which needs no sorting."""
    least, greatest = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    return numbers - least if greatest - least < 2**31 else np.unique(numbers, return_inverse=True)[1]
