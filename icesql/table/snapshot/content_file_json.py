"""Data and delete files as the REST protocol writes them: partition as a list of values, metrics as keys and values side by side.

Bounds are typed single values, so reading them needs the table's schema. Two keys go beyond the protocol: ``referenced-data-file``, without
which deletion vectors could not be recognised, and bounds of delete files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from icesql.errors import ValidationError
from icesql.spec.files import DataFile, FileContent
from icesql.spec.json.faults import (
    JsonFault,
    JsonObject,
    JsonValue,
    array_field,
    as_object,
    int_array,
    int_field,
    long_array,
    long_field,
    string_field,
    within,
)
from icesql.spec.json.values import from_json, to_json
from icesql.spec.metadata import TableMetadata
from icesql.spec.types import LongType, StringType, Type
from icesql.spec.values.binary import from_bytes, to_bytes
from icesql.table.manifests.access import schema_for_spec

_CONTENT = {FileContent.DATA: "data", FileContent.POSITION_DELETES: "position-deletes", FileContent.EQUALITY_DELETES: "equality-deletes"}
_CONTENT_OF = {name: content for content, name in _CONTENT.items()}
_RESERVED: dict[int, Type] = {2147483546: StringType(), 2147483545: LongType()}  # file_path and pos of position deletes
_COUNTS = ("column-sizes", "value-counts", "null-value-counts", "nan-value-counts")
_INTEGERS = ("sort-order-id", "first-row-id", "content-offset", "content-size-in-bytes")

Node = JsonObject


def content_file_to_json(file: DataFile, metadata: TableMetadata) -> Node:
    """Optional fields only where they are set. Raises ValidationError for an unknown spec."""
    node: dict[str, Any] = {
        "content": _CONTENT[file.content],
        "file-path": file.file_path,
        "file-format": file.file_format,
        "spec-id": file.spec_id,
        "partition": [to_json(type_, value) for type_, value in zip(_partition_types(file.spec_id, metadata), file.partition, strict=True)],
        "file-size-in-bytes": file.file_size_in_bytes,
        "record-count": file.record_count,
    }
    for key in _COUNTS:
        counts: Mapping[int, int] = getattr(file, key.replace("-", "_"))
        if counts:
            node[key] = {"keys": list(counts), "values": list(counts.values())}
    for key in ("lower-bounds", "upper-bounds"):
        bounds = _bounds_to_json(getattr(file, key.replace("-", "_")), metadata)
        if bounds["keys"]:
            node[key] = bounds
    for key in _INTEGERS:
        if (value := getattr(file, key.replace("-", "_"))) is not None:
            node[key] = value
    if file.key_metadata is not None:
        node["key-metadata"] = file.key_metadata.hex().upper()
    if file.split_offsets:
        node["split-offsets"] = list(file.split_offsets)
    if file.equality_ids:
        node["equality-ids"] = list(file.equality_ids)
    if file.referenced_data_file is not None:
        node["referenced-data-file"] = file.referenced_data_file
    return node


def _partition_types(spec_id: int, metadata: TableMetadata) -> list[Type]:
    spec = metadata.specs_by_id.get(spec_id)
    if spec is None:
        raise ValidationError(f"Cannot find partition spec {spec_id}", spec_id=spec_id)
    return [field.type for field in spec.partition_type(schema_for_spec(metadata, spec)).fields]


def _type_of(field_id: int, metadata: TableMetadata) -> Type | None:
    """The field's type in the current schema, else in any schema that had the field."""
    for schema in (metadata.schema, *metadata.schemas):
        field = schema.find(field_id)
        if field is not None:
            return field.type
    return _RESERVED.get(field_id)


def _bounds_to_json(bounds: Mapping[int, bytes], metadata: TableMetadata) -> dict[str, list[Any]]:
    keys, values = [], []
    for field_id, data in bounds.items():
        type_ = _type_of(field_id, metadata)
        if type_ is not None:
            keys.append(field_id)
            values.append(to_json(type_, from_bytes(type_, data)))
    return {"keys": keys, "values": values}


