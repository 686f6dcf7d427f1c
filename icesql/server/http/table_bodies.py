"""Tables as answers: the table's metadata document in an envelope, whole or with the snapshots of its refs only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import msgspec
from starlette.responses import Response

from icesql.io.lru import LruCache
from icesql.server.http.call import json_answer
from icesql.server.http.delegation import NO_ACCESS, TableAccess
from icesql.server.problems import bad_request
from icesql.spec.json.metadata import metadata_to_json
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion

_CACHE_BYTES = 64 * 1024 * 1024
_documents: LruCache[tuple[str, str, int, str], bytes] = LruCache(_CACHE_BYTES, len)
ALL, REFS = "all", "refs"


def snapshots_mode(text: str | None) -> str:
    """Raises Problem 400."""
    if text is None or text.lower() == ALL:
        return ALL
    if text.lower() == REFS:
        return REFS
    raise bad_request(f"Malformed request: snapshots is neither all nor refs: {text}")


def entity_tag(version: TableVersion, mode: str, access: TableAccess = NO_ACCESS) -> str:
    """Of one representation: another mode or other access to the files, another tag."""
    text = f"{version.metadata_location} {mode}" if access == NO_ACCESS else f"{version.metadata_location} {mode} {access.tag}"
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def matches(header: str | None, tag: str) -> bool:
    """Whether If-None-Match names the tag."""
    if header is None:
        return False
    given = [one.strip().removeprefix("W/") for one in header.split(",")]
    return tag in given or "*" in given


def table_answer(
    version: TableVersion, mode: str = ALL, *, access: TableAccess = NO_ACCESS, produced: Sequence[object] | None = None
) -> Response:
    """``access``: to the table's files. ``produced``: the snapshots that the request made from files."""
    headers = {} if version.metadata_location is None else {"ETag": entity_tag(version, mode, access)}
    parts = [b"{"]
    if version.metadata_location is not None:
        parts += [b'"metadata-location":', msgspec.json.encode(version.metadata_location), b","]
    parts += [b'"metadata":', document(version, mode), b',"config":', msgspec.json.encode(access.config)]
    if access.credentials:
        parts += [b',"storage-credentials":', msgspec.json.encode(access.credentials_json())]
    if produced:
        parts += [b',"produced-snapshots":', msgspec.json.encode(produced)]
    return json_answer(b"".join([*parts, b"}"]), headers=headers)


def document(version: TableVersion, mode: str) -> bytes:
    """The metadata as JSON. Kept by location: a file never changes."""
    if version.metadata_location is None:
        return metadata_to_json(version.metadata)
    key = (version.metadata_location, version.metadata.table_uuid, version.metadata.last_updated_ms, mode)
    known = _documents.find(key)
    if known is None:
        known = metadata_to_json(version.metadata if mode == ALL else of_refs(version.metadata))
        _documents.put(key, known)
    return known


def of_refs(metadata: TableMetadata) -> TableMetadata:
    """Without the snapshots that no branch or tag points to."""
    named = {ref.snapshot_id for ref in metadata.refs.values()}
    return replace(metadata, snapshots=tuple(one for one in metadata.snapshots if one.snapshot_id in named))
