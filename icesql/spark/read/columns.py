"""The columns of one read of a table: data columns under names that filters can be pushed by, metadata columns, and file constants.

A scan's relation has the *physical* columns and constants; one projection (SQL text, so one call to the JVM) makes the
shown columns of them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from icesql.errors import NotFoundError, nearest
from icesql.spark.functions.literals import quoted_string, sql_literal
from icesql.spark.jvm.arrow_schema import to_arrow_type
from icesql.spark.jvm.types import FIELD_ID, to_spark_field, to_spark_type
from icesql.spec import metadata_columns
from icesql.spec import types as I
from icesql.spec.case_folding import fold
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import DELETED, FILE, POS, ROW_ID, SEQUENCE, SPEC_ID
from icesql.spec.schema import Schema
from icesql.table.metadata.partition_types import coercion, union_partition_type
from icesql.table.scan.metadata_columns import NAMES, metadata_column
from icesql.table.scan.tasks import ScannedFile

DELETES = "__deletes"
VERSION = StructField("__table_version", LongType(), False)  # of the table, in a relation that can show several
# Spark's Parquet reader fills a column of this name with positions; ``_metadata.row_index`` would be wrapped into a struct for each row.
ROW_INDEX = StructField("_tmp_metadata_row_index", LongType())


@dataclass(frozen=True, slots=True)
class FileConstant:
    """A value that all rows of a file share. ``of`` gives it in a form that pyarrow takes for the column's type."""

    field: StructField
    of: Callable[[ScannedFile], Any]

    def array(self, files: Sequence[ScannedFile]) -> pa.Array:
        return pa.array([self.of(file) for file in files], type=to_arrow_type(self.field.dataType))


@dataclass(frozen=True)
class ReadColumns:
    """Physical columns, constants, and the projection over them. ``projection`` is empty where the relation is shown as it is."""

    physical: StructType
    constants: tuple[FileConstant, ...]
    projection: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict)  # physical -> table name, where they differ
    whole: dict[str, tuple[str, str]] = field(default_factory=dict)  # text in the projection -> (physical, shown) of a column read whole

    @property
    def constants_schema(self) -> StructType:
        return StructType([constant.field for constant in self.constants])


def read_columns(metadata: TableMetadata, schema: Schema, metadata_columns: Sequence[str] = ()) -> ReadColumns:
    """How a read of ``schema`` with those metadata columns is made. Raises NotFoundError for an unknown metadata column."""
    clashing = clashing_names(metadata)
    physical, names, projection = [], {}, []
    kept: dict[str, tuple[str, str]] = {}
    for column in schema.fields:
        spark_field = to_spark_field(column)
        name = f"{column.name}#{column.id}" if _is_unsafe(column, clashing) else column.name
        if name != column.name:
            names[name] = column.name
        whole = _must_be_read_whole(column, name, metadata)
        physical.append(StructField(name, spark_field.dataType, spark_field.nullable, {**spark_field.metadata, **_missing_value(column)}))
        projection.append(f"{quoted(name)} AS {quoted(column.name)}" if name != column.name else quoted(name))
        if whole:
            kept[projection[-1]] = (name, column.name)
    if not metadata_columns and not names and not kept:
        return ReadColumns(StructType(physical), (), ())
    constants: list[FileConstant] = []
    for wanted in metadata_columns:
        known_metadata_column(metadata, wanted)
        more, given, text = _metadata_column(metadata, wanted)
        known = {constant.field.name for constant in constants}
        constants += [constant for constant in given if constant.field.name not in known]
        physical += [column for column in more if column.name not in {p.name for p in physical}]
        projection.append(f"{text} AS {quoted(wanted)}")
    return ReadColumns(StructType(physical), tuple(constants), tuple(projection), names, kept)


def shown_schema(metadata: TableMetadata, schema: Schema, metadata_columns: Sequence[str]) -> StructType:
    """The schema of a read, metadata columns last."""
    fields = [to_spark_field(column) for column in schema.fields]
    for name in metadata_columns:
        shown = to_spark_field(known_metadata_column(metadata, name))
        fields.append(StructField(name, shown.dataType, True))
    return StructType(fields)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def numbered(frame: DataFrame) -> DataFrame:
    """The frame with columns named c0, c1, ...: ``mapInArrow`` looks columns up by name, and takes dots and back-ticks for syntax."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def known_metadata_column(metadata: TableMetadata, name: str) -> I.NestedField:
    """Raises NotFoundError that names the nearest metadata column."""
    column = metadata_column(metadata, name)
    if column is None:
        raise NotFoundError(f"Cannot find metadata column: {name}.{nearest(name, NAMES)}")
    return column


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
            if owners.setdefault(fold(name), field_id) != field_id:
                clashes.add(fold(name))
    return frozenset(clashes)


def _is_unsafe(column: I.NestedField, clashing: frozenset[str] | None) -> bool:
    """True where row groups must not be skipped by the column's name: another field may have had it, or the column may hold NaN,
    which is larger than the maximum that a row group states. And where Spark's reader would take the name for that of positions."""
    top = column.name.lower()
    if clashing is None or _may_hold_nan(column.type) or top == ROW_INDEX.name:
        return True
    return any(name == top or name.startswith(top + ".") for name in clashing)


