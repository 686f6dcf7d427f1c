"""SQL text that gives a value's struct fields in the order of a table's column, found by name at any depth.

Store assignment does so for each value by itself; a CASE over several values needs them alike beforehand.
"""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from icesql.spark.functions.literals import quoted_string
from icesql.spark.read.columns import quoted
from icesql.spec.case_folding import fold

NULL = "NULL"


def in_order_of(text: str, given: DataType, wanted: DataType, depth: int = 0, *, instead: str | None = None) -> str:
    """``text``, whose value has type ``given``, with the fields of structs ordered as in ``wanted``. The text itself where they are, or
    where names differ: that is for store assignment to judge.

    ``instead``: the value from which fields are taken that ``given`` lacks, ``NULL`` for nulls; without it none may be lacking.
    """
    match given, wanted:
        case StructType(), StructType():
            return _struct(text, given, wanted, depth, instead)
        case ArrayType(), ArrayType():
            item = f"__item_{depth}"
            ordered = in_order_of(item, given.elementType, wanted.elementType, depth + 1, instead=instead and NULL)
            return text if ordered == item else f"transform({text}, {item} -> {ordered})"
        case MapType(), MapType():
            return _map(text, given, wanted, depth, instead and NULL)
        case _:
            return text


def _struct(text: str, given: StructType, wanted: StructType, depth: int, instead: str | None) -> str:
    places = {fold(field.name): field for field in given.fields}
    names = {fold(field.name) for field in wanted.fields}
    if len(places) < len(given.fields) or not places.keys() <= names or (instead is None and places.keys() != names):
        return text
    item = f"__item_{depth}"
    pieces, changed = [], len(places) < len(names)
    for at, field in enumerate(wanted.fields):
        other = instead if instead in (None, NULL) else f"{instead}.{quoted(field.name)}"
        source = places.get(fold(field.name))
        if source is None:
            pieces.append(f"{quoted_string(field.name)}, {other}")
            continue
        value = f"{item}.{quoted(source.name)}"
        ordered = in_order_of(value, source.dataType, field.dataType, depth + 1, instead=other)
        changed = changed or ordered != value or given.fields[at] is not source
        pieces.append(f"{quoted_string(source.name)}, {ordered}")
    if not changed:
        return text
    # A lambda names the value, so that it is written, and computed, once.
    return f"transform(array({text}), {item} -> IF({item} IS NULL, NULL, named_struct({', '.join(pieces)})))[0]"


def _map(text: str, given: MapType, wanted: MapType, depth: int, instead: str | None) -> str:
    key, value = f"__key_{depth}", f"__item_{depth}"
    keys = in_order_of(key, given.keyType, wanted.keyType, depth + 1, instead=instead)
    values = in_order_of(value, given.valueType, wanted.valueType, depth + 1, instead=instead)
    if values != value:
        text = f"transform_values({text}, ({key}, {value}) -> {values})"
    return text if keys == key else f"transform_keys({text}, ({key}, {value}) -> {keys})"
