"""Commits to one table that wait at the same time are made together, in one swap of its metadata.

Each is worked out on the table as the one before leaves it, has its own snapshots, and succeeds or fails alone. Nobody is told anything
before the swap is done: what a request was refused for may be the work of another one of its group, and counts only once that is committed.
A swap that another process wins is repeated on what is current, with all requests of the group.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from icesql.catalog.names import Identifier
from icesql.errors import CommitFailedError, CommitStateUnknownError
from icesql.io.storage.files import FileIO
from icesql.io.storage.synced_together import SyncedTogether
from icesql.server.access.locations import LocationRules
from icesql.server.commits.expiry import Expired, bounded, clean
from icesql.server.commits.requested import RequestedCommit, RequestedSnapshot
from icesql.server.served import ServedCatalog
from icesql.spec.metadata import TableMetadata
from icesql.table.commit import RetryPolicy, abandon, failed_for_certain, finish
from icesql.table.metadata.builder import MetadataBuilder
from icesql.table.metadata.requirements import check_all
from icesql.table.operations import TableVersion
from icesql.table.outcomes import AlreadyCommittedError

if TYPE_CHECKING:
    from sqlalchemy import Connection

logger = logging.getLogger(__name__)
Record = Callable[["Connection"], None]


@dataclass(slots=True)
class CommitRequest:
    """``read`` gives the changes, in the committer's thread, which write their files through the FileIO given.

    ``records`` gives what is written with them: ``(before, after)`` are the versions of the table around this request alone.
    """

    read: Callable[[FileIO], RequestedCommit]
    records: Callable[[RequestedCommit, TableMetadata, TableMetadata], Sequence[Record]]
    done: asyncio.Future[CommittedRequest]
    key: str | None = None  # its Idempotency-Key
    asked: RequestedCommit | None = None


@dataclass(frozen=True, slots=True)
class CommittedRequest:
    """The table once the group was committed, and the snapshots that this request produced."""

    version: TableVersion
    produced: tuple[RequestedSnapshot, ...]


_Result: TypeAlias = tuple[CommitRequest, CommittedRequest | BaseException]
_Results: TypeAlias = Iterator[_Result]


@dataclass(slots=True)
class _Member:
    """What became of one request in one attempt. ``before`` and ``after`` are the same object where it changed nothing."""

    request: CommitRequest
    before: TableMetadata
    after: TableMetadata
    failure: BaseException | None = None


@dataclass(slots=True)
class _Lane:
    waiting: deque[CommitRequest] = field(default_factory=deque)
    is_busy: bool = False


class GroupCommitter:
    """Commits to the tables of one catalog. Its methods are for the event loop; the work is done by ``executor``."""

    def __init__(self, served: ServedCatalog, executor: Executor, most: int) -> None:
        self._served, self._executor, self._most = served, executor, most
        self.on_group: Callable[[int], None] = lambda size: None
        self._cleaner = ThreadPoolExecutor(1, "icesql-clean")
        self._lanes: dict[Identifier, _Lane] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def commit(self, identifier: Identifier, request: CommitRequest) -> CommittedRequest:
        """Raises what the request failed for: as ``icesql.table.commit.commit``."""
        lane = self._lanes.setdefault(identifier, _Lane())
        lane.waiting.append(request)
        if not lane.is_busy:
            lane.is_busy = True
            task = asyncio.get_running_loop().create_task(self._empty(identifier, lane))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return await request.done

    async def _empty(self, identifier: Identifier, lane: _Lane) -> None:
        loop = asyncio.get_running_loop()
        try:
            while lane.waiting:
                group = [lane.waiting.popleft() for _ in range(min(len(lane.waiting), self._most))]
                results, expired = await loop.run_in_executor(self._executor, self._commit_group, identifier, group)
                self._clean_later(expired)
                self.on_group(len(group))
                for request, result in results:
                    if request.done.cancelled():
                        continue
                    if isinstance(result, BaseException):
                        request.done.set_exception(result)
                    else:
                        request.done.set_result(result)
        finally:
            lane.is_busy = False
            if not lane.waiting:
                self._lanes.pop(identifier, None)

    def _commit_group(self, identifier: Identifier, group: list[CommitRequest]) -> tuple[list[_Result], Expired | None]:
        """Never raises: each request gets its result or its error."""
        commit = GroupCommit(self._served, identifier, list(group))
        try:
            return list(commit.results()), commit.expired
        except BaseException as error:
            logger.exception("Cannot commit a group of %d requests to %s", len(group), identifier)
            return [(request, error) for request in group], None

    def _clean_later(self, expired: Expired | None) -> None:
        """A server that stops before leaves orphans."""
        if expired is None:
            return
        loop = asyncio.get_running_loop()
        delay = self._served.settings.commits.clean_after_seconds
        loop.call_later(delay, loop.run_in_executor, self._cleaner, clean, self._served, expired)

    async def drain(self) -> None:
        """Until nothing is under way."""
        while self._running:
            await asyncio.gather(*self._running, return_exceptions=True)


@dataclass(slots=True)
class GroupCommit:
    """One group, from the current version of its table to the answers."""

    served: ServedCatalog
    identifier: Identifier
    group: list[CommitRequest]
    expired: Expired | None = None
    _io: SyncedTogether = field(init=False)
    _answered: list[tuple[CommitRequest, BaseException]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._io = SyncedTogether(self.served.io)

    def results(self) -> _Results:
        """One for each request."""
        self._read_all()
        if self.group:
            yield from self._committed()
        yield from self._answered

    def _read_all(self) -> None:
        """What cannot be read leaves the group at once: it is wrong whatever the table holds."""
        readable = []
        for request in self.group:
            try:
                request.asked = request.read(self._io)
                readable.append(request)
            except Exception as error:
                self._answered.append((request, error))
        self.group = readable

    def _committed(self) -> _Results:
        operations = self.served.catalog.operations(self.identifier)
        try:
            version = operations.load()
        except Exception as error:
            yield from ((request, error) for request in self.group)
            return
        waits = RetryPolicy.of(version.metadata.properties).waits_ms()
        while True:
            members, metadata = self._worked_out(version)
            metadata, expired = bounded(self.identifier, metadata, self.served.settings.commits.max_snapshots)
            if metadata is version.metadata:
                yield from self._told(members, version)
                return
            try:
                self._sync()
                with self.served.recording(self._records(members)):
                    version = operations.commit(version, metadata)
            except Exception as error:
                if not self._may_try_again(error, next(waits, None)):
                    yield from self._one_by_one(members, error)
                    return
                try:
                    version = operations.load()
                except Exception as lost:  # the last attempt failed for certain
                    yield from self._failed(members, lost)
                    return
            else:
                self.expired = expired
                yield from self._told(members, version)
                return

    def _sync(self) -> None:
        """Manifests and lists are on the disk before metadata names them. Raises CommitFailedError."""
        try:
            self._io.sync()
        except OSError as error:
            raise CommitFailedError(f"Cannot commit: manifests cannot be synced: {error}") from error

    # -- one attempt -----------------------------------------------------------------------------------------------
    def _worked_out(self, version: TableVersion) -> tuple[list[_Member], TableMetadata]:
        metadata = version.metadata
        members = []
        for request in self.group:
            member = _worked_out(request, metadata, self.served.locations)
            members.append(member)
            metadata = member.after
        return members, metadata

    def _records(self, members: Sequence[_Member]) -> list[Record]:
        return [
            record
            for member in members
            if member.failure is None and member.request.asked is not None
            for record in member.request.records(member.request.asked, member.before, member.after)
        ]

    def _may_try_again(self, error: Exception, wait_ms: float | None) -> bool:
        """After a wait where another process was faster. A request that another process has answered leaves the group."""
        from icesql.server.storage.answers import AnsweredElsewhereError

        if isinstance(error, AnsweredElsewhereError):
            for request in [one for one in self.group if one.key == error.key]:
                self.group.remove(request)
                self._leave(request, error)
            return True
        if not isinstance(error, CommitFailedError) or wait_ms is None:
            return False
        time.sleep(wait_ms / 1000)
        return True

    def _leave(self, request: CommitRequest, error: Exception) -> None:
        if request.asked is not None:
            abandon(request.asked.changes)
        self._answered.append((request, error))

    # -- the end -----------------------------------------------------------------------------------------------------
    def _told(self, members: Sequence[_Member], version: TableVersion) -> _Results:
        for member in members:
            asked = member.request.asked
            assert asked is not None
            if member.failure is not None:
                abandon(asked.changes)
                yield member.request, member.failure
                continue
            finish(asked.changes, version.metadata)
            yield member.request, CommittedRequest(version, tuple(asked.snapshots))

    def _one_by_one(self, members: Sequence[_Member], error: Exception) -> _Results:
        """Where the metadata of all together is refused for certain, the requests that are not to blame are made alone."""
        if len(members) == 1 or not failed_for_certain(error) or isinstance(error, CommitFailedError):
            yield from self._failed(members, error)
            return
        for member in members:
            if member.request.asked is not None:
                abandon(member.request.asked.changes)
            yield from GroupCommit(self.served, self.identifier, [member.request]).results()

    def _failed(self, members: Sequence[_Member], error: Exception) -> _Results:
        """``error`` is the swap's: it was not made for certain, or nobody knows. Then nobody's answer is known."""
        is_certain = failed_for_certain(error)
        for member in members:
            asked = member.request.asked
            if asked is not None and is_certain:
                abandon(asked.changes)
            yield member.request, error if is_certain or isinstance(error, CommitStateUnknownError) else _unknown(error)


def _worked_out(request: CommitRequest, before: TableMetadata, locations: LocationRules) -> _Member:
    """One request on what the ones before it leave."""
    assert request.asked is not None
    metadata = before
    builder = MetadataBuilder(before)
    try:
        for change in request.asked.changes:
            change_set = change.apply(metadata)
            check_all(change_set.requirements, metadata)
            metadata = builder.apply_all(change_set.updates).build()
        locations.check_metadata(before, metadata)
    except AlreadyCommittedError:  # by an attempt whose outcome was not known here
        return _Member(request, before, before)
    except OSError as error:
        failure = CommitFailedError(f"Cannot commit: manifests cannot be written: {error}")
        failure.__cause__ = error
        return _Member(request, before, before, failure)
    except Exception as error:
        return _Member(request, before, before, error)
    return _Member(request, before, metadata)


def _unknown(error: BaseException) -> CommitStateUnknownError:
    unknown = CommitStateUnknownError(f"Cannot tell whether the commit was made: {type(error).__name__}")
    with contextlib.suppress(Exception):
        unknown.__cause__ = error
    return unknown
