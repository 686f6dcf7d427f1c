"""Folders of data files that a table may take over: their partitions, and the files in each.

Partitions are folders named ``column=value``, as Hive and Spark lay them out. Names that begin with ``_`` or ``.`` are not data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from icesql.errors import InvalidArgumentError
from icesql.io.storage.files import FileIO
from icesql.spec.case_folding import fold
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.paths import partition_value
from icesql.spec.schema import Schema

FORMATS = ("parquet", "orc", "avro")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePartition:
    """One folder's files. ``values``: (column, text) pairs in folder order, none for files of no partition."""

    location: str
    values: tuple[tuple[str, str], ...] = ()
    file_format: str = "parquet"
    files: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.values)


def source_partitions(io: FileIO, location: str, file_format: str) -> list[SourcePartition]:
    """The partitions below a folder, or the folder itself where files lie in it directly.

    Raises InvalidArgumentError where folders disagree on the partition columns.
    """
    root = location.rstrip("/")
    partitions: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for info in io.list_files(root):
        *folders, name = info.location[len(root) :].strip("/").split("/")
        values = _values(folders)
        if values is not None and not _is_hidden(name):
            partitions.setdefault(values, []).append(info.location)
    names = {tuple(name for name, _ in values) for values in partitions}
    if len(names) > 1:
        raise InvalidArgumentError(f"Cannot import files: conflicting partition columns under {location}: {sorted(names)}")
    return [
        SourcePartition(location=_folder(files[0]), values=values, file_format=file_format, files=tuple(sorted(files)))
        for values, files in sorted(partitions.items())
    ]


def files_of(io: FileIO, partition: SourcePartition) -> list[str]:
    """The data files that lie in a partition's folder itself."""
    if partition.files is not None:
        return list(partition.files)
    root = partition.location.rstrip("/")
    paths = (info.location for info in io.list_files(root))
    return sorted(path for path in paths if "/" not in (name := path[len(root) :].strip("/")) and not _is_hidden(name))


def is_missing(io: FileIO, partition: SourcePartition) -> bool:
    """Whether a partition's folder is not there. Stores without folders have none that is empty."""
    if partition.files is not None or next(iter(io.list_files(partition.location)), None) is not None:
        return False
    parent, _, name = partition.location.rstrip("/").rpartition("/")
    return name not in io.list_folders(parent)


def _values(folders: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
    """The values that folders name, ``None`` if one of them is no partition folder."""
    pairs = []
    for folder in folders:
        name, equals, value = folder.partition("=")
        if not equals or not name or folder.startswith("."):
            return None
        pairs.append((unquote(name), unquote(value)))
    return tuple(pairs)


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", "."))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def compatible_spec(metadata: TableMetadata, names: Sequence[str], table_name: str) -> PartitionSpec:
    """The spec whose fields are just these columns, unchanged. Raises InvalidArgumentError."""
    wanted = [fold(name) for name in names]
    for spec in metadata.partition_specs:
        identities = [fold(field.name) for field in spec.fields if field.transform.is_identity]
        if len(identities) == len(spec.fields) and identities == wanted:
            return spec
    raise InvalidArgumentError(
        f"Cannot find a partition spec in Iceberg table {table_name} that matches the partition columns ([{', '.join(names)}]) "
        "in input table"
    )


def check_filter(spec: PartitionSpec, partition_filter: Mapping[str, str], table_name: str) -> None:
    """Raises InvalidArgumentError for a filter on columns that are no partition columns."""
    if not partition_filter:
        return
    if not spec.fields:
        raise InvalidArgumentError(f"Cannot use partition filter with an unpartitioned table {table_name}")
    names = [field.name for field in spec.fields]
    if len(partition_filter) > len(names):
        raise InvalidArgumentError(
            f"Cannot add data files to target table {table_name} because that table is partitioned, but the number of columns in the "
            f"provided partition filter ({len(partition_filter)}) is greater than the number of partitioned columns in table ({len(names)})"
        )
    unknown = [name for name in partition_filter if name not in names]
    if unknown:
        raise InvalidArgumentError(
            f"Cannot add files to target table {table_name}. {table_name} is partitioned but the specified partition filter refers to "
            f"columns that are not partitioned: [{', '.join(unknown)}] . Valid partition columns: [{','.join(names)}]"
        )


def matching(
    partitions: Iterable[SourcePartition], partition_filter: Mapping[str, str], spec: PartitionSpec, schema: Schema
) -> list[tuple[SourcePartition, tuple[object, ...]]]:
    """The partitions that have the filter's values, with their partition tuples. Raises InvalidArgumentError for unreadable values."""
    wanted = {fold(name): text for name, text in partition_filter.items()}
    kept = []
    for partition in partitions:
        texts = {fold(name): text for name, text in partition.values}
        values = {
            fold(field.name): partition_value(field, schema.field(field.source_id).type, texts[fold(field.name)]) for field in spec.fields
        }
        sought = {
            fold(field.name): partition_value(field, schema.field(field.source_id).type, wanted[fold(field.name)])
            for field in spec.fields
            if fold(field.name) in wanted
        }
        if all(values[name] == value for name, value in sought.items()):
            kept.append((partition, tuple(values[fold(field.name)] for field in spec.fields)))
    return kept
