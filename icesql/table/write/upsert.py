"""Upsert without Spark: rows whose key the table holds replace its rows, the others are added; one commit.

Rows that already hold the same values are left alone, and so are files without changed rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.expr.tree import TRUE, Expression, Op, Predicate, Reference, and_
from icesql.io.arrow.types import internal_values
from icesql.spec.files import DataFile
from icesql.spec.schema import Schema
from icesql.spec.types import DoubleType, FloatType, ListType, MapType, NestedField, StructType, VariantType
from icesql.table.scan.arrow_scan import TaskReader
from icesql.table.table import Table
from icesql.table.write.arrow_rows import fitted
from icesql.table.write.arrow_write import carried_schema, commit_rewrite, readable_ref, write_rows
from icesql.table.write.written_files import removed_if_it_fails

_MOST_VALUES = 200  # literals of an IN; beyond, the filter is the range of the keys
_NESTED = (StructType, ListType, MapType, VariantType)
_PLACE, _GIVEN = "__target_row__", "__source_row__"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsertResult:
    rows_updated: int
    rows_inserted: int


def upsert(table: Table, rows: pa.Table, keys: Sequence[str] | None, *, branch: str, summary: Mapping[str, str]) -> UpsertResult:
    """Raises InvalidArgumentError without key columns; ValidationError for a key that is null or occurs twice, in the rows or in the
    table, and when another writer changed matching rows meanwhile.
    """
    metadata = table.metadata
    fields = _key_fields(metadata.schema, keys)
    names = [field.name for field in fields]
    source = fitted(rows, metadata.schema)
    _check_keys(source, names)
    if not source.num_rows:
        return UpsertResult(rows_updated=0, rows_inserted=0)
    where = _filter(source, fields)
    scan = table.scan(where, ref=readable_ref(table, branch))
    carried = carried_schema(metadata)
    reader = TaskReader(table.io, metadata, table.schema, carried)
    removed: list[DataFile] = []
    parts, matched, updated = [], np.zeros(source.num_rows, bool), 0
    for task in scan.plan_files().tasks:
        target = reader.table(replace(task, residual=TRUE))
        places, given = _pairs(target, source, names)
        if len(np.unique(given)) < len(given) or matched[given].any():
            raise ValidationError(f"Cannot upsert: the table holds rows with the same key ({', '.join(names)})")
        matched[given] = True
        changed = _differ(target.take(pa.array(places)), source.take(pa.array(given)), metadata.schema)
        if changed.any():
            places, given = places[changed], given[changed]
            removed.append(task.data_file)
            parts.append(_merged(target, places, source.take(pa.array(given)), carried))
            updated += len(places)
    inserted = source.filter(pa.array(~matched))
    if not removed and not inserted.num_rows:
        return UpsertResult(rows_updated=0, rows_inserted=0)
    with removed_if_it_fails(table.io) as added:
        if parts:
            added += write_rows(table.io, metadata, pa.concat_tables(parts), schema=carried)
        added += write_rows(table.io, metadata, inserted)
    base = None if scan.snapshot is None else scan.snapshot.snapshot_id
    commit_rewrite(table, base, removed, added, where, branch, summary)
    return UpsertResult(rows_updated=updated, rows_inserted=inserted.num_rows)


def _key_fields(schema: Schema, keys: Sequence[str] | None) -> list[NestedField]:
    names = [schema.field(field_id).name for field_id in schema.identifier_field_ids] if keys is None else list(keys)
    if not names:
        raise InvalidArgumentError("Cannot upsert: no key columns: pass join_cols, or set the table's identifier fields")
    top = {field.name: field for field in schema.fields}
    for name in names:
        if name not in top or isinstance(top[name].type, (*_NESTED, FloatType, DoubleType)):
            raise InvalidArgumentError(f"Cannot upsert: not a column that can be a key: {name}", column=name)
    return [top[name] for name in dict.fromkeys(names)]


def _check_keys(source: pa.Table, names: list[str]) -> None:
    for name in names:
        if source.column(name).null_count:
            raise ValidationError(f"Cannot upsert: a row's key is null: {name}", column=name)
    if source.select(names).group_by(names).aggregate([]).num_rows < source.num_rows:
        raise ValidationError(f"Cannot upsert: two rows have the same key ({', '.join(names)})")


def _filter(source: pa.Table, fields: list[NestedField]) -> Expression:
    """True for every row of the table that has a key of the source; also for some others."""
    parts: list[Expression] = []
    for field in fields:
        column = source.column(field.name)
        distinct = column.unique()
        if len(distinct) <= _MOST_VALUES or pa.types.is_fixed_size_binary(column.type):
            parts.append(Predicate(Op.IN, Reference(field.name), tuple(_literals(field, distinct))))
            continue
        ends = pc.min_max(column)
        least, most = _literals(field, pa.array([ends["min"].as_py(), ends["max"].as_py()], column.type))
        parts += [Predicate(Op.GT_EQ, Reference(field.name), (least,)), Predicate(Op.LT_EQ, Reference(field.name), (most,))]
    return and_(*parts)


def _literals(field: NestedField, values: pa.Array) -> list[object]:
    """As an unbound predicate has them: dates and times as Python's own values."""
    if pa.types.is_temporal(values.type):
        return list(values.to_pylist())
    return internal_values(field.type, values)


def _pairs(target: pa.Table, source: pa.Table, names: list[str]) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
    """Row numbers of the target and of the source that share a key, in the target's order."""
    left = target.select(names).append_column(_PLACE, pa.array(np.arange(target.num_rows)))
    right = source.select(names).append_column(_GIVEN, pa.array(np.arange(source.num_rows)))
    joined = left.join(right, keys=names, join_type="inner").sort_by(_PLACE)
    return joined.column(_PLACE).to_numpy(), joined.column(_GIVEN).to_numpy()


def _differ(target: pa.Table, source: pa.Table, schema: Schema) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each pair of rows whether a column differs; null equals null."""
    differs = np.zeros(source.num_rows, bool)
    for field in schema.fields:
        held, given = target.column(field.name), source.column(field.name)
        if not isinstance(field.type, _NESTED) and not pa.types.is_null(held.type):
            unequal = pc.fill_null(pc.not_equal(held, given), False)
            nulls = pc.xor(held.is_null(), given.is_null())
            differs |= pc.or_(unequal, nulls).to_numpy()
        elif not pa.types.is_null(held.type):
            differs |= np.array([a != b for a, b in zip(held.to_pylist(), given.to_pylist(), strict=True)], bool)
    return differs


def _merged(target: pa.Table, places: np.ndarray[tuple[int], np.dtype[np.int64]], given: pa.Table, carried: Schema) -> pa.Table:
    """The file's rows with those at ``places`` replaced. In version 3 a replaced row keeps its id, and its last update becomes unknown:
    readers then take the new file's sequence number.
    """
    stays = np.ones(target.num_rows, bool)
    stays[places] = False
    columns = {name: given.column(name) for name in given.column_names}
    for field in carried.fields[len(columns) :]:
        kept = target.column(field.name).take(pa.array(places))
        columns[field.name] = kept if field.name == "_row_id" else pa.nulls(len(places), kept.type)
    return pa.concat_tables([target.filter(pa.array(stays)), pa.table(columns).cast(target.schema)])
