"""Entries of one manifest for another, with their data file records copied as bytes: rewriting manifests need not decode them.

A record is copied whole where both schemas have the same shape. Where they differ only in the partition (some writers make it required)
or in
the optional fields at the end (row lineage and deletion vectors, by version and writer) and the row has none of these, those parts are
written
anew; any other row is decoded and encoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from icesql.io.avro.decode import Names, resolve
from icesql.io.manifests.encode import data_file_encoder, optional_long, partition_encoder
from icesql.io.manifests.schemas import data_file_schema
from icesql.io.manifests.writer import RawEntry
from icesql.spec.files import EntryStatus
from icesql.spec.types import StructType

if TYPE_CHECKING:
    from icesql.io.manifests.columns import ManifestColumns

_PARTITION, _FIRST_ROW_ID = 102, 142
_TAIL = frozenset((_FIRST_ROW_ID, 143, 144, 145))  # optional fields after sort_order_id


def shape(schema: Any, names: Names | None = None) -> Any:
    """A schema without names and defaults: equal shapes have equal encodings and meanings."""
    names = Names() if names is None else names
    schema = resolve(schema, names)
    if isinstance(schema, list):
        return tuple(shape(branch, names) for branch in schema)
    kind, logical = schema["type"], schema.get("logicalType")
    match kind:
        case "record":
            return ("record", tuple((f.get("field-id", f["name"]), shape(f["type"], names)) for f in schema["fields"]))
        case "array":
            return ("array", logical == "map", shape(schema["items"], names))
        case "map":
            return ("map", shape(schema["values"], names))
        case "fixed":
            return ("fixed", schema["size"], logical, schema.get("scale"))
        case _:
            return "int" if kind == "long" else kind  # one encoding


def _split(schema: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """(shape of the fields before the optional end, but for the partition; shape of the partition; field ids of the end)."""
    fields: list[tuple[Any, Any]] = [(field_id, None if field_id == _PARTITION else kind) for field_id, kind in shape(schema)[1]]
    partition = next(kind for field_id, kind in shape(schema)[1] if field_id == _PARTITION)
    end = len(fields)
    while end and fields[end - 1][0] in _TAIL and _is_optional(fields[end - 1][1]):
        end -= 1
    return fields[:end], partition, tuple(field_id for field_id, _ in fields[end:])


@lru_cache(maxsize=256)
def _target_split(format_version: int, partition: StructType) -> tuple[Any, Any, tuple[int, ...]]:
    return _split(data_file_schema(format_version, partition))


def _is_optional(kind: Any) -> bool:
    return isinstance(kind, tuple) and bool(kind[0] == "null")


def can_copy(source: Any, format_version: int, partition: StructType) -> bool:
    """True if most records of a ``data_file`` schema can go as bytes into a manifest of this version and partition type."""
    return bool(_split(source)[0] == _split(data_file_schema(format_version, partition))[0])


def raw_entries(
    columns: ManifestColumns, rows: Iterable[int], *, source: Any, format_version: int, partition: StructType, status: EntryStatus
) -> Iterator[RawEntry]:
    chosen = np.fromiter(rows, np.int64)
    records = _records(columns, chosen, source, format_version, partition)
    no_snapshot = columns.manifest.added_snapshot_id is None
    numbers = zip(
        columns.snapshot_id[chosen].tolist(),
        columns.sequence_number[chosen].tolist(),
        columns.file_sequence_number[chosen].tolist(),
        columns.record_count[chosen].tolist(),
        columns.partitions(chosen),
        records,
        strict=True,
    )
    for snapshot_id, number, file_number, record_count, values, record in numbers:
        yield RawEntry(
            status=status,
            snapshot_id=None if no_snapshot and snapshot_id == -1 else snapshot_id,
            sequence_number=None if number < 0 else number,
            file_sequence_number=None if file_number < 0 else file_number,
            record=record,
            partition=values,
            record_count=record_count,
        )


def _records(
    columns: ManifestColumns, chosen: np.ndarray[Any, Any], source: Any, format_version: int, partition: StructType
) -> Iterator[bytes]:
    base, own_partition, tail = columns.program.once("split", lambda: _split(source))
    target_base, target_partition, target_tail = _target_split(format_version, partition)
    none = np.zeros(len(columns), bool)
    whole = columns.own_first_row_id == columns.first_row_id if (base, tail) == (target_base, target_tail) else none
    bare = columns.has_no(tail) if base == target_base else none
    encode, encode_partition = data_file_encoder(format_version, partition), partition_encoder(partition)
    new_partitions = None if own_partition == target_partition else map(encode_partition, columns.partitions(chosen))
    details = zip(chosen.tolist(), whole[chosen].tolist(), bare[chosen].tolist(), columns.first_row_id[chosen].tolist(), strict=True)
    for row, copies, ends_anew, first_row_id in details:
        partition_bytes = None if new_partitions is None else next(new_partitions)
        if not copies and not ends_anew:
            yield encode(columns.data_file(row))
            continue
        start, end = columns.record_parts(row, partition_bytes)
        yield start + (end if copies else end[: len(end) - len(tail)] + _end(target_tail, first_row_id))


def _end(tail: tuple[int, ...], first_row_id: int) -> bytes:
    known = None if first_row_id < 0 else first_row_id
    return b"".join([optional_long(known) if field_id == _FIRST_ROW_ID else b"\x00" for field_id in tail])
