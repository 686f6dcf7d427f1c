"""Changes to one schema, collected by name and applied at once; ``UpdateSchema`` replays its steps on one.

Columns are identified by id: a renamed column keeps its id, a dropped id is never used again. Error messages are the reference's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from icesql.errors import InvalidArgumentError, ValidationError, unknown_case
from icesql.spec.assign_ids import Counter, assign_fresh_type
from icesql.spec.case_folding import name_key
from icesql.spec.promotion import can_promote
from icesql.spec.schema import Schema
from icesql.spec.types import ListType, MapType, NestedField, PrimitiveType, StructType, Type
from icesql.table.metadata.identifier_fields import check_identifier_fields

ROOT = -1  # parent id of top-level columns
UNSET = object()  # a default that was not given, as against a default of null


@dataclass(frozen=True, slots=True)
class Move:
    field_id: int
    kind: Literal["first", "before", "after"]
    reference_id: int | None = None


@dataclass(slots=True)
class SchemaEditor:
    """Every method checks at once against the schema and the changes made before; ``result`` gives the new schema."""

    schema: Schema
    last_column_id: int
    format_version: int = 2
    case_sensitive: bool = True
    allow_incompatible_changes: bool = False
    deletes: set[int] = field(default_factory=set)
    updates: dict[int, NestedField] = field(default_factory=dict)  # changed and added fields by id
    added: dict[int, list[int]] = field(default_factory=dict)  # parent id -> ids added to it, in order
    moves: dict[int, list[Move]] = field(default_factory=dict)
    identifier_names: set[str] = field(default_factory=set)
    _added_names: dict[str, int] = field(default_factory=dict)
    _added_parents: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.identifier_names = set(self.schema.identifier_names())

    # -- finding -------------------------------------------------------------------------------------------------
    def _key(self, name: str) -> str:
        return name_key(case_sensitive=self.case_sensitive)(name)

    def _find(self, name: str) -> NestedField | None:
        return self.schema.find(name, case_sensitive=self.case_sensitive)

    def _current(self, name: str) -> NestedField | None:
        """The field as changed so far, added ones too."""
        known, added_id = self._find(name), self._added_names.get(self._key(name))
        if added_id is not None and (known is None or known.id in self.deletes):
            return self.updates[added_id]
        return None if known is None else self.updates.get(known.id, known)

    def _to_update(self, name: str) -> NestedField:
        column = self._current(name)
        if column is None:
            raise InvalidArgumentError(f"Cannot update missing column: {name}", column=name)
        if column.id in self.deletes:
            raise InvalidArgumentError(f"Cannot update a column that will be deleted: {name}", column=name)
        return column

    def _parent_of(self, field_id: int) -> int:
        return self._added_parents.get(field_id, self.schema.parents.get(field_id, ROOT))

    # -- adding and dropping -------------------------------------------------------------------------------------
    def add(
        self, parent: str | None, name: str, type_: Type, *, required: bool = False, doc: str | None = None, default: object = None
    ) -> None:
        """``parent`` names a struct, a list of structs, or a map with struct values; ``None`` is the top level."""
        parent_id, full_name = (ROOT, name) if parent is None else self._parent(parent, name)
        taken = self._find(full_name if parent is None else f"{parent}.{name}")
        shown = name if parent is None else f"{parent}.{name}"
        if (taken is not None and taken.id not in self.deletes) or self._key(full_name) in self._added_names:
            raise InvalidArgumentError(f"Cannot add column, name already exists: {shown}", column=shown)
        if required and default is None and not self.allow_incompatible_changes:
            raise InvalidArgumentError(f"Incompatible change: cannot add required column: {full_name}", column=full_name)
        counter = Counter(self.last_column_id + 1)
        new_id = counter()
        fresh = assign_fresh_type(type_, counter)
        self.last_column_id = counter.last
        self._added_names[self._key(full_name)] = new_id
        if parent_id != ROOT:
            self._added_parents[new_id] = parent_id
        self.updates[new_id] = NestedField(new_id, name, fresh, required, doc, default, default)
        self.added.setdefault(parent_id, []).append(new_id)

    def _parent(self, parent: str, name: str) -> tuple[int, str]:
        column = self._find(parent)
        if column is None:
            raise InvalidArgumentError(f"Cannot find parent struct: {parent}", parent=parent)
        if isinstance(column.type, MapType):
            column = column.type.value_field
        elif isinstance(column.type, ListType):
            column = column.type.element_field
        if not isinstance(column.type, StructType):
            raise InvalidArgumentError(f"Cannot add to non-struct column: {parent}: {column.type}", parent=parent)
        if column.id in self.deletes:
            raise InvalidArgumentError(f"Cannot add to a column that will be deleted: {parent}", parent=parent)
        return column.id, f"{self.schema.name_of(column.id)}.{name}"

    def delete(self, name: str) -> None:
        column = self._find(name)
        if column is None:
            raise InvalidArgumentError(f"Cannot delete missing column: {name}", column=name)
        if column.id in self.added:
            raise InvalidArgumentError(f"Cannot delete a column that has additions: {name}", column=name)
        if column.id in self.updates:
            raise InvalidArgumentError(f"Cannot delete a column that has updates: {name}", column=name)
        self.deletes.add(column.id)

    # -- changing ------------------------------------------------------------------------------------------------
    def rename(self, name: str, new_name: str) -> None:
        column = self._find(name)
        if column is None:
            raise InvalidArgumentError(f"Cannot rename missing column: {name}", column=name)
        if not new_name:
            raise InvalidArgumentError("Cannot rename a column to null", column=name)
        if column.id in self.deletes:
            raise InvalidArgumentError(f"Cannot rename a column that will be deleted: {name}", column=name)
        self.updates[column.id] = replace(self.updates.get(column.id, column), name=new_name)
        old = self.schema.name_of(column.id)
        if old in self.identifier_names:
            prefix = old[: len(old) - len(column.name)]
            self.identifier_names = (self.identifier_names - {old}) | {prefix + new_name}

    def set_required(self, name: str, *, required: bool) -> None:
        column = self._to_update(name)
        if column.required == required:
            return
        has_default = self._key(name) in self._added_names and column.initial_default is not None
        if required and not has_default and not self.allow_incompatible_changes:
            raise InvalidArgumentError(f"Cannot change column nullability: {name}: optional -> required", column=name)
        self.updates[column.id] = replace(column, required=required)

    def set_type(self, name: str, type_: Type) -> None:
        column = self._to_update(name)
        if column.type == type_:
            return
        allowed = isinstance(column.type, PrimitiveType) and isinstance(type_, PrimitiveType)
        if not allowed or not can_promote(column.type, type_, self.format_version):
            raise InvalidArgumentError(f"Cannot change column type: {name}: {column.type} -> {type_}", column=name)
        self.updates[column.id] = replace(column, type=type_)

    def set_doc(self, name: str, doc: str | None) -> None:
        column = self._to_update(name)
        if column.doc != doc:
            self.updates[column.id] = replace(column, doc=doc)

    def set_default(self, name: str, default: object) -> None:
        """The default for rows written from now on; older rows keep the initial one. Spec: "Default values"."""
        column = self._to_update(name)
        if column.write_default != default:
            self.updates[column.id] = replace(column, write_default=default)

    # -- moving --------------------------------------------------------------------------------------------------
    def move(self, name: str, kind: Literal["first", "before", "after"], reference: str | None = None) -> None:
        column = self._current(name)
        if column is None:
            raise InvalidArgumentError(f"Cannot move missing column: {name}", column=name)
        parent_id = self._parent_of(column.id)
        if parent_id != ROOT and not isinstance(self.schema.fields_by_id[parent_id].type, StructType):
            raise InvalidArgumentError(f"Cannot move fields in non-struct type: {self.schema.fields_by_id[parent_id].type}", column=name)
        reference_id = None if reference is None else self._reference(name, column.id, kind, reference)
        if reference_id is not None and self._parent_of(reference_id) != parent_id:
            raise InvalidArgumentError(f"Cannot move field {name} to a different struct", column=name)
        self.moves.setdefault(parent_id, []).append(Move(column.id, kind, reference_id))

    def _reference(self, name: str, field_id: int, kind: str, reference: str) -> int:
        target = self._current(reference)
        if target is None:
            raise InvalidArgumentError(f"Cannot move {name} {kind} missing column: {reference}", column=name)
        if target.id == field_id:
            raise InvalidArgumentError(f"Cannot move {name} {kind} itself", column=name)
        return target.id

    # -- the result ----------------------------------------------------------------------------------------------
    def result(self) -> Schema:
        """The new schema, with the old one's id.

        Raises ValidationError for a name used twice, InvalidArgumentError for identifier fields that cannot be such.
        """
        self._check_identifiers_stay()
        changed = replace(self.schema, fields=self._struct(self.schema.fields, ROOT), identifier_field_ids=())
        _check_unique_names(changed)
        return replace(changed, identifier_field_ids=check_identifier_fields(changed, self.identifier_names, self.case_sensitive))

    def _check_identifiers_stay(self) -> None:
        for name in self.identifier_names:
            column = self.schema.find(name)
            if column is None:
                continue
            if column.id in self.deletes:
                raise InvalidArgumentError(
                    f"Cannot delete identifier field {_describe(column)}. To force deletion, also call setIdentifierFields to update "
                    "identifier fields.",
                    column=name,
                )
            parent = self.schema.parents.get(column.id)
            while parent is not None:
                if parent in self.deletes:
                    shown = _describe(self.schema.fields_by_id[parent])
                    raise InvalidArgumentError(
                        f"Cannot delete field {shown} as it will delete nested identifier field {_describe(column)}", column=name
                    )
                parent = self.schema.parents.get(parent)

    def _struct(self, fields: Sequence[NestedField], parent_id: int) -> tuple[NestedField, ...]:
        kept = [self._changed(child) for child in fields if child.id not in self.deletes]
        kept += [self.updates[i] for i in self.added.get(parent_id, ())]
        for move in self.moves.get(parent_id, ()):
            kept = _moved(kept, move)
        return tuple(kept)

    def _changed(self, child: NestedField) -> NestedField:
        updated = self.updates.get(child.id, child)
        if isinstance(child.type, PrimitiveType):
            return updated
        return replace(updated, type=self._type(child.type, child.id))

    def _type(self, type_: Type, field_id: int) -> Type:
        match type_:
            case StructType(fields=fields):
                return StructType(self._struct(fields, field_id))
            case ListType():
                return self._list(type_)
            case MapType():
                return self._map(type_)
            case PrimitiveType():
                return type_
            case _:
                raise unknown_case(type_)

    def _list(self, type_: ListType) -> Type:
        if type_.element_id in self.deletes:
            raise InvalidArgumentError(f"Cannot delete element type from list: {type_}", type=type_)
        element = self._changed(type_.element_field)
        return replace(type_, element=element.type, element_required=element.required)

    def _map(self, type_: MapType) -> Type:
        if type_.key_id in self.deletes:
            raise InvalidArgumentError(f"Cannot delete map keys: {type_}", type=type_)
        if type_.key_id in self.updates:
            raise InvalidArgumentError(f"Cannot update map keys: {type_}", type=type_)
        if type_.key_id in self.added:
            raise InvalidArgumentError(f"Cannot add fields to map keys: {type_}", type=type_)
        if self._type(type_.key, type_.key_id) != type_.key:
            raise InvalidArgumentError(f"Cannot alter map keys: {type_}", type=type_)
        if type_.value_id in self.deletes:
            raise InvalidArgumentError(f"Cannot delete value type from map: {type_}", type=type_)
        value = self._changed(type_.value_field)
        return replace(type_, value=value.type, value_required=value.required)


def _moved(fields: list[NestedField], move: Move) -> list[NestedField]:
    target = next((f for f in fields if f.id == move.field_id), None)
    if target is None:  # dropped in the same change
        return fields
    rest = [f for f in fields if f is not target]
    place = 0
    if move.kind != "first":
        index = next((i for i, f in enumerate(rest) if f.id == move.reference_id), None)
        if index is None:
            return fields
        place = index if move.kind == "before" else index + 1
    return [*rest[:place], target, *rest[place:]]


def _check_unique_names(schema: Schema) -> None:
    held: dict[str, int] = {}
    for name, child, _ in schema.walk():
        other = held.setdefault(name, child.id)
        if other != child.id:
            raise ValidationError(f"Invalid schema: multiple fields for name {name}: {other} and {child.id}", name=name)


def _describe(field_: NestedField) -> str:
    return f"{field_.id}: {field_.name}: {'required' if field_.required else 'optional'} {field_.type}"
