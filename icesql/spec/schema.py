"""A schema: a struct with an id, identifier fields, and lookups by field id and by dotted name. Spec: "Schemas"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from icesql.errors import NotFoundError, ValidationError, nearest
from icesql.spec.case_folding import fold
from icesql.spec.types import ListType, MapType, NestedField, StructType, Type, children


@dataclass(frozen=True)
class Schema:
    """Fields with ids. ``identifier_field_ids`` are sorted; equality covers the id, ``same_columns`` does not."""

    fields: tuple[NestedField, ...]
    schema_id: int = 0
    identifier_field_ids: tuple[int, ...] = ()

    def as_struct(self) -> StructType:
        return StructType(self.fields)

    def same_columns(self, other: Schema) -> bool:
        """True if the fields and identifier fields are equal, whatever the schema ids."""
        return self.fields == other.fields and set(self.identifier_field_ids) == set(other.identifier_field_ids)

    def walk(self) -> Iterator[tuple[str, NestedField, NestedField | None]]:
        """(dotted full name, field, parent field) of every field, depth first, parents before children."""
        yield from _walk(self.fields, "", None)

    @cached_property
    def fields_by_id(self) -> dict[int, NestedField]:
        return {field.id: field for _, field, _ in self.walk()}

    @cached_property
    def names_by_id(self) -> dict[int, str]:
        """Dotted full name of each field id; list elements are ``element``, map parts ``key`` and ``value``."""
        return {field.id: name for name, field, _ in self.walk()}

    @cached_property
    def parents(self) -> dict[int, int]:
        """Field id -> id of the enclosing field; top-level fields are absent."""
        return {field.id: parent.id for _, field, parent in self.walk() if parent is not None}

    @cached_property
    def ids_by_name(self) -> dict[str, int]:
        """Dotted names, with the short forms the reference allows (``list.x`` for ``list.element.x``)."""
        names = {name: field.id for name, field, _ in self.walk()}
        for name, field_id in _short_names(self.fields, ""):
            names.setdefault(name, field_id)
        return names

    @cached_property
    def ids_by_lower_name(self) -> dict[str, int]:
        ids: dict[str, int] = {}
        for name, field_id in self.ids_by_name.items():
            if ids.setdefault(fold(name), field_id) != field_id:
                raise ValidationError(f"Cannot build case-insensitive index, names collide: {name}", name=name)
        return ids

    @cached_property
    def highest_field_id(self) -> int:
        return max(self.fields_by_id, default=0)

    def field_id(self, name: str, *, case_sensitive: bool = True) -> int | None:
        """Id of a dotted name, or ``None``."""
        return self.ids_by_name.get(name) if case_sensitive else self.ids_by_lower_name.get(fold(name))

    def find(self, name_or_id: str | int, *, case_sensitive: bool = True) -> NestedField | None:
        """The field of a dotted name or an id, or ``None``."""
        if isinstance(name_or_id, str):
            field_id = self.field_id(name_or_id, case_sensitive=case_sensitive)
            return None if field_id is None else self.fields_by_id[field_id]
        return self.fields_by_id.get(name_or_id)

    def field(self, name_or_id: str | int, *, case_sensitive: bool = True) -> NestedField:
        """The field of a dotted name or an id. Raises NotFoundError that names the nearest match."""
        field = self.find(name_or_id, case_sensitive=case_sensitive)
        if field is None:
            hint = nearest(name_or_id, self.ids_by_name) if isinstance(name_or_id, str) else ""
            raise NotFoundError(f"Cannot find field '{name_or_id}' in {self.as_struct()}.{hint}", field=name_or_id)
        return field

    def name_of(self, field_id: int) -> str:
        """Dotted full name of an id. Raises NotFoundError."""
        try:
            return self.names_by_id[field_id]
        except KeyError:
            raise NotFoundError(f"Cannot find field id {field_id} in {self.as_struct()}", field_id=field_id) from None

    def identifier_names(self) -> tuple[str, ...]:
        return tuple(self.name_of(i) for i in self.identifier_field_ids)

    def __str__(self) -> str:
        return f"schema {self.schema_id}: {self.as_struct()}"


def _walk(
    fields: tuple[NestedField, ...], prefix: str, parent: NestedField | None
) -> Iterator[tuple[str, NestedField, NestedField | None]]:
    for field in fields:
        name = prefix + field.name
        yield name, field, parent
        yield from _walk(children(field.type), name + ".", field)


def _short_names(fields: tuple[NestedField, ...], prefix: str) -> Iterator[tuple[str, int]]:
    for field in fields:
        name = prefix + field.name
        yield name, field.id
        yield from _short_names(_struct_children(field.type), name + ".")


def _struct_children(type_: Type) -> tuple[NestedField, ...]:
    """Fields reachable without naming ``element`` or ``value`` when those are structs."""
    match type_:
        case StructType(fields=fields):
            return fields
        case ListType(element=StructType(fields=fields)):
            return fields
        case MapType(value=StructType(fields=fields)):
            return fields
        case _:
            return ()
