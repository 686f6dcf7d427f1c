"""Views of a REST catalog. The server numbers their versions, writes their files and keeps their log. Spec: ``CommitViewRequest``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from icesql.catalog.commit_status import settle
from icesql.catalog.names import Identifier, Namespace, dotted
from icesql.catalog.rest.replies import BadReplyError, NoReplyError, Reply, fault_of
from icesql.catalog.rest.routes import Route
from icesql.catalog.rest.server import Server
from icesql.errors import AlreadyExistsError, CommitFailedError, NotFoundError, ServiceError, nearest
from icesql.spec.json.types import schema_to_json
from icesql.spec.json.views import view_from_object, view_version_to_json
from icesql.spec.properties import COMMIT_NUM_STATUS_CHECKS
from icesql.spec.views import ViewMetadata, ViewVersion
from icesql.table.outcomes import Outcome

_LAST_ADDED = -1


class RestViews:
    """The requests about views to one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(self, namespace: Namespace) -> list[Identifier]:
        """Nothing where the server has no views. Raises NotFoundError for the namespace."""
        if not self._server.offer.has(Route.LIST_VIEWS):
            return []
        return self._server.names(Route.LIST_VIEWS, f"list views of {dotted(namespace)}", namespace)

    def load(self, identifier: Identifier) -> ViewMetadata:
        """Raises NotFoundError that names the nearest view, CorruptMetadataError."""
        doing = f"load view {dotted(identifier)}"
        if len(identifier) < 2 or not self._server.offer.has(Route.LOAD_VIEW):
            raise self._no_such_view(identifier)
        reply = self._server.send(Route.LOAD_VIEW, doing, **_place(identifier))
        if reply.status == 404:
            raise self._no_such_view(identifier)
        return self._read(self._checked(reply, doing), doing)

    def _read(self, reply: Reply, doing: str) -> ViewMetadata:
        node = reply.object()
        if not isinstance(node.get("metadata"), dict):
            raise BadReplyError(f"Cannot {doing}: the reply of the server is no view", status=reply.status)
        return view_from_object(node["metadata"], str(node.get("metadata-location") or doing))

    def _checked(self, reply: Reply, doing: str) -> Reply:
        if not reply.is_success:
            raise self._server.error(reply, doing)
        return reply

    def _no_such_view(self, identifier: Identifier) -> NotFoundError:
        name = dotted(identifier)
        try:
            known = [dotted(view) for view in self.list(identifier[:-1])] if len(identifier) > 1 else []
        except (NotFoundError, ServiceError):
            known = []
        return NotFoundError(f"Cannot find view: View does not exist: {name}.{nearest(name, known)}", view=name)

    # -- changes -------------------------------------------------------------------------------------------------
    def create(self, identifier: Identifier, view: ViewMetadata) -> None:
        """Raises AlreadyExistsError, NotFoundError for the namespace, CommitStateUnknownError."""
        doing = f"create view {dotted(identifier)}"
        body = {
            "name": identifier[-1],
            "location": view.location,
            "schema": schema_to_json(view.schema),
            "view-version": view_version_to_json(view.current_version),
            "properties": dict(view.properties),
        }
        reply = self._settled(doing, view, identifier, Route.CREATE_VIEW, {"namespace": identifier[:-1], "body": body})
        if reply is not None and reply.status == 409:
            raise AlreadyExistsError(f"Cannot create view: Table or view already exists: {dotted(identifier)}", view=dotted(identifier))
        if reply is not None:
            self._checked(reply, doing)

    def replace(self, identifier: Identifier, base: ViewMetadata, view: ViewMetadata) -> None:
        """Raises CommitFailedError if the view is not ``base`` any more; the protocol itself only asks whether it is the same view."""
        doing = f"commit view {dotted(identifier)}"
        if self.load(identifier) != base:
            raise CommitFailedError(f"Cannot {doing}: another writer changed it first")
        updates = view_updates(base, view)
        if not updates:
            return
        body = {
            "identifier": {"namespace": list(identifier[:-1]), "name": identifier[-1]},
            "requirements": [{"type": "assert-view-uuid", "uuid": base.view_uuid}],
            "updates": updates,
        }
        reply = self._settled(doing, view, identifier, Route.REPLACE_VIEW, {**_place(identifier), "body": body})
        if reply is None:
            return
        if reply.status == 404:
            raise self._no_such_view(identifier)
        if reply.status == 409:
            raise CommitFailedError(self._server.secrets.hide(f"Cannot {doing}: {fault_of(reply).message}"))
        self._checked(reply, doing)

    def drop(self, identifier: Identifier) -> None:
        doing = f"drop view {dotted(identifier)}"
        if len(identifier) < 2:
            raise self._no_such_view(identifier)
        reply = self._settled(doing, None, identifier, Route.DROP_VIEW, _place(identifier))
        if reply is None:
            return
        if reply.status == 404:
            raise self._no_such_view(identifier)
        self._checked(reply, doing)

    def rename(self, source: Identifier, target: Identifier) -> None:
        doing = f"rename view {dotted(source)} to {dotted(target)}"
        body = {
            "source": {"namespace": list(source[:-1]), "name": source[-1]},
            "destination": {"namespace": list(target[:-1]), "name": target[-1]},
        }
        reply = self._settled(doing, None, source, Route.RENAME_VIEW, {"body": body})
        if reply is None:
            return
        if reply.status == 404:
            self.load(source)
            raise NotFoundError(f"Cannot {doing}: Namespace does not exist: {dotted(target[:-1])}")
        if reply.status == 409:
            raise AlreadyExistsError(f"Cannot {doing}: Table or view already exists: {dotted(target)}")
        self._checked(reply, doing)

    def _settled(
        self, doing: str, view: ViewMetadata | None, identifier: Identifier, route: Route, parts: Mapping[str, Any]
    ) -> Reply | None:
        """The answer that tells what became of a change; ``None`` if there is none and the view itself shows ``view``.

        Raises CommitStateUnknownError, CommitFailedError if it was never sent.
        """
        try:
            reply = self._server.send(route, doing, **parts)
            if reply.is_success or not fault_of(reply).leaves_doubt:
                return reply
            doubt: Exception = self._server.error(reply, doing)
        except NoReplyError as error:
            if not error.was_sent:
                raise CommitFailedError(f"Cannot {doing}: {error}") from None
            doubt = error

        def look() -> Outcome:
            if view is None or not shows(self.load(identifier), view):
                raise LookupError
            return Outcome.COMMITTED

        settle(look, {} if view is not None else {COMMIT_NUM_STATUS_CHECKS: "0"}, doing, doubt)
        return None


