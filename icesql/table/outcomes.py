"""How the outcome of a commit is decided when its reply is missing: the one rule, for every catalog, for tables and for views.

    committed   shown by one of: the name points to the file that the commit wrote; the version under the name has that file in its
                metadata log, or holds a snapshot that only this commit adds; the store's record of the transaction says so
    failed      proven by one of: the name still points to the base of the commit; the store's own record says so
    unknown     everything else, also a name that is gone or leads to another table: CommitStateUnknownError, and nothing is removed

A look proves a failure only once no swap can be in flight: the caller waits for those. A create has no base: a free name may have been
taken, and dropped or renamed since. Whether a base was dropped and registered again, or never moved, only a store's own record can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum

from icesql.errors import ValidationError
from icesql.spec.metadata import TableMetadata
from icesql.table.operations import TableVersion


class Outcome(Enum):
    COMMITTED = "committed"
    FAILED = "failed"
    UNKNOWN = "unknown"


def judge(*, base: str | None, staged: str, current: str | None, shows_commit: Callable[[], bool]) -> Outcome:
    """The outcome of a swap from file ``base`` (``None``: a create) to file ``staged``, given the file the name points to now.

    ``shows_commit`` looks for proof elsewhere, such as in the version under the name; false proves nothing.
    """
    if current == staged:
        return Outcome.COMMITTED
    if base is not None and current == base:
        return Outcome.FAILED
    return Outcome.COMMITTED if shows_commit() else Outcome.UNKNOWN


def together(outcomes: Collection[Outcome]) -> Outcome:
    """The outcome of one transaction over several names: committed if one of them shows it, failed only if all of them prove it."""
    if Outcome.COMMITTED in outcomes:
        return Outcome.COMMITTED
    return Outcome.FAILED if set(outcomes) == {Outcome.FAILED} else Outcome.UNKNOWN


def holds_commit(current: TableMetadata, base: TableMetadata | None, staged: TableVersion) -> bool:
    """Whether a version was built on the commit of ``staged`` over ``base``. False proves nothing: logs are cut, snapshots expire."""
    if any(entry.metadata_file == staged.metadata_location for entry in current.metadata_log):
        return True
    if base is None and staged.metadata.table_uuid is not None and current.table_uuid == staged.metadata.table_uuid:
        return True
    return holds_any(current, own_snapshot_ids(base, staged.metadata))


def own_snapshot_ids(base: TableMetadata | None, staged: TableMetadata) -> frozenset[int]:
    """The snapshots that a commit of ``staged`` over ``base`` adds. Ids are random, so no other commit has them."""
    known = frozenset[int]() if base is None else base.snapshots_by_id.keys()
    return frozenset(staged.snapshots_by_id.keys() - known)


def holds_any(metadata: TableMetadata, snapshot_ids: Collection[int]) -> bool:
    return not metadata.snapshots_by_id.keys().isdisjoint(snapshot_ids)


class AlreadyCommittedError(ValidationError):
    """The snapshot that a change would add is in the table: an earlier attempt has succeeded, and its files stay."""
