"""Decoded ``data_file`` records (dicts keyed by field id) to DataFile values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from icesql.io.storage.locations import is_location
from icesql.spec.files import DataFile, FileContent

Record: TypeAlias = Mapping[Any, Any]


def partition_reader(
    keys_in_file: tuple[int | str, ...], wanted: tuple[tuple[int, str], ...] | None
) -> Callable[[Record], tuple[object, ...]]:
    """Reads a partition tuple in the order of ``wanted`` (field id, name); in the file's order if ``None``. A field the file lacks is
    null."""
    if wanted is None:
        return lambda record: tuple(record[key] for key in keys_in_file)
    present = set(keys_in_file)
    keys = [field_id if field_id in present else (name if name in present else None) for field_id, name in wanted]
    return lambda record: tuple(None if key is None else record[key] for key in keys)


def data_file_of_record(record: Record, spec_id: int, partition: Callable[[Record], tuple[object, ...]]) -> DataFile:
    """Raises KeyError or ValueError for a record that lacks a required field or holds what the spec does not know there."""
    find = record.get
    if not is_location(record[100]):
        raise ValueError(f"file path is not a location: {record[100]!r}")

    def by_column(field_id: int) -> dict[int, Any]:
        pairs = find(field_id) or {}
        if not isinstance(pairs, dict):
            raise ValueError(f"field {field_id} is not a map")
        return pairs

    return DataFile(
        content=FileContent(find(134) or 0),
        file_path=record[100],
        file_format=record[101].lower(),
        spec_id=spec_id,
        partition=partition(record[102]),
        record_count=record[103],
        file_size_in_bytes=record[104],
        column_sizes=by_column(108),
        value_counts=by_column(109),
        null_value_counts=by_column(110),
        nan_value_counts=by_column(137),
        lower_bounds=by_column(125),
        upper_bounds=by_column(128),
        key_metadata=find(131),
        split_offsets=tuple(find(132) or ()),
        equality_ids=tuple(find(135) or ()),
        sort_order_id=find(140),
        first_row_id=find(142),
        referenced_data_file=find(143),
        content_offset=find(144),
        content_size_in_bytes=find(145),
    )
