"""What one read of a table shows: its columns under names safe to push filters by, metadata columns, and constants of each file.

A scan's relation has the *physical* columns and constants; one projection (SQL text, so one call to the JVM) makes the shown columns of them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from icesql.errors import NotFoundError, nearest
from icesql.spark.types import FIELD_ID, to_spark_field, to_spark_type
from icesql.spec import types as I
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionField
from icesql.spec.schema import Schema
from icesql.spec.transforms import result_type
from icesql.table.scan_tasks import FileScanTask

ROW_ID_FIELD, LAST_UPDATED_FIELD = 2147483540, 2147483539
METADATA_COLUMNS = ("_file", "_pos", "_spec_id", "_partition", "_deleted", "_row_id", "_last_updated_sequence_number")
DELETES = "__deletes"


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that all rows of a file share. ``of`` gives it in a form that pyarrow takes for the column's type."""

    field: StructField
    of: Callable[[FileScanTask], Any]

    def array(self, tasks: Sequence[FileScanTask]) -> pa.Array:
        return pa.array([self.of(task) for task in tasks], type=to_arrow_type(self.field.dataType))


@dataclass(frozen=True)
class ReadColumns:
    """Physical columns, constants, and the projection over them. ``projection`` is empty where the relation is shown as it is."""

    physical: StructType
    constants: tuple[Constant, ...]
    projection: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict)  # physical -> table name, where they differ

    @property
    def constants_schema(self) -> StructType:
        return StructType([constant.field for constant in self.constants])


def read_columns(metadata: TableMetadata, schema: Schema, metadata_columns: Sequence[str] = ()) -> ReadColumns:
    """How a read of ``schema`` with those metadata columns is made. Raises NotFoundError for an unknown metadata column."""
    clashing = clashing_names(metadata)
    physical, names, projection = [], {}, []
    for column in schema.fields:
        spark_field = to_spark_field(column)
        name = f"{column.name}#{column.id}" if _is_unsafe(column, clashing) else column.name
        if name != column.name:
            names[name] = column.name
        physical.append(StructField(name, spark_field.dataType, spark_field.nullable, spark_field.metadata))
        projection.append(f"{quoted(name)} AS {quoted(column.name)}" if name != column.name else quoted(name))
    if not metadata_columns and not names:
        return ReadColumns(StructType(physical), (), ())
    constants: list[Constant] = []
    for wanted in metadata_columns:
        more, given, text = _metadata_column(metadata, wanted)
        known = {constant.field.name for constant in constants}
        constants += [constant for constant in given if constant.field.name not in known]
        physical += [column for column in more if column.name not in {p.name for p in physical}]
        projection.append(f"{text} AS {quoted(wanted)}")
    return ReadColumns(StructType(physical), tuple(constants), tuple(projection), names)


def shown_schema(metadata: TableMetadata, schema: Schema, metadata_columns: Sequence[str]) -> StructType:
    """The schema of a read, metadata columns last."""
    types = {
        "_file": StringType(), "_pos": LongType(), "_spec_id": IntegerType(), "_row_id": LongType(), "_last_updated_sequence_number": LongType(),
    }
    fields = [to_spark_field(column) for column in schema.fields]
    for name in metadata_columns:
        if name == "_partition":
            fields.append(StructField(name, StructType([partition_spark_field(metadata, f) for f in all_partition_fields(metadata)])))
        elif name == "_deleted":
            from pyspark.sql.types import BooleanType

            fields.append(StructField(name, BooleanType()))
        else:
            fields.append(StructField(name, types[name]))
    return StructType(fields)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# -- names ---------------------------------------------------------------------------------------------------------------


def clashing_names(metadata: TableMetadata) -> frozenset[str] | None:
    """Lower-case dotted names that different fields have had over time; ``None`` if old schemas are gone, so that any might have."""
    ids = sorted(metadata.schemas_by_id)
    if ids != list(range(len(ids))):
        return None
    owners: dict[str, int] = {}
    clashes = set()
    for schema in metadata.schemas:
        for name, field_id in schema.ids_by_name.items():
            if owners.setdefault(name.lower(), field_id) != field_id:
                clashes.add(name.lower())
    return frozenset(clashes)


