"""Partitioning and sort orders as SQL spells them. Pure: values in, text out."""

from __future__ import annotations

import re

from icesql.parser.text.edits import quote
from icesql.spec import types as t
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.sorting import NullOrder, SortOrder
from icesql.spec.transforms import Transform

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TIME = {"year": "years", "month": "months", "day": "days", "hour": "hours"}


def quoted_if_needed(*parts: str) -> str:
    """A dotted name, those of its parts in back-ticks that must be."""
    return ".".join(part if _PLAIN_NAME.fullmatch(part) else quote(part) for part in parts)


def column_text(schema: Schema, field_id: int) -> str:
    """Dotted name of a column, parts quoted where they must be."""
    return quoted_if_needed(*(_path(schema.as_struct(), field_id) or (str(field_id),)))


def _path(struct: t.StructType, field_id: int) -> tuple[str, ...] | None:
    for field in struct.fields:
        if field.id == field_id:
            return (field.name,)
        inner = _path(field.type, field_id) if isinstance(field.type, t.StructType) else None
        if inner is not None:
            return (field.name, *inner)
    return None


def transform_text(transform: Transform, column: str) -> str:
    """As Spark spells partition transforms: ``bucket(4, id)``, ``truncate(3, s)``, ``days(ts)``, plain for identity."""
    if transform.is_identity:
        return column
    if transform.width is not None:
        return f"{transform.name}({transform.width}, {column})"
    return f"{_TIME.get(transform.name, transform.name)}({column})"


def partitioning(spec: PartitionSpec, schema: Schema) -> list[str]:
    """One text a partition field; void fields are not shown."""
    return [transform_text(f.transform, column_text(schema, f.source_id)) for f in spec.fields if not f.transform.is_void]


def sort_order_text(order: SortOrder, schema: Schema) -> str:
    shown = []
    for field in order.fields:
        column = schema.names_by_id.get(field.source_id) or str(field.source_id)
        nulls = "NULLS FIRST" if field.null_order is NullOrder.NULLS_FIRST else "NULLS LAST"
        text = (
            f"truncate({column}, {field.transform.width})"
            if field.transform.name == "truncate"
            else transform_text(field.transform, column)
        )
        shown.append(f"{text} {field.direction.value.upper()} {nulls}")
    return ", ".join(shown)
