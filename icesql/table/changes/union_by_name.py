"""Evolving a schema so that it can hold rows of another one: columns match by name, missing ones are added, types are widened."""

from __future__ import annotations

from icesql.errors import InvalidArgumentError
from icesql.spec.case_folding import name_key
from icesql.spec.promotion import can_promote
from icesql.spec.schema import Schema
from icesql.spec.types import ListType, MapType, NestedField, PrimitiveType, StructType, Type
from icesql.table.changes.schema_editor import SchemaEditor


def union_by_name(editor: SchemaEditor, schema: Schema) -> None:
    """Raises InvalidArgumentError ``Cannot change column type: ...`` where a column's types cannot be brought together."""
    _union_struct(editor, None, editor.schema.fields, schema.fields)


def _union_struct(editor: SchemaEditor, parent: str | None, known: tuple[NestedField, ...], wanted: tuple[NestedField, ...]) -> None:
    for field in wanted:
        same_name = next((f for f in known if _same(f.name, field.name, editor.case_sensitive)), None)
        if same_name is None:
            editor.add(parent, field.name, field.type, doc=field.doc, default=field.initial_default)
            continue
        name = editor.schema.name_of(same_name.id)
        _update(editor, name, same_name, field)
        _union_type(editor, name, same_name.type, field.type)


def _same(left: str, right: str, case_sensitive: bool) -> bool:
    key = name_key(case_sensitive=case_sensitive)
    return key(left) == key(right)


def _update(editor: SchemaEditor, name: str, known: NestedField, wanted: NestedField) -> None:
    if known.required and not wanted.required:
        editor.set_required(name, required=False)
    if not _holds(known.type, wanted.type, editor.format_version):
        editor.set_type(name, wanted.type)
    if wanted.doc is not None and wanted.doc != known.doc:
        editor.set_doc(name, wanted.doc)
    if wanted.write_default is not None and wanted.write_default != known.write_default:
        editor.set_default(name, wanted.write_default)


def _holds(known: Type, wanted: Type, format_version: int) -> bool:
    """True if the known type needs no change for values of the wanted one."""
    if isinstance(known, PrimitiveType) and isinstance(wanted, PrimitiveType):
        return known == wanted or can_promote(wanted, known, format_version)
    return type(known) is type(wanted)


def _union_type(editor: SchemaEditor, name: str, known: Type, wanted: Type) -> None:
    match known, wanted:
        case StructType(fields=old), StructType(fields=new):
            _union_struct(editor, name, old, new)
        case ListType(), ListType():
            _union_part(editor, f"{name}.element", known.element_field, wanted.element_field)
        case MapType(), MapType():
            if not _same_key(known.key, wanted.key, editor.format_version):
                raise InvalidArgumentError(f"Cannot change column type: {name}.key: {known.key} -> {wanted.key}", column=name)
            _union_part(editor, f"{name}.value", known.value_field, wanted.value_field)
        case _:
            pass  # ``_update`` has compared them


def _union_part(editor: SchemaEditor, name: str, known: NestedField, wanted: NestedField) -> None:
    _update(editor, name, known, wanted)
    _union_type(editor, name, known.type, wanted.type)


def _same_key(known: Type, wanted: Type, format_version: int) -> bool:
    if isinstance(known, StructType) and isinstance(wanted, StructType):
        return [f.name for f in known.fields] == [f.name for f in wanted.fields]
    return _holds(known, wanted, format_version)
