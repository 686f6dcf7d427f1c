"""Columns added, dropped, renamed, changed and replaced: Spark's checks, then Iceberg's builder.

Names are resolved in any case and written as the table has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from icesql.errors import SqlError, UnsupportedError, ValidationError, nearest
from icesql.parser import statements as s
from icesql.session.names import Found
from icesql.session.run_defaults import defaults_allowed
from icesql.session.schemas import default_value
from icesql.session.sql_errors import quoted
from icesql.spec.schema import Schema
from icesql.spec.types import (
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StructType,
    Type,
    children,
)
from icesql.table.update_schema import UpdateSchema

if TYPE_CHECKING:
    from icesql.session.session import Session

_NARROW = ("tinyint", "byte", "smallint", "short")
_SIZED = ("char", "varchar", "character")


def alter_columns(session: Session, statement: s.AlterTable, found: Found) -> None:
    """One commit. Raises SqlError, ValidationError or UnsupportedError, and then changes nothing."""
    update = found.table.update_schema()
    schema = found.table.metadata.schema
    match statement:
        case s.AddColumns():
            _refuse_defaults(session, statement.columns)
            _add(update, schema, statement.columns)
        case s.DropColumns():
            _drop(update, schema, statement)
        case s.RenameColumn():
            _rename(update, schema, statement)
        case s.AlterColumns():
            _change(session, update, schema, statement.changes)
        case s.ReplaceColumns():
            _refuse_defaults(session, statement.columns)
            _replace(update, schema, statement.columns)
    update.commit()


# -- names -------------------------------------------------------------------------------------------------------------
def resolve(schema: Schema, path: Sequence[str]) -> tuple[str, NestedField]:
    """The dotted name as the table spells it, and the field. Raises SqlError with the nearest name."""
    fields: Sequence[NestedField] = schema.fields
    names: list[str] = []
    found: NestedField | None = None
    for part in path:
        found = next((field for field in fields if field.name == part), None)
        found = found or next((field for field in fields if field.name.lower() == part.lower()), None)
        if found is None:
            known = [".".join((*names, field.name)) for field in fields] or list(schema.ids_by_name)
            raise SqlError(
                f"[FIELD_NOT_FOUND] Cannot find column: No such struct field {quoted([part])} in {quoted(path)}."
                f"{nearest('.'.join((*names, part)), known)} SQLSTATE: 42704"
            )
        names.append(found.name)
        fields = children(found.type)
    assert found is not None
    return ".".join(names), found


def _siblings(schema: Schema, parent: Sequence[str]) -> tuple[NestedField, ...]:
    if not parent:
        return schema.fields
    return children(resolve(schema, parent)[1].type)


def _refuse_defaults(session: Session, columns: Sequence[s.ColumnDefinition]) -> None:
    for column in columns:
        if column.default_text is not None and not defaults_allowed(session):
            raise UnsupportedError(
                f"Cannot add column {column.name} since setting default values in Spark is currently unsupported. "
                "SET spark.icesql.column-defaults=true to use them with format version 3"
            )


# -- ADD ---------------------------------------------------------------------------------------------------------------
def _add(update: UpdateSchema, schema: Schema, columns: Sequence[s.ColumnDefinition]) -> None:
    added: set[tuple[str, ...]] = set()
    for column in columns:
        parent = _parent(schema, column.path[:-1], column.name)
        key = (*(part.lower() for part in column.path),)
        taken = {field.name.lower() for field in _siblings(schema, column.path[:-1])} if not _is_added(added, column.path[:-1]) else set()
        if key in added or column.name.lower() in taken:
            raise SqlError(
                f"[FIELD_ALREADY_EXISTS] Cannot add column, because {quoted(column.path)} already exists in {schema.as_struct()}. "
                f"SQLSTATE: 42710"
            )
        if column.required:
            raise ValidationError(f"Unsupported table change: Incompatible change: cannot add required column: {column.name}")
        name = column.name if parent is not None else (column.name,)
        update.add_column(name, column.type, doc=column.comment, default=default_value(column), parent=parent)
        added.add(key)
        if column.position is not None:
            _move(update, schema, parent, column.name, column.position, {k[-1]: k[-1] for k in added if k[:-1] == key[:-1]})


def _is_added(added: set[tuple[str, ...]], path: Sequence[str]) -> bool:
    return tuple(part.lower() for part in path) in added


def _parent(schema: Schema, path: Sequence[str], name: str) -> str | None:
    """Dotted name of the struct that takes a new field. Raises ValidationError for a parent that is none."""
    if not path:
        return None
    dotted, field = resolve(schema, path)
    if path[-1].lower() == "key" and _is_map_key(schema, path):
        raise ValidationError(f"Unsupported table change: Cannot add fields to map keys: {name}")
    if not isinstance(field.type, StructType):
        raise ValidationError(f"Cannot add column to non-struct: {dotted}: {field.type}")
    return dotted


def _is_map_key(schema: Schema, path: Sequence[str]) -> bool:
    return len(path) > 1 and isinstance(resolve(schema, path[:-1])[1].type, MapType)


def _move(update: UpdateSchema, schema: Schema, parent: str | None, name: str, position: s.Position, added: dict[str, str]) -> None:
    full = name if parent is None else f"{parent}.{name}"
    if position.after is None:
        update.move_first(full)
        return
    siblings = {field.name.lower(): field.name for field in (schema.fields if parent is None else children(schema.field(parent).type))}
    after = siblings.get(position.after.lower()) or (position.after if position.after.lower() in added else None)
    if after is None:
        raise SqlError(
            f"[FIELD_NOT_FOUND] Cannot move {full} after missing column: No such struct field {quoted([position.after])}."
            f"{nearest(position.after, siblings.values())} SQLSTATE: 42704"
        )
    if after.lower() == name.lower():
        raise ValidationError(f"Cannot move {full} after itself")
    update.move_after(full, after if parent is None else f"{parent}.{after}")


# -- DROP and RENAME ---------------------------------------------------------------------------------------------------
def _drop(update: UpdateSchema, schema: Schema, statement: s.DropColumns) -> None:
    dropped: set[str] = set()
    for path in statement.columns:
        try:
            name, _ = resolve(schema, path)
        except SqlError:
            if statement.if_exists:
                continue
            raise
        _refuse_container_part(schema, path, "delete")
        if name in dropped:
            raise SqlError(f"Cannot drop column: it is named twice: {name}")
        update.delete_column(name)
        dropped.add(name)


def _refuse_container_part(schema: Schema, path: Sequence[str], verb: str) -> None:
    """List elements, map keys and map values have no name of their own."""
    if len(path) < 2:
        return
    parent = resolve(schema, path[:-1])[1].type
    if isinstance(parent, ListType):
        raise ValidationError(f"Cannot {verb} element type from list: {parent}")
    if isinstance(parent, MapType):
        raise ValidationError(f"Cannot {verb} {path[-1].lower()} type from map: {parent}")


def _rename(update: UpdateSchema, schema: Schema, statement: s.RenameColumn) -> None:
    name, _ = resolve(schema, statement.column)
    _refuse_container_part(schema, statement.column, "rename")
    siblings = {field.name.lower() for field in _siblings(schema, statement.column[:-1])}
    if statement.new_name.lower() in siblings:
        target = (*statement.column[:-1], statement.new_name)
        raise SqlError(
            f"[FIELD_ALREADY_EXISTS] Cannot rename column, because {quoted(target)} already exists in {schema.as_struct()}. SQLSTATE: 42710"
        )
    update.rename_column(name, statement.new_name)


# -- ALTER COLUMN ------------------------------------------------------------------------------------------------------
def _change(session: Session, update: UpdateSchema, schema: Schema, changes: Sequence[s.ColumnChange]) -> None:
    seen: set[str] = set()
    for change in changes:
        name, field = resolve(schema, change.column)
        if name in seen:
            raise SqlError(
                f"[NOT_SUPPORTED_CHANGE_SAME_COLUMN] ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing the same "
                f"column twice: {name}. SQLSTATE: 0A000"
            )
        seen.add(name)
        _change_one(session, update, schema, name, field, change)


def _change_one(session: Session, update: UpdateSchema, schema: Schema, name: str, field: NestedField, change: s.ColumnChange) -> None:
    if change.default_text is not None or change.drop_default:
        _change_default(session, update, name, field, change)
    if change.type is not None:
        _change_type(update, name, field, change.type, (change.type_text or "").lower())
    if change.set_not_null and not field.required:
        raise ValidationError(f"Cannot change nullable column to non-nullable: {name}")
    if change.drop_not_null and field.required:
        update.make_column_optional(name)
    if change.comment is not None:
        update.update_column_doc(name, change.comment)
    if change.position is not None:
        parent = name[: -len(field.name) - 1] or None
        _move(update, schema, parent, field.name, change.position, {})


def _change_default(session: Session, update: UpdateSchema, name: str, field: NestedField, change: s.ColumnChange) -> None:
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
    from icesql.spec.literals import literal

    update.update_column_default(name, None if change.default.value is None else literal(field.type, change.default.value))


def _change_type(update: UpdateSchema, name: str, field: NestedField, wanted: Type, text: str) -> None:
    kind = {StructType: "STRUCT", ListType: "ARRAY", MapType: "MAP"}.get(type(field.type))
    if kind is not None and type(wanted) is not type(field.type):
        raise UnsupportedError(
            f"[NOT_SUPPORTED_CHANGE_COLUMN] ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing column {name} from "
            f"{field.type} to {wanted}. SQLSTATE: 0A000"
        )
    if kind is not None:
        raise UnsupportedError(
            f"[CANNOT_UPDATE_FIELD.{kind}_TYPE] Cannot update field {name} type: Update a struct by updating its fields, an array "
            f"by its element, "
            "a map by its key or value. SQLSTATE: 0A000"
        )
    if wanted == field.type and not text.startswith((*_NARROW, *_SIZED)):
        return
    if text.startswith(_SIZED) or text in _NARROW or not _widens(field.type, wanted):
        raise UnsupportedError(
            f"[NOT_SUPPORTED_CHANGE_COLUMN] Cannot change column type: {name}: {field.type} -> {text or wanted}. SQLSTATE: 0A000"
        )
    update.update_column_type(name, wanted)


def _widens(old: Type, new: Type) -> bool:
    """The three that Spark and Iceberg both allow."""
    match old, new:
        case IntegerType(), LongType():
            return True
        case FloatType(), DoubleType():
            return True
        case DecimalType(precision=p, scale=s_), DecimalType(precision=q, scale=t):
            return s_ == t and q >= p
    return False


# -- REPLACE COLUMNS ---------------------------------------------------------------------------------------------------
def _replace(update: UpdateSchema, schema: Schema, columns: Sequence[s.ColumnDefinition]) -> None:
    """All columns go and new ones come: even same-named ones get new ids, as Spark makes of it."""
    seen: set[str] = set()
    for field in schema.fields:
        update.delete_column(field.name)
    for column in columns:
        if column.name.lower() in seen:
            raise SqlError(f"[COLUMN_ALREADY_EXISTS] The column {quoted([column.name.lower()])} already exists. SQLSTATE: 42711")
        seen.add(column.name.lower())
        if column.required:
            raise ValidationError(f"Unsupported table change: Incompatible change: cannot add required column: {column.name}")
        update.add_column((column.name,), column.type, doc=column.comment, default=default_value(column))
