"""What catalogs and tables hold, as rows: for ``icesql tables`` and its kin, and for the shell's ``\\d``. Starts no Spark."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icesql.errors import NotFoundError
from icesql.spec import types as t

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog
    from icesql.spec.snapshots import Snapshot
    from icesql.table.table import Table

FILE_COLUMNS = ("content", "file_path", "file_format", "partition", "record_count", "file_size_in_bytes")


@dataclass(frozen=True, slots=True)
class Rows:
    names: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Description:
    """``facts``: what there is to know beside the columns, by name."""

    columns: Rows
    facts: dict[str, Any]


def namespaces(catalog: Catalog) -> Rows:
    """All namespaces, nested ones too."""
    return Rows(("catalog", "namespace"), [(catalog.name, ".".join(namespace)) for namespace in _all_namespaces(catalog, ())])


def tables(catalog: Catalog, namespace: Sequence[str] | None = None) -> Rows:
    """Tables and views of a namespace; of all of them without one. Raises NotFoundError."""
    where = _all_namespaces(catalog, ()) if namespace is None else [tuple(namespace)]
    if namespace and not catalog.namespace_exists(tuple(namespace)):
        raise NotFoundError(f"Cannot list tables: Namespace does not exist: {'.'.join(namespace)}")
    rows = [(catalog.name, ".".join(inner), name, kind) for inner in where for name, kind in _names_in(catalog, inner)]
    return Rows(("catalog", "namespace", "name", "kind"), rows)


def _all_namespaces(catalog: Catalog, parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for child in sorted(catalog.list_namespaces(parent)):
        yield child
        yield from _all_namespaces(catalog, child)


def _names_in(catalog: Catalog, namespace: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    yield from ((table[-1], "table") for table in sorted(catalog.list_tables(namespace)))
    if catalog.supports_views:
        yield from ((view[-1], "view") for view in sorted(catalog.list_views(namespace)))


def schema(table: Table) -> Rows:
    """Every column and nested field, with its id."""
    rows = [(field_id, name, str(type_), required, doc) for field_id, name, type_, required, doc in _fields(table.schema.as_struct(), "")]
    return Rows(("id", "column", "type", "required", "comment"), rows)


def _fields(type_: t.Type, prefix: str) -> Iterator[tuple[int, str, t.Type, bool, str | None]]:
    match type_:
        case t.StructType(fields=fields):
            for field in fields:
                yield field.id, prefix + field.name, field.type, field.required, field.doc
                yield from _fields(field.type, f"{prefix}{field.name}.")
        case t.ListType(element=element):
            yield from _fields(element, f"{prefix}element.")
        case t.MapType(value=value):
            yield from _fields(value, f"{prefix}value.")
        case _:
            pass


def describe(table: Table) -> Description:
    """Columns, layout, state and properties. Secrets among the properties are not known here: all are shown."""
    from icesql.session.output.table_text import partitioning, sort_order_text

    metadata = table.metadata
    columns = [(field.name, str(field.type), not field.required, field.doc) for field in metadata.schema.fields]
    snapshot = metadata.current_snapshot
    summary = {} if snapshot is None else snapshot.summary
    refs = [f"{name} ({ref.type.value} at {ref.snapshot_id})" for name, ref in metadata.refs.items()]
    facts: dict[str, Any] = {
        "table": table.name,
        "location": metadata.location,
        "metadata": table.metadata_location,
        "format version": metadata.format_version,
        "partitioned by": ", ".join(partitioning(metadata.spec, metadata.schema)) or None,
        "sorted by": sort_order_text(metadata.sort_order, metadata.schema) or None,
        "current snapshot": None if snapshot is None else snapshot.snapshot_id,
        "committed at": None if snapshot is None else _time(snapshot.timestamp_ms),
        "rows": _count(summary.get("total-records")),
        "data files": _count(summary.get("total-data-files")),
        "delete files": _count(summary.get("total-delete-files")),
        "size": _count(summary.get("total-files-size")),
        "snapshots": len(metadata.snapshots),
        "refs": ", ".join(refs) or None,
        "properties": dict(sorted(metadata.properties.items())),
    }
    return Description(Rows(("column", "type", "nullable", "comment"), columns), facts)


def snapshots(table: Table) -> Rows:
    """Oldest first, with the branches and tags that point to each."""
    names: dict[int, list[str]] = {}
    for name, ref in table.metadata.refs.items():
        names.setdefault(ref.snapshot_id, []).append(name)
    rows = [_snapshot_row(snapshot, names.get(snapshot.snapshot_id, [])) for snapshot in table.metadata.snapshots]
    return Rows(
        ("committed_at", "snapshot_id", "parent_id", "operation", "refs", "added_rows", "deleted_rows", "total_rows", "total_files"), rows
    )


def _snapshot_row(snapshot: Snapshot, refs: Sequence[str]) -> tuple[Any, ...]:
    summary = snapshot.summary
    counts = [_count(summary.get(key)) for key in ("added-records", "deleted-records", "total-records", "total-data-files")]
    names = ", ".join(refs) or None
    return _time(snapshot.timestamp_ms), snapshot.snapshot_id, snapshot.parent_snapshot_id, snapshot.operation, names, *counts


def files(table: Table) -> Rows:
    """Data and delete files of the current snapshot."""
    from icesql.table.metadata_tables.registry import scan_metadata_table

    names = _file_columns(table)
    listed = scan_metadata_table("files", io=table.io, metadata=table.metadata, metadata_location=table.metadata_location, select=names)
    columns = [listed.column(name).to_pylist() for name in names]
    return Rows(names, list(zip(*columns, strict=True)))


def _file_columns(table: Table) -> tuple[str, ...]:
    """Unpartitioned tables have no column ``partition``."""
    from icesql.table.metadata_tables.registry import metadata_table_schema

    known = {field.name for field in metadata_table_schema("files", table.metadata).fields}
    return tuple(name for name in FILE_COLUMNS if name in known)


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.lstrip("-").isdigit() else None


def _time(milliseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)
