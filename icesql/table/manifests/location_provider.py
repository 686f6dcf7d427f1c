"""Locations of a table's new files. The specification leaves them open; properties and layout are the reference's."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from icesql.errors import UnsupportedError
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import (
    OBJECT_STORE_ENABLED,
    OBJECT_STORE_PATH,
    WRITE_DATA_LOCATION,
    WRITE_FOLDER_STORAGE_LOCATION,
    WRITE_LOCATION_PROVIDER_IMPL,
    WRITE_METADATA_LOCATION,
    WRITE_OBJECT_STORE_PARTITIONED_PATHS,
)

_ENTROPY_BITS = 20
_ENTROPY_DIRECTORY_LENGTH = 4
_ENTROPY_DIRECTORIES = 3


@dataclass(frozen=True, slots=True)
class LocationProvider:
    """Folders of a table. Holds plain values only, so that tasks can receive it."""

    location: str
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def data_folder(self) -> str:
        """``write.data.path``, its older names, or ``<location>/data``; without a trailing slash."""
        return _strip(self.data_path or f"{self.location}/data")

    @property
    def data_path(self) -> str | None:
        """The data folder that properties configure, ``None`` without one."""
        return data_path(self.properties)

    @property
    def metadata_folder(self) -> str:
        return _strip(self.properties.get(WRITE_METADATA_LOCATION) or f"{self.location}/metadata")

    @property
    def uses_object_store_layout(self) -> bool:
        return self.properties.get(OBJECT_STORE_ENABLED, "false").lower() == "true"

    def data_file(self, name: str, partition_path: str = "") -> str:
        """Location of a new data file. ``partition_path`` is ``a=1/b=x`` as ``icesql.spec.paths`` writes it, ``""`` unpartitioned."""
        if self.uses_object_store_layout:
            return self._object_store_file(name, partition_path)
        folder = f"{self.data_folder}/{partition_path}" if partition_path else self.data_folder
        return f"{folder}/{name}"

    def _object_store_file(self, name: str, partition_path: str) -> str:
        if partition_path and self.properties.get(WRITE_OBJECT_STORE_PARTITIONED_PATHS, "true").lower() == "true":
            below = f"{partition_path}/{name}"
            return f"{self.data_folder}/{_entropy(below)}/{self._context}{below}"
        entropy = _entropy(name)
        if self._context:
            return f"{self.data_folder}/{entropy}/{self._context}{name}"
        if self.properties.get(WRITE_OBJECT_STORE_PARTITIONED_PATHS, "true").lower() == "true":
            return f"{self.data_folder}/{entropy}/{name}"
        return f"{self.data_folder}/{entropy}-{name}"

    @property
    def _context(self) -> str:
        """``db/table/`` where data lies outside the table's own folder, so that tables sharing it stay apart."""
        if self.data_folder.startswith(self.location):
            return ""
        parts = [part for part in self.location.split("/") if part and not part.endswith(":")]
        return "/".join(parts[-2:]) + "/"

    @property
    def shared_context(self) -> str:
        """The folders that keep the table's files apart from others' in a data folder outside its location; ``""`` where nothing does."""
        return self._context if self.uses_object_store_layout else ""

    def metadata_file(self, name: str) -> str:
        """Location of a manifest, manifest list, statistics or metadata file of that name."""
        return f"{self.metadata_folder}/{name}"


def data_path(properties: Mapping[str, str]) -> str | None:
    """The configured data folder, by precedence of its three names; ``None`` if there is none."""
    return next(iter(data_paths(properties)), None)


def data_paths(properties: Mapping[str, str]) -> list[str]:
    """Every configured data folder, the one in use first."""
    return [properties[key] for key in (WRITE_DATA_LOCATION, OBJECT_STORE_PATH, WRITE_FOLDER_STORAGE_LOCATION) if properties.get(key)]


def location_provider(metadata: TableMetadata) -> LocationProvider:
    """The provider of a table. Raises UnsupportedError for a custom Java class."""
    impl = metadata.properties.get(WRITE_LOCATION_PROVIDER_IMPL)
    if impl:
        raise UnsupportedError(f"Cannot use location provider: Java classes cannot be loaded: {impl}", impl=impl)
    return LocationProvider(_strip(metadata.location), dict(metadata.properties))


def new_manifest_name(commit_uuid: str, index: int) -> str:
    return f"{commit_uuid}-m{index}.avro"


def new_manifest_list_name(snapshot_id: int, attempt: int, commit_uuid: str) -> str:
    return f"snap-{snapshot_id}-{attempt}-{commit_uuid}.avro"


def new_commit_uuid() -> str:
    return str(uuid.uuid4())


def _strip(location: str) -> str:
    """Without trailing slashes, but for the root of a scheme."""
    stripped = location.rstrip("/")
    return location if not stripped or stripped.endswith(":") else stripped


def _entropy(name: str) -> str:
    """20 hash bits as ``0110/1010/0101/11010001``-like folders, spread over an object store's key space."""
    import mmh3

    bits = format((mmh3.hash(name.encode("utf-8")) | 1 << 31) & 0xFFFFFFFF, "032b")[-_ENTROPY_BITS:]
    step, depth = _ENTROPY_DIRECTORY_LENGTH, _ENTROPY_DIRECTORIES
    folders = [bits[i * step : (i + 1) * step] for i in range(depth)]
    rest = bits[depth * step :]
    return "/".join([*folders, rest] if rest else folders)
