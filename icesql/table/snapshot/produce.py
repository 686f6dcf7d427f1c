"""ProduceSnapshot: every write to a table as one value.

A writer says which files are added and removed and what must still be true; ``icesql.table.snapshot.producer`` builds the snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from icesql.expr.rewrite import has_patterns
from icesql.expr.tree import FALSE, TRUE, Expression
from icesql.spec.files import DataFile, ManifestFile
from icesql.spec.snapshots import MAIN, Operation
from icesql.table.manifests.filter import PATH_ONLY_SPEC_ID


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowedAddedDataFiles:
    """No data file that may match the filter (or lies in one of the partitions) was added since the base."""

    filter: Expression = TRUE
    partitions: frozenset[tuple[int, tuple[object, ...]]] | None = None  # (spec id, partition tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowedAddedDeleteFiles:
    """No delete file that may apply to matching rows was added since the base.

    With ``and_deleted_data_files`` no matching data file was deleted either.
    """

    filter: Expression = TRUE
    partitions: frozenset[tuple[int, tuple[object, ...]]] | None = None
    and_deleted_data_files: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredDataFiles:
    """The data files are still there, but for removals by one of ``allowed_remove_operations``."""

    file_paths: frozenset[str] = frozenset()
    filter: Expression = TRUE
    allowed_remove_operations: frozenset[Operation] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredDeleteFiles:
    file_paths: frozenset[str] = frozenset()
    filter: Expression = TRUE


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowedNewDeletesForDataFiles:
    """No delete applies to these data files that was not there at the base."""

    file_paths: frozenset[str] = frozenset()
    filter: Expression = TRUE
    ignore_equality_deletes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllowedKnownDataFiles:
    """None of these data files is in the table. Paths in the one spelling of ``icesql.table.snapshot.known_files``."""

    file_paths: frozenset[str] = frozenset()


CommitValidation: TypeAlias = (
    NotAllowedAddedDataFiles
    | NotAllowedAddedDeleteFiles
    | RequiredDataFiles
    | RequiredDeleteFiles
    | NotAllowedNewDeletesForDataFiles
    | NotAllowedKnownDataFiles
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProduceSnapshot:
    """One new snapshot. ``base_snapshot_id`` is what the writer read (None = an empty table); validations look at what came after it.

    ``delete_row_filter`` removes the data files all of whose rows match; a file of which some rows may match is a ValidationError.
    ``data_sequence_number``: sequence number for added data files (RewriteFiles keeps the one it started from); ``None`` = the snapshot's.
    ``manifests`` to add and remove serve RewriteManifests (action replace) only.
    """

    action: Operation
    branch: str = MAIN
    stage_only: bool = False
    base_snapshot_id: int | None = None
    add_data_files: tuple[DataFile, ...] = ()
    add_delete_files: tuple[DataFile, ...] = ()
    remove_data_files: tuple[DataFile, ...] = ()
    remove_delete_files: tuple[DataFile, ...] = ()
    drop_partitions: frozenset[tuple[int, tuple[object, ...]]] = frozenset()
    delete_row_filter: Expression = FALSE
    case_sensitive: bool = True
    data_sequence_number: int | None = None
    delete_sequence_numbers: Mapping[tuple[str, int | None], int] = field(default_factory=dict)  # by DataFile.key; absent = the snapshot's
    add_manifests: tuple[ManifestFile, ...] = ()
    remove_manifests: tuple[ManifestFile, ...] = ()
    merge_manifests: bool = True  # False = Java's fast append
    fail_missing_deletes: bool = False
    fail_any_delete: bool = False
    added_files_match_filter: Expression | None = None
    count_partitions: bool = True  # False: the summary says nothing of partitions, as for manifests taken over whole (imports)
    summary: Mapping[str, str] = field(default_factory=dict)
    validations: tuple[CommitValidation, ...] = ()

    @property
    def is_of_known_files(self) -> bool:
        """Whether it can be sent as JSON: no manifests, no file known by its path alone, no filter that the specification cannot say."""
        removed = (*self.remove_data_files, *self.remove_delete_files)
        by_path = any(file.spec_id == PATH_ONLY_SPEC_ID for file in removed)
        return not (self.add_manifests or self.remove_manifests or by_path or has_patterns(self.delete_row_filter))
