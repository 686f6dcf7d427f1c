"""The WHEN clauses of a MERGE, and what an INSERT among them sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from icesql.errors import ValidationError
from icesql.spark.functions.literals import sql_literal
from icesql.spark.row_level.assignments import Assignment, assigned_columns, below_table
from icesql.spark.row_level.target import Target


class ClauseKind(str, Enum):
    MATCHED = "matched"
    NOT_MATCHED = "not matched"
    NOT_MATCHED_BY_SOURCE = "not matched by source"


class Action(str, Enum):
    DELETE = "delete"
    UPDATE = "update"
    INSERT = "insert"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One WHEN clause. ``condition``: SQL text."""

    kind: ClauseKind
    action: Action
    condition: str | None = None
    assignments: tuple[Assignment, ...] = ()


def inserted_columns(target: Target, assignments: Sequence[Assignment]) -> list[str]:
    """SQL text of every column of an inserted row. Raises as ``assigned_columns``; ValidationError for a nested key."""
    schema = target.metadata.schema
    assignments = [Assignment(below_table(schema, a.column, target.alias, target.key), a.value) for a in assignments]
    nested = next((a for a in assignments if len(a.column) > 1), None)
    if nested is not None:
        raise ValidationError(f"INSERT assignment keys cannot be nested fields: {'.'.join(nested.column)} = {nested.value}")
    texts = assigned_columns(schema, assignments, target.alias, named=False, key=target.key)
    assigned = {target.key(a.column[0]) for a in assignments}
    return [
        text if target.key(field.name) in assigned else sql_literal(field.type, field.write_default)
        for text, field in zip(texts, schema.fields, strict=True)
    ]
