"""Columns added, dropped, renamed, changed and replaced: Spark's checks, then Iceberg's builder.

Names are resolved in any case, unless ``spark.sql.caseSensitive`` says otherwise, and written as the table has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icesql.errors import SqlError, UnsupportedError, ValidationError, nearest
from icesql.parser import statements as s
from icesql.parser.statements.families import ColumnAlteration
from icesql.session.resolve.resolved import Readable
from icesql.session.run.ddl.column_defaults import defaults_allowed
from icesql.session.run.ddl.schemas import default_value
from icesql.session.run.ddl.type_changes import check_type_change
from icesql.session.sql_errors import column_exists, quoted
from icesql.spark_errors import spark_message
from icesql.spec.case_folding import fold, name_key
from icesql.spec.schema import Schema
from icesql.spec.types import ListType, MapType, NestedField, StructType, Type, children
from icesql.table.changes.update_schema import UpdateSchema

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


def alter_columns(session: SessionState, statement: ColumnAlteration, resolved: Readable) -> None:
    """One commit. Raises SqlError, ValidationError or UnsupportedError, and then changes nothing."""
    update = resolved.table.update_schema()
    known = ColumnNames(resolved.table.metadata.schema, session.is_case_sensitive)
    match statement:
        case s.AddColumns():
            _refuse_defaults(session, statement.columns)
            _add(update, known, statement.columns)
        case s.DropColumns():
            _drop(update, known, statement)
        case s.RenameColumn():
            _rename(update, known, statement)
        case s.AlterColumns():
            _change(session, update, known, statement.changes, resolved)
        case s.ReplaceColumns():
            _refuse_defaults(session, statement.columns)
            _replace(update, known, statement.columns)
    update.commit()


# -- names -------------------------------------------------------------------------------------------------------------
class UnresolvedColumnError(SqlError):
    """No column has the name: what IF EXISTS passes over."""


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The table's columns by the names that statements give them. ``exact``: case matters."""

    schema: Schema
    exact: bool

    def key(self, name: str) -> str:
        """What two spellings of one name have in common."""
        return name_key(case_sensitive=self.exact)(name)

    def keys(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.key(name) for name in names)

    def resolve(self, path: Sequence[str]) -> tuple[str, NestedField]:
        """The dotted name as the table spells it, and the field. Raises SqlError: for none, or for two such fields."""
        holder: Type = self.schema.as_struct()
        names: list[str] = []
        field: NestedField | None = None
        for place, part in enumerate(path):
            matches = [field for field in children(holder) if self.key(field.name) == self.key(part)]
            if len(matches) > 1:
                count = f"is ambiguous and has {len(matches)} matches"
                raise SqlError(spark_message("AMBIGUOUS_COLUMN_OR_FIELD", f"Column or field {quoted(path)} {count}."))
            field = matches[0] if matches else None
            if field is None:
                raise self._missing(path, place, names, holder)
            names.append(field.name)
            holder = field.type
        assert field is not None
        return ".".join(names), field

    def _missing(self, path: Sequence[str], place: int, names: Sequence[str], holder: Type) -> SqlError:
        """The error for the part at ``place``: nothing is called so in ``holder``, the type of what ``names`` leads to."""
        if not isinstance(holder, StructType):
            return not_a_struct(path, path[:place])
        near = [quoted([*names, field.name]) for field in holder.fields] if place else []
        return self.unresolved(path, near)

    def unresolved(self, path: Sequence[str], near: Iterable[str] = ()) -> UnresolvedColumnError:
        """Names the table's columns and ``near``, quoted names of fields."""
        known = [*(quoted([field.name]) for field in self.schema.fields), *near]
        return UnresolvedColumnError(
            spark_message(
                "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                f"A column, variable, or function parameter with name {quoted(path)} cannot be resolved. "
                f"Did you mean one of the following? [{', '.join(known)}].",
            )
        )

    def siblings(self, parent: Sequence[str]) -> tuple[NestedField, ...]:
        return children(self.resolve(parent)[1].type) if parent else self.schema.fields


def not_a_struct(path: Sequence[str], above: Sequence[str]) -> SqlError:
    return SqlError(spark_message("INVALID_FIELD_NAME", f"Field name {quoted(path)} is invalid: {quoted(above)} is not a struct."))


