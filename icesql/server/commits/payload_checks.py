"""What a client may say in produce-snapshot: how much, where its files lie, what it says of them. That they fit the table (spec ids,
partition values, field ids, counts) the engine itself checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError
from icesql.expr.binding import bind
from icesql.io.storage.canonical import Canonical, climbs, decoded
from icesql.io.storage.files import FileIO
from icesql.server.settings import Commits, Limits
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.table.maintenance.import_files import ImportedFile, read_one
from icesql.table.removal import Claim, own_claims
from icesql.table.snapshot.known_files import one_spelling
from icesql.table.snapshot.produce import NotAllowedKnownDataFiles, ProduceSnapshot

_RESERVED = (
    "added-",
    "deleted-",
    "removed-",
    "total-",
    "changed-partition-count",
    "partitions.",
    "partition-summaries-included",
    "manifests-",
)
_OURS = frozenset({"operation", "entries-processed"})
_THREADS = 8


@dataclass(slots=True)
class PayloadChecks:
    """Of one request. Files that were looked at are not looked at again when the request is tried again."""

    io: FileIO
    limits: Limits
    settings: Commits
    _seen: dict[str, DataFile] = field(default_factory=dict)

    def checked(self, change: ProduceSnapshot, metadata: TableMetadata) -> ProduceSnapshot:
        """The change to make: with the metrics of the files' own footers, and with further validations, where the settings ask for them.

        Raises InvalidArgumentError.
        """
        _check_summary(change)
        _check_contents(change)
        _check_filters(change, metadata)
        self._check_number(change)
        if not self.settings.allow_foreign_files:
            _check_places((*change.add_data_files, *change.add_delete_files), metadata)
        if self.settings.check_files != "none":
            change = self._looked_at(change, metadata)
        if self.settings.refuse_known_files and change.add_data_files:
            known = NotAllowedKnownDataFiles(file_paths=frozenset(one_spelling(file.file_path) for file in change.add_data_files))
            change = replace(change, validations=(*change.validations, known))
        return change

    def _check_number(self, change: ProduceSnapshot) -> None:
        files = (*change.add_data_files, *change.add_delete_files, *change.remove_data_files, *change.remove_delete_files)
        if len(files) > self.limits.max_files:
            raise InvalidArgumentError(
                f"Cannot produce snapshot: it names {len(files)} files, more than {self.limits.max_files}; send several requests"
            )
        added = Counter(file.key for file in (*change.add_data_files, *change.add_delete_files))
        twice = next((key for key, count in added.items() if count > 1), None)
        if twice is not None:
            raise InvalidArgumentError(f"Cannot produce snapshot: a file is added twice: {twice[0]}", path=twice[0])

    # -- the files themselves ----------------------------------------------------------------------------------------
    def _looked_at(self, change: ProduceSnapshot, metadata: TableMetadata) -> ProduceSnapshot:
        with ThreadPoolExecutor(_THREADS, "icesql-files") as pool:
            data = tuple(pool.map(lambda file: self._look(file, metadata), change.add_data_files))
            for _ in pool.map(self._check_size, change.add_delete_files):
                pass
        return replace(change, add_data_files=data)

    def _look(self, file: DataFile, metadata: TableMetadata) -> DataFile:
        known = self._seen.get(file.file_path)
        if known is not None:
            return known
        self._check_size(file)
        looked = self._from_footer(file, metadata) if self.settings.check_files == "footer" and file.file_format == "parquet" else file
        self._seen[file.file_path] = looked
        return looked

    def _check_size(self, file: DataFile) -> None:
        try:
            size = self.io.size(file.file_path)
        except NotFoundError:
            raise InvalidArgumentError(f"Cannot produce snapshot: a file does not exist: {file.file_path}", path=file.file_path) from None
        if size != file.file_size_in_bytes:
            raise InvalidArgumentError(
                f"Cannot produce snapshot: a file has {size} bytes, not {file.file_size_in_bytes}: {file.file_path}", path=file.file_path
            )

    def _from_footer(self, file: DataFile, metadata: TableMetadata) -> DataFile:
        """With the metrics of its footer in place of what the client says of the columns. The number of rows must be the footer's."""
        named = ImportedFile(location=file.file_path, file_format=file.file_format, spec_id=file.spec_id, partition=file.partition)
        try:
            read = read_one(self.io, metadata, named)
        except CorruptMetadataError as error:
            raise InvalidArgumentError(f"Cannot produce snapshot: a file cannot be read: {error}", path=file.file_path) from None
        if read.record_count != file.record_count:
            raise InvalidArgumentError(
                f"Cannot produce snapshot: a file has {read.record_count} rows, not {file.record_count}: {file.file_path}",
                path=file.file_path,
            )
        return replace(
            file,
            column_sizes=read.column_sizes,
            value_counts=read.value_counts,
            null_value_counts=read.null_value_counts,
            nan_value_counts=read.nan_value_counts,
            lower_bounds=read.lower_bounds,
            upper_bounds=read.upper_bounds,
            split_offsets=read.split_offsets,
        )


def _check_summary(change: ProduceSnapshot) -> None:
    for key in change.summary:
        if key in _OURS or key.startswith(_RESERVED):
            raise InvalidArgumentError(f"Cannot produce snapshot: the server itself sets {key} in its summary", key=key)


def _check_contents(change: ProduceSnapshot) -> None:
    for name, files, is_data in (
        ("add-data-files", change.add_data_files, True),
        ("remove-data-files", change.remove_data_files, True),
        ("add-delete-files", change.add_delete_files, False),
        ("remove-delete-files", change.remove_delete_files, False),
    ):
        for file in files:
            if (file.content is FileContent.DATA) is not is_data:
                raise InvalidArgumentError(
                    f"Cannot produce snapshot: {name} holds a file whose content is {file.content.name.lower()}: {file.file_path}"
                )


def _check_filters(change: ProduceSnapshot, metadata: TableMetadata) -> None:
    """A filter on a column that is not there is wrong even while the table is empty."""
    filters = [change.delete_row_filter, change.added_files_match_filter]
    filters += [getattr(validation, "filter", None) for validation in change.validations]
    for filter_ in filters:
        if filter_ is not None:
            try:
                bind(metadata.schema, filter_, case_sensitive=change.case_sensitive)
            except NotFoundError as error:
                raise InvalidArgumentError(f"Cannot produce snapshot: {error}") from None


def _check_places(files: Iterable[DataFile], metadata: TableMetadata) -> None:
    """A file that lies elsewhere is not the table's to keep, nor to remove once it is deleted."""
    canonical = Canonical()
    claims = [
        Claim(folder, claim.table, claim.within)
        for claim in own_claims(metadata.location, metadata.properties)
        if (folder := canonical.folder(claim.folder)) is not None
    ]
    for file in files:
        place = None if climbs(file.file_path) else canonical.file(file.file_path)
        spellings = () if place is None else (place, decoded(place))  # other readers may decode what we do not
        if not spellings or not all(any(claim.holds(one) for claim in claims) for one in spellings):
            raise InvalidArgumentError(
                f"Cannot produce snapshot: a file lies outside of the table's folders: {file.file_path}", path=file.file_path
            )
