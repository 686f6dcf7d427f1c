"""Whether a file fits the table it is added to: its spec, its partition values, its format. Checked before anything is written."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from icesql.errors import IcesqlError, InvalidArgumentError
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.types import Type
from icesql.spec.values.binary import to_bytes
from icesql.table.manifests.access import schema_for_spec, spec_of

_FORMATS = frozenset({"parquet", "orc", "avro"})


def check_added_files(metadata: TableMetadata, files: Iterable[DataFile], noun: str) -> None:
    """``noun`` is "data file" or "delete file". Raises ValidationError for an unknown spec, InvalidArgumentError for values or a format
    that do not fit."""
    types: dict[int, tuple[Type, ...]] = {}
    fitting: set[tuple[int, tuple[object, ...]]] = set()
    for file in files:
        if file.spec_id not in types:
            spec = spec_of(metadata, file.spec_id, noun, file.file_path)
            types[file.spec_id] = tuple(f.type for f in spec.partition_type(schema_for_spec(metadata, spec)).fields)
        key = (file.spec_id, file.partition)
        if key not in fitting:
            _check_partition(file, types[file.spec_id], noun)
            fitting.add(key)
        if file.file_format.lower() not in _FORMATS and not file.is_deletion_vector:
            raise InvalidArgumentError(f"Cannot add {noun}: unknown file format: {file.file_format}: {file.file_path}", path=file.file_path)


def _check_partition(file: DataFile, types: tuple[Type, ...], noun: str) -> None:
    if len(file.partition) != len(types):
        raise InvalidArgumentError(
            f"Cannot add {noun}: partition spec {file.spec_id} has {len(types)} fields, its partition {len(file.partition)} values: "
            f"{file.file_path}",
            path=file.file_path,
        )
    for type_, value in zip(types, file.partition, strict=True):
        if value is not None and not _is_of(type_, value):
            raise InvalidArgumentError(
                f"Cannot add {noun}: partition value is not of type {type_}: {value!r}: {file.file_path}", path=file.file_path
            )


def _is_of(type_: Type, value: object) -> bool:
    """Whether a value in internal form is one of the type: it is, if it can be written as a bound of the type."""
    try:
        to_bytes(type_, value)
    except (IcesqlError, TypeError, ValueError, AttributeError, ArithmeticError, struct.error):
        return False
    return True
