"""Tables as the server gives them: metadata, where it lies, and what opens their files. Spec: ``LoadTableResult``.

What was loaded last of each table is kept, so that an unchanged one costs the server and this client little (``ETag``, ``If-None-Match``),
and so that a table's file system is one over all handles.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from icesql.catalog.names import Identifier, dotted
from icesql.catalog.rest import keys
from icesql.catalog.rest.credentials import Credential, credentials_of, table_io
from icesql.catalog.rest.partial import with_lazy_snapshots
from icesql.catalog.rest.replies import BadReplyError, Reply
from icesql.catalog.rest.routes import Route
from icesql.catalog.rest.scan_plans import ServerPlanner, planning_mode
from icesql.catalog.rest.server import Server
from icesql.errors import CorruptMetadataError, NotFoundError
from icesql.io.garbage import collector_paused
from icesql.io.storage.files import FileIO
from icesql.spec.json.metadata import metadata_from_json
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion

_ENTRIES = 100


class _LoadWire(msgspec.Struct, rename="kebab"):
    metadata: msgspec.Raw
    metadata_location: str | None = None
    config: dict[str, Any] | None = None
    storage_credentials: list[dict[str, Any]] | None = None


_DECODER = msgspec.json.Decoder(_LoadWire)


@dataclass(frozen=True, slots=True)
class Loaded:
    """One answer. ``etag``: the server's mark of this representation; ``loaded_at``: by the monotonic clock."""

    version: TableVersion
    io: FileIO = field(repr=False)
    config: Mapping[str, str] = field(default_factory=dict, repr=False)
    credentials: tuple[Credential, ...] = field(default=(), repr=False)
    etag: str | None = None
    is_partial: bool = False

    def has_good_credentials(self) -> bool:
        return all(not one.is_old(time.time()) for one in self.credentials)


