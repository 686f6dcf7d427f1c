"""How Spark describes a table: transforms, sort orders, properties, types as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.session.output.table_text import partitioning as partitioning
from icesql.session.output.table_text import quoted_if_needed as quoted_if_needed
from icesql.session.output.table_text import sort_order_text
from icesql.session.resolve.resolved import CHANGES, Readable
from icesql.session.resolve.time_travel import read_point
from icesql.spark.jvm.spark_session import redacted
from icesql.spark.jvm.types import to_spark_schema
from icesql.spec import types as t
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import CURRENT_SNAPSHOT_ID, DEFAULT_FILE_FORMAT
from icesql.spec.snapshots import Snapshot
from icesql.spec.values.java_sets import hash_set_order

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

MAX_FIELDS = 25  # spark.sql.debug.maxToStringFields
HIDDEN_PROPERTIES = ("comment", "collation", "location", "provider", "owner")


def spark_fields(session: SessionState, resolved: Readable) -> list[Any]:
    """The columns a query of ``resolved`` would have."""
    if resolved.metadata_table is not None:
        return list(session.plans.scan(resolved, read_point(resolved, None, "", session.microseconds), {}).frame.schema.fields)
    point = read_point(resolved, None, "", session.microseconds)
    return list(to_spark_schema(point.schema).fields)


def partition_struct_names(metadata: TableMetadata) -> list[str]:
    """``position_deletes`` is itself partitioned by the fields of its partition struct that the current spec has."""
    from icesql.table.metadata.partition_types import union_partition_type

    current = {field.field_id for field in metadata.spec.fields}
    return [field.name for field in union_partition_type(metadata).fields if field.id in current]


def table_properties(resolved: Readable) -> dict[str, str]:
    """What SHOW TBLPROPERTIES reports: the stored properties and those that tell of the table's state."""
    if resolved.metadata_table == CHANGES:
        return {}
    metadata = resolved.table.metadata
    properties = {} if resolved.metadata_table else {k: v for k, v in metadata.properties.items() if k not in HIDDEN_PROPERTIES}
    properties["format"] = f"iceberg/{metadata.properties.get(DEFAULT_FILE_FORMAT, 'parquet')}"
    properties[CURRENT_SNAPSHOT_ID] = "none" if metadata.current_snapshot is None else str(metadata.current_snapshot.snapshot_id)
    if resolved.metadata_table == "position_deletes":
        return {**{k: v for k, v in metadata.properties.items() if k.startswith("write.")}, **properties}
    if resolved.metadata_table:
        return properties
    properties["format-version"] = str(metadata.format_version)
    if not metadata.sort_order.is_unsorted:
        properties["sort-order"] = sort_order_text(metadata.sort_order, metadata.schema)
    if metadata.schema.identifier_field_ids:
        properties["identifier-fields"] = f"[{','.join(hash_set_order(metadata.schema.identifier_names()))}]"
    return properties


def properties_text(session: SessionState, resolved: Readable) -> str:
    return "[" + ",".join(f"{k}={v}" for k, v in sorted(shown_properties(session, resolved).items())) + "]"


def shown_properties(session: SessionState, resolved: Readable) -> dict[str, str]:
    """``table_properties`` without secrets."""
    return redacted(session.spark, table_properties(resolved))


def type_text(type_: Any) -> str:
    """Spark's ``simpleString`` as the JVM gives it: structs of more than 25 fields are cut."""
    from pyspark.sql import types as T

    if isinstance(type_, T.StructType):
        shown = [f"{field.name}:{type_text(field.dataType)}" for field in type_.fields]
        if len(shown) > MAX_FIELDS:
            kept = MAX_FIELDS - 1
            shown = [*shown[:kept], f"... {len(shown) - kept} more fields"]
        return f"struct<{','.join(shown)}>"
    if isinstance(type_, T.ArrayType):
        return f"array<{type_text(type_.elementType)}>"
    if isinstance(type_, T.MapType):
        return f"map<{type_text(type_.keyType)},{type_text(type_.valueType)}>"
    return str(type_.simpleString())


def default_size(type_: t.Type) -> int:
    """Bytes a value is assumed to take (Spark's ``defaultSize``)."""
    match type_:
        case t.StructType(fields=fields):
            return sum(default_size(field.type) for field in fields)
        case t.ListType(element=element):
            return default_size(element)
        case t.MapType(key=key, value=value):
            return default_size(key) + default_size(value)
        case t.DecimalType(precision=precision):
            return 8 if precision <= 18 else 16
        case t.PrimitiveType():
            return _DEFAULT_SIZES.get(type(type_), 8)


_DEFAULT_SIZES: dict[type, int] = {
    t.BooleanType: 1, t.IntegerType: 4, t.LongType: 8, t.FloatType: 4, t.DoubleType: 8, t.DateType: 4,
    t.StringType: 20, t.UUIDType: 20, t.BinaryType: 100, t.FixedType: 100, t.VariantType: 2048, t.UnknownType: 1,
}  # fmt: skip


def records(snapshot: Snapshot | None) -> int:
    return int(snapshot.summary.get("total-records", "0")) if snapshot is not None else 0


def statistics_text(metadata: TableMetadata, snapshot: Snapshot | None) -> str:
    rows = records(snapshot)
    return f"{rows * default_size(metadata.schema.as_struct())} bytes, {rows} rows"
