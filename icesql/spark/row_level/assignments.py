"""``SET column = value`` lists as one SQL expression a table column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from icesql.errors import NotFoundError, ValidationError, nearest
from icesql.spark.functions.literals import sql_literal
from icesql.spark.read.columns import quoted
from icesql.spark_errors import spark_message
from icesql.spec.case_folding import NameKey, fold
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField, StructType


@dataclass(frozen=True, slots=True)
class Assignment:
    """``column``: the path, perhaps behind the table's alias. ``value``: SQL text, ``None`` for the column's write default."""

    column: tuple[str, ...]
    value: str | None


@dataclass(slots=True)
class _Node:
    """What is assigned to a field and below it."""

    value: str | None = None
    children: dict[int, _Node] = field(default_factory=dict)


def assigned_columns(
    schema: Schema, assignments: Sequence[Assignment], alias: str, *, named: bool = True, key: NameKey = fold
) -> list[str]:
    """SQL text of every column after the assignments; unassigned ones keep ``alias``'s value.

    Raises NotFoundError for an unknown column, ValidationError for two assignments of one column or of a struct and its field.
    """
    root = _Node()
    for assignment in assignments:
        below = Assignment(below_table(schema, assignment.column, alias, key), assignment.value)
        _place(root, schema.as_struct(), below, 0, key)
    texts = [_text(f, root.children.get(f.id), f"{quoted(alias)}.{quoted(f.name)}") for f in schema.fields]
    return [f"{text} AS {quoted(f.name)}" for text, f in zip(texts, schema.fields, strict=True)] if named else texts


def below_table(schema: Schema, column: tuple[str, ...], alias: str, key: NameKey) -> tuple[str, ...]:
    """The path without its qualifier, the alias."""
    names = {key(f.name) for f in schema.fields}
    if len(column) > 1 and key(column[0]) == key(alias) and key(column[1]) in names:
        return column[1:]
    return column


def _place(node: _Node, struct: StructType, assignment: Assignment, depth: int, key: NameKey) -> None:
    name = assignment.column[depth]
    shown = ".".join(assignment.column[: depth + 1])
    field_ = next((f for f in struct.fields if key(f.name) == key(name)), None)
    if field_ is None:
        hint = nearest(name, [f.name for f in struct.fields])
        raise NotFoundError(
            spark_message("FIELD_NOT_FOUND", f"No such struct field `{name}` in {', '.join(quoted(f.name) for f in struct.fields)}.{hint}")
            if depth
            else spark_message(
                "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                f"A column, variable, or function parameter with name {quoted(name)} cannot be resolved.{hint}",
            )
        )
    child = node.children.setdefault(field_.id, _Node())
    if depth == len(assignment.column) - 1:
        if child.value is not None:
            raise _invalid(f"Multiple assignments for '{shown}': {child.value}, {assignment.value or 'DEFAULT'}")
        if child.children:
            raise _invalid(f"Conflicting assignments for '{shown}'")
        child.value = sql_literal(field_.type, field_.write_default) if assignment.value is None else assignment.value
        return
    if child.value is not None:
        raise _invalid(f"Conflicting assignments for '{shown}'")
    if not isinstance(field_.type, StructType):
        raise _invalid(f"Updating nested fields is only supported for StructType but '{shown}' is of type {field_.type}")
    _place(child, field_.type, assignment, depth + 1, key)


def _invalid(problem: str) -> ValidationError:
    return ValidationError(
        spark_message(
            "DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS",
            f"Cannot resolve the assignments due to data type mismatch: {problem}.",
        )
    )


def _text(column: NestedField, node: _Node | None, current: str) -> str:
    if node is None:
        return current
    if node.value is not None:
        return f"({node.value})"
    assert isinstance(column.type, StructType)
    parts = [
        f"'{f.name}', {_text(f, node.children.get(f.id), f'{current}.{quoted(f.name)}')}".replace("\\", "\\\\") for f in column.type.fields
    ]
    return f"named_struct({', '.join(parts)})"