def _refuse_defaults(session: SessionState, columns: Sequence[s.ColumnDefinition]) -> None:
    for column in columns:
        if column.default_text is not None and not defaults_allowed(session):
            raise UnsupportedError(
                f"Cannot add column {column.name} since setting default values in Spark is currently unsupported. "
                "SET spark.icesql.column-defaults=true to use them with format version 3"
            )


# -- ADD ---------------------------------------------------------------------------------------------------------------
def _add(update: UpdateSchema, known: ColumnNames, columns: Sequence[s.ColumnDefinition]) -> None:
    added: set[tuple[str, ...]] = set()
    for column in columns:
        above = column.path[:-1]
        parent = _parent(known, above, column.name)
        key = known.keys(column.path)
        _check_place(known, column, added)
        taken = set() if known.keys(above) in added else {known.key(field.name) for field in known.siblings(above)}
        if key in added:
            raise column_exists(column.path)
        if key[-1] in taken:
            raise SqlError(
                spark_message(
                    "FIELD_ALREADY_EXISTS",
                    f"Cannot add column, because {quoted(column.path)} already exists in {known.schema.as_struct()}.",
                )
            )
        if column.required:
            raise ValidationError(f"Unsupported table change: Incompatible change: cannot add required column: {column.name}")
        name = column.name if parent is not None else (column.name,)
        update.add_column(name, column.type, doc=column.comment, default=default_value(column), parent=parent)
        added.add(key)
        if column.position is not None:
            _move(update, known, parent, column.name, column.position, frozenset(k[-1] for k in added if k[:-1] == key[:-1]))


def _parent(known: ColumnNames, path: Sequence[str], name: str) -> str | None:
    """Dotted name of the struct that takes a new field. Raises SqlError for a parent that is none, ValidationError for a map's key."""
    if not path:
        return None
    dotted, field = known.resolve(path)
    if not isinstance(field.type, StructType):
        raise not_a_struct([*path, name], path)
    if fold(path[-1]) == "key" and _is_map_key(known, path):
        raise ValidationError(f"Unsupported table change: Cannot add fields to map keys: {name}")
    return dotted


def _check_place(known: ColumnNames, column: s.ColumnDefinition, added: Iterable[tuple[str, ...]]) -> None:
    """Raises SqlError for a place after a column that is not there."""
    if column.position is None or column.position.after is None:
        return
    above = column.path[:-1]
    siblings = () if known.keys(above) in added else known.siblings(above)
    after = known.key(column.position.after)
    if after not in {known.key(field.name) for field in siblings} and known.keys((*above, column.position.after)) not in added:
        raise SqlError(
            spark_message(
                "FIELD_NOT_FOUND",
                f"Cannot place {quoted(column.path)}: No such struct field {quoted([column.position.after])} in "
                f"{', '.join(field.name for field in siblings)}.{nearest(column.position.after, [f.name for f in siblings])}",
            )
        )


def _is_map_key(known: ColumnNames, path: Sequence[str]) -> bool:
    return len(path) > 1 and isinstance(known.resolve(path[:-1])[1].type, MapType)


def _move(
    update: UpdateSchema, known: ColumnNames, parent: str | None, name: str, position: s.Position, added: frozenset[str] = frozenset()
) -> None:
    full = name if parent is None else f"{parent}.{name}"
    if position.after is None:
        update.move_first(full)
        return
    fields = known.schema.fields if parent is None else children(known.schema.field(parent).type)
    siblings = {known.key(field.name): field.name for field in fields}
    after = siblings.get(known.key(position.after)) or (position.after if known.key(position.after) in added else None)
    if after is None:
        raise known.unresolved([*(parent.split(".") if parent else ()), position.after])
    if known.key(after) == known.key(name):
        raise ValidationError(f"Unsupported table change: Cannot move {full} after itself")
    update.move_after(full, after if parent is None else f"{parent}.{after}")


# -- DROP and RENAME ---------------------------------------------------------------------------------------------------
def _drop(update: UpdateSchema, known: ColumnNames, statement: s.DropColumns) -> None:
    dropped: set[str] = set()
    for path in statement.columns:
        try:
            name, _ = known.resolve(path)
        except UnresolvedColumnError:
            if statement.if_exists:
                continue
            raise
        _refuse_dropped_part(known, path)
        if name in dropped:
            raise SqlError(f"Cannot drop column: it is named twice: {name}")
        update.delete_column(name)
        dropped.add(name)


