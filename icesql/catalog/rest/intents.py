"""Writes that a server makes snapshots of: files, validations and a summary go there, and no manifest is written here.

Offered by ``icesql.produce-snapshot-enabled`` of the server's configuration. The snapshot's id is the server's choice: the commit is known
again by a mark in its summary.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from icesql.catalog.names import Identifier
from icesql.catalog.rest.commits import check_commit, settled
from icesql.catalog.rest.loads import Loads
from icesql.catalog.rest.routes import Route
from icesql.spec.metadata import TableMetadata
from icesql.table.metadata.requirements import AssertTableUuid
from icesql.table.metadata.updates_json import requirement_to_json
from icesql.table.operations import TableVersion
from icesql.table.outcomes import Outcome
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.produce_json import produce_to_json

COMMIT_ID = "icesql.commit-id"


@dataclass(frozen=True, slots=True)
class _Intent:
    identifier: Identifier
    metadata: TableMetadata
    mark: str

    def outcome(self, current: TableVersion) -> Outcome:
        is_shown = any(snapshot.summary.get(COMMIT_ID) == self.mark for snapshot in current.metadata.snapshots)
        return Outcome.COMMITTED if is_shown else Outcome.UNKNOWN


def commit_intent(loads: Loads, identifier: Identifier, name: str, base: TableVersion, change: ProduceSnapshot) -> TableVersion:
    """Raises ValidationError where one of the change's validations fails, and as ``commits.commit_table``."""
    doing, mark = f"commit table {name}", str(uuid.uuid4())
    marked = replace(change, summary={**change.summary, COMMIT_ID: mark})
    node = produce_to_json(marked, base.metadata)
    body = {
        "identifier": {"namespace": list(identifier[:-1]), "name": identifier[-1]},
        "requirements": [requirement_to_json(AssertTableUuid(base.metadata.table_uuid))],
        "updates": [{**node, "action": "produce-snapshot", "operation": node["action"]}],
    }

    def send() -> list[TableVersion]:
        reply = loads.server.send(Route.COMMIT_TABLE, doing, namespace=identifier[:-1], names={"table": identifier[-1]}, body=body)
        check_commit(loads, reply, doing)
        return [loads.committed(identifier, reply, doing)]

    return settled(loads, [_Intent(identifier, base.metadata, mark)], doing, send)[0]
