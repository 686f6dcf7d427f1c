"""Name mapping: field ids for files written without them. Spec: "Name Mapping Serialization", "Column Projection"."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from icesql.errors import CorruptMetadataError
from icesql.spec.json.faults import JsonFault, JsonObject, JsonValue, array_field, as_array, as_object, each, int_field, kind, within
from icesql.spec.json.types import MAX_DEPTH
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField, children
from icesql.spec.values.java_sets import hash_set_order

TOP = -1


@dataclass(frozen=True, slots=True)
class MappedField:
    """Any of ``names`` in a file means ``field_id`` (``None``: ignored); ``fields`` maps what is nested in it."""

    names: tuple[str, ...]
    field_id: int | None = None
    fields: tuple[MappedField, ...] = ()


@dataclass(frozen=True)
class NameMapping:
    fields: tuple[MappedField, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, MappedField]:
        """Every dotted full name, aliases at each level combined. List elements are ``element``, map parts ``key`` and ``value``."""
        return dict(_names(self.fields, ""))

    @cached_property
    def by_id(self) -> dict[int, MappedField]:
        return {field.field_id: field for field in self.by_name.values() if field.field_id is not None}

    def find(self, *path: str) -> MappedField | None:
        """The entry of a path of names as a file has them (a name may hold dots), or ``None``."""
        fields: tuple[MappedField, ...] = self.fields
        match: MappedField | None = None
        for name in path:
            match = next((field for field in fields if name in field.names), None)
            if match is None:
                return None
            fields = match.fields
        return match

    def field_id(self, *path: str) -> int | None:
        mapped = self.find(*path)
        return None if mapped is None else mapped.field_id


def _names(fields: tuple[MappedField, ...], prefix: str) -> Iterator[tuple[str, MappedField]]:
    for field in fields:
        for name in field.names:
            yield prefix + name, field
            yield from _names(field.fields, f"{prefix}{name}.")


def mapping_for(schema: Schema) -> NameMapping:
    """The mapping in which every column has its current name."""
    return NameMapping(_mapped(schema.fields))


def _mapped(fields: Sequence[NestedField]) -> tuple[MappedField, ...]:
    return tuple(MappedField((field.name,), field.id, _mapped(children(field.type))) for field in fields)


def update_mapping(mapping: NameMapping, updates: Mapping[int, NestedField], adds: Mapping[int, Sequence[NestedField]]) -> NameMapping:
    """The mapping after schema changes: a renamed field keeps its old names as aliases, a dropped one stays.

    ``updates``: renamed or changed fields by id. ``adds``: new fields by the id of the struct field they are in (``TOP`` for columns).
    A name given to another field is taken from whoever had it in the same struct.
    """
    return NameMapping(_updated(mapping.fields, TOP, updates, adds))


def _updated(
    fields: tuple[MappedField, ...], parent: int, updates: Mapping[int, NestedField], adds: Mapping[int, Sequence[NestedField]]
) -> tuple[MappedField, ...]:
    given = {updates[f.field_id].name: f.field_id for f in fields if f.field_id is not None and f.field_id in updates}
    added = adds.get(parent, ())
    given.update({field.name: field.id for field in added})
    kept: list[MappedField] = []
    for field in fields:
        names = tuple(name for name in field.names if given.get(name, field.field_id) == field.field_id)
        renamed = updates.get(field.field_id) if field.field_id is not None else None
        if renamed is not None and renamed.name not in names:
            names += (renamed.name,)
        nested = field.fields if field.field_id is None else _updated(field.fields, field.field_id, updates, adds)
        kept.append(MappedField(hash_set_order(names), field.field_id, nested))
    return (*kept, *_mapped(added))


def name_mapping_from_json(text: str | bytes) -> NameMapping:
    """The mapping of the property ``schema.name-mapping.default``. Raises CorruptMetadataError naming the path."""
    try:
        node = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptMetadataError(f"Cannot read name mapping: not JSON: {error}") from error
    try:
        return NameMapping(_fields_from_json(as_array(node), "", 1))
    except JsonFault as fault:
        raise CorruptMetadataError(f"Cannot read name mapping: at {fault.path or '$'}: {fault.reason}", path=fault.path) from fault


def _fields_from_json(nodes: list[Any], path: str, depth: int) -> tuple[MappedField, ...]:
    if depth > MAX_DEPTH:
        raise JsonFault(f"nested more than {MAX_DEPTH} deep", path)
    fields: list[MappedField] = []
    taken: dict[str, int] = {}
    for item_path, node in each(nodes, path):
        with within(item_path):
            field = _field_from_json(as_object(node), depth)
            for name in field.names:
                if taken.setdefault(name, len(fields)) != len(fields):
                    raise JsonFault(f"name used twice: {name}", "names")
        fields.append(field)
    return tuple(fields)


def _field_from_json(node: JsonObject, depth: int) -> MappedField:
    names = array_field(node, "names")
    for path, name in each(names, "names"):
        if not isinstance(name, str):
            raise JsonFault(f"expected a string, got {kind(name)}", path)
    field_id = None if node.get("field-id") is None else int_field(node, "field-id")
    nested = array_field(node, "fields") if node.get("fields") is not None else []
    return MappedField(tuple(dict.fromkeys(names)), field_id, _fields_from_json(nested, "fields", depth + 1))


def name_mapping_to_json(mapping: NameMapping) -> str:
    """The property's text, laid out as Java's writer lays it out."""
    return _pretty([_field_to_json(field) for field in mapping.fields], 0)


def _field_to_json(field: MappedField) -> dict[str, Any]:
    node: dict[str, Any] = {} if field.field_id is None else {"field-id": field.field_id}
    node["names"] = list(field.names)
    if field.fields:
        node["fields"] = [_field_to_json(nested) for nested in field.fields]
    return node


def _pretty(node: JsonValue, depth: int) -> str:
    """Jackson's default layout: objects on indented lines, arrays inline, a space on either side of the colon."""
    match node:
        case dict() if node:
            pad = "  " * (depth + 1)
            inner = ",\n".join(f"{pad}{json.dumps(key, ensure_ascii=False)} : {_pretty(item, depth + 1)}" for key, item in node.items())
            return f"{{\n{inner}\n{'  ' * depth}}}"
        case list() if node:
            return f"[ {', '.join(_pretty(item, depth) for item in node)} ]"
        case dict():
            return "{ }"
        case list():
            return "[ ]"
        case _:
            return json.dumps(node, ensure_ascii=False)
