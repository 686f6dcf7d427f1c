"""Decoders of whole Avro records: native where the module was built, else those of ``icesql.io.avro.decode``. Both give the same values.

By hand because manifests need it: fastavro 1.13 decoded 14,000 entries a second of a core, ``read_manifest`` makes 35,000 to 50,000.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from icesql.io.avro.container import write_bytes
from icesql.io.avro.decode import MAX_DEPTH, Decoder, Names, compile_decoder, field_key, fixed_size, key_value_fields, resolve
from icesql.io.manifests.program import ARRAY, BOOL, BYTES, KEYED, MAP, NULL, RAW, RECORD, UNION, VARINT
from icesql.io.native import native

_SIMPLE = {"null": [NULL], "boolean": [BOOL, 0], "int": [VARINT, 0], "long": [VARINT, 0], "enum": [VARINT, 0], "string": [BYTES, 1]}
_SIMPLE_RAW = {"float": [RAW, 1, 4], "double": [RAW, 2, 8]}
_KEYED_KINDS = {"long": 0, "int": 0, "bytes": 1, "string": 2}


def record_decoder(schema: Any, ids_by_name: Mapping[str, int] | None = None) -> Decoder:
    """As ``compile_decoder``, faster. Raises ValueError, KeyError or TypeError for a schema that is not Avro."""
    plain = compile_decoder(schema, ids_by_name)  # also checks the schema
    if native is None or sys.byteorder != "little":
        return plain
    made = _Objects(ids_by_name or {})
    try:
        made.emit(schema, 0)
    except _NotNativeError:
        return plain
    nodes, keys, converters = np.array(made.nodes, np.int32), made.keys, made.converters
    decode, idle = native.decode_object, native.Idle()
    return lambda data, position: decode(data, position, nodes, keys, converters, idle)


class _NotNativeError(Exception):
    """A map the native module does not know: keys other than integers, or nested values."""


class _Objects:
    def __init__(self, ids: Mapping[str, int]) -> None:
        self._ids = ids
        self._names = Names()
        self.nodes: list[int] = []
        self.keys: list[tuple[int | str, ...]] = []
        self.converters: list[Callable[[bytes], Any]] = []

    def emit(self, schema: Any, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise ValueError("Avro schema nested too deep or recursive")
        schema = resolve(schema, self._names)
        if isinstance(schema, list):
            return self._node([UNION, len(schema)], schema, depth)
        kind = schema["type"]
        match kind:
            case "record":
                self.keys.append(tuple(field_key(field, self._ids) for field in schema["fields"]))
                head = [RECORD, len(schema["fields"]), len(self.keys) - 1]
                return self._node(head, [field["type"] for field in schema["fields"]], depth)
            case "array":
                return self._array(schema, depth)
            case "map":
                return self._node([MAP], [schema["values"]], depth)
            case "fixed":
                return self._leaf([RAW, self._converter(schema, 3), fixed_size(schema)])
            case "bytes":
                return self._leaf([BYTES, self._converter(schema, 2)])
        return self._leaf(_SIMPLE_RAW.get(kind) or _SIMPLE[kind])

    def _converter(self, schema: Any, first: int) -> int:
        """The slot of a value that is not plain bytes: decimals and uuids."""
        if schema.get("logicalType") not in ("decimal", "uuid"):
            return 0
        decode = compile_decoder(schema)
        self.converters.append(partial(_convert_bytes if schema["type"] == "bytes" else _convert_fixed, decode))
        return first + len(self.converters) - 1

    def _array(self, schema: Any, depth: int) -> int:
        items = resolve(schema["items"], self._names)
        pair = key_value_fields(items)
        if pair is None:
            return self._node([ARRAY], [items], depth)
        if pair[0] in ("int", "long") and isinstance(pair[1], str) and pair[1] in _KEYED_KINDS:
            return self._leaf([KEYED, _KEYED_KINDS[pair[1]], 0])
        raise _NotNativeError

    def _leaf(self, node: list[int]) -> int:
        place = len(self.nodes)
        self.nodes += node
        return place

    def _node(self, head: list[int], children: list[Any], depth: int) -> int:
        place = self._leaf(head + [0] * len(children))
        for i, child in enumerate(children):
            self.nodes[place + len(head) + i] = self.emit(child, depth + 1)
        return place


def _convert_bytes(decode: Decoder, data: bytes) -> Any:
    return decode(write_bytes(data), 0)[0]


def _convert_fixed(decode: Decoder, data: bytes) -> Any:
    return decode(data, 0)[0]
