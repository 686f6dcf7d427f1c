"""Which types ALTER COLUMN may change a column to, and what Spark or Iceberg says of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.errors import UnsupportedError
from icesql.session.resolve.resolved import Readable
from icesql.session.sql_errors import quoted
from icesql.spark_errors import spark_message
from icesql.spec.promotion import can_promote
from icesql.spec.types import ListType, MapType, NestedField, StructType, Type, children

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

BEFORE_VERSION_3 = 2
"""Spark and Iceberg's runtime allow no more in version 3: not date to timestamp."""
_NARROW = ("tinyint", "byte", "smallint", "short")
_SIZED = ("char", "varchar", "character")
_NESTED = {
    StructType: ("STRUCT_TYPE", "Update a struct by updating its fields."),
    ListType: ("ARRAY_TYPE", "Update the element by updating {}.element."),
    MapType: ("MAP_TYPE", "Update a map by updating {0}.key or {0}.value."),
}


def check_type_change(session: SessionState, resolved: Readable, name: str, field: NestedField, wanted: Type, text: str) -> None:
    """``text``: the type as the statement spells it. Raises UnsupportedError where Spark or Iceberg does not allow the change."""
    is_cut = text.lower() in _NARROW or text.lower().startswith(_SIZED)
    if not is_cut and (_same_shape(field.type, wanted) or can_promote(field.type, wanted, BEFORE_VERSION_3)):
        return
    column = quoted(name.split("."))
    if type(wanted) in _NESTED:
        condition, advice = _NESTED[type(wanted)]
        raise UnsupportedError(
            spark_message(
                f"CANNOT_UPDATE_FIELD.{condition}",
                f"Cannot update {quoted(resolved.parts)} field {column} type: {advice.format(column)}",
            )
        )
    refused = _refused_by_spark(session, field.type, text)
    if refused is None:
        raise UnsupportedError(f"Unsupported table change: Cannot change column type: {name}: {field.type} -> {wanted}")
    raise UnsupportedError(
        spark_message(
            "NOT_SUPPORTED_CHANGE_COLUMN",
            f"ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing {quoted(resolved.parts)}'s column "
            f'{column} with type "{refused[0]}" to {column} with type "{refused[1]}".',
        )
    )


def _refused_by_spark(session: SessionState, old: Type, text: str) -> tuple[str, str] | None:
    """Both types in SQL if Spark refuses the change, which it does unless no value can be lost; ``None`` if Iceberg is the first to."""
    from pyspark.errors import PySparkException

    from icesql.spark.jvm.queries import narrowing_to
    from icesql.spark.jvm.types import to_spark_type

    try:
        return narrowing_to(session.spark, to_spark_type(old), text)
    except (PySparkException, UnsupportedError):  # a type that Iceberg has and Spark has not
        return None


def _same_shape(one: Type, other: Type) -> bool:
    """Whether the types are equal but for field ids, which a type in SQL has not."""
    ours, theirs = children(one), children(other)
    if not ours:
        return one == other
    return (
        type(one) is type(other)
        and len(ours) == len(theirs)
        and all(
            a.name == b.name and a.required == b.required and a.doc == b.doc and _same_shape(a.type, b.type)
            for a, b in zip(ours, theirs, strict=True)
        )
    )
