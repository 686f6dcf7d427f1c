"""Checks that a table and its columns are still those a DataFrame was made from, and raises Spark's own errors where they are not."""

from __future__ import annotations

from icesql.errors import SqlError
from icesql.spark.jvm.types import to_spark_type
from icesql.spark_errors import spark_message
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField, Type, children


def check_same_table(name: str, known: TableMetadata, columns: Schema, metadata: TableMetadata) -> None:
    """Raises SqlError, as Spark does, unless the table is the one that was ``known`` and has all these columns as they were."""
    if known.table_uuid != metadata.table_uuid:
        raise incompatible(name, "TABLE_ID_MISMATCH", f"Table ID has changed from {known.table_uuid} to {metadata.table_uuid}.")
    changes = [line for field in columns.fields for line in _changes(field, metadata.schema.find(field.name), "")]
    if changes:
        raise incompatible(name, "COLUMNS_MISMATCH", "Data columns have changed:\n" + "\n".join(changes))


def incompatible(name: str, condition: str, what: str) -> SqlError:
    table = ".".join(f"`{part}`" for part in name.split("."))
    return SqlError(
        spark_message(
            f"INCOMPATIBLE_TABLE_CHANGE_AFTER_ANALYSIS.{condition}",
            f"Detected incompatible changes to table {table} after DataFrame/Dataset has been resolved and analyzed, meaning the "
            f"underlying plan is out of sync. Please, re-create DataFrame/Dataset before attempting to execute the query again. {what}",
        )
    )


def _changes(old: NestedField, new: NestedField | None, above: str) -> list[str]:
    """A line for each field that is not what it was; new fields do not matter."""
    name = f"{above}`{old.name}`"
    if new is None:
        return [f"- {name} {_sql(old.type)} has been removed"]
    if new.id != old.id:
        return [f"- {name} {_sql(old.type)} has been removed, and another of its name added"]
    if old.required != new.required:
        return [f"- {name} is {'nullable now' if old.required else 'no longer nullable'}"]
    below = {field.name: field for field in children(new.type)}
    if type(old.type) is not type(new.type) or (not below and old.type != new.type):
        return [f"- {name} type has changed from {_sql(old.type)} to {_sql(new.type)}"]
    return [line for field in children(old.type) for line in _changes(field, below.get(field.name), f"{name}.")]


def _sql(type_: Type) -> str:
    text: str = to_spark_type(type_).simpleString()
    return text.upper()
