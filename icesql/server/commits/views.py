"""Commits of views: the protocol's updates folded into view metadata, with the rules of the reference's ``ViewMetadata.Builder``."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from icesql.errors import CommitFailedError, InvalidArgumentError, ValidationError
from icesql.spec.json.faults import JsonFault, array_field, as_object, int_field, required, string_field, within
from icesql.spec.json.types import schema_from_json
from icesql.spec.json.views import view_version_from_json
from icesql.spec.schema import Schema
from icesql.spec.views import (
    VIEW_FORMAT_VERSION,
    ViewHistoryEntry,
    ViewMetadata,
    ViewVersion,
    check_dialects_kept,
    check_new_version,
    expire_versions,
    new_view,
)

Node = dict[str, Any]
_LAST_ADDED = -1


def created_view(location: str, schema: Node, version: Node, properties: dict[str, str]) -> ViewMetadata:
    """A view of a create request. Raises JsonFault, ValidationError."""
    with within("schema"):
        columns = schema_from_json(schema)
    with within("view-version"):
        first = view_version_from_json(version)
    view = new_view(view_uuid=str(uuid.uuid4()), location=location, schema=columns, version=first, properties=properties)
    return expire_versions(view)  # which also looks at the property that says how many to keep


def check_view_requirements(requirements: Sequence[Node], view: ViewMetadata) -> None:
    """Raises CommitFailedError for a requirement that does not hold, InvalidArgumentError for an unknown one."""
    for node in requirements:
        kind = string_field(as_object(node), "type")
        if kind != "assert-view-uuid":
            raise InvalidArgumentError(f"Cannot convert update requirement to json: {kind}", type=kind)
        asked = string_field(node, "uuid")
        if asked.lower() != view.view_uuid.lower():
            raise CommitFailedError(f"Requirement failed: view UUID does not match: expected {asked} != {view.view_uuid}")


def folded_view(view: ViewMetadata, updates: Sequence[Node]) -> ViewMetadata:
    """The view with all updates; the same object if they change nothing. Raises InvalidArgumentError, ValidationError, JsonFault."""
    builder = _ViewBuilder(view)
    for node in updates:
        builder.apply(as_object(node))
    return builder.build()


class _ViewBuilder:
    def __init__(self, base: ViewMetadata) -> None:
        self._base = self._view = base
        self._last_schema: int | None = None
        self._last_version: int | None = None

    def build(self) -> ViewMetadata:
        if self._view is self._base:
            return self._base
        if self._view.current_version_id != self._base.current_version_id:
            check_dialects_kept(self._base.current_version, self._view.current_version, self._view.properties)
        return expire_versions(self._view)

    def apply(self, node: Node) -> None:
        action = string_field(node, "action")
        with within(action):
            match action:
                case "assign-uuid":
                    self._assign_uuid(string_field(node, "uuid"))
                case "upgrade-format-version":
                    _check_format_version(int_field(node, "format-version"))
                case "add-schema":
                    with within("schema"):
                        self._add_schema(schema_from_json(as_object(required(node, "schema"))))
                case "set-location":
                    self._set(location=string_field(node, "location"))
                case "set-properties":
                    self._set(properties={**self._view.properties, **_texts(node, "updates")})
                case "remove-properties":
                    gone = set(array_field(node, "removals"))
                    self._set(properties={key: value for key, value in self._view.properties.items() if key not in gone})
                case "add-view-version":
                    with within("view-version"):
                        self._add_version(view_version_from_json(required(node, "view-version")))
                case "set-current-view-version":
                    self._set_current(int_field(node, "view-version-id"))
                case _:
                    raise InvalidArgumentError(f"Cannot convert metadata update action to json: {action}", action=action)

    def _set(self, **changes: Any) -> None:
        if any(getattr(self._view, name) != value for name, value in changes.items()):
            self._view = replace(self._view, **changes)

    def _assign_uuid(self, text: str) -> None:
        if text.lower() != self._view.view_uuid.lower():
            raise ValidationError(f"Cannot reassign uuid of view: {self._view.view_uuid} to {text}")

    def _add_schema(self, schema: Schema) -> None:
        known = next((one for one in self._view.schemas if one.same_columns(schema)), None)
        if known is None:
            known = replace(schema, schema_id=max(self._view.schemas_by_id, default=-1) + 1)
            self._set(schemas=(*self._view.schemas, known))
        self._last_schema = known.schema_id

    def _add_version(self, version: ViewVersion) -> None:
        check_new_version(version)
        if version.schema_id == _LAST_ADDED:
            if self._last_schema is None:
                raise ValidationError("Cannot set last added schema: no schema has been added")
            version = replace(version, schema_id=self._last_schema)
        if version.schema_id not in self._view.schemas_by_id:
            raise ValidationError(f"Cannot add version with unknown schema: {version.schema_id}")
        known = next((one for one in self._view.versions if one.same_definition(version)), None)
        if known is None:
            known = replace(version, version_id=max(self._view.versions_by_id) + 1)
            self._set(versions=(*self._view.versions, known))
        self._last_version = known.version_id

    def _set_current(self, version_id: int) -> None:
        if version_id == _LAST_ADDED:
            if self._last_version is None:
                raise ValidationError("Cannot set last version id: no current version id has been set")
            version_id = self._last_version
        version = self._view.versions_by_id.get(version_id)
        if version is None:
            raise ValidationError(f"Cannot set current version to unknown version: {version_id}")
        if version_id == self._view.current_version_id:
            return
        is_new = version_id not in self._base.versions_by_id
        moment = version.timestamp_ms if is_new else time.time_ns() // 1_000_000
        entry = ViewHistoryEntry(version_id=version_id, timestamp_ms=moment)
        self._set(current_version_id=version_id, version_log=(*self._view.version_log, entry))


def _check_format_version(version: int) -> None:
    if version != VIEW_FORMAT_VERSION:
        raise InvalidArgumentError(f"Unsupported format version: {version}", format_version=version)


def _texts(node: Node, key: str) -> dict[str, str]:
    texts = as_object(required(node, key))
    if not all(isinstance(value, str) for value in texts.values()):
        raise JsonFault("expected strings", key)
    return {name: str(value) for name, value in texts.items()}
