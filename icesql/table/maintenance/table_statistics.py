"""compute_table_stats as an operation: a theta sketch a column, in a Puffin file attached to the snapshot. Spec: "Table Statistics"."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.expr.tree import TRUE
from icesql.io.puffin import NewBlob, write_puffin
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import BlobMetadata, Snapshot, StatisticsFile
from icesql.spec.types import NestedField, PrimitiveType
from icesql.table.changes.update_statistics import UpdateStatistics
from icesql.table.maintenance.theta_sketch import BLOB_TYPE, ThetaSketch, hashes_of, union
from icesql.table.manifests.location_provider import location_provider
from icesql.table.scan.arrow_scan import TaskReader
from icesql.table.scan.tasks import FileScanTask
from icesql.table.table import Table

Sketches = Mapping[int, ThetaSketch]
Compute = Callable[["SketchJob", Sequence[FileScanTask]], Sketches]
_THREADS = 4


@dataclass(frozen=True, kw_only=True)
class SketchJob:
    """What a task needs to sketch columns of some files. ``read``: the schema to read, with nested columns inside their structs."""

    io: FileIO
    metadata: TableMetadata
    table_schema: Schema
    read: Schema
    columns: tuple[NestedField, ...]

    def sketch(self, tasks: Sequence[FileScanTask]) -> dict[int, ThetaSketch]:
        """A sketch by field id of all live rows of the tasks."""
        sketches = {column.id: ThetaSketch() for column in self.columns}
        reader = TaskReader(self.io, self.metadata, self.table_schema, self.read)
        for task in tasks:
            for batch in reader.batches(replace(task, residual=TRUE)):
                for column in self.columns:
                    sketches[column.id] = sketches[column.id].with_hashes(hashes_of(column.type, _values(batch, self.read, column.id)))
        return sketches


def _values(batch: pa.RecordBatch, schema: Schema, field_id: int) -> pa.Array:
    path = [field_id]
    while path[0] in schema.parents:
        path.insert(0, schema.parents[path[0]])
    column = batch.column(schema.fields_by_id[path[0]].name)
    for step in path[1:]:
        column = pc.struct_field(column, schema.fields_by_id[step].name)
    return column


def sketch_in_threads(job: SketchJob, tasks: Sequence[FileScanTask]) -> dict[int, ThetaSketch]:
    with ThreadPoolExecutor(_THREADS, "icesql-sketch") as pool:
        return merged(job, list(pool.map(lambda task: job.sketch([task]), tasks)))


def merged(job: SketchJob, sketches: Sequence[Sketches]) -> dict[int, ThetaSketch]:
    return {column.id: union(sketch[column.id] for sketch in sketches) for column in job.columns}


def snapshot_for_statistics(metadata: TableMetadata, snapshot_id: int | None) -> Snapshot | None:
    """The snapshot asked for, the current one by default. Raises NotFoundError ``Snapshot not found``."""
    if snapshot_id is None:
        return metadata.current_snapshot
    snapshot = metadata.snapshots_by_id.get(snapshot_id)
    if snapshot is None:
        raise NotFoundError(f"Snapshot not found: {snapshot_id}", snapshot_id=snapshot_id)
    return snapshot


def columns_for_statistics(schema: Schema, names: Sequence[str] | None) -> list[NestedField]:
    """The named columns, by default all primitive ones. Raises InvalidArgumentError."""
    if names is None:
        primitive = [column for column in schema.fields if isinstance(column.type, PrimitiveType)]
        if not primitive:
            raise InvalidArgumentError("No columns found to compute stats")
        return primitive
    if not names or any(not name for name in names):
        raise InvalidArgumentError("Columns cannot be null/empty")
    return [_column(schema, name) for name in dict.fromkeys(names)]


def _column(schema: Schema, name: str) -> NestedField:
    column = schema.find(name)
    if column is None:
        raise InvalidArgumentError(f"Can't find column {name} in {schema.as_struct()}", column=name)
    if not isinstance(column.type, PrimitiveType):
        raise InvalidArgumentError(f"Can't compute stats on non-primitive type column: {name} ({column.type})", column=name)
    return column


def compute_table_statistics(
    table: Table, snapshot: Snapshot, columns: Sequence[NestedField], compute: Compute = sketch_in_threads
) -> StatisticsFile:
    """Sketch the columns over a snapshot's rows, write the file and attach it to the snapshot (in place of an older one)."""
    scan = table.scan(snapshot_id=snapshot.snapshot_id)
    names = tuple(scan.table_schema.names_by_id[column.id] for column in columns)
    wanted = table.scan(snapshot_id=snapshot.snapshot_id, select=names).schema
    job = SketchJob(io=table.io, metadata=table.metadata, table_schema=scan.table_schema, read=wanted, columns=tuple(columns))
    sketches = compute(job, list(scan.plan_files().tasks))
    blobs = [_blob(snapshot, column, sketches[column.id]) for column in columns]
    location = location_provider(table.metadata).metadata_file(f"{snapshot.snapshot_id}-{uuid.uuid4()}.stats")
    footer, size = write_puffin(table.io, location, blobs, {"created-by": "icesql"})
    file = StatisticsFile(
        snapshot_id=snapshot.snapshot_id,
        statistics_path=location,
        file_size_in_bytes=size,
        file_footer_size_in_bytes=footer.size_in_bytes,
        blob_metadata=tuple(
            BlobMetadata(
                type=blob.type,
                snapshot_id=blob.snapshot_id,
                sequence_number=blob.sequence_number,
                fields=blob.fields,
                properties=blob.properties,
            )
            for blob in blobs
        ),
    )
    UpdateStatistics(table.operations, table.version).set_statistics(file).commit()
    return file


def _blob(snapshot: Snapshot, column: NestedField, sketch: ThetaSketch) -> NewBlob:
    return NewBlob(
        type=BLOB_TYPE,
        fields=(column.id,),
        data=sketch.to_bytes(),
        snapshot_id=snapshot.snapshot_id,
        sequence_number=snapshot.sequence_number,
        codec="zstd",
        properties={"ndv": str(int(sketch.estimate))},
    )