def content_file_from_json(node: JsonValue, metadata: TableMetadata) -> DataFile:
    """Raises CorruptMetadataError that names the path, ValidationError for a spec or partition that the table does not have."""
    fields = as_object(node)
    content = _CONTENT_OF.get(string_field(fields, "content"))
    if content is None:
        raise JsonFault(f"unknown content: {fields['content']}", "content")
    spec_id = int_field(fields, "spec-id")
    return DataFile(
        content=content,
        file_path=string_field(fields, "file-path"),
        file_format=string_field(fields, "file-format").lower(),
        spec_id=spec_id,
        partition=_partition(fields, spec_id, metadata),
        record_count=_not_negative(fields, "record-count"),
        file_size_in_bytes=_not_negative(fields, "file-size-in-bytes"),
        column_sizes=_counts(fields, "column-sizes"),
        value_counts=_counts(fields, "value-counts"),
        null_value_counts=_counts(fields, "null-value-counts"),
        nan_value_counts=_counts(fields, "nan-value-counts"),
        lower_bounds=_bounds(fields, "lower-bounds", metadata),
        upper_bounds=_bounds(fields, "upper-bounds", metadata),
        key_metadata=_optional(fields, "key-metadata", lambda n, k: bytes.fromhex(string_field(n, k))),
        split_offsets=tuple(long_array(fields, "split-offsets")) if fields.get("split-offsets") is not None else (),
        equality_ids=tuple(int_array(fields, "equality-ids")) if fields.get("equality-ids") is not None else (),
        referenced_data_file=_optional(fields, "referenced-data-file", string_field),
        sort_order_id=_optional(fields, "sort-order-id", int_field),
        first_row_id=_optional(fields, "first-row-id", long_field),
        content_offset=_optional(fields, "content-offset", long_field),
        content_size_in_bytes=_optional(fields, "content-size-in-bytes", long_field),
    )


def _optional(node: Node, key: str, read: Callable[[Node, str], Any]) -> Any:
    if node.get(key) is None:
        return None
    try:
        return read(node, key)
    except ValueError as error:
        raise JsonFault(str(error), key) from error


def _not_negative(node: Node, key: str) -> int:
    value = long_field(node, key)
    if value < 0:
        raise JsonFault(f"must not be negative: {value}", key)
    return value


def _partition(node: Node, spec_id: int, metadata: TableMetadata) -> tuple[object, ...]:
    types, values = _partition_types(spec_id, metadata), array_field(node, "partition")
    if len(types) != len(values):
        raise JsonFault(f"expected {len(types)} values, got {len(values)}", "partition")
    with within("partition"):
        return tuple(from_json(type_, value) for type_, value in zip(types, values, strict=True))


def _pairs(node: Node, key: str) -> list[tuple[int, Any]]:
    if node.get(key) is None:
        return []
    with within(key):
        held = as_object(node[key])
        keys, values = int_array(held, "keys"), array_field(held, "values")
        if len(keys) != len(values):
            raise JsonFault(f"expected as many values as keys: {len(values)}, {len(keys)}")
        return list(zip(keys, values, strict=True))


def _counts(node: Node, key: str) -> dict[int, int]:
    pairs = _pairs(node, key)
    if any(isinstance(value, bool) or not isinstance(value, int) for _, value in pairs):
        raise JsonFault("expected integers", f"{key}.values")
    return dict(pairs)


def _bounds(node: Node, key: str, metadata: TableMetadata) -> dict[int, bytes]:
    bounds: dict[int, bytes] = {}
    for field_id, value in _pairs(node, key):
        type_ = _type_of(field_id, metadata)
        if type_ is None:
            raise JsonFault(f"unknown field id: {field_id}", f"{key}.keys")
        with within(f"{key}.values"):
            bounds[field_id] = to_bytes(type_, from_json(type_, value))
    return bounds
