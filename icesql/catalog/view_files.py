"""View metadata files, named and compressed as Java does: gzip unless ``write.metadata.compression-codec`` says otherwise."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from icesql.catalog.names import join_location
from icesql.catalog.table_operations import metadata_extension, metadata_folder, version_number
from icesql.errors import CorruptMetadataError, ValidationError
from icesql.io.metadata_files import compress, is_compressed, read_json_bytes
from icesql.io.storage.files import FileIO
from icesql.spec.json.views import view_from_json, view_to_json

if TYPE_CHECKING:
    from icesql.spec.views import ViewMetadata


def next_view_location(metadata: ViewMetadata, previous: str | None) -> str:
    """``<folder>/00001-<uuid>.gz.metadata.json``, numbered one above the previous file."""
    name = f"{version_number(previous) + 1:05d}-{uuid.uuid4()}{metadata_extension(metadata.properties, 'gzip')}"
    return join_location(metadata_folder(metadata.location, metadata.properties), name)


def read_view_metadata(io: FileIO, location: str) -> ViewMetadata:
    """Raises NotFoundError, CorruptMetadataError."""
    return view_from_json(read_json_bytes(io, location), location)


def write_view_metadata(io: FileIO, location: str, metadata: ViewMetadata) -> None:
    """Raises ValidationError, with nothing written, for metadata that could not be read again."""
    try:
        data = view_to_json(metadata)
        view_from_json(data, location)
    except (CorruptMetadataError, TypeError, AttributeError, ValueError) as error:
        raise ValidationError(f"Cannot commit view: its metadata could not be read again: {error}") from error
    io.write(location, compress(data) if is_compressed(location) else data, overwrite=False)
