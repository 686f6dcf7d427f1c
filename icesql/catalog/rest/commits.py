"""Commits over the protocol: updates and requirements to the server, and what became of one whose answer is missing.

The rule is that of ``icesql.table.outcomes``: a commit failed only if the server says that it did (4xx), or if it was never sent. After
500, 502, 503, 504, a time-out, a reset or an answer that cannot be read the table is loaded and looked at, as often as
``commit.status-check.*`` say: the commit happened if the table holds a snapshot that only it adds, or, where it adds none, if the table has
moved on and every update is in effect. Else the outcome stays unknown: the request may be carried out late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from icesql.catalog.commit_status import settle
from icesql.catalog.names import Identifier
from icesql.catalog.rest.loads import Loads
from icesql.catalog.rest.replies import BadReplyError, Fault, NoReplyError, Reply, fault_of
from icesql.catalog.rest.routes import Route
from icesql.errors import AlreadyExistsError, CommitFailedError, CommitStateUnknownError, IcesqlError, NotFoundError, ServiceError
from icesql.spec.metadata import TableMetadata
from icesql.table.metadata.differences import requirements_between, updates_between
from icesql.table.metadata.update_values import AddSnapshot, Update
from icesql.table.metadata.updates import fold
from icesql.table.metadata.updates_json import requirement_to_json, update_to_json
from icesql.table.operations import TableVersion
from icesql.table.outcomes import Outcome, holds_any, own_snapshot_ids, together


@dataclass(frozen=True, slots=True)
class TableCommit:
    """One table's part of a commit: from ``base`` (``None``: a create) to ``metadata``."""

    identifier: Identifier
    base: TableVersion | None
    metadata: TableMetadata

    @property
    def updates(self) -> tuple[Update, ...]:
        return updates_between(None if self.base is None else self.base.metadata, self.metadata)

    def body(self) -> dict[str, Any]:
        """Spec: ``CommitTableRequest``."""
        updates = self.updates
        requirements = requirements_between(None if self.base is None else self.base.metadata, updates)
        return {
            "identifier": {"namespace": list(self.identifier[:-1]), "name": self.identifier[-1]},
            "requirements": [requirement_to_json(requirement) for requirement in requirements],
            "updates": [update_to_json(update) for update in updates],
        }

    def outcome(self, current: TableVersion) -> Outcome:
        """What a version of the table, loaded after the commit was sent, says about it. Never a failure: it may be carried out late."""
        if self.base is None:
            return _committed_if(current.metadata.table_uuid == self.metadata.table_uuid)
        if current.metadata.table_uuid != self.base.metadata.table_uuid:
            return Outcome.UNKNOWN
        own = own_snapshot_ids(self.base.metadata, self.metadata)
        if own:
            return _committed_if(holds_any(current.metadata, own))
        has_moved = current.metadata_location != self.base.metadata_location
        return _committed_if(has_moved and _is_in_effect(current.metadata, self.updates))


def _committed_if(shown: bool) -> Outcome:
    return Outcome.COMMITTED if shown else Outcome.UNKNOWN


def _is_in_effect(metadata: TableMetadata, updates: Sequence[Update]) -> bool:
    if any(isinstance(update, AddSnapshot) for update in updates):
        return False
    try:
        return fold(metadata, updates) is metadata
    except IcesqlError:
        return False


class _NotShownYet(Exception):
    """A look that shows nothing is made again."""


def commit_table(loads: Loads, commit: TableCommit, name: str) -> TableVersion:
    """Raises CommitFailedError, AlreadyExistsError for a create that lost, what a refusal says, CommitStateUnknownError."""
    doing = f"commit table {name}" if commit.base is not None else f"create table {name}"

    def send() -> TableVersion:
        reply = loads.server.send(
            Route.COMMIT_TABLE, doing, namespace=commit.identifier[:-1], names={"table": commit.identifier[-1]}, body=commit.body()
        )
        if commit.base is None and reply.status == 409:
            return _created_before(loads, commit, reply, doing)
        check_commit(loads, reply, doing)
        return loads.committed(commit.identifier, reply, doing)

    return settled(loads, [commit], doing, lambda: [send()])[0]


