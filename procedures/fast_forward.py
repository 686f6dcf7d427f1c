"""fast_forward(table, branch, to): move a branch ahead to where another ref is."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext


def call(context: ProcedureContext, table: str, branch: str, to: str) -> Iterator[Row]:
    loaded = context.table(table)
    before = loaded.metadata.head(branch)
    loaded.manage_snapshots().fast_forward_branch(branch, to).commit()
    after = loaded.metadata.head(branch)
    yield branch, None if before is None else before.snapshot_id, None if after is None else after.snapshot_id


PROCEDURE = Procedure(
    name="fast_forward",
    summary="Fast-forward a branch to another branch or tag; a branch that is not there is made.",
    parameters=(
        TABLE,
        Parameter(name="branch", type="string", required=True, description="the branch to move"),
        Parameter(name="to", type="string", required=True, description="the ref to move it to"),
    ),
    output=(
        Output(name="branch_updated", type="string"),
        Output(name="previous_ref", type="bigint", nullable=True),
        Output(name="updated_ref", type="bigint"),
    ),
    call=call,
    can_wait=True,
)
