"""rewrite_manifests(table, use_caching, spec_id, sort_by): cluster the entries of manifests by partition, into manifests of the
target size."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.spec.snapshots import MAIN
from icesql.table.after_commit import after_commit
from icesql.table.manifest_overlap import manifests_per_partition
from icesql.table.rewrite_manifests import RewriteManifests
from icesql.table.table import Table


def call(context: ProcedureContext, table: str, use_caching: bool | None, spec_id: int | None, sort_by: list[str] | None) -> Iterator[Row]:
    loaded, branch = context.table_and_branch(table)
    before = manifests_per_partition(loaded.io, loaded.metadata, branch or MAIN)
    rewrite = loaded.rewrite_manifests().to_branch(branch or MAIN)
    if spec_id is not None:
        rewrite.spec_id(spec_id)
    if sort_by is not None:
        rewrite.sort_by(sort_by)
    rewrite.commit()
    with after_commit("tell what the rewrite did"):
        _tell(context, loaded, rewrite, before, branch or MAIN)
    yield len(rewrite.rewritten), len(rewrite.added)


def _tell(context: ProcedureContext, table: Table, rewrite: RewriteManifests, before: float | None, branch: str) -> None:
    if not rewrite.rewritten:
        context.notice(
            "rewrite_manifests changed nothing: the manifests of the spec fit in one of the target size (commit.manifest.target-size-bytes)"
        )
    elif before is not None:
        after = manifests_per_partition(table.io, table.metadata, branch)
        context.notice(f"manifests that a filter on one partition opens, on average: {before:.1f} before, {after or 0:.1f} after")


PROCEDURE = Procedure(
    name="rewrite_manifests",
    summary="Rewrite manifests so that entries of one partition lie together; the files themselves are not touched.",
    parameters=(
        TABLE,
        Parameter(name="use_caching", type="boolean", description="accepted, and without effect: nothing needs to be cached"),
        Parameter(name="spec_id", type="int", description="rewrite manifests of this partition spec; default: the current one"),
        Parameter(name="sort_by", type="array<string>", description="partition fields to cluster by, in this order; default: all"),
    ),
    output=(Output(name="rewritten_manifests_count", type="int"), Output(name="added_manifests_count", type="int")),
    call=call,
)
