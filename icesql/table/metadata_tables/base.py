"""A metadata table is a name, a schema derived from the table's, and a function that yields its rows as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pyarrow as pa

from icesql.expr.tree import TRUE, Expression
from icesql.io.arrow.types import to_arrow_schema, to_arrow_type, to_arrow_value
from icesql.io.storage.files import FileIO
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.spec.types import NestedField, Type
from icesql.table.scan.snapshot_selection import Selected


class TimeTravelSupport(Enum):
    """How a metadata table answers a read of a given snapshot."""

    YES = "shows that snapshot"
    IGNORED = "shows the table's log whatever is asked"
    REFUSED = "covers all snapshots, so choosing one is an error"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataScan:
    """A read of a metadata table. ``schema``: the columns to yield. ``filter`` is bound to them and only a hint: rows that fail it
    may be yielded.
    """

    io: FileIO
    metadata: TableMetadata
    selected: Selected
    schema: Schema
    metadata_location: str | None = None
    filter: Expression = TRUE

    @property
    def snapshot(self) -> Snapshot | None:
        return self.selected.snapshot

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.schema.fields)


SchemaOf = Callable[[TableMetadata], Schema]
RowsOf = Callable[[MetadataScan], pa.Table]


@dataclass(frozen=True, slots=True)
class MetadataTable:
    name: str
    schema: SchemaOf
    rows: RowsOf
    time_travel: TimeTravelSupport


def column(field_id: int, name: str, type_: Type, *, required: bool = False, doc: str | None = None) -> NestedField:
    return NestedField(field_id, name, type_, required, doc)


def table_of_rows(schema: Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """An Arrow table of the schema's columns from rows of internal values by column name. Other names are ignored."""
    held = list(rows)
    arrays = [pa.array([to_arrow_value(field.type, row[field.name]) for row in held], arrow_type(field.type)) for field in schema.fields]
    return table_of_arrays(schema, arrays)


def table_of_arrays(schema: Schema, arrays: list[pa.Array]) -> pa.Table:
    if not arrays:
        raise ValueError("a metadata table needs a column")
    return pa.Table.from_arrays(arrays, schema=to_arrow_schema(schema, with_ids=False))


def empty_table(schema: Schema) -> pa.Table:
    return to_arrow_schema(schema, with_ids=False).empty_table()


def arrow_type(type_: Type) -> pa.DataType:
    return to_arrow_type(type_, with_ids=False)
