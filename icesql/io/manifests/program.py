"""Compile a manifest's writer schema into the program that both column decoders run: a tree of nodes in one int32 array.

    NULL                            BYTES slot                      MAP child           (Avro map: text keys)
    BOOL slot                       RAW slot, length                UNION n, children
    VARINT slot                     RECORD n, mark, children        KEYED is_bytes, slot (Iceberg map: slot + index of the wanted key)
                                    ARRAY child

A slot is a row of the integer columns (BOOL, VARINT, KEYED of longs) or of the span columns (BYTES, RAW, KEYED of bytes); -1 skips. A
mark keeps
where the record starts and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from icesql.io.avro.decode import MAX_DEPTH, Names, field_key, fixed_size, key_value_fields, resolve
from icesql.io.manifests.schemas import DATA_FILE_IDS, ENTRY_IDS

NULL, BOOL, VARINT, RAW, BYTES, RECORD, ARRAY, MAP, UNION, KEYED, SKIP = range(11)
Column: TypeAlias = tuple[str, int | str]  # ("entry" | "file" | "partition" | "metric", field id or name)

_LEAF_OPS = {"null": NULL, "boolean": BOOL, "int": VARINT, "long": VARINT, "enum": VARINT, "bytes": BYTES, "string": BYTES}
_RAW_SIZES = {"float": 4, "double": 8}
ENTRY_COLUMNS = frozenset((0, 1, 3, 4))
FILE_COLUMNS = frozenset((134, 100, 101, 103, 104, 140, 142, 143, 144, 145))
METRIC_COLUMNS = frozenset((109, 110, 137, 125, 128))


@dataclass(slots=True)
class Program:
    """``ints`` and ``spans`` give the slot of each column; a metric column takes as many slots as there are wanted ids."""

    nodes: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    ints: dict[Column, int] = field(default_factory=dict)
    spans: dict[Column, int] = field(default_factory=dict)
    int_count: int = 0
    span_count: int = 0
    facts: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """What follows from the schema alone, worked out once a program."""
        if name not in self.facts:
            self.facts[name] = make()
        return self.facts[name]


def compile_program(schema: Any, wanted_count: int) -> Program:
    """Raises ValueError, KeyError or TypeError for a schema that is not a manifest's."""
    return _Compiler(wanted_count).program(schema)


class _Compiler:
    def __init__(self, wanted_count: int) -> None:
        self._wanted, self._names = wanted_count, Names()
        self._nodes: list[int] = []
        self._made = Program()

    def program(self, schema: Any) -> Program:
        self._emit(schema, "entry", None, 0)
        self._made.nodes = np.array(self._nodes, np.int32)
        return self._made

    def _emit(self, schema: Any, room: str, column: Column | None, depth: int) -> int:
        """Append the nodes of a schema; ``column`` keeps a leaf's values, ``room`` says which record the fields of a record belong to."""
        if depth > MAX_DEPTH:
            raise ValueError("Avro schema nested too deep or recursive")
        schema = resolve(schema, self._names)
        if isinstance(schema, list):
            return self._node([UNION, len(schema)], [(branch, room, column) for branch in schema], depth)
        kind = schema["type"]
        match kind:
            case "record":
                return self._record(schema, room, depth)
            case "array":
                return self._array(schema, column, depth)
            case "map":
                return self._node([MAP], [(schema["values"], "", None)], depth)
            case "fixed":
                return self._leaf([RAW, self._span(column), fixed_size(schema)])
            case _:
                if kind in _RAW_SIZES:
                    return self._leaf([RAW, self._span(column), _RAW_SIZES[kind]])
                op = _LEAF_OPS[kind]
                if op == NULL:
                    return self._leaf([NULL])
                return self._leaf([op, self._span(column) if op == BYTES else self._int(column)])

    def _leaf(self, node: list[int]) -> int:
        place = len(self._nodes)
        self._nodes += node
        return place

    def _node(self, head: list[int], children: list[tuple[Any, str, Column | None]], depth: int) -> int:
        place = self._leaf(head + [0] * len(children))
        for i, (schema, room, column) in enumerate(children):
            self._nodes[place + len(head) + i] = self._emit(schema, room, column, depth + 1)
        return place

    def _record(self, schema: Mapping[str, Any], room: str, depth: int) -> int:
        children = []
        for made in schema["fields"]:
            key = field_key(made, _IDS.get(room, {}))
            children.append((made["type"], _ROOMS.get((room, key), ""), self._column(room, key)))
        return self._node([RECORD, len(children), _MARKS.get(room, -1)], children, depth)

    def _column(self, room: str, key: int | str) -> Column | None:
        if (room == "entry" and key in ENTRY_COLUMNS) or (room == "file" and key in FILE_COLUMNS):
            return (room, key)
        if room == "partition":
            return (room, key)
        if room == "file" and key in METRIC_COLUMNS and self._wanted:
            return ("metric", key)
        return None

    def _array(self, schema: Mapping[str, Any], column: Column | None, depth: int) -> int:
        items = resolve(schema["items"], self._names)
        pair = key_value_fields(items)
        if pair is not None and pair[0] in ("int", "long") and pair[1] in ("long", "int", "bytes", "string"):
            is_bytes = pair[1] in ("bytes", "string")
            slot = -1
            if column is not None and column[0] == "metric":
                slot = self._span(column, self._wanted) if is_bytes else self._int(column, self._wanted)
            return self._leaf([KEYED, int(is_bytes), slot])
        return self._node([ARRAY], [(items, "", None)], depth)

    def _int(self, column: Column | None, count: int = 1) -> int:
        made = self._made
        if column is None or (column[0] == "metric" and count == 1 and self._wanted != 1):
            return -1
        if column not in made.ints:
            made.ints[column] = made.int_count
            made.int_count += count
        return made.ints[column]

    def _span(self, column: Column | None, count: int = 1) -> int:
        made = self._made
        if column is None or (column[0] == "metric" and count == 1 and self._wanted != 1):
            return -1
        if column not in made.spans:
            made.spans[column] = made.span_count
            made.span_count += count
        return made.spans[column]


_IDS: dict[str, Mapping[str, int]] = {"entry": ENTRY_IDS, "file": DATA_FILE_IDS}
_MARKS = {"file": 0, "partition": 2}
_ROOMS: dict[tuple[str, int | str], str] = {("entry", 2): "file", ("file", 102): "partition"}
