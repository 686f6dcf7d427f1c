"""The commit loop: refresh, apply, check, swap; retry when another writer was faster.

Nothing is cleaned up unless the commit failed for certain: after an unknown outcome the files may be part of the table. An attempt that
sees the snapshot of an earlier attempt in the table ends: the commit has succeeded (``icesql.table.outcomes``).
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from icesql.errors import CommitFailedError, CommitStateUnknownError, IcesqlError, ValidationError
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import (
    COMMIT_MAX_RETRY_WAIT_MS,
    COMMIT_MIN_RETRY_WAIT_MS,
    COMMIT_NUM_RETRIES,
    COMMIT_TOTAL_RETRY_TIME_MS,
    property_as_int,
)
from icesql.table.after_commit import after_commit, check_wanted, tell_committed
from icesql.table.metadata.builder import MetadataBuilder
from icesql.table.metadata.requirements import check_all
from icesql.table.operations import Change, TableOperations, TableVersion
from icesql.table.outcomes import AlreadyCommittedError, holds_any, own_snapshot_ids
from icesql.table.own_changes import note_change

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """``commit.retry.*`` of a table, in milliseconds. Waits double from ``min_wait_ms`` and are spread by jitter."""

    num_retries: int = 4
    min_wait_ms: int = 100
    max_wait_ms: int = 60_000
    total_timeout_ms: int = 1_800_000

    @staticmethod
    def of(properties: Mapping[str, str]) -> RetryPolicy:
        """Raises ValidationError for a property that is not an integer."""
        return RetryPolicy(
            num_retries=property_as_int(properties, COMMIT_NUM_RETRIES),
            min_wait_ms=property_as_int(properties, COMMIT_MIN_RETRY_WAIT_MS),
            max_wait_ms=property_as_int(properties, COMMIT_MAX_RETRY_WAIT_MS),
            total_timeout_ms=property_as_int(properties, COMMIT_TOTAL_RETRY_TIME_MS),
        )

    def waits_ms(self) -> Iterator[float]:
        """How long to wait before each retry. Jitter covers the whole step, so that writers that collided once do not collide again."""
        for attempt in range(self.num_retries):
            step = min(self.min_wait_ms * 2**attempt, self.max_wait_ms)
            yield step * random.uniform(0.5, 1.1)


def commit(operations: TableOperations, changes: Sequence[Change], *, base: TableVersion | None = None) -> TableVersion:
    """Commit all changes, in order, as one new version; the version itself if they change nothing.

    The first attempt works on ``base`` if given (saving a load), every later one on the then current version. Raises CommitFailedError
    once the retries of ``commit.retry.*`` are used up, ValidationError where a change no longer holds, CommitStateUnknownError with
    nothing removed. Inside a transaction (``StagedOperations``) the changes are staged, and wait for its commit.
    """
    stage = stage_of(operations)
    if stage is not None:
        return stage(changes)
    return attempt_until_committed(operations, changes, base or operations.load(), _plain, may_be_stale=base is not None)


Stage = Callable[[Sequence[Change]], TableVersion]
"""Takes changes into a transaction; returns the table as that transaction then has it."""


def stage_of(operations: TableOperations) -> Stage | None:
    """The function that stages changes on these operations; ``None`` for operations whose commits are visible at once."""
    return getattr(operations, "stage_changes", None)


def _plain(version: TableVersion) -> MetadataBuilder:
    return MetadataBuilder(version.metadata)


def attempt_until_committed(
    operations: TableOperations,
    changes: Sequence[Change],
    version: TableVersion,
    begin: Callable[[TableVersion], MetadataBuilder],
    *,
    may_be_stale: bool = True,
) -> TableVersion:
    """The loop of ``commit``, for a given builder of each attempt.

    ``may_be_stale``: the caller loaded ``version`` a while ago, so losing the first attempt is no sign of contention and costs no wait.
    """
    policy = RetryPolicy.of(version.metadata.properties)
    deadline = time.monotonic() + policy.total_timeout_ms / 1000
    waits = policy.waits_ms()
    tried: frozenset[int] = frozenset()
    while True:
        if holds_any(version.metadata, tried):
            finish(changes, version.metadata)
            return version
        intent = intent_of(operations, changes, version) if begin is _plain else None
        try:
            metadata = version.metadata if intent is not None else prepare(changes, version, begin)
        except AlreadyCommittedError:
            finish(changes, version.metadata)
            return version
        except BaseException as error:  # what does not hold on the version held may hold on the current one
            newer = _newer(operations, changes, version) if may_be_stale and isinstance(error, IcesqlError) else None
            if newer is None:
                abandon(changes)
                raise
            may_be_stale, version = False, newer
            continue
        if metadata is version.metadata and intent is None:
            newer = _newer(operations, changes, version) if may_be_stale else None
            if newer is None:
                finish(changes, metadata)
                return version
            may_be_stale, version = False, newer
            continue
        tried |= own_snapshot_ids(version.metadata, metadata)
        try:
            check_wanted()
            committed = operations.commit(version, metadata) if intent is None else intent()
        except CommitFailedError:
            if may_be_stale:
                may_be_stale, version = False, _reload(operations, changes, version)
                continue
            wait_ms = next(waits, None)
            if wait_ms is None or time.monotonic() + wait_ms / 1000 > deadline:
                abandon(changes)
                raise
            version = _reload(operations, changes, version, after_ms=wait_ms)
        except BaseException as error:
            if failed_for_certain(error):
                abandon(changes)
            raise
        else:
            finish(changes, committed.metadata)
            return committed


def intent_of(operations: TableOperations, changes: Sequence[Change], version: TableVersion) -> Callable[[], TableVersion] | None:
    """How a single write is handed to a catalog that builds snapshots itself (``produce``): as files and validations, with no manifest.

    ``None`` where the catalog does not, or the change cannot be said as files: ``ProduceSnapshot.is_of_known_files``.
    """
    produce = getattr(operations, "produce", None)
    change = getattr(changes[0], "produced", None) if len(changes) == 1 else None
    if produce is None or change is None or not change.is_of_known_files:
        return None
    newer: Callable[[], TableVersion] = lambda: produce(version, change)  # noqa: E731
    return newer


def failed_for_certain(error: BaseException) -> bool:
    """Whether an error of a commit proves that the table was not changed: only then may the files written for it be removed.

    An interrupt, or an error of another library, proves nothing.
    """
    return isinstance(error, IcesqlError) and not isinstance(error, CommitStateUnknownError)


def _reload(operations: TableOperations, changes: Sequence[Change], version: TableVersion, *, after_ms: float = 0) -> TableVersion:
    """The version to try on next. The last attempt failed for certain, so if the table is gone what was written is removed."""
    try:
        time.sleep(after_ms / 1000)
        current = operations.load()
        check_same_table(operations, version, current)
    except BaseException:
        abandon(changes)
        raise
    return current


def check_same_table(operations: TableOperations, version: TableVersion, current: TableVersion) -> None:
    """A table dropped and made again under the same name is another table: a change meant for one must not go to the other.

    Raises ValidationError.
    """
    known, current_uuid = version.metadata.table_uuid, current.metadata.table_uuid
    if known is not None and current_uuid is not None and known != current_uuid:
        why = f"it was replaced by another: Table UUID does not match: current={known} != refreshed={current_uuid}"
        raise ValidationError(f"Cannot commit table {operations.name}: {why}", table=operations.name)


def _newer(operations: TableOperations, changes: Sequence[Change], version: TableVersion) -> TableVersion | None:
    """The current version, ``None`` if it is still this one."""
    current = _reload(operations, changes, version)
    return None if current.metadata_location == version.metadata_location else current


def prepare(changes: Sequence[Change], version: TableVersion, begin: Callable[[TableVersion], MetadataBuilder]) -> TableMetadata:
    """The metadata to swap in; the version's own if the changes change nothing. Errors here come before the swap."""
    try:
        builder = begin(version)
        metadata = builder.build()
        for change in changes:
            change_set = change.apply(metadata)
            check_all(change_set.requirements, metadata)
            metadata = builder.apply_all(change_set.updates).build()
    except OSError as error:
        raise CommitFailedError(f"Cannot commit: manifests cannot be written: {error}") from error
    return metadata


def finish(changes: Sequence[Change], metadata: TableMetadata) -> None:
    """Tell every change that it is committed. An error becomes a notice: the commit stands."""
    tell_committed()
    note_change(metadata.location)
    for change in changes:
        with after_commit(f"clean up after the commit of {type(change).__name__}"):
            change.committed(metadata)


def abandon(changes: Sequence[Change]) -> None:
    """Tell every change that it failed for certain. An error is only logged."""
    for change in changes:
        try:
            change.abandoned()
        except Exception:
            logger.warning("Cannot clean up after failed commit: %s", change, exc_info=True)
