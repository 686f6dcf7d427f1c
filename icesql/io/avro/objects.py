"""Decoders of whole Avro records: native where the module was built, else those of ``icesql.io.avro.decode``. Both give the same values.

By hand because manifests need it: fastavro 1.13 decoded 14,000 entries a second of a core, ``read_manifest`` makes 35,000 to 50,000. Rows
of data files with lists and maps, which fastavro decodes where the native module is missing, it makes faster too (``icesql.io.avro.rows``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from icesql.io.avro.container import write_bytes
from icesql.io.avro.decode import MAX_DEPTH, Decoder, Names, compile_decoder, field_key, fixed_size, key_value_fields, resolve
from icesql.io.avro.shapes import without_null
from icesql.io.manifests.program import ARRAY, BOOL, BYTES, KEYED, MAP, NULL, RAW, RECORD, SKIP, UNION, VARINT
from icesql.io.native import native

_SIMPLE = {"null": [NULL], "boolean": [BOOL, 0], "int": [VARINT, 0], "long": [VARINT, 0], "enum": [VARINT, 0], "string": [BYTES, 1]}
_SIMPLE_RAW = {"float": [RAW, 1, 4], "double": [RAW, 2, 8]}
_ALL: Any = object()
BlockDecoder: TypeAlias = Callable[[bytes, int, int, int], tuple[list[dict[str, Any]], int]]
_KEYED_KINDS = {"long": 0, "int": 0, "bytes": 1, "string": 2}


def is_native() -> bool:
    """Whether the native module decodes records here."""
    return native is not None and sys.byteorder == "little"


def record_decoder(schema: Any, ids_by_name: Mapping[str, int] | None = None) -> Decoder:
    """As ``compile_decoder``, faster. Raises ValueError, KeyError or TypeError for a schema that is not Avro."""
    plain = compile_decoder(schema, ids_by_name)  # also checks the schema
    if not is_native():
        return plain
    program = _Objects(ids_by_name or {})
    try:
        program.emit(schema, 0)
    except _NotNativeError:
        return plain
    nodes, keys, converters = np.array(program.nodes, np.int32), program.keys, program.converters
    decode, idle = native.decode_object, native.Idle()
    return lambda data, position: decode(data, position, nodes, keys, converters, idle)


def block_decoder(shape: Any, needed: Any) -> BlockDecoder:
    """Decodes records of a shape (``icesql.io.avro.shapes``) natively as dicts by its names, of the fields that ``needed`` has; what it has
    not is walked over. The decoder takes (data, position, end of the block, how many) and returns (records, position after them); it raises
    ValueError(why, place). Raises ValueError, KeyError or TypeError for a shape that is not Avro."""
    program = _Objects({})
    program.emit(shape, 0, needed)
    nodes, keys, converters = np.array(program.nodes, np.int32), program.keys, program.converters
    decode, idle = native.decode_objects, native.Idle()
    return lambda data, position, end, count: decode(data, position, end, count, nodes, keys, converters, idle)


class _NotNativeError(Exception):
    """A map the native module does not know: keys other than integers, or nested values."""


class _Objects:
    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._names = Names()
        self.nodes: list[int] = []
        self.keys: list[tuple[int | str, ...]] = []
        self.converters: list[Callable[[bytes], Any]] = []

    def emit(self, schema: Any, depth: int, needed: Any = _ALL) -> int:
        """``needed``: ``_ALL``, or a schema whose records have the fields that are kept, or ``None`` for what is walked over."""
        if depth > MAX_DEPTH:
            raise ValueError("Avro schema nested too deep or recursive")
        schema = resolve(schema, self._names)
        if isinstance(schema, list):
            inner = without_null(needed) if isinstance(needed, list) else needed
            return self._node([UNION, len(schema)], [(branch, inner) for branch in schema], depth)
        kind, whole = schema["type"], None if needed is None else _ALL
        match kind:
            case "record":
                return self._record(schema, needed, depth)
            case "array":
                return self._array(schema, depth, whole)
            case "map":
                return self._node([MAP], [(schema["values"], whole)], depth)
            case "fixed":
                return self._leaf([RAW, -1 if needed is None else self._converter(schema, 3), fixed_size(schema)])
            case "bytes":
                return self._leaf([BYTES, -1 if needed is None else self._converter(schema, 2)])
            case _:
                simple = list(_SIMPLE_RAW.get(kind) or _SIMPLE[kind])
                if needed is None and len(simple) > 1:
                    simple[1] = -1
                return self._leaf(simple)

    def _record(self, schema: Any, needed: Any, depth: int) -> int:
        fields = schema["fields"]
        if needed is None:
            return self._node([RECORD, len(fields), -1], [(field["type"], None) for field in fields], depth)
        kept = None if needed is _ALL else {field["name"]: field["type"] for field in needed["fields"]}
        self.keys.append(tuple(field_key(field, self._ids) for field in fields))
        parts = [(field["type"], _ALL if kept is None else kept.get(field["name"])) for field in fields]
        return self._node([RECORD, len(fields), len(self.keys) - 1], parts, depth, skips=True)

    def _converter(self, schema: Any, first: int) -> int:
        """The slot of a value that is not plain bytes: decimals and uuids."""
        if schema.get("logicalType") not in ("decimal", "uuid"):
            return 0
        decode = compile_decoder(schema)
        self.converters.append(partial(_convert_bytes if schema["type"] == "bytes" else _convert_fixed, decode))
        return first + len(self.converters) - 1

    def _array(self, schema: Any, depth: int, needed: Any) -> int:
        items = resolve(schema["items"], self._names)
        pair = key_value_fields(items)
        if pair is None:
            return self._node([ARRAY], [(items, needed)], depth)
        if pair[0] in ("int", "long") and isinstance(pair[1], str) and pair[1] in _KEYED_KINDS:
            return self._leaf([KEYED, _KEYED_KINDS[pair[1]], 0 if needed is _ALL else -1])
        raise _NotNativeError

    def _leaf(self, node: list[int]) -> int:
        place = len(self.nodes)
        self.nodes += node
        return place

    def _node(self, head: list[int], children: list[tuple[Any, Any]], depth: int, *, skips: bool = False) -> int:
        """``children``: (schema, what is needed of it). ``skips``: those of which nothing is needed are SKIP nodes."""
        place = self._leaf(head + [0] * len(children))
        for i, (child, needed) in enumerate(children):
            skip = self._leaf([SKIP, 0]) if skips and needed is None else None
            emitted = self.emit(child, depth + 1, needed)
            if skip is not None:
                self.nodes[skip + 1] = emitted
            self.nodes[place + len(head) + i] = emitted if skip is None else skip
        return place


def _convert_bytes(decode: Decoder, data: bytes) -> Any:
    return decode(write_bytes(data), 0)[0]


def _convert_fixed(decode: Decoder, data: bytes) -> Any:
    return decode(data, 0)[0]
