"""Tables that accept any schema (``write.spark.accept-any-schema``): rows match by name, may lack columns, and may bring new ones along."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError
from icesql.session.write_target import WriteTarget
from icesql.spec.schema import Schema

if TYPE_CHECKING:
    from icesql.session.session import Session


def accepts_any_schema(target: WriteTarget) -> bool:
    return target.table.metadata.properties.get("write.spark.accept-any-schema", "false").lower() == "true"


def evolved(session: Session, target: WriteTarget, frame: Any) -> WriteTarget:
    """The target after columns that only the rows have were added to the table, where table and writer ask for that.

    Raises InvalidArgumentError and Spark's errors for rows that do not fit, before the schema changes.
    """
    if not accepts_any_schema(target):
        return target
    if not _merges_schema(session, target):
        _check_dataset(frame.schema, target.table.metadata.schema, target)
        return target
    from icesql.spark.store_assignment import assigned_frame
    from icesql.spark.types import from_spark

    update = target.table.update_schema().case_sensitive(session.conf("spark.sql.caseSensitive", "false") == "true")
    update.union_by_name_with(from_spark(_as_nullable(frame.schema)))
    schema = update.schema()
    _check_dataset(frame.schema, schema, target)
    assigned_frame(session.spark, frame, schema, table_name=target.found.dotted, by_name=True)
    if schema.fields != target.table.metadata.schema.fields:
        update.commit()
    return target


def _merges_schema(session: Session, target: WriteTarget) -> bool:
    options = {key.lower(): value for key, value in target.options.items()}
    asked = options.get("mergeschema") or options.get("merge-schema") or session.conf("spark.sql.iceberg.merge-schema") or "false"
    return asked.lower() == "true"


def _as_nullable(schema: Any) -> Any:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(f.name, f.dataType, True, f.metadata) for f in schema.fields])


def _check_dataset(given: Any, schema: Schema, target: WriteTarget) -> None:
    """Columns come in the table's order, and required ones are there and never null; options ``check-ordering`` and
    ``check-nullability`` switch that off."""
    options = {key.lower(): value.lower() for key, value in target.options.items()}
    problems: list[str] = []
    if options.get("check-ordering") != "false":
        problems += _out_of_order([field.name for field in given.fields], schema)
    if options.get("check-nullability") != "false":
        problems += _not_required(given, schema)
    if problems:
        lines = "\n".join(f"* {problem}" for problem in problems)
        raise InvalidArgumentError(
            f"Cannot write incompatible dataset to table with schema:\n{schema}\n"
            f"Provided schema:\n{given.simpleString()}\nProblems:\n{lines}"
        )


def _out_of_order(names: list[str], schema: Schema) -> list[str]:
    places = {field.name.lower(): place for place, field in enumerate(schema.fields)}
    known = [name for name in names if name.lower() in places]
    pairs = pairwise(known)
    return [f"{after} is out of order, before {before}" for before, after in pairs if places[after.lower()] < places[before.lower()]]


def _not_required(given: Any, schema: Schema) -> list[str]:
    nullable = {field.name.lower(): field.nullable for field in given.fields}
    required = [field.name for field in schema.fields if field.required]
    missing = [f"{name} is required, but is missing" for name in required if name.lower() not in nullable]
    return missing + [f"{name} should be required, but is optional" for name in required if nullable.get(name.lower())]
