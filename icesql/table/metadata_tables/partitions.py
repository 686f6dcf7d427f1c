"""``partitions``: totals of each partition of a snapshot, computed by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from icesql.io.manifests.columns import ManifestColumns
from icesql.spec.files import FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import partition_key
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, LongType, StructType, TimestamptzType
from icesql.table.manifests.column_predicates import Rows
from icesql.table.manifests.partition_groups import group_rows
from icesql.table.metadata.partition_types import coercion, union_partition_type
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport, column, table_of_rows
from icesql.table.metadata_tables.file_columns import partition_column
from icesql.table.metadata_tables.file_scan import columns_of, snapshot_manifests
from icesql.table.scan.planning import live_rows


def schema(metadata: TableMetadata) -> Schema:
    partition = partition_column(metadata)
    spec_id = column(4, "spec_id", IntegerType(), required=True)
    own = () if partition is None else (column(1, "partition", partition.type, required=True), spec_id)
    return Schema(
        (
            *own,
            column(2, "record_count", LongType(), required=True, doc="Count of records in data files"),
            column(3, "file_count", IntegerType(), required=True, doc="Count of data files"),
            column(11, "total_data_file_size_in_bytes", LongType(), required=True, doc="Total size in bytes of data files"),
            column(5, "position_delete_record_count", LongType(), required=True, doc="Count of records in position delete files"),
            column(6, "position_delete_file_count", IntegerType(), required=True, doc="Count of position delete files"),
            column(7, "equality_delete_record_count", LongType(), required=True, doc="Count of records in equality delete files"),
            column(8, "equality_delete_file_count", IntegerType(), required=True, doc="Count of equality delete files"),
            column(9, "last_updated_at", TimestamptzType(), doc="Commit time of snapshot that last updated this partition"),
            column(10, "last_updated_snapshot_id", LongType(), doc="Id of snapshot that last updated this partition"),
        )
    )


@dataclass(slots=True)
class PartitionTotals:
    """``records`` and ``files`` by ``FileContent``; ``updated_ms`` is ``None`` while no known snapshot touched the partition."""

    partition: tuple[object, ...]
    spec_id: int
    records: list[int]
    files: list[int]
    data_bytes: int = 0
    updated_ms: int | None = None
    updated_by: int | None = None


def rows(scan: MetadataScan) -> pa.Table:
    return table_of_rows(scan.schema, (_row(totals) for totals in partition_totals(scan)))


def _row(totals: PartitionTotals) -> dict[str, Any]:
    return {
        "partition": totals.partition,
        "spec_id": totals.spec_id,
        "record_count": totals.records[FileContent.DATA],
        "file_count": totals.files[FileContent.DATA],
        "total_data_file_size_in_bytes": totals.data_bytes,
        "position_delete_record_count": totals.records[FileContent.POSITION_DELETES],
        "position_delete_file_count": totals.files[FileContent.POSITION_DELETES],
        "equality_delete_record_count": totals.records[FileContent.EQUALITY_DELETES],
        "equality_delete_file_count": totals.files[FileContent.EQUALITY_DELETES],
        "last_updated_at": None if totals.updated_ms is None else totals.updated_ms * 1000,
        "last_updated_snapshot_id": totals.updated_by,
    }


def partition_totals(scan: MetadataScan) -> list[PartitionTotals]:
    """Totals of the selected snapshot's live files by partition tuple in the union struct; the spec is that of the latest update.

    Unpartitioned files and those of a null partition have the same tuple; the number of fields of their specs tells them apart.
    """
    union = union_partition_type(scan.metadata)
    totals: dict[object, PartitionTotals] = {}
    for columns in columns_of(scan, snapshot_manifests(scan)):
        chosen = live_rows(columns)
        if len(chosen):
            _add_manifest(totals, scan.metadata, columns, chosen, union)
    return list(totals.values())


def _add_manifest(
    by_partition: dict[object, PartitionTotals], metadata: TableMetadata, columns: ManifestColumns, chosen: Rows, union: StructType
) -> None:
    groups, first = group_rows(columns, chosen)
    count = len(first)
    updated_ms, updated_by = _latest(metadata, columns.snapshot_id[chosen], groups, count)
    content = columns.content[chosen]
    totals = []
    for kind in FileContent:
        mask = content == kind
        totals.append(
            (_sum(groups[mask], columns.record_count[chosen][mask], count), np.bincount(groups[mask], minlength=count),
             _sum(groups[mask], columns.file_size_in_bytes[chosen][mask], count))
        )  # fmt: skip
    spec_id = columns.manifest.partition_spec_id
    spec = metadata.specs_by_id[spec_id]
    coerce, width = coercion(spec, union), len({field.id for field in union.fields} & {field.field_id for field in spec.fields})
    for group in range(count):
        partition = coerce(columns.partition(int(chosen[first[group]])))
        held = by_partition.setdefault((width, partition_key(partition)), PartitionTotals(partition, spec_id, [0, 0, 0], [0, 0, 0]))
        for kind in FileContent:
            held.records[kind] += int(totals[kind][0][group])
            held.files[kind] += int(totals[kind][1][group])
        held.data_bytes += int(totals[FileContent.DATA][2][group])
        moment = updated_ms[group]
        if moment is not None and (held.updated_ms is None or moment > held.updated_ms):
            held.updated_ms, held.updated_by, held.spec_id = moment, updated_by[group], spec_id


def _sum(groups: np.ndarray[Any, Any], values: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Exact integer sums by group (``bincount`` with weights would compute in floats)."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def _latest(
    metadata: TableMetadata, snapshot_ids: np.ndarray[Any, Any], groups: np.ndarray[Any, Any], count: int
) -> tuple[list[int | None], list[int | None]]:
    moments: list[int | None] = [None] * count
    by: list[int | None] = [None] * count
    for pair in np.unique(np.stack([groups, snapshot_ids]), axis=1).T.tolist():
        group, snapshot_id = pair
        snapshot = metadata.snapshots_by_id.get(snapshot_id)
        held = moments[group]
        if snapshot is not None and (held is None or snapshot.timestamp_ms > held):
            moments[group], by[group] = snapshot.timestamp_ms, snapshot_id
    return moments, by


TABLE = MetadataTable("partitions", schema, rows, TimeTravelSupport.YES)