def _container_of(known: ColumnNames, path: Sequence[str]) -> ListType | MapType | None:
    """List elements, map keys and map values have no name of their own."""
    parent = known.resolve(path[:-1])[1].type if len(path) > 1 else None
    return parent if isinstance(parent, (ListType, MapType)) else None


def _refuse_dropped_part(known: ColumnNames, path: Sequence[str]) -> None:
    parent = _container_of(known, path)
    if parent is None:
        return
    if isinstance(parent, ListType):
        raise ValidationError(f"Unsupported table change: Cannot delete element type from list: {parent}")
    part = "map keys" if fold(path[-1]) == "key" else "value type from map"
    raise ValidationError(f"Unsupported table change: Cannot delete {part}: {parent}")


def _rename(update: UpdateSchema, known: ColumnNames, statement: s.RenameColumn) -> None:
    name, _ = known.resolve(statement.column)
    if _container_of(known, statement.column) is not None:
        raise not_a_struct([*statement.column[:-1], statement.new_name], statement.column[:-1])
    siblings = {known.key(field.name) for field in known.siblings(statement.column[:-1])}
    if known.key(statement.new_name) in siblings:
        target = (*statement.column[:-1], statement.new_name)
        raise SqlError(
            spark_message(
                "FIELD_ALREADY_EXISTS", f"Cannot rename column, because {quoted(target)} already exists in {known.schema.as_struct()}."
            )
        )
    update.rename_column(name, statement.new_name)


# -- ALTER COLUMN ------------------------------------------------------------------------------------------------------
def _change(session: SessionState, update: UpdateSchema, known: ColumnNames, changes: Sequence[s.ColumnChange], resolved: Readable) -> None:
    seen: set[str] = set()
    for change in changes:
        name, field = known.resolve(change.column)
        if name in seen:
            raise SqlError(
                spark_message(
                    "NOT_SUPPORTED_CHANGE_SAME_COLUMN",
                    f"ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing the same column twice: {name}.",
                )
            )
        seen.add(name)
        if change.type is not None:
            check_type_change(session, resolved, name, field, change.type, change.type_text or "")
        _change_one(session, update, known, name, field, change)


def _change_one(
    session: SessionState, update: UpdateSchema, known: ColumnNames, name: str, field: NestedField, change: s.ColumnChange
) -> None:
    if change.default_text is not None or change.drop_default:
        _change_default(session, update, name, field, change)
    if change.type is not None and not children(field.type) and change.type != field.type:
        update.update_column_type(name, change.type)
    if change.set_not_null and not field.required:
        raise ValidationError(f"Cannot change nullable column to non-nullable: {name}")
    if change.drop_not_null and field.required:
        update.make_column_optional(name)
    if change.comment is not None:
        update.update_column_doc(name, change.comment)
    if change.position is not None:
        parent = name[: -len(field.name) - 1] or None
        _move(update, known, parent, field.name, change.position)


def _change_default(session: SessionState, update: UpdateSchema, name: str, field: NestedField, change: s.ColumnChange) -> None:
    if not defaults_allowed(session):
        raise UnsupportedError(
            f"Cannot apply unknown table change: default of column {name}. SET spark.icesql.column-defaults=true to use defaults "
            f"with format version 3"
        )
    if change.drop_default:
        update.update_column_default(name, None)
        return
    if change.default is None:
        raise SqlError(f"Cannot set default of column {name}: not a constant: {change.default_text}")
    from icesql.spec.values.literals import literal

    update.update_column_default(name, None if change.default.value is None else literal(field.type, change.default.value))


# -- REPLACE COLUMNS ---------------------------------------------------------------------------------------------------
def _replace(update: UpdateSchema, known: ColumnNames, columns: Sequence[s.ColumnDefinition]) -> None:
    """All columns go and new ones come: even same-named ones get new ids, as Spark makes of it."""
    seen: set[str] = set()
    for field in known.schema.fields:
        update.delete_column(field.name)
    for column in columns:
        key = known.key(column.name)
        if key in seen:
            raise column_exists([key])
        seen.add(key)
        if column.required:
            raise ValidationError(f"Unsupported table change: Incompatible change: cannot add required column: {column.name}")
        update.add_column((column.name,), column.type, doc=column.comment, default=default_value(column))
