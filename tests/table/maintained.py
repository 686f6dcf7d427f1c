"""Small tables that maintenance is tested on, made without Spark."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import icesql
from icesql.catalog.base import Catalog
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import write_position_deletes
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import parse_transform
from icesql.spec.types import LongType, NestedField, StringType
from icesql.table.table import Table

SCHEMA = Schema((NestedField(1, "id", LongType()), NestedField(2, "s", StringType()), NestedField(3, "p", LongType())))
BY_P = PartitionSpec(fields=(PartitionField(source_ids=(3,), field_id=1000, transform=parse_transform("identity"), name="p"),))


def catalog_in(folder: Path) -> Catalog:
    return icesql.connect_catalog("local", type="hadoop", warehouse=str(folder))


def new_table(folder: Path, *, version: int = 2, spec: PartitionSpec = BY_P, name: str = "t") -> Table:
    catalog = catalog_in(folder)
    if not catalog.namespace_exists(("db",)):
        catalog.create_namespace(("db",))
    return catalog.create_table(("db", name), SCHEMA, spec=spec, properties={"format-version": str(version)})


def rows(*ids: int, p: int | None = 0) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "s": [f"s{i}" for i in ids], "p": pa.array([p] * len(ids), pa.int64())})


def delete_positions(table: Table, path: str, positions: Sequence[int]) -> None:
    """As a merge-on-read delete commits them: a vector in version 3, else a delete file about one data file."""
    task = next(task for task in table.scan().plan_files().tasks if task.data_file.file_path == path)
    delta = table.new_row_delta()
    if table.metadata.format_version >= 3:
        location = f"{table.location}/data/{uuid.uuid4()}-deletes.puffin"
        (file,) = write_dvs(table.io, location, {path: positions}, targets={path: task.data_file})
    else:
        location = f"{table.location}/data/{uuid.uuid4()}-deletes.parquet"
        file = write_position_deletes(
            table.io, location, {path: positions}, spec_id=task.spec_id, partition=task.data_file.partition, file_format="parquet"
        )
    delta.add_deletes(file).validate_from_snapshot(table.current_snapshot.snapshot_id).validate_data_files_exist([path]).commit()


def ids(table: Table, **scan: Any) -> list[int]:
    return sorted(table.scan(**scan).to_arrow()["id"].to_pylist())


def paths(table: Table) -> list[str]:
    return list(table.scan().plan_files().paths)


def read_everything(table: Table) -> dict[int, list[int]]:
    """The ids that every snapshot shows; fails where a file of one is missing."""
    return {snapshot.snapshot_id: ids(table, snapshot_id=snapshot.snapshot_id) for snapshot in table.snapshots}
