"""View metadata documents. Spec: "Iceberg View Spec", "View Metadata"; key order as Java writes it."""

from __future__ import annotations

import json
from typing import Any

from icesql.errors import CorruptMetadataError, UnsupportedError
from icesql.spec.json.faults import (
    JsonFault,
    array_field,
    as_object,
    as_strings,
    each,
    int_field,
    kind,
    long_field,
    optional_string,
    string_field,
    within,
)
from icesql.spec.json.types import schema_from_json, schema_to_json
from icesql.spec.views import VIEW_FORMAT_VERSION, SqlRepresentation, ViewHistoryEntry, ViewMetadata, ViewVersion


def view_to_json(view: ViewMetadata) -> bytes:
    return json.dumps(view_to_object(view), separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def view_to_object(view: ViewMetadata) -> dict[str, Any]:
    node: dict[str, Any] = {"view-uuid": view.view_uuid, "format-version": view.format_version, "location": view.location}
    if view.properties:
        node["properties"] = dict(view.properties)
    return node | {
        "schemas": [schema_to_json(schema) for schema in view.schemas],
        "current-version-id": view.current_version_id,
        "versions": [view_version_to_json(version) for version in view.versions],
        "version-log": [{"timestamp-ms": entry.timestamp_ms, "version-id": entry.version_id} for entry in view.version_log],
    }


def view_version_to_json(version: ViewVersion) -> dict[str, Any]:
    node: dict[str, Any] = {
        "version-id": version.version_id,
        "timestamp-ms": version.timestamp_ms,
        "schema-id": version.schema_id,
        "summary": dict(version.summary),
    }
    if version.default_catalog is not None:
        node["default-catalog"] = version.default_catalog
    return node | {
        "default-namespace": list(version.default_namespace),
        "representations": [{"type": "sql", "sql": sql.sql, "dialect": sql.dialect} for sql in version.representations],
    }


def view_from_json(data: bytes, location: str) -> ViewMetadata:
    """The view of a document read from ``location``.

    Raises CorruptMetadataError naming location and JSON path, UnsupportedError for a view format version above 1.
    """
    try:
        node = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CorruptMetadataError(f"Cannot read view metadata: not JSON: {error}: {location}", location=location) from error
    return view_from_object(node, location)


def view_from_object(node: Any, location: str) -> ViewMetadata:
    """As ``view_from_json`` for a parsed document (REST responses)."""
    try:
        return _view(as_object(node), location)
    except JsonFault as fault:
        place = f"at {fault.path}: " if fault.path else ""
        raise CorruptMetadataError(
            f"Cannot read view metadata: {place}{fault.reason}: {location}", location=location, path=fault.path
        ) from fault


def _view(node: dict[str, Any], location: str) -> ViewMetadata:
    version = int_field(node, "format-version")
    if version > VIEW_FORMAT_VERSION:
        raise UnsupportedError(
            f"Cannot read view metadata: unsupported format version: {version} (only {VIEW_FORMAT_VERSION} is): {location}",
            location=location,
            format_version=version,
        )
    if version < 1:
        raise JsonFault(f"invalid format version: {version}", "format-version")
    view = ViewMetadata(
        view_uuid=string_field(node, "view-uuid"),
        format_version=version,
        location=string_field(node, "location"),
        current_version_id=int_field(node, "current-version-id"),
        versions=_parsed(view_version_from_json, node, "versions"),
        schemas=_parsed(schema_from_json, node, "schemas"),
        version_log=_parsed(_entry, node, "version-log"),
        properties=_strings(node, "properties"),
    )
    _check(view)
    return view


def _parsed(parse: Any, node: dict[str, Any], key: str) -> tuple[Any, ...]:
    items = []
    for path, item in each(array_field(node, key), key):
        with within(path):
            items.append(parse(item))
    return tuple(items)


def view_version_from_json(node: Any) -> ViewVersion:
    """Raises CorruptMetadataError naming the JSON path. Representations of other types than ``sql`` are left out."""
    namespace = array_field(as_object(node), "default-namespace")
    for path, level in each(namespace, "default-namespace"):
        if not isinstance(level, str):
            raise JsonFault(f"expected a string, got {kind(level)}", path)
    return ViewVersion(
        version_id=int_field(node, "version-id"),
        timestamp_ms=long_field(node, "timestamp-ms"),
        schema_id=int_field(node, "schema-id"),
        summary=_strings(node, "summary"),
        representations=tuple(sql for sql in _parsed(_representation, node, "representations") if sql is not None),
        default_namespace=tuple(namespace),
        default_catalog=optional_string(node, "default-catalog"),
    )


def _representation(node: Any) -> SqlRepresentation | None:
    if string_field(as_object(node), "type").lower() != "sql":
        return None
    return SqlRepresentation(sql=string_field(node, "sql"), dialect=string_field(node, "dialect"))


def _entry(node: Any) -> ViewHistoryEntry:
    return ViewHistoryEntry(timestamp_ms=long_field(as_object(node), "timestamp-ms"), version_id=int_field(node, "version-id"))


def _strings(node: dict[str, Any], key: str) -> dict[str, str]:
    if node.get(key) is None:
        return {}
    with within(key):
        return as_strings(node[key])


def _check(view: ViewMetadata) -> None:
    _unique([schema.schema_id for schema in view.schemas], "schemas", "schema id")
    _unique([version.version_id for version in view.versions], "versions", "version id")
    if view.current_version_id not in view.versions_by_id:
        raise JsonFault(f"unknown version id: {view.current_version_id}", "current-version-id")
    for position, version in enumerate(view.versions):
        if version.schema_id not in view.schemas_by_id:
            raise JsonFault(f"unknown schema id: {version.schema_id}", f"versions[{position}].schema-id")


def _unique(ids: list[int], name: str, what: str) -> None:
    for position, item_id in enumerate(ids):
        if item_id in ids[:position]:
            raise JsonFault(f"{what} used twice: {item_id}", f"{name}[{position}]")
