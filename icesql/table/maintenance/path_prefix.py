"""Replaces one path prefix by another in metadata, snapshots and the files of manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from icesql.errors import InvalidArgumentError
from icesql.spec import properties as P
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.scan.delete_matching import DELETE_FILE_PATH_ID

_PATH_PROPERTIES = (P.WRITE_DATA_LOCATION, P.WRITE_FOLDER_STORAGE_LOCATION, P.OBJECT_STORE_PATH, P.WRITE_METADATA_LOCATION)


@dataclass(frozen=True, slots=True)
class PathPrefix:
    """Raises InvalidArgumentError when made of an empty source, or of twice the same prefix."""

    source: str
    target: str

    def __post_init__(self) -> None:
        if not self.source:
            raise InvalidArgumentError(f"Source prefix('{self.source}') cannot be empty.")
        if not self.target:
            raise InvalidArgumentError(f"Target prefix('{self.target}') cannot be empty.")
        if self.source.rstrip("/") == self.target.rstrip("/"):
            raise InvalidArgumentError(f"Source prefix cannot be the same as target prefix ({self.source})")

    def relative(self, path: str) -> str:
        """The path after the source prefix. Raises InvalidArgumentError for a path elsewhere."""
        root = self.source.rstrip("/")
        if path.rstrip("/") == root:
            return ""
        if not path.startswith(root + "/"):
            raise InvalidArgumentError(f"Path {path} does not start with {root}/", path=path)
        return path[len(root) + 1 :]

    def moved(self, path: str) -> str:
        below = self.relative(path)
        return self.target.rstrip("/") + (f"/{below}" if below else "")

    # -- values ------------------------------------------------------------------------------------------------
    def metadata(self, metadata: TableMetadata) -> TableMetadata:
        """The metadata with every location moved; ids, times and numbers stay."""
        properties = dict(metadata.properties)
        for key in _PATH_PROPERTIES:
            if properties.get(key, "").startswith(self.source):
                properties[key] = self.moved(properties[key])
        return replace(
            metadata,
            location=self.moved(metadata.location),
            properties=properties,
            snapshots=tuple(self.snapshot(snapshot) for snapshot in metadata.snapshots),
            metadata_log=tuple(replace(entry, metadata_file=self.moved(entry.metadata_file)) for entry in metadata.metadata_log),
            statistics=tuple(replace(file, statistics_path=self.moved(file.statistics_path)) for file in metadata.statistics),
            partition_statistics=tuple(
                replace(file, statistics_path=self.moved(file.statistics_path)) for file in metadata.partition_statistics
            ),
        )

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        manifest_list = None if snapshot.manifest_list is None else self.moved(snapshot.manifest_list)
        return replace(snapshot, manifest_list=manifest_list, manifests=tuple(self.moved(path) for path in snapshot.manifests))

    def file(self, file: DataFile) -> DataFile:
        """A data or delete file with its own path, the path it references, and path bounds moved."""
        about = None if file.referenced_data_file is None else self.moved(file.referenced_data_file)
        moved = replace(file, file_path=self.moved(file.file_path), referenced_data_file=about)
        lower, upper = file.lower_bounds.get(DELETE_FILE_PATH_ID), file.upper_bounds.get(DELETE_FILE_PATH_ID)
        if not file.content or lower is None or upper is None:
            return moved
        return replace(moved, lower_bounds=self._bounds(file.lower_bounds), upper_bounds=self._bounds(file.upper_bounds))

    def _bounds(self, bounds: Mapping[int, bytes]) -> dict[int, bytes]:
        moved = dict(bounds)
        path = moved[DELETE_FILE_PATH_ID].decode("utf-8")
        moved[DELETE_FILE_PATH_ID] = self.moved(path).encode("utf-8")
        return moved
