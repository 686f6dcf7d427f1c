"""The shape of an Avro schema: every named type written out where it is used, under names that are numbers, without logical types.

Data files are decoded by their shapes, so that no name a file was written with can clash or offend, and what is not needed can be left
out of a shape. Logical types are applied after (``icesql.io.avro.rows``): libraries make objects of them that are dearer and hold less,
datetimes without nanoseconds for one.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

from icesql.io.avro.decode import MAX_DEPTH, Names, fixed_size, resolve
from icesql.spec import budgets
from icesql.spec.types import StructType, Type


def shape_of(schema: Any) -> Any:
    """The shape of a schema; logical types, and the scale of decimals, stay under keys that no library looks at. Raises ValueError,
    KeyError or TypeError for a schema that is not Avro."""
    return _Shapes().shape(schema, 0)


class _Shapes:
    def __init__(self) -> None:
        self._names, self._number = Names(), count()

    def shape(self, schema: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ValueError("Avro schema nested too deep or recursive")
        schema = resolve(schema, self._names)
        if isinstance(schema, list):
            return [self.shape(branch, depth + 1) for branch in schema]
        kind, name = schema["type"], f"n{next(self._number)}"
        match kind:
            case "record":
                keep = schema.get("logicalType") == "variant"  # whose parts go by their names
                names = [str(field["name"]) if keep else f"f{i}" for i, field in enumerate(schema["fields"])]
                types = [self.shape(field["type"], depth + 1) for field in schema["fields"]]
                fields = [{"name": part, "type": type_} for part, type_ in zip(names, types, strict=True)]
                return {"type": "record", "name": name, "fields": fields}
            case "array":
                return {"type": "array", "items": self.shape(schema["items"], depth + 1)}
            case "map":
                return {"type": "map", "values": self.shape(schema["values"], depth + 1)}
            case "fixed":
                return {"type": "fixed", "name": name, "size": fixed_size(schema), **_logical(schema)}
            case "enum":
                return {"type": "enum", "name": name, "symbols": [str(symbol) for symbol in schema["symbols"]]}
            case _:
                logical = _logical(schema)
                return {"type": kind, **logical} if logical else kind


def _logical(schema: Any) -> dict[str, Any]:
    if schema.get("logicalType") not in ("decimal", "uuid", "timestamp-millis", "local-timestamp-millis"):
        return {}
    return {"logical": schema["logicalType"], "decimal-scale": int(schema.get("scale", 0))}


def kind_of(shape: Any) -> str:
    """The Avro type of a shape that is not a union."""
    return str(shape["type"] if isinstance(shape, dict) else shape)


def without_null(shape: Any) -> Any:
    """The branch of a union with null; any other shape as it is."""
    return next(branch for branch in shape if branch != "null") if isinstance(shape, list) else shape


def parts_of_pair(shape: Any) -> tuple[Any, Any]:
    """(key, value) of the record that is an entry of a map written as an array."""
    return shape["fields"][0]["type"], shape["fields"][1]["type"]


def leaves(shape: Any) -> int:
    """The number of leaf values of a shape."""
    if isinstance(shape, list):
        return sum(map(leaves, shape)) - shape.count("null")
    match kind_of(shape):
        case "record":
            return sum(leaves(field["type"]) for field in shape["fields"])
        case "array":
            return leaves(shape["items"])
        case "map":
            return 1 + leaves(shape["values"])
        case _:
            return 1


# -- projection --------------------------------------------------------------------------------------------------------
def pruned(struct: StructType, shape: Any, wanted: StructType) -> tuple[StructType, Any]:
    """The fields that ``wanted`` has, at any depth, and their shape."""
    by_id = {field.id: field for field in wanted.fields}
    fields, shapes = [], []
    for field, part in zip(struct.fields, shape["fields"], strict=True):
        if field.id in by_id:
            type_, inner = _pruned(field.type, part["type"], by_id[field.id].type)
            fields.append(replace(field, type=type_))
            shapes.append({**part, "type": inner})
    return StructType(tuple(fields)), {**shape, "fields": shapes}


def _pruned(type_: Type, shape: Any, wanted: Type) -> tuple[Type, Any]:
    if isinstance(shape, list):
        inner_type, inner = _pruned(type_, without_null(shape), wanted)
        return inner_type, [branch if branch == "null" else inner for branch in shape]
    if isinstance(type_, StructType) and isinstance(wanted, StructType):
        narrowed = pruned(type_, shape, wanted)
        return narrowed if narrowed[0].fields else (type_, shape)  # a null struct stays null
    return type_, shape


# -- budget ------------------------------------------------------------------------------------------------------------
def is_bounded(shape: Any) -> bool:
    """Whether everything that repeats (records, items, values) has enough bytes for its values of no bytes: decoding then ends with the
    data,
    and no budget has to be counted (``icesql.spec.budgets``, rule 2).
    """
    return _repeats(shape) is not None


def _repeats(shape: Any, key_bytes: int = 0) -> tuple[int, int] | None:
    """``_cost`` of a shape that repeats, ``None`` if it may repeat without end."""
    cost = _cost(shape)
    return None if cost is None or cost[1] > budgets.IDLE_STEPS_PER_BYTE * (cost[0] + key_bytes) else cost


def _cost(shape: Any) -> tuple[int, int] | None:
    """(fewest bytes of a value, most values of no bytes in it), ``None`` if something inside may repeat without end."""
    if isinstance(shape, list):
        branches = [(0, 0) if branch == "null" else _cost(branch) for branch in shape]
        return None if None in branches else (1, max((branch[1] for branch in branches if branch), default=0))
    match kind_of(shape):
        case "record":
            parts = [_cost(field["type"]) for field in shape["fields"]]
            if None in parts:
                return None
            return sum(part[0] for part in parts if part), sum(part[1] for part in parts if part) + (not parts)
        case "array":
            return None if _repeats(shape["items"]) is None else (1, 0)
        case "map":
            return None if _repeats(shape["values"], key_bytes=1) is None else (1, 0)
        case "fixed":
            return shape["size"], int(shape["size"] == 0)
        case "null":
            return 0, 1
        case _:
            return {"float": 4, "double": 8}.get(kind_of(shape), 1), 0
