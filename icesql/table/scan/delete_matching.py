"""Whether a delete file can apply to a data file. Spec: "Scan Planning". For conflict checks: says yes when it cannot tell."""

from __future__ import annotations

from typing import Any

from icesql.errors import CorruptMetadataError
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import PrimitiveType
from icesql.spec.values.binary import from_bytes

DELETE_FILE_PATH_ID = 2147483546  # the reserved file_path column of position delete files


def may_apply(delete: DataFile, data: DataFile, metadata: TableMetadata) -> bool:
    """Whether the delete file may delete rows of the data file. The caller compares sequence numbers."""
    if delete.content is FileContent.EQUALITY_DELETES:
        return _equality_applies(delete, data, metadata)
    referenced = referenced_path(delete)
    if referenced is not None:
        return referenced == data.file_path
    if (delete.spec_id, delete.partition) != (data.spec_id, data.partition):
        return False
    lower, upper = delete.lower_bounds.get(DELETE_FILE_PATH_ID), delete.upper_bounds.get(DELETE_FILE_PATH_ID)
    path = data.file_path.encode("utf-8")
    return (lower is None or lower <= path) and (upper is None or path <= upper)


def referenced_path(file: DataFile) -> str | None:
    """The one data file a position delete file or deletion vector is about, ``None`` if there may be several. Raises
    CorruptMetadataError."""
    if file.content is not FileContent.POSITION_DELETES:
        return None
    if file.referenced_data_file is not None:
        return file.referenced_data_file
    lower, upper = file.lower_bounds.get(DELETE_FILE_PATH_ID), file.upper_bounds.get(DELETE_FILE_PATH_ID)
    if lower is None or lower != upper:
        return None
    try:
        return lower.decode("utf-8")
    except UnicodeDecodeError as error:
        why = f"bounds of the path are not text: {error}"
        raise CorruptMetadataError(f"Cannot read position deletes {file.file_path}: {why}", location=file.file_path) from error


def _equality_applies(delete: DataFile, data: DataFile, metadata: TableMetadata) -> bool:
    spec = metadata.specs_by_id.get(delete.spec_id)
    is_global = spec is not None and spec.is_unpartitioned
    if not is_global and (delete.spec_id, delete.partition) != (data.spec_id, data.partition):
        return False
    return all(_ranges_overlap(delete, data, field_id, metadata.schema) for field_id in delete.equality_ids)


def _ranges_overlap(delete: DataFile, data: DataFile, field_id: int, schema: Schema) -> bool:
    """Whether the column can have an equal value (or null) in both files."""
    field = schema.find(field_id)
    if field is None or not isinstance(field.type, PrimitiveType):
        return True
    if delete.null_value_counts.get(field_id) != 0 and data.null_value_counts.get(field_id) != 0:
        return True
    if delete.nan_value_counts.get(field_id, 0) and data.nan_value_counts.get(field_id) != 0:
        return True
    bounds: list[Any] = []
    for file in (delete, data):
        for held in (file.lower_bounds, file.upper_bounds):
            if field_id not in held:
                return True
            bounds.append(from_bytes(field.type, held[field_id]))
    delete_low, delete_high, data_low, data_high = bounds
    return bool(delete_low <= data_high and data_low <= delete_high)
