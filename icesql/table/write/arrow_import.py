"""Existing data files as files of a table: metrics from their footers, partition values from their folders or their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote_plus

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.expr.binding import is_floating
from icesql.expr.metrics import column_stats
from icesql.io.arrow.types import field_id_of, from_arrow_type
from icesql.io.data.files import data_file_of, resolved
from icesql.io.parquet.files import open_parquet
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.name_mapping import NameMapping, mapping_for, name_mapping_from_json
from icesql.spec.partitioning import PartitionField
from icesql.spec.paths import partition_value
from icesql.spec.promotion import can_promote
from icesql.spec.properties import DEFAULT_NAME_MAPPING
from icesql.spec.schema import Schema
from icesql.spec.transforms import preserves_order, result_type, transform_function
from icesql.spec.types import ListType, MapType, NestedField, StructType

_FORMATS = {".parquet": "parquet", ".parq": "parquet", ".orc": "orc", ".avro": "avro"}


def imported_files(io: FileIO, metadata: TableMetadata, locations: Sequence[str]) -> list[DataFile]:
    """The files, under the table's current spec.

    Raises NotFoundError, CorruptMetadataError, and ValidationError for a file that does not fit.
    """
    mapping = name_mapping(metadata)
    return [_imported(io, metadata, location, mapping) for location in locations]


def name_mapping(metadata: TableMetadata) -> NameMapping:
    """The mapping that matches columns of files without field ids: the table's, else by current names."""
    configured = metadata.properties.get(DEFAULT_NAME_MAPPING)
    return mapping_for(metadata.schema) if configured is None else name_mapping_from_json(configured)


def _imported(io: FileIO, metadata: TableMetadata, location: str, mapping: NameMapping) -> DataFile:
    file_format = _FORMATS.get(PurePosixPath(location).suffix.lower(), "parquet")
    spec, schema = metadata.spec, metadata.schema
    file = data_file_of(
        io, location, schema, file_format=file_format, spec_id=spec.spec_id, properties=metadata.properties, name_mapping=mapping
    )
    folders = _named_folders(location)
    if file_format == "parquet":
        _check_columns(io, metadata, location, mapping, folders)
    partition = tuple(_partition_value(field, schema, file, folders) for field in spec.fields)
    return replace(file, partition=partition)


def _named_folders(location: str) -> dict[str, str]:
    """``name=value`` folders of a path, as Hive lays partitions out."""
    named = (part.partition("=") for part in location.split("/")[:-1] if "=" in part)
    return {unquote_plus(name): unquote_plus(value) for name, _, value in named}


def _partition_value(field: PartitionField, schema: Schema, file: DataFile, folders: dict[str, str]) -> object:
    """From the folder named after the field, else from bounds that allow only one value."""
    source = schema.field(field.source_id)
    if field.transform.is_void:
        return None
    if field.name in folders:
        try:
            return partition_value(field, source.type, folders[field.name])
        except InvalidArgumentError as error:
            raise ValidationError(f"Cannot add file: its folder is no value of partition field {field.name}: {file.file_path}") from error
    stats = column_stats(file, source.id, source.type)
    if file.value_counts.get(source.id, -1) == file.null_value_counts.get(source.id, -2):
        return None
    lower, upper = stats.lower, stats.upper
    if is_floating(source.type) or lower is None or upper is None or file.null_value_counts.get(source.id, 1):
        raise ValidationError(f"Cannot add file: no statistics give its value of partition field {field.name}: {file.file_path}")
    transform = transform_function(field.transform, source.type)
    if (preserves_order(field.transform) or lower == upper) and transform(lower) == transform(upper):
        return transform(lower)
    kind = result_type(field.transform, source.type)
    raise ValidationError(f"Cannot add file: it holds more than one {kind} value of partition field {field.name}: {file.file_path}")


def _check_columns(io: FileIO, metadata: TableMetadata, location: str, mapping: NameMapping, folders: dict[str, str]) -> None:
    with io.open_input(location) as stream:
        file_schema = resolved(open_parquet(stream, location).schema, mapping)
    held = {field_id: field for field in file_schema if (field_id := field_id_of(field)) is not None}
    from_folders = {field.source_id for field in metadata.spec.fields if field.transform.is_identity and field.name in folders}
    for field in metadata.schema.fields:
        if field.id in held:
            _check_type(field, held[field.id].type, metadata.format_version, location)
        elif field.required and field.initial_default is None and field.id not in from_folders:
            raise ValidationError(f"Cannot add file: it lacks the required column {field.name}: {location}")


def _check_type(field: NestedField, file_type: object, format_version: int, location: str) -> None:
    """Whether the file's type can be read as the column's; of nested types only the shape is compared."""
    given = from_arrow_type(file_type)
    nested = (StructType, ListType, MapType)
    if isinstance(field.type, nested) or isinstance(given, nested):
        fits = type(field.type) is type(given)
    else:
        fits = given == field.type or can_promote(given, field.type, format_version)
    if not fits:
        raise ValidationError(f"Cannot add file: column {field.name} is {given}, not {field.type}: {location}")