def commit_transaction(loads: Loads, commits: Sequence[TableCommit], names: Sequence[str]) -> list[TableVersion]:
    """All or none, as far as the server keeps its word. Raises as ``commit_table``."""
    doing = f"commit tables {', '.join(names)}"

    def send() -> list[TableVersion]:
        reply = loads.server.send(Route.COMMIT_TRANSACTION, doing, body={"table-changes": [commit.body() for commit in commits]})
        check_commit(loads, reply, doing)
        return _versions(loads, commits)

    return settled(loads, commits, doing, send)


def _versions(loads: Loads, commits: Sequence[Sent]) -> list[TableVersion]:
    """After a transaction, whose answer holds none."""
    versions = []
    for commit in commits:
        loads.forget(commit.identifier)
        versions.append(loads.load(commit.identifier).version)
    return versions


class _DoubtError(ServiceError):
    """The server answered so that the commit may have been made."""


def _created_before(loads: Loads, commit: TableCommit, reply: Reply, doing: str) -> TableVersion:
    """The table, if it is the one to be made: the request came twice. Raises AlreadyExistsError."""
    try:
        version = loads.load(commit.identifier).version
    except (NotFoundError, ServiceError):
        version = None
    if version is None or commit.outcome(version) is not Outcome.COMMITTED:
        raise AlreadyExistsError(loads.server.secrets.hide(f"Cannot {doing}: {_why(fault_of(reply))}"))
    return version


def check_commit(loads: Loads, reply: Reply, doing: str) -> None:
    """Raises what a refusal says, and _DoubtError."""
    if reply.is_success:
        return
    fault = fault_of(reply)
    if fault.leaves_doubt:
        raise _DoubtError(loads.server.secrets.hide(f"the server answered {fault.status}: {_why(fault)}"), status=fault.status)
    if fault.status == 409:
        raise CommitFailedError(loads.server.secrets.hide(f"Cannot {doing}: {_why(fault)}"))
    raise loads.server.error(reply, doing)


def _why(fault: Fault) -> str:
    return fault.message or fault.kind or "no reason was given"


class Sent(Protocol):
    """What was sent, as far as its outcome is told by a version of the table loaded afterwards."""

    @property
    def identifier(self) -> Identifier: ...
    @property
    def metadata(self) -> TableMetadata: ...
    def outcome(self, current: TableVersion) -> Outcome: ...


def settled(loads: Loads, commits: Sequence[Sent], doing: str, send: Callable[[], list[TableVersion]]) -> list[TableVersion]:
    """The versions that ``send`` gives, or, where it leaves doubt, those in which the commits are seen.

    Raises CommitFailedError where nothing was sent, CommitStateUnknownError.
    """
    try:
        return send()
    except NoReplyError as error:
        if not error.was_sent:
            raise CommitFailedError(f"Cannot {doing}: {error}") from None
        doubt: ServiceError = error
    except (_DoubtError, BadReplyError) as error:
        doubt = error
    newest: list[TableVersion] = []

    def look() -> Outcome:
        newest[:] = []
        try:
            newest.extend(_versions(loads, commits))
        except NotFoundError:
            raise _NotShownYet from None
        outcome = together([commit.outcome(version) for commit, version in zip(commits, newest, strict=True)])
        if outcome is not Outcome.COMMITTED:
            raise _NotShownYet
        return outcome

    settle(look, commits[0].metadata.properties, doing, doubt)
    return newest


def unknown(doing: str, cause: Exception) -> CommitStateUnknownError:
    """For a change that leaves nothing in a table by which it could be told."""
    return CommitStateUnknownError(f"Cannot {doing}: the outcome is unknown: {cause}. Look before trying again")
