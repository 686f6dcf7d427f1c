"""Metadata of a new table, and metadata that replaces a table and keeps its history."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import replace

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.spec.assign_ids import assign_fresh_ids, reassign_ids
from icesql.spec.metadata import DEFAULT_FORMAT_VERSION, SUPPORTED_FORMAT_VERSION, TableMetadata
from icesql.spec.partitioning import PARTITION_FIELD_ID_START, UNPARTITIONED, PartitionField, PartitionSpec
from icesql.spec.properties import FORMAT_VERSION, PERSISTED_AT_CREATE, whole_number, without_reserved
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN
from icesql.spec.sorting import UNSORTED, SortField, SortOrder
from icesql.spec.transforms import Transform
from icesql.table.metadata import update_values as u
from icesql.table.metadata.compatibility import check_partition_name, check_schema_supported, check_sort_order, check_spec, describe
from icesql.table.metadata.property_checks import check_commit_properties, check_metrics

_TIME_TRANSFORMS = frozenset({"year", "month", "day", "hour"})


def new_metadata(
    schema: Schema,
    *,
    location: str,
    spec: PartitionSpec = UNPARTITIONED,
    sort_order: SortOrder = UNSORTED,
    properties: Mapping[str, str] | None = None,
    format_version: int | None = None,
    table_uuid: str | None = None,
    now_ms: int | None = None,
) -> TableMetadata:
    """Metadata of a table that does not exist yet.

    Field ids, spec and order ids are assigned afresh; source ids follow their columns by name. ``format-version`` is taken out of the
    properties (default 2), reserved ones are dropped, ``write.parquet.compression-codec`` is stored (zstd unless given). Raises
    InvalidArgumentError, ValidationError.
    """
    given = dict(properties or {})
    version = _format_version(given, format_version)
    check_commit_properties(given)
    fresh, last_column_id = assign_fresh_ids(replace(schema, schema_id=0), 1)
    check_schema_supported(fresh, version)
    check_metrics(given, fresh)
    fresh_spec = _fresh_spec(spec, schema, fresh)
    fresh_order = _fresh_order(sort_order, schema, fresh)
    return TableMetadata(
        format_version=version,
        table_uuid=table_uuid or str(uuid.uuid4()),
        location=location.rstrip("/") or location,
        last_updated_ms=time.time_ns() // 1_000_000 if now_ms is None else now_ms,
        last_column_id=last_column_id,
        current_schema_id=fresh.schema_id,
        schemas=(fresh,),
        default_spec_id=fresh_spec.spec_id,
        partition_specs=(fresh_spec,),
        last_partition_id=max(PARTITION_FIELD_ID_START - 1, fresh_spec.last_field_id),
        default_sort_order_id=fresh_order.order_id,
        sort_orders=(fresh_order,),
        properties={**PERSISTED_AT_CREATE, **without_reserved(given)},
        next_row_id=0 if version >= 3 else None,
    )


def replace_updates(
    base: TableMetadata,
    schema: Schema,
    *,
    spec: PartitionSpec = UNPARTITIONED,
    sort_order: SortOrder = UNSORTED,
    location: str | None = None,
    properties: Mapping[str, str] | None = None,
) -> tuple[u.Update, ...]:
    """The updates of REPLACE TABLE on ``base``: new schema (ids kept by name), spec and order; main is removed, properties are merged.

    History, other refs and old schemas stay. Raises as ``new_metadata``.
    """
    given = dict(properties or {})
    check_commit_properties(given)
    fresh = _replacement_schema(schema, base)
    fresh_spec = _replacement_spec(spec, schema, fresh, base)
    fresh_order = _fresh_order(sort_order, schema, fresh)
    updates: list[u.Update] = []
    if FORMAT_VERSION in given:
        updates.append(u.UpgradeFormatVersion(_format_version(given, None)))
    if location is not None:
        updates.append(u.SetLocation(location.rstrip("/") or location))
    updates += [u.AddSchema(fresh), u.SetCurrentSchema(), u.AddPartitionSpec(fresh_spec), u.SetDefaultSpec()]
    updates += [u.AddSortOrder(fresh_order), u.SetDefaultSortOrder(), u.RemoveSnapshotRef(MAIN, keeps_log=True)]
    stored = without_reserved(given)
    if stored:
        updates.append(u.SetProperties(stored))
    return tuple(updates)


def _format_version(properties: Mapping[str, str], given: int | None) -> int:
    text = properties.get(FORMAT_VERSION)
    if given is None and text is None:
        return DEFAULT_FORMAT_VERSION
    try:
        version = given if given is not None else whole_number(text or "")
    except ValueError:
        raise InvalidArgumentError(f"Cannot create table: {FORMAT_VERSION} is not a number: {text}", value=text) from None
    if not 1 <= version <= SUPPORTED_FORMAT_VERSION:
        raise InvalidArgumentError(
            f"Unsupported format version: v{version} (supported: v{SUPPORTED_FORMAT_VERSION})", format_version=version
        )
    return version


def _replacement_schema(schema: Schema, base: TableMetadata) -> Schema:
    """Columns keep the ids of the current schema's columns of the same names; others get ids the table never used."""
    fresh, _ = reassign_ids(replace(schema, schema_id=0), base.schema, base.last_column_id)
    return fresh