def has_had_other_names(metadata: TableMetadata, schema: Schema) -> bool:
    """True if a file may know some field by another name than the schema."""
    return any(older.names_by_id.get(i, name) != name for older in metadata.schemas for i, name in schema.names_by_id.items())


def _missing_value(column: I.NestedField) -> dict[str, str]:
    """What Spark's reader gives where a file lacks the column, if not null. Spec: "Column Projection", "Default values"."""
    return {} if column.initial_default is None else {"EXISTS_DEFAULT": sql_literal(column.type, column.initial_default)}


def _must_be_read_whole(column: I.NestedField, name: str, metadata: TableMetadata) -> bool:
    """True where Spark must not prune the fields of a nested column: a pruned column loses its id and is looked up by its name alone,
    which older files, or all, have otherwise."""
    if not _has_struct(column.type):
        return False
    return name != column.name or any(schema.names_by_id.get(column.id, name) != name for schema in metadata.schemas)


def _has_struct(type_: I.Type) -> bool:
    return isinstance(type_, I.StructType) or any(_has_struct(field.type) for field in I.children(type_))


def _may_hold_nan(type_: I.Type) -> bool:
    match type_:
        case I.FloatType() | I.DoubleType():
            return True
        case I.StructType(fields=fields):
            return any(_may_hold_nan(field.type) for field in fields)
        case _:
            return False  # Spark pushes no filters on lists and maps


# -- metadata columns ---------------------------------------------------------------------------------------------------


def file_constant() -> FileConstant:
    return FileConstant(StructField("__file", StringType(), False), lambda file: file.file_path)


def deletes_constant(bitmap_of: Callable[[ScannedFile], bytes]) -> FileConstant:
    return FileConstant(StructField(DELETES, BinaryType(), False), bitmap_of)


def _metadata_column(metadata: TableMetadata, name: str) -> tuple[list[StructField], list[FileConstant], str]:
    """Further physical columns, constants, and the SQL text of one metadata column."""
    match name:
        case FILE.name:
            return [], [file_constant()], "__file"
        case POS.name:
            return [ROW_INDEX], [], ROW_INDEX.name
        case SPEC_ID.name:
            return [], [FileConstant(StructField("__spec_id", IntegerType(), False), lambda file: file.spec_id)], "__spec_id"
        case metadata_columns.PARTITION:
            fields = union_partition_type(metadata).fields
            parts = ", ".join(f"{quoted_string(f.name)}, __partition_{f.id}" for f in fields)
            return [], partition_constants(metadata), f"named_struct({parts})" if fields else "CAST(NULL AS STRUCT<>)"
        case ROW_ID.name:
            stored = StructField("__row_id", LongType(), True, {FIELD_ID: ROW_ID.id})
            first = FileConstant(StructField("__first_row_id", LongType()), lambda file: file.first_row_id)
            return [stored, ROW_INDEX], [first], f"coalesce(__row_id, __first_row_id + {ROW_INDEX.name})"
        case SEQUENCE.name:
            stored = StructField("__last_updated", LongType(), True, {FIELD_ID: SEQUENCE.id})
            return [stored], [_sequence_number()], "coalesce(__last_updated, __sequence_number)"
        case DELETED.name:
            return [], [], DELETED.name
        case _:
            raise NotFoundError(f"Cannot find metadata column: {name}.{nearest(name, NAMES)}")


def _sequence_number() -> FileConstant:
    """Null for files from before row lineage, whose rows have no last update."""
    return FileConstant(
        StructField("__sequence_number", LongType()),
        lambda file: None if file.first_row_id is None else file.file_sequence_number or file.data_sequence_number,
    )


def partition_constants(metadata: TableMetadata) -> list[FileConstant]:
    """One constant a field of the union of all specs' partition types."""
    union = union_partition_type(metadata)
    into_union = {spec.spec_id: coercion(spec, union) for spec in metadata.partition_specs}

    def constant(place: int, field: I.NestedField) -> FileConstant:
        def value(file: ScannedFile) -> Any:
            return arrow_value(field.type, into_union[file.spec_id](file.partition)[place])

        return FileConstant(StructField(f"__partition_{field.id}", to_spark_type(field.type)), value)

    return [constant(place, field) for place, field in enumerate(union.fields)]


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
