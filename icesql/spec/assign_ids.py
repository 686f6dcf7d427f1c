"""Field ids for new schemas, in the order Java gives them: all fields of a struct first, then what is nested in them.

Spec: "Schemas" (ids are unique in a schema and never reused in a table).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from icesql.spec.schema import Schema
from icesql.spec.types import ListType, MapType, StructType, Type

NextId = Callable[[], int]
_IdFor = Callable[[str], int]


class Counter:
    """Gives ``next_id``, ``next_id + 1``, ...; ``last`` is the id given last."""

    def __init__(self, next_id: int) -> None:
        self.last = next_id - 1

    def __call__(self) -> int:
        self.last += 1
        return self.last


def assign_fresh_ids(schema: Schema, next_id: int = 1) -> tuple[Schema, int]:
    """The schema with new ids from ``next_id`` on, identifier fields carried over, and the last id given."""
    counter = Counter(next_id)
    return _reassigned(schema, lambda name: counter()), counter.last


def assign_view_ids(schema: Schema) -> Schema:
    """The schema of a view, as Java numbers it: columns from 0 on, then what is nested in them, children before their parents."""
    counter = Counter(len(schema.fields))
    return replace(schema, fields=tuple(replace(f, id=i, type=_children_first(f.type, counter)) for i, f in enumerate(schema.fields)))


def _children_first(type_: Type, next_id: NextId) -> Type:
    match type_:
        case StructType(fields=fields):
            types = [_children_first(field.type, next_id) for field in fields]
            return StructType(tuple(replace(field, id=next_id(), type=inner) for field, inner in zip(fields, types, strict=True)))
        case ListType():
            element = _children_first(type_.element, next_id)
            return replace(type_, element_id=next_id(), element=element)
        case MapType():
            key, value = _children_first(type_.key, next_id), _children_first(type_.value, next_id)
            return replace(type_, key_id=next_id(), value_id=next_id(), key=key, value=value)
        case _:
            return type_


def reassign_ids(schema: Schema, base: Schema, last_id: int | None = None) -> tuple[Schema, int]:
    """The schema of a REPLACE TABLE: names that ``base`` has keep their ids, others count on from ``last_id``.

    ``last_id`` is the table's last column id (default: the highest of ``base``). Returns the schema and the new last column id.
    """
    counter = Counter((base.highest_field_id if last_id is None else last_id) + 1)

    def id_for(name: str) -> int:
        known = base.field_id(name)
        return counter() if known is None else known

    return _reassigned(schema, id_for), counter.last


def assign_fresh_type(type_: Type, next_id: NextId) -> Type:
    """A type with new ids for everything nested in it (a column being added)."""
    return _assign(type_, "", lambda name: next_id())


def _reassigned(schema: Schema, id_for: _IdFor) -> Schema:
    struct = _assign(schema.as_struct(), "", id_for)
    assert isinstance(struct, StructType)
    fresh = Schema(struct.fields, schema.schema_id)
    identifiers = tuple(sorted(fresh.ids_by_name[schema.name_of(i)] for i in schema.identifier_field_ids))
    return replace(fresh, identifier_field_ids=identifiers)


def _assign(type_: Type, path: str, id_for: _IdFor) -> Type:
    match type_:
        case StructType(fields=fields):
            ids = [id_for(path + field.name) for field in fields]
            return StructType(
                tuple(
                    replace(field, id=field_id, type=_assign(field.type, f"{path}{field.name}.", id_for))
                    for field, field_id in zip(fields, ids, strict=True)
                )
            )
        case ListType():
            element_id = id_for(path + "element")
            return replace(type_, element_id=element_id, element=_assign(type_.element, f"{path}element.", id_for))
        case MapType():
            key_id, value_id = id_for(path + "key"), id_for(path + "value")
            key = _assign(type_.key, f"{path}key.", id_for)
            return replace(type_, key_id=key_id, value_id=value_id, key=key, value=_assign(type_.value, f"{path}value.", id_for))
        case _:
            return type_
