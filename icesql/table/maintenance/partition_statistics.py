"""compute_partition_stats as an operation: totals of each partition, in a file attached to the snapshot.

Spec: "Partition Statistics". Rows are sorted by partition; partitions of all specs share the union struct.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.io.data.writer import default_format, write_data_file
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.spec.files import FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import partition_key
from icesql.spec.schema import Schema
from icesql.spec.snapshots import PartitionStatisticsFile, Snapshot
from icesql.spec.types import IntegerType, LongType, NestedField, StructType
from icesql.table.changes.update_statistics import UpdateStatistics
from icesql.table.manifests.access import manifests_of
from icesql.table.manifests.location_provider import location_provider
from icesql.table.metadata.partition_types import coercion, union_partition_type
from icesql.table.metadata_tables.base import table_of_rows
from icesql.table.table import Table


@dataclass(slots=True)
class PartitionStatistics:
    """One row of the file. ``counts``: (records, files) by content; vectors are counted apart from position delete files."""

    partition: tuple[object, ...]
    spec_id: int
    data_bytes: int = 0
    counts: dict[str, list[int]] = field(default_factory=lambda: {kind: [0, 0] for kind in ("data", "positions", "equality", "vectors")})
    updated_ms: int | None = None
    updated_by: int | None = None

    def touched(self, snapshot: Snapshot | None) -> None:
        if snapshot is not None and (self.updated_ms is None or self.updated_ms < snapshot.timestamp_ms):
            self.updated_ms, self.updated_by = snapshot.timestamp_ms, snapshot.snapshot_id


def partition_statistics_schema(metadata: TableMetadata) -> Schema:
    """Version 3 requires the delete counts and has one more, of deletion vectors."""
    required, version_3 = True, metadata.format_version >= 3
    fields = [
        NestedField(1, "partition", StructType(union_partition_type(metadata).fields), required),
        NestedField(2, "spec_id", IntegerType(), required),
        NestedField(3, "data_record_count", LongType(), required),
        NestedField(4, "data_file_count", IntegerType(), required),
        NestedField(5, "total_data_file_size_in_bytes", LongType(), required),
        NestedField(6, "position_delete_record_count", LongType(), version_3),
        NestedField(7, "position_delete_file_count", IntegerType(), version_3),
        NestedField(8, "equality_delete_record_count", LongType(), version_3),
        NestedField(9, "equality_delete_file_count", IntegerType(), version_3),
        NestedField(10, "total_record_count", LongType()),
        NestedField(11, "last_updated_at", LongType()),
        NestedField(12, "last_updated_snapshot_id", LongType()),
    ]
    if version_3:
        fields.append(NestedField(13, "dv_count", IntegerType(), required))
    return Schema(tuple(fields))


def compute_partition_statistics(table: Table, snapshot: Snapshot) -> PartitionStatisticsFile:
    """Count, write and attach; a snapshot's file that is there already is returned as it is.

    Raises InvalidArgumentError ``Table must be partitioned``.
    """
    metadata = table.metadata
    if not union_partition_type(metadata).fields:
        raise InvalidArgumentError("Table must be partitioned")
    held = next((file for file in metadata.partition_statistics if file.snapshot_id == snapshot.snapshot_id), None)
    if held is not None:
        return held
    schema = partition_statistics_schema(metadata)
    rows = table_of_rows(schema, (_row(statistics) for statistics in _in_order(partition_statistics(table, snapshot))))
    file_format = default_format(metadata.properties).lower()
    name = f"partition-stats-{snapshot.snapshot_id}-{uuid.uuid4()}.{file_format}"
    written = write_data_file(table.io, location_provider(metadata).metadata_file(name), file_format, rows, schema)
    file = PartitionStatisticsFile(
        snapshot_id=snapshot.snapshot_id, statistics_path=written.file_path, file_size_in_bytes=written.file_size_in_bytes
    )
    UpdateStatistics(table.operations, table.version).set_partition_statistics(file).commit()
    return file


def partition_statistics(table: Table, snapshot: Snapshot) -> list[PartitionStatistics]:
    """Totals of the live files of a snapshot by partition; deleted entries only update when the partition last changed."""
    metadata = table.metadata
    union = union_partition_type(metadata)
    by_partition: dict[object, PartitionStatistics] = {}
    for manifest in manifests_of(table.io, snapshot):
        columns = read_manifest_columns(table.io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id))
        coerce = coercion(metadata.specs_by_id[manifest.partition_spec_id], union)
        live, added_by = columns.live, columns.snapshot_id
        for row in range(len(columns)):
            partition = coerce(columns.partition(row))
            held = by_partition.setdefault(partition_key(partition), PartitionStatistics(partition, manifest.partition_spec_id))
            held.touched(metadata.snapshots_by_id.get(int(added_by[row])))
            if live[row]:
                held.spec_id = max(held.spec_id, manifest.partition_spec_id)
                _add(held, columns, row)
    return list(by_partition.values())


def _add(held: PartitionStatistics, columns: Any, row: int) -> None:
    content = int(columns.content[row])
    kind = {FileContent.DATA: "data", FileContent.EQUALITY_DELETES: "equality"}.get(FileContent(content))
    if kind is None:
        kind = "vectors" if columns.data_file(row).is_deletion_vector else "positions"
    held.counts[kind][0] += int(columns.record_count[row])
    held.counts[kind][1] += 1
    if kind == "data":
        held.data_bytes += int(columns.file_size_in_bytes[row])


def _in_order(rows: list[PartitionStatistics]) -> Iterator[PartitionStatistics]:
    yield from sorted(rows, key=lambda row: [(value is not None, _sortable(value)) for value in row.partition])


def _sortable(value: object) -> Any:
    return 0 if value is None else (value != value, value) if isinstance(value, float) else value


def _row(statistics: PartitionStatistics) -> dict[str, Any]:
    data, positions, equality, vectors = (statistics.counts[kind] for kind in ("data", "positions", "equality", "vectors"))
    return {
        "partition": statistics.partition,
        "spec_id": statistics.spec_id,
        "data_record_count": data[0],
        "data_file_count": data[1],
        "total_data_file_size_in_bytes": statistics.data_bytes,
        "position_delete_record_count": positions[0] + vectors[0],
        "position_delete_file_count": positions[1],
        "equality_delete_record_count": equality[0],
        "equality_delete_file_count": equality[1],
        "total_record_count": None,
        "last_updated_at": statistics.updated_ms,
        "last_updated_snapshot_id": statistics.updated_by,
        "dv_count": vectors[1],
    }
