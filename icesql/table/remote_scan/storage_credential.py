"""Settings that open the files below a prefix. Spec: ``StorageCredential``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from icesql.spec.json.faults import JsonObject, JsonValue, as_object, as_strings, required, string_field, within


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageCredential:
    """``config`` has secrets: it is in no repr."""

    prefix: str
    config: Mapping[str, str] = field(repr=False)


def storage_credential_to_json(credential: StorageCredential) -> JsonObject:
    return {"prefix": credential.prefix, "config": dict(credential.config)}


def storage_credential_from_json(node: JsonValue) -> StorageCredential:
    """Raises CorruptMetadataError."""
    fields = as_object(node)
    with within("config"):
        config = as_strings(required(fields, "config"))
    return StorageCredential(prefix=string_field(fields, "prefix"), config=config)
