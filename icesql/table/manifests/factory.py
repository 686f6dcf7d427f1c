"""New manifests of one commit: named after it, of the table's codec and size, and remembered for clean-up."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.io.manifests.entries import ManifestWriter, RawEntry, RollingManifestWriter, compression_of
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import MANIFEST_TARGET_SIZE_BYTES, property_as_int
from icesql.table.manifests.access import schema_for_spec, spec_of
from icesql.table.manifests.location_provider import location_provider, new_commit_uuid, new_manifest_name


class ManifestFactory:
    """Writers of one commit. ``written`` holds the path of every manifest begun, over all attempts."""

    def __init__(self, io: FileIO, snapshot_id: int) -> None:
        self.io, self.snapshot_id = io, snapshot_id
        self.commit_uuid = new_commit_uuid()
        self.written: set[str] = set()
        self._count = 0

    def new_location(self, metadata: TableMetadata) -> str:
        location = location_provider(metadata).metadata_file(new_manifest_name(self.commit_uuid, self._count))
        self._count += 1
        self.written.add(location)
        return location

    def writer(self, metadata: TableMetadata, spec_id: int, content: ManifestContent) -> ManifestWriter:
        """One new manifest. Raises ValidationError for an unknown spec."""
        spec = spec_of(metadata, spec_id)
        return ManifestWriter(
            self.io,
            self.new_location(metadata),
            format_version=metadata.format_version,
            spec=spec,
            schema=schema_for_spec(metadata, spec),
            content=content,
            snapshot_id=self.snapshot_id,
            compression=compression_of(metadata.properties),
        )

    def rolling(self, metadata: TableMetadata, spec_id: int, content: ManifestContent) -> RollingManifestWriter:
        """As many manifests as ``commit.manifest.target-size-bytes`` asks for."""
        return RollingManifestWriter(lambda: self.writer(metadata, spec_id, content), target_size_bytes(metadata))

    def write(
        self, metadata: TableMetadata, spec_id: int, content: ManifestContent, entries: Iterable[ManifestEntry | RawEntry]
    ) -> list[ManifestFile]:
        rolling = self.rolling(metadata, spec_id, content)
        for entry in entries:
            rolling.add(entry)
        return rolling.close()


def target_size_bytes(metadata: TableMetadata) -> int:
    """``commit.manifest.target-size-bytes``. Raises ValidationError for what is no number."""
    return property_as_int(metadata.properties, MANIFEST_TARGET_SIZE_BYTES)
