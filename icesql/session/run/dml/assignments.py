"""``SET column = value`` of UPDATE and MERGE: the column that a key names, and its value as SQL."""

from __future__ import annotations

from collections.abc import Sequence

from icesql.parser import statements as s
from icesql.session.resolve.write_target import WriteTarget
from icesql.session.rewrite.bound_text import BoundText
from icesql.session.sql_errors import field_not_found, unresolved_column
from icesql.spark.functions.literals import sql_literal
from icesql.spark.row_level.assignments import Assignment
from icesql.spark.row_level.target import Target
from icesql.spec.types import StructType, Type


class Qualifiers:
    """The names by which assignment keys may call the target."""

    def __init__(self, target: WriteTarget, alias: str, *, is_alias: bool, rows: Target) -> None:
        self.schema, self.key = target.table.metadata.schema, rows.key
        self.is_case_sensitive = rows.is_case_sensitive
        full = tuple(self.key(part) for part in target.resolved.address.parts)
        self._known = {(self.key(alias),)} | (set() if is_alias else {full[start:] for start in range(len(full))})

    def require(self, column: Sequence[str], text: str, place: s.Span) -> None:
        """Raises MissingColumnError for a path that leads to no column or field. ``place``: of the assignment's key in ``text``."""
        holder: Type = self.schema.as_struct()
        for depth, part in enumerate(column):
            if not isinstance(holder, StructType):
                return  # what is no struct has no fields to be assigned: the assignments are refused as a whole
            field = next((each for each in holder.fields if self.key(each.name) == self.key(part)), None)
            if field is None:
                known = [each.name for each in holder.fields]
                raise (
                    field_not_found(part, known, text=text, place=place)
                    if depth
                    else unresolved_column(column, known, text=text, place=place)
                )
            holder = field.type

    def column(self, parts: Sequence[str]) -> tuple[str, ...]:
        """The path below the table, its qualifier taken off. Longer qualifiers are tried first."""
        lowered = tuple(self.key(part) for part in parts)
        for length in range(len(parts) - 1, 0, -1):
            if lowered[:length] in self._known:
                return tuple(parts[length:])
        return tuple(parts)


def assignment_of(names: Qualifiers, assignment: s.Assignment, text: BoundText) -> Assignment:
    column = names.column(assignment.column)
    names.require(column, text.text, assignment.key)
    if not assignment.is_default:
        return Assignment(column=column, value=text.sql(assignment.value))
    field = names.schema.find(".".join(column), case_sensitive=names.is_case_sensitive)
    return Assignment(column=column, value="NULL" if field is None else sql_literal(field.type, field.write_default))
