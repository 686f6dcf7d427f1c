"""Which columns may identify a row. Spec: "Identifier Field IDs"."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.errors import InvalidArgumentError
from icesql.spec.schema import Schema
from icesql.spec.types import DoubleType, FloatType, PrimitiveType, StructType


def check_identifier_fields(schema: Schema, names: Iterable[str], case_sensitive: bool = True) -> tuple[int, ...]:
    """The sorted ids of identifier fields by name. Raises InvalidArgumentError ``Cannot add field ... as an identifier field: ...``."""
    return tuple(sorted({_checked(schema, name, case_sensitive) for name in names}))


def _checked(schema: Schema, name: str, case_sensitive: bool) -> int:
    column = schema.find(name, case_sensitive=case_sensitive)
    if column is None:
        raise _refused(name, "not found in current schema or added columns")
    if not isinstance(column.type, PrimitiveType):
        raise _refused(column.name, "not a primitive type field")
    if not column.required:
        raise _refused(column.name, "not a required field")
    if isinstance(column.type, (FloatType, DoubleType)):
        raise _refused(column.name, "must not be float or double field")
    parent_id = schema.parents.get(column.id)
    while parent_id is not None:
        parent = schema.fields_by_id[parent_id]
        shown = f"{parent.id}: {parent.name}: {'required' if parent.required else 'optional'} {parent.type}"
        if not isinstance(parent.type, StructType):
            raise _refused(column.name, f"must not be nested in {shown}")
        if not parent.required:
            raise _refused(column.name, f"must not be nested in an optional field {shown}")
        parent_id = schema.parents.get(parent_id)
    return column.id


def _refused(name: str, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Cannot add field {name} as an identifier field: {why}", field=name)
