"""The metadata tables by name, and how one is read."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from icesql.errors import NotFoundError, UnsupportedError, nearest
from icesql.expr.binding import bind
from icesql.expr.rewrite import referenced_ids
from icesql.expr.tree import TRUE, Expression
from icesql.io.arrow.filter import row_mask
from icesql.io.storage.files import FileIO
from icesql.spec.case_folding import fold
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.table.metadata_tables import (
    all_data_files,
    all_delete_files,
    all_entries,
    all_files,
    all_manifests,
    data_files,
    delete_files,
    entries,
    files,
    history,
    manifests,
    metadata_log_entries,
    partitions,
    position_deletes,
    refs,
    snapshots,
)
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport
from icesql.table.scan.narrowing import narrow_table
from icesql.table.scan.projection_schema import select_columns, with_columns
from icesql.table.scan.snapshot_selection import Selected, select_snapshot

METADATA_TABLES: dict[str, MetadataTable] = {
    module.TABLE.name: module.TABLE
    for module in (
        all_data_files,
        all_delete_files,
        all_entries,
        all_files,
        all_manifests,
        data_files,
        delete_files,
        entries,
        files,
        history,
        manifests,
        metadata_log_entries,
        partitions,
        position_deletes,
        refs,
        snapshots,
    )
}


def metadata_table(name: str) -> MetadataTable:
    """The metadata table of that name, ignoring case. Raises NotFoundError that names the nearest."""
    definition = METADATA_TABLES.get(fold(name))
    if definition is None:
        raise NotFoundError(f"Cannot find metadata table: {name}.{nearest(name, METADATA_TABLES)}", name=name)
    return definition


def metadata_table_schema(name: str, metadata: TableMetadata) -> Schema:
    """All columns of a metadata table of this version of the table."""
    return metadata_table(name).schema(metadata)


def scan_metadata_table(
    name: str,
    *,
    io: FileIO,
    metadata: TableMetadata,
    metadata_location: str | None = None,
    filter: Expression = TRUE,
    select: Iterable[str] | None = None,
    snapshot_id: int | None = None,
    ref: str | None = None,
    timestamp_ms: int | None = None,
    case_sensitive: bool = True,
) -> pa.Table:
    """Matching rows in the columns of ``select`` (dotted names pick parts of structs; ``None``: all), as Arrow data.

    Columns that are not asked for are not computed. Raises NotFoundError, InvalidArgumentError, UnsupportedError.
    """
    table = metadata_table(name)
    selected = _selected(table, metadata, snapshot_id, ref, timestamp_ms)
    whole = table.schema(metadata)
    bound = bind(whole, filter, case_sensitive=case_sensitive)
    wanted = select_columns(whole, select, metadata, case_sensitive=case_sensitive)
    read = _readable(with_columns(wanted, sorted(referenced_ids(bound)), whole), whole)
    scan = MetadataScan(io=io, metadata=metadata, selected=selected, schema=read, metadata_location=metadata_location, filter=bound)
    rows = table.rows(scan)
    if bound != TRUE:
        rows = rows.filter(row_mask(rows, read, bound))
    return narrow_table(rows, read, wanted)


def _readable(schema: Schema, whole: Schema) -> Schema:
    """The schema to read: the first column where none is asked for, so that rows can be counted."""
    return schema if schema.fields else Schema(whole.fields[:1])


def _selected(
    table: MetadataTable, metadata: TableMetadata, snapshot_id: int | None, ref: str | None, timestamp_ms: int | None
) -> Selected:
    if (snapshot_id, ref, timestamp_ms) == (None, None, None) or table.time_travel is TimeTravelSupport.IGNORED:
        return Selected(metadata.current_snapshot, metadata.schema)
    if table.time_travel is TimeTravelSupport.REFUSED:
        raise UnsupportedError(f"Cannot select snapshot in table: {table.name.upper()}")
    return select_snapshot(metadata, snapshot_id=snapshot_id, ref=ref, timestamp_ms=timestamp_ms)
