"""Access to a table's files: credentials, and requests to S3 that the server signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from starlette.responses import Response

from icesql.catalog.names import Identifier
from icesql.server.access.authentication import forbidden
from icesql.server.access.privileges import Privilege
from icesql.server.delegation.offered import VENDED
from icesql.server.delegation.places import TablePlaces
from icesql.server.delegation.s3_requests import ObjectUse, unsigned_problem, uses_of
from icesql.server.http.bodies import RemoteSign
from icesql.server.http.call import SEPARATOR, Call, json_answer
from icesql.server.http.loading import loaded_version
from icesql.server.http.routing import Route
from icesql.server.problems import bad_request
from icesql.spec.metadata import TableMetadata
from icesql.table.remote_scan.storage_credential import StorageCredential, storage_credential_to_json

_DELEGATION, _MODE = "x-iceberg-access-delegation", "scan-planning-mode"


@dataclass(frozen=True, slots=True)
class TableAccess:
    """What a table's answer says beside its metadata. ``tag`` tells representations apart that would be used differently."""

    config: Mapping[str, str] = field(default_factory=dict, repr=False)
    credentials: tuple[StorageCredential, ...] = ()

    @property
    def tag(self) -> str:
        return repr((sorted(self.config.items()), [(one.prefix, sorted(one.config.items())) for one in self.credentials]))

    def credentials_json(self) -> list[object]:
        return [storage_credential_to_json(one) for one in self.credentials]


NO_ACCESS = TableAccess()


def table_access(call: Call, identifier: Identifier, metadata: TableMetadata) -> TableAccess:
    """As the client wishes and the settings let it."""
    config: dict[str, str] = {}
    if (planning := call.served.catalog.properties.get(_MODE)) is not None:
        config[_MODE] = planning
    delegation = call.served.delegation
    mode = delegation.mode(call.headers.get(_DELEGATION))
    if mode is None:
        return TableAccess(config)
    config |= delegation.shared
    path = _table_path(call, identifier)
    if mode == VENDED:
        credentials = _credentials(call, identifier, metadata)
        config["client.refresh-credentials-endpoint"] = f"{path}/credentials"
        return TableAccess(config, credentials)
    endpoint = f"{path}/sign"
    config |= {"s3.remote-signing-enabled": "true", "signer.endpoint": endpoint, "s3.signer.endpoint": endpoint}
    return TableAccess(config)


def _table_path(call: Call, identifier: Identifier) -> str:
    namespace = quote(SEPARATOR.join(identifier[:-1]), safe="")
    return f"v1/{quote(call.served.name, safe='')}/namespaces/{namespace}/tables/{quote(identifier[-1], safe='')}"


def _privilege(call: Call, identifier: Identifier) -> Privilege | None:
    held = [one for one in Privilege if call.principal.may(one, (call.served.name, *identifier))]
    return max(held, default=None)


def _credentials(call: Call, identifier: Identifier, metadata: TableMetadata) -> tuple[StorageCredential, ...]:
    privilege = _privilege(call, identifier)
    if privilege is None:
        return ()
    return call.served.delegation.vending.credentials(TablePlaces.of(metadata), privilege, call.principal.name)


def plan_credentials(call: Call, metadata: TableMetadata) -> tuple[StorageCredential, ...]:
    """Those of a plan's answer: as for the table, where the client wishes for them."""
    if call.served.delegation.mode(call.headers.get(_DELEGATION)) != VENDED:
        return ()
    return _credentials(call, call.table, metadata)


def load_credentials(call: Call) -> Response:
    metadata = loaded_version(call, call.table).metadata
    credentials = _credentials(call, call.table, metadata)
    return json_answer({"storage-credentials": TableAccess({}, credentials).credentials_json()}, headers={"Cache-Control": "no-store"})


def sign(call: Call) -> Response:
    """The request's headers with a signature. Raises Problem 403 for objects that are not the table's, or more than the principal may."""
    signer = call.served.delegation.signer
    if signer is None:
        raise unsigned_problem()
    asked = call.parsed(RemoteSign)
    if asked.provider not in (None, "s3"):
        raise bad_request(f"Malformed request: unknown provider: {asked.provider[:40]}")
    method = asked.method.upper()
    uses = uses_of(call.served.delegation.endpoint, method, asked.uri, asked.headers, asked.body)
    places = TablePlaces.of(loaded_version(call, call.table).metadata)
    held = _privilege(call, call.table)
    if held is None or not all(_may(call, use, places, held) for use in uses):
        raise forbidden()
    headers = signer.signed(method, asked.uri, asked.region, asked.headers, asked.body)
    caching = "private" if method in ("GET", "HEAD") else "no-cache"
    return json_answer({"uri": asked.uri, "headers": headers}, headers={"Cache-Control": caching})


def _may(call: Call, use: ObjectUse, places: TablePlaces, held: Privilege) -> bool:
    """Whoever may only add or remove rows writes no object that is there already: it may be of a snapshot."""
    if use.method == "LIST":
        return places.may_list(use.location)
    needed = places.needed(use.method, use.location)
    if needed is None or held < needed:
        return False
    return not use.is_new or held >= Privilege.ADMIN or not call.served.io.exists(use.location)


_TABLE = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"
ROUTES = (
    Route(method="GET", path=f"{_TABLE}/credentials", function=load_credentials),
    Route(method="POST", path=f"{_TABLE}/sign", function=sign),
)