def _sources(source_ids: tuple[int, ...], original: Schema, fresh: Schema) -> tuple[int, ...]:
    fresh_ids = []
    for source_id in source_ids:
        name = original.names_by_id.get(source_id)
        if name is None:
            raise NotFoundError(f"Cannot find source column: {source_id}", source_id=source_id)
        fresh_ids.append(fresh.ids_by_name[name])
    return tuple(fresh_ids)


def _fresh_spec(spec: PartitionSpec, original: Schema, fresh: Schema) -> PartitionSpec:
    fields = tuple(
        replace(field, source_ids=_sources(field.source_ids, original, fresh), field_id=PARTITION_FIELD_ID_START + index)
        for index, field in enumerate(spec.fields)
    )
    built = PartitionSpec(spec_id=0, fields=fields)
    check_new_spec(built, fresh)
    return built


def _replacement_spec(spec: PartitionSpec, original: Schema, fresh: Schema, base: TableMetadata) -> PartitionSpec:
    """Version 2: reuses the field ids of known (source, transform) pairs. Version 1: keeps old fields, as void where they were dropped."""
    wanted = [(_sources(f.source_ids, original, fresh), f.transform, f.name) for f in spec.fields]
    last_id = base.last_partition_id
    known = {(f.source_ids, str(f.transform)): f.field_id for s in base.partition_specs for f in s.fields}
    if base.format_version == 1:
        return _v1_replacement(wanted, fresh, base)
    fields = []
    for source_ids, transform, name in wanted:
        field_id = known.get((source_ids, str(transform)))
        if field_id is None:
            last_id += 1
            field_id = last_id
        fields.append(PartitionField(source_ids=source_ids, field_id=field_id, transform=transform, name=name))
    built = PartitionSpec(spec_id=0, fields=tuple(fields))
    check_new_spec(built, fresh)
    return built


def _v1_replacement(wanted: list[tuple[tuple[int, ...], Transform, str]], fresh: Schema, base: TableMetadata) -> PartitionSpec:
    remaining = {(source_ids, str(transform)): name for source_ids, transform, name in wanted}
    taken = {name for _, _, name in wanted}
    fields = []
    for field in base.spec.fields:
        name = remaining.pop((field.source_ids, str(field.transform)), None)
        if name is not None:
            fields.append(replace(field, name=name))
        else:
            kept = f"{field.name}_{field.field_id}" if field.name in taken else field.name
            fields.append(replace(field, transform=Transform("void"), name=kept))
    next_id = base.last_partition_id
    for source_ids, transform, name in wanted:
        if (source_ids, str(transform)) in remaining:
            next_id += 1
            fields.append(PartitionField(source_ids=source_ids, field_id=next_id, transform=transform, name=name))
    built = PartitionSpec(spec_id=0, fields=tuple(fields))
    check_new_spec(built, fresh)
    return built


def _fresh_order(order: SortOrder, original: Schema, fresh: Schema) -> SortOrder:
    fields: tuple[SortField, ...] = tuple(replace(f, source_ids=_sources(f.source_ids, original, fresh)) for f in order.fields)
    built = SortOrder(order_id=1 if fields else 0, fields=fields)
    check_sort_order(built, fresh)
    return built


def check_new_spec(spec: PartitionSpec, schema: Schema) -> None:
    """Raises InvalidArgumentError or ValidationError for clashing names, redundant fields and unfit sources of a spec to be created."""
    check_spec(spec, schema)
    names: set[str] = set()
    seen: dict[tuple[tuple[int, ...], str], PartitionField] = {}
    for field in spec.fields:
        if not field.name:
            raise InvalidArgumentError(f"Cannot use empty or null partition name: {field.name}")
        if field.name in names:
            raise InvalidArgumentError(f"Cannot use partition name more than once: {field.name}", name=field.name)
        names.add(field.name)
        check_partition_name(field, schema)
        if field.transform.is_void:
            continue
        kind = "time" if field.transform.name in _TIME_TRANSFORMS else field.transform.name
        first = seen.setdefault((field.source_ids, kind), field)
        if first is not field:
            raise InvalidArgumentError(f"Cannot add redundant partition: {describe(first)} conflicts with {describe(field)}", field=field)
