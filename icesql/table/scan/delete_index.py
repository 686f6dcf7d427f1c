"""Which delete files apply to a data file. Spec: "Scan Planning", the rules on applying deletes.

- A deletion vector applies to the data file it references, unless that file is newer.
- A position delete file applies to data files of its partition (same spec and tuple), or only to the one it references, that are not newer,
  unless a deletion vector applies.
- An equality delete file applies to strictly older data files of its partition; one of an unpartitioned spec applies to all of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from icesql.errors import CorruptMetadataError, ValidationError
from icesql.expr.binding import is_floating
from icesql.expr.metrics import has_ordered_bounds
from icesql.spec.files import DataFile, FileContent, ManifestEntry
from icesql.spec.types import Type
from icesql.spec.values.binary import from_bytes
from icesql.table.scan.delete_matching import DELETE_FILE_PATH_ID, referenced_path

"""Reserved field id of ``file_path`` in position delete files."""

PartitionKey: TypeAlias = tuple[int, tuple[object, ...]]


def partition_key(spec_id: int, partition: tuple[object, ...]) -> PartitionKey:
    """A key under which equal partitions meet: tuples with NaN, or zeros of either sign, compare equal."""
    return spec_id, tuple("NaN" if isinstance(v, float) and v != v else v for v in partition)


class _Group:
    """Delete files sorted by sequence number."""

    __slots__ = ("_entries", "_files", "_numbers")

    def __init__(self) -> None:
        self._entries: list[tuple[int, DataFile]] = []
        self._numbers: list[int] | None = None
        self._files: list[DataFile] = []

    def add(self, sequence_number: int, file: DataFile) -> None:
        self._entries.append((sequence_number, file))
        self._numbers = None

    def _sorted(self) -> list[int]:
        if self._numbers is None:
            self._entries.sort(key=lambda pair: pair[0])
            self._numbers = [number for number, _ in self._entries]
            self._files = [file for _, file in self._entries]
        return self._numbers

    def since(self, sequence_number: int) -> list[DataFile]:
        numbers = self._sorted()
        return self._files[bisect_left(numbers, sequence_number) :]

    def after(self, sequence_number: int) -> list[DataFile]:
        numbers = self._sorted()
        return self._files[bisect_right(numbers, sequence_number) :]


class DeleteIndex:
    """Live delete files of a snapshot, looked up by data file. Thread safe once ``for_file`` was called from one thread."""

    def __init__(self, entries: Iterable[ManifestEntry], *, is_global: Callable[[int], bool], types: Mapping[int, Type]) -> None:
        """``is_global(spec_id)``: the spec is unpartitioned. ``types``: of all columns, by field id, to decode bounds of equality deletes.

        Raises ValidationError for two deletion vectors of one data file, CorruptMetadataError for a vector that references no file.
        """
        self._is_global, self._types = is_global, types
        self._equality_everywhere = _Group()
        self._equality: dict[PartitionKey, _Group] = {}
        self._positions: dict[PartitionKey, _Group] = {}
        self._positions_by_path: dict[str, _Group] = {}
        self._vectors: dict[str, tuple[int, DataFile]] = {}
        self.entries: list[ManifestEntry] = []
        for entry in entries:
            self.entries.append(entry)
            self._add(entry.sequence_number or 0, entry.data_file)

    def _add(self, sequence_number: int, file: DataFile) -> None:
        path = referenced_path(file)
        if file.content is FileContent.EQUALITY_DELETES:
            if self._is_global(file.spec_id):
                self._equality_everywhere.add(sequence_number, file)
            else:
                self._equality.setdefault(partition_key(file.spec_id, file.partition), _Group()).add(sequence_number, file)
        elif file.is_deletion_vector:
            self._add_vector(sequence_number, file, path)
        elif path is not None:
            self._positions_by_path.setdefault(path, _Group()).add(sequence_number, file)
        else:
            self._positions.setdefault(partition_key(file.spec_id, file.partition), _Group()).add(sequence_number, file)

    def _add_vector(self, sequence_number: int, file: DataFile, path: str | None) -> None:
        if path is None:
            why = "it references no data file"
            raise CorruptMetadataError(f"Cannot read deletion vector: {why}: {file.file_path}", location=file.file_path)
        if path in self._vectors:
            other = self._vectors[path][1]
            raise ValidationError(f"Can't index multiple DVs for {path}: {file.file_path} and {other.file_path}")
        self._vectors[path] = (sequence_number, file)

    @property
    def files(self) -> list[DataFile]:
        return [entry.data_file for entry in self.entries]

    @property
    def is_empty(self) -> bool:
        return not self.entries

    @property
    def names_every_file(self) -> bool:
        """True if each delete file references the one data file it applies to."""
        return not (self._equality or self._positions or self._equality_everywhere.since(0))

    @property
    def named_files(self) -> frozenset[str]:
        """Data files that deletion vectors and file-scoped position delete files reference."""
        return frozenset((*self._vectors, *self._positions_by_path))

    def changed_from(self, other: DeleteIndex) -> list[DeleteIndex]:
        """The delete files that only one of two indexes has: those of this index, and those of the other."""
        own, others = {file.key for file in self.files}, {file.key for file in other.files}
        return [
            DeleteIndex((e for e in index.entries if e.data_file.key in keys), is_global=self._is_global, types=self._types)
            for index, keys in ((self, own - others), (other, others - own))
        ]

    @property
    def equality_ids(self) -> frozenset[int]:
        """Field ids that some equality delete file compares."""
        return frozenset(i for file in self.files for i in file.equality_ids)

    def candidates(self, path: str, spec_id: int, partition: tuple[object, ...], sequence_number: int) -> list[DataFile]:
        """Delete files that apply by the rules on paths, partitions and sequence numbers."""
        key = partition_key(spec_id, partition)
        applying = self._equality_everywhere.after(sequence_number)
        if (group := self._equality.get(key)) is not None:
            applying = applying + group.after(sequence_number)
        vector = self._vectors.get(path)
        if vector is not None:
            return [*applying, _checked_vector(vector, path, sequence_number)]
        if (group := self._positions.get(key)) is not None:
            applying = applying + [file for file in group.since(sequence_number) if _path_in_bounds(file, path)]
        if (group := self._positions_by_path.get(path)) is not None:
            applying = applying + group.since(sequence_number)
        return applying

    def for_file(self, file: DataFile, sequence_number: int) -> tuple[DataFile, ...]:
        """Delete files that apply to a data file; equality deletes whose bounds exclude all its rows are left out."""
        candidates = self.candidates(file.file_path, file.spec_id, file.partition, sequence_number)
        return tuple(d for d in candidates if d.content is not FileContent.EQUALITY_DELETES or self._may_hit(d, file))

    def _may_hit(self, delete: DataFile, data: DataFile) -> bool:
        """False only if no row of ``data`` can equal a row of ``delete`` on the equality columns."""
        return all(self._column_may_hit(field_id, delete, data) for field_id in delete.equality_ids)

    def _column_may_hit(self, field_id: int, delete: DataFile, data: DataFile) -> bool:
        if _only_nulls(data, field_id):
            return not _no_nulls(delete, field_id)
        if _only_nulls(delete, field_id):
            return not _no_nulls(data, field_id)
        if not (_no_nulls(data, field_id) or _no_nulls(delete, field_id)):
            return True
        return self._ranges_meet(field_id, delete, data)

    def _ranges_meet(self, field_id: int, delete: DataFile, data: DataFile) -> bool:
        type_ = self._types.get(field_id)
        if type_ is None or is_floating(type_) or not has_ordered_bounds(type_):
            return True  # unknown, or NaN beyond the bounds

        def below(first: DataFile, second: DataFile) -> bool:
            upper, lower = first.upper_bounds.get(field_id), second.lower_bounds.get(field_id)
            return upper is not None and lower is not None and bool(from_bytes(type_, upper) < from_bytes(type_, lower))

        return not (below(delete, data) or below(data, delete))


def _checked_vector(vector: tuple[int, DataFile], path: str, sequence_number: int) -> DataFile:
    number, file = vector
    if number < sequence_number:
        raise ValidationError(
            f"DV data sequence number ({number}) must be greater than or equal to data file sequence number ({sequence_number}): {path}"
        )
    return file


def _path_in_bounds(file: DataFile, path: str) -> bool:
    data = path.encode("utf-8")
    lower, upper = file.lower_bounds.get(DELETE_FILE_PATH_ID), file.upper_bounds.get(DELETE_FILE_PATH_ID)
    return (lower is None or lower <= data) and (upper is None or data <= upper)


def _only_nulls(file: DataFile, field_id: int) -> bool:
    values = file.value_counts.get(field_id)
    return values is not None and values == file.null_value_counts.get(field_id)


def _no_nulls(file: DataFile, field_id: int) -> bool:
    return file.null_value_counts.get(field_id) == 0 and file.value_counts.get(field_id) == file.record_count
