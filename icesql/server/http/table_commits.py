"""Commits: to one table, and to several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from icesql.catalog.names import Identifier
from icesql.catalog.transactions import commit_together
from icesql.errors import AlreadyExistsError, NotFoundError
from icesql.io.storage.files import FileIO
from icesql.server.access.privileges import privilege_for_commit
from icesql.server.commits.creation import created_metadata, creates
from icesql.server.commits.group import CommitRequest
from icesql.server.commits.requested import RequestedCommit, RequestedSnapshot, requested_commit
from icesql.server.events.changes import table_event
from icesql.server.http.bodies import CommitTable, CommitTransaction, TableName
from icesql.server.http.call import Call, identifier_of_body, json_answer, require_namespace
from icesql.server.http.loading import loaded_version
from icesql.server.http.routing import Route, no_content
from icesql.server.http.table_bodies import entity_tag, snapshots_mode, table_answer
from icesql.server.http.tables import refuse_taken
from icesql.server.problems import Problem, bad_request, no_such_table
from icesql.server.storage.answers import KeptAnswer
from icesql.spec.metadata import TableMetadata
from icesql.table.metadata.requirements import check_all
from icesql.table.operations import TableVersion
from icesql.table.transaction import Transaction

_MINIMAL = "return=minimal"


async def commit_table(call: Call) -> Response:
    body = call.parsed(CommitTable)
    identifier = call.table
    _check_name(body.identifier, identifier)
    call.require(privilege_for_commit(body.requirements, body.updates), identifier)
    if any(node.get("type") == "assert-create" for node in body.requirements):
        return await call.in_thread(lambda: _create(call, identifier, body))
    loop = asyncio.get_running_loop()
    request = CommitRequest(
        read=lambda io: _requested(call, identifier, body, io),
        records=lambda asked, before, after: _records(call, identifier, asked, before, after),
        done=loop.create_future(),
        key=call.key,
    )
    try:
        committed = await call.served.committer.commit(identifier, request)
    except NotFoundError as error:
        raise _missing(identifier, error) from None
    call.service.measures.snapshots(call.served.name, len(committed.produced))
    return _answer(call, committed.version, _produced(committed.produced, committed.version.metadata))


def _missing(identifier: Identifier, error: NotFoundError) -> Exception:
    """A table that is not there, or something that the request names."""
    return no_such_table(identifier) if "Table does not exist" in error.message else error


def _check_name(given: TableName | None, identifier: Identifier) -> None:
    if given is not None and identifier_of_body(given) != identifier:
        raise bad_request("Malformed request: its identifier is another than the path's")


def _requested(call: Call, identifier: Identifier, body: CommitTable, io: FileIO | None = None) -> RequestedCommit:
    check = call.served.payload_check()
    return requested_commit(body.requirements, body.updates, io or call.served.io, call.served.full_name(identifier), check)


def _records(
    call: Call, identifier: Identifier, asked: RequestedCommit, before: TableMetadata | None, after: TableMetadata
) -> Sequence[Any]:
    _keep_answer(call, asked)
    if after is before:
        return call.records
    return (*call.records, *call.event_records(lambda: table_event("update-table", identifier, before, after, asked)))


def _keep_answer(call: Call, asked: RequestedCommit) -> None:
    call.answer = msgspec.json.encode([str(snapshot.snapshot_id) for snapshot in asked.snapshots])


def _produced(snapshots: Sequence[RequestedSnapshot], metadata: TableMetadata) -> list[dict[str, object]]:
    produced = [(one.snapshot_id, one.produced(metadata)) for one in snapshots]
    return [_snapshot(number, None if held is None else held.sequence_number) for number, held in produced]


def _snapshot(snapshot_id: int, sequence_number: int | None) -> dict[str, object]:
    node: dict[str, object] = {"snapshot-id": snapshot_id}
    return node if sequence_number is None else {**node, "sequence-number": sequence_number}


def _answer(call: Call, version: TableVersion, produced: Sequence[object]) -> Response:
    """``Prefer: return=minimal`` leaves the metadata out, which a writer of files has no use for."""
    if _MINIMAL in call.headers.get("prefer", ""):
        node = {"metadata-location": version.metadata_location, "produced-snapshots": produced}
        return json_answer(node, headers={"Preference-Applied": _MINIMAL, "ETag": entity_tag(version, "all")})
    return table_answer(version, snapshots_mode(call.query.get("snapshots")), produced=produced)


def committed_table(call: Call, kept: KeptAnswer) -> Response:
    version = loaded_version(call, call.table)
    ids = [int(text) for text in msgspec.json.decode(kept.answer or b"[]", type=list[str])]
    held = version.metadata.snapshots_by_id
    return _answer(call, version, [_snapshot(number, held[number].sequence_number if number in held else None) for number in ids])


# -- creates -----------------------------------------------------------------------------------------------------------
def _create(call: Call, identifier: Identifier, body: CommitTable) -> Response:
    asked = _requested(call, identifier, body)
    _check_free(call, identifier)
    transaction = _creation(call, identifier, asked)
    _keep_answer(call, asked)
    call.announce(lambda: table_event("create-table", identifier, None, transaction.metadata, asked))
    try:
        version = transaction.commit()
    except AlreadyExistsError:
        raise Problem(409, "CommitFailedException", "Requirement failed: table already exists") from None
    return _answer(call, version, _produced(asked.snapshots, version.metadata))


def _check_free(call: Call, identifier: Identifier) -> None:
    require_namespace(call.served, identifier[:-1])
    if call.served.exists(identifier):
        raise Problem(409, "CommitFailedException", "Requirement failed: table already exists")
    refuse_taken(call, identifier)


def _creation(call: Call, identifier: Identifier, asked: RequestedCommit) -> Transaction:
    """A transaction whose commit creates the table; its snapshots are worked out already."""
    metadata = created_metadata(asked.changes, asked.requirements)
    call.served.check_new_places(identifier, metadata)
    transaction = Transaction.creating(call.served.catalog.operations(identifier), metadata)
    transaction.changes.extend(asked.changes)
    return transaction


# -- several tables ----------------------------------------------------------------------------------------------------
def commit_transaction(call: Call) -> Response:
    body = call.parsed(CommitTransaction)
    if not body.table_changes:
        raise bad_request("Malformed request: table-changes is empty")
    transactions: dict[Identifier, Transaction] = {}
    try:
        for change in body.table_changes:
            if change.identifier is None:
                raise bad_request("Malformed request: each of table-changes needs an identifier")
            identifier = identifier_of_body(change.identifier)
            call.require(privilege_for_commit(change.requirements, change.updates), identifier)
            if identifier in transactions:
                raise bad_request(f"Malformed request: table-changes names a table twice: {'.'.join(identifier)}")
            transactions[identifier] = _staged(call, identifier, change)
    except BaseException:
        for transaction in transactions.values():
            transaction.abandon()
        raise
    commit_together(call.served.catalog, list(transactions.items()))
    return Response(status_code=204)


def _staged(call: Call, identifier: Identifier, body: CommitTable) -> Transaction:
    asked = _requested(call, identifier, body)
    if creates(asked.requirements):
        _check_free(call, identifier)
        created = _creation(call, identifier, asked)
        call.announce(lambda: table_event("create-table", identifier, None, created.metadata, asked))
        return created
    try:
        transaction = Transaction(call.served.catalog.operations(identifier))
    except NotFoundError:
        raise no_such_table(identifier) from None
    check_all(asked.requirements, transaction.metadata)
    try:
        for change in asked.changes:
            transaction.add(change)
        call.served.locations.check_metadata(None if transaction.base is None else transaction.base.metadata, transaction.metadata)
    except BaseException:
        transaction.abandon()
        raise
    call.announce(lambda: table_event("update-table", identifier, _metadata(transaction.base), transaction.metadata, asked))
    return transaction


def _metadata(version: TableVersion | None) -> TableMetadata | None:
    return None if version is None else version.metadata


_TABLE = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"
ROUTES = (
    Route(method="POST", path=_TABLE, function=commit_table, again=committed_table, changes=True),
    Route(
        method="POST",
        path="/v1/{prefix}/transactions/commit",
        function=commit_transaction,
        again=no_content,
        status=204,
        changes=True,
        privilege=None,
    ),
)