def _is_unsafe(column: I.NestedField, clashing: frozenset[str] | None) -> bool:
    if clashing is None:
        return True
    top = column.name.lower()
    return any(name == top or name.startswith(top + ".") for name in clashing)


# -- metadata columns ---------------------------------------------------------------------------------------------------


def file_constant() -> Constant:
    return Constant(StructField("__file", StringType(), False), lambda task: task.data_file.file_path)


def deletes_constant(bitmap_of: Callable[[FileScanTask], bytes | None]) -> Constant:
    return Constant(StructField(DELETES, BinaryType()), bitmap_of)


def _metadata_column(metadata: TableMetadata, name: str) -> tuple[list[StructField], list[Constant], str]:
    """Further physical columns, constants, and the SQL text of one metadata column."""
    match name:
        case "_file":
            return [], [file_constant()], "__file"
        case "_pos":
            return [], [], "_metadata.row_index"
        case "_spec_id":
            return [], [Constant(StructField("__spec_id", IntegerType(), False), lambda task: task.spec_id)], "__spec_id"
        case "_partition":
            fields = all_partition_fields(metadata)
            parts = "".join(f", {_text(f.name)}, __partition_{f.field_id}" for f in fields)[2:]
            return [], [partition_constant(metadata, f) for f in fields], f"named_struct({parts})" if fields else "struct()"
        case "_row_id":
            stored = StructField("__row_id", LongType(), True, {FIELD_ID: ROW_ID_FIELD})
            first = Constant(StructField("__first_row_id", LongType()), lambda task: task.data_file.first_row_id)
            return [stored], [first], "coalesce(__row_id, __first_row_id + _metadata.row_index)"
        case "_last_updated_sequence_number":
            stored = StructField("__last_updated", LongType(), True, {FIELD_ID: LAST_UPDATED_FIELD})
            return [stored], [_sequence_number()], "coalesce(__last_updated, __sequence_number)"
        case "_deleted":
            return [], [], "_deleted"
    raise NotFoundError(f"Cannot find metadata column: {name}.{nearest(name, METADATA_COLUMNS)}")


def _sequence_number() -> Constant:
    """Null for files from before row lineage, whose rows have no last update."""
    return Constant(
        StructField("__sequence_number", LongType()),
        lambda task: None if task.data_file.first_row_id is None else task.file_sequence_number or task.data_sequence_number,
    )


def all_partition_fields(metadata: TableMetadata) -> list[PartitionField]:
    """The fields of all specs, one a field id, newest spec first for names; in the order of their ids."""
    found: dict[int, PartitionField] = {}
    for spec in sorted(metadata.partition_specs, key=lambda s: -s.spec_id):
        for partition_field in spec.fields:
            known = found.get(partition_field.field_id)
            if known is None or (known.transform.is_void and not partition_field.transform.is_void):
                found[partition_field.field_id] = partition_field
    return [found[i] for i in sorted(found)]


def partition_type_of(metadata: TableMetadata, partition_field: PartitionField) -> I.Type:
    """Result type of a partition field over the source column of any known schema."""
    for schema in (metadata.schema, *reversed(metadata.schemas)):
        source = schema.find(partition_field.source_id)
        if source is not None:
            return result_type(partition_field.transform, source.type)
    return I.UnknownType()


def partition_spark_field(metadata: TableMetadata, partition_field: PartitionField) -> StructField:
    return StructField(partition_field.name, to_spark_type(partition_type_of(metadata, partition_field)))


def partition_constant(metadata: TableMetadata, partition_field: PartitionField) -> Constant:
    places = {
        spec.spec_id: place
        for spec in metadata.partition_specs
        for place, other in enumerate(spec.fields)
        if other.field_id == partition_field.field_id
    }
    type_ = partition_type_of(metadata, partition_field)

    def value(task: FileScanTask) -> Any:
        place = places.get(task.spec_id)
        return None if place is None else arrow_value(type_, task.data_file.partition[place])

    return Constant(StructField(f"__partition_{partition_field.field_id}", to_spark_type(type_)), value)


def arrow_value(type_: I.Type, value: Any) -> Any:
    """An internal-form value as pyarrow takes it for the Arrow type of the Spark type."""
    if value is None:
        return None
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(type_, I.TimeType):
        return value * 1000
    if isinstance(type_, I.TimestampNanoType | I.TimestamptzNanoType):
        return value // 1000
    return value


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