def shows(stored: ViewMetadata, view: ViewMetadata) -> bool:
    """Whether the server's view is what was sent: its version's time and definition, and its properties."""
    one, other = stored.current_version, view.current_version
    same_columns = stored.schema.same_columns(view.schema)
    return same_columns and _definition(one) == _definition(other) and stored.properties == view.properties


def _definition(version: ViewVersion) -> tuple[object, ...]:
    return version.timestamp_ms, version.representations, version.default_namespace, version.default_catalog


def view_updates(base: ViewMetadata, view: ViewMetadata) -> list[dict[str, Any]]:
    """From one state of a view to another. Spec: ``ViewUpdate``."""
    updates: list[dict[str, Any]] = []
    if view.location != base.location:
        updates.append({"action": "set-location", "location": view.location})
    added = {key: value for key, value in view.properties.items() if base.properties.get(key) != value}
    removed = [key for key in base.properties if key not in view.properties]
    if added:
        updates.append({"action": "set-properties", "updates": added})
    if removed:
        updates.append({"action": "remove-properties", "removals": removed})
    current = view.current_version
    if current.version_id in base.versions_by_id:
        if current.version_id != base.current_version_id:
            updates.append({"action": "set-current-view-version", "view-version-id": current.version_id})
        return updates
    schema_id = current.schema_id
    if schema_id not in base.schemas_by_id:
        schema = view.schema
        updates.append({"action": "add-schema", "schema": schema_to_json(schema), "last-column-id": schema.highest_field_id})
        schema_id = _LAST_ADDED
    version = {**view_version_to_json(current), "schema-id": schema_id}
    updates.append({"action": "add-view-version", "view-version": version})
    updates.append({"action": "set-current-view-version", "view-version-id": _LAST_ADDED})
    return updates


def _place(identifier: Identifier) -> dict[str, Any]:
    return {"namespace": identifier[:-1], "names": {"view": identifier[-1]}}