class Loads:
    """Thread safe. ``base_io`` is the file system of tables for which the server gives no settings."""

    def __init__(self, server: Server, base_io: Callable[[], FileIO]) -> None:
        self.server, self._base_io = server, base_io
        self._lock = threading.Lock()
        self._kept: OrderedDict[Identifier, Loaded] = OrderedDict()

    # -- what is kept ----------------------------------------------------------------------------------------------
    def held(self, identifier: Identifier) -> Loaded | None:
        with self._lock:
            loaded = self._kept.get(identifier)
            if loaded is not None:
                self._kept.move_to_end(identifier)
            return loaded

    def keep(self, identifier: Identifier, loaded: Loaded) -> Loaded:
        with self._lock:
            self._kept[identifier] = loaded
            self._kept.move_to_end(identifier)
            while len(self._kept) > _ENTRIES:
                self._kept.popitem(last=False)
        return loaded

    def forget(self, identifier: Identifier) -> None:
        with self._lock:
            self._kept.pop(identifier, None)

    # -- asking ----------------------------------------------------------------------------------------------------
    @property
    def loads_refs_only(self) -> bool:
        return self.server.offer.properties.get(keys.SNAPSHOT_LOADING_MODE, "all").lower() == "refs"

    def load(self, identifier: Identifier) -> Loaded:
        """The table as it is now. Raises NotFoundError, CorruptMetadataError, ServiceError."""
        held, refs_only = self.held(identifier), self.loads_refs_only
        doing = f"load table {dotted(identifier)}"
        if len(identifier) < 2:
            raise NotFoundError(f"Cannot {doing}: Table does not exist: no table of a REST catalog is outside of all namespaces")
        usable = held is not None and held.etag is not None and held.is_partial == refs_only and held.has_good_credentials()
        reply = self.server.ask(
            Route.LOAD_TABLE,
            doing,
            namespace=identifier[:-1],
            names={"table": identifier[-1]},
            params={"snapshots": "refs"} if refs_only else {},
            headers={"If-None-Match": str(held.etag)} if usable and held is not None else {},
        )
        if reply.status == 304:
            if held is None or not usable:
                raise BadReplyError(f"Cannot {doing}: the server says that nothing has changed since a load that was not asked for")
            return held
        return self.keep(identifier, self.read(identifier, reply, doing, refs_only=refs_only))

    def read(self, identifier: Identifier, reply: Reply, doing: str, *, refs_only: bool = False) -> Loaded:
        """The table of an answer. Raises BadReplyError, CorruptMetadataError."""
        wire = self._decoded(reply, doing)
        config = {key: str(value) for key, value in (wire.config or {}).items() if value is not None}
        self.server.secrets.add_all(config)
        self.server.know_token(identifier, config)
        held = self.held(identifier)
        credentials = credentials_of(wire.storage_credentials or (), self.server.secrets)
        metadata = self._metadata(identifier, wire, held, refs_only=refs_only)
        if held is not None and held.config == config and held.credentials == credentials:
            io = held.io
        else:
            io = table_io(self._base_io(), self.server, identifier, config, credentials, self._planner(identifier, config))
        version = TableVersion(metadata, wire.metadata_location)
        return Loaded(version, io, config, credentials, reply.headers.get("etag"), refs_only)

    def _planner(self, identifier: Identifier, config: Mapping[str, str]) -> ServerPlanner | None:
        """Where the table's configuration, else the catalog's, wants the server to plan. Raises InvalidArgumentError."""
        mode = planning_mode({**self.server.offer.properties, **config}, dotted(identifier))
        return ServerPlanner(self, identifier) if mode == "server" else None

    def _decoded(self, reply: Reply, doing: str) -> _LoadWire:
        try:
            return _DECODER.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadReplyError(f"Cannot {doing}: the reply of the server is no table: {error}", status=reply.status) from None

    def _metadata(self, identifier: Identifier, wire: _LoadWire, held: Loaded | None, *, refs_only: bool) -> TableMetadata:
        """Files of metadata never change: one that is known needs not be read again."""
        location = wire.metadata_location
        if held is not None and location is not None and held.version.metadata_location == location and held.is_partial == refs_only:
            return held.version.metadata
        with collector_paused():
            metadata = metadata_from_json(bytes(wire.metadata), location or f"the server's reply for {dotted(identifier)}")
        return with_lazy_snapshots(metadata, lambda: self._all_snapshots(identifier, metadata)) if refs_only else metadata

    def _all_snapshots(self, identifier: Identifier, partial: TableMetadata) -> TableMetadata:
        """Raises CorruptMetadataError if the table was replaced by another one meanwhile."""
        doing = f"load snapshots of table {dotted(identifier)}"
        reply = self.server.ask(
            Route.LOAD_TABLE, doing, namespace=identifier[:-1], names={"table": identifier[-1]}, params={"snapshots": "all"}
        )
        metadata = metadata_from_json(bytes(self._decoded(reply, doing).metadata), doing)
        if metadata.table_uuid != partial.table_uuid:
            raise CorruptMetadataError(f"Cannot {doing}: it was replaced by another table meanwhile. Load it again")
        return metadata

    def committed(self, identifier: Identifier, reply: Reply, doing: str) -> TableVersion:
        """The version that a commit made, as the server answers. Spec: ``CommitTableResponse``. Raises BadReplyError."""
        wire = self._decoded(reply, doing)
        if wire.metadata_location is None:
            raise BadReplyError(f"Cannot {doing}: the reply of the server names no metadata file", status=reply.status)
        held = self.held(identifier)
        with collector_paused():
            metadata = metadata_from_json(bytes(wire.metadata), wire.metadata_location)
        version = TableVersion(metadata, wire.metadata_location)
        if held is not None:
            self.keep(identifier, replace(held, version=version, etag=reply.headers.get("etag"), is_partial=False))
        return version


def expect_strings(values: Sequence[Any], doing: str) -> tuple[str, ...]:
    """Raises BadReplyError."""
    if not all(isinstance(value, str) for value in values):
        raise BadReplyError(f"Cannot {doing}: the reply of the server holds something else than text")
    return tuple(values)
