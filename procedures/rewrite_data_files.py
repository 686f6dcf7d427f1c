"""rewrite_data_files(table, strategy, sort_order, options, where, branch): fewer, larger or better sorted files with the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.procedures.row_filters import row_filter
from icesql.procedures.sort_strategies import Strategy, strategy_of, writer_of
from icesql.spec.snapshots import MAIN
from icesql.table.maintenance.rewrite_data_files import RewriteDataFiles
from icesql.table.maintenance.rewrite_options import data_rewrite_options


def call(
    context: ProcedureContext,
    table: str,
    strategy: str | None,
    sort_order: str | None,
    options: dict[str, str] | None,
    where: str | None,
    branch: str | None,
) -> Iterator[Row]:
    loaded, own_branch = context.table_and_branch(table)
    target = own_branch or MAIN if branch is None else branch
    chosen = strategy_of(loaded.metadata, strategy, sort_order)
    checked = data_rewrite_options(options or {}, loaded.metadata, chosen.rewriter)
    rewrite = RewriteDataFiles(table=loaded, options=checked, where=row_filter(context, loaded, where), branch=target)
    if not rewrite.plan.groups:
        context.notice(f"rewrite_data_files rewrote nothing: {rewrite.plan.why_not}")
    result = rewrite.dry_run() if context.dry_run else rewrite.run(writer_of(context.spark, rewrite, chosen), _progress(context))
    if context.dry_run:
        _explain(context, rewrite, chosen)
    for group, error in result.outcome.failed:
        context.notice(f"a group of {len(group.tasks)} files failed and stays as it was: {error}")
    yield result.rewritten_files, result.added_files, result.rewritten_bytes, result.failed_files, result.removed_deletes


def _progress(context: ProcedureContext) -> Any:
    return lambda *counts: context.progress("file groups rewritten", *counts)


def _explain(context: ProcedureContext, rewrite: RewriteDataFiles, strategy: Strategy) -> None:
    for group in rewrite.plan.groups:
        for task in group.tasks:
            context.planned("rewrite file", task.data_file.file_path, size_in_bytes=task.data_file.file_size_in_bytes, reason=group.reason)
        context.planned(
            "write files", f"{group.expected_files} by {strategy.rewriter}", size_in_bytes=group.input_bytes, reason=group.reason
        )


PROCEDURE = Procedure(
    name="rewrite_data_files",
    summary="Rewrite data files: combine small ones, split large ones, apply deletes, sort rows or lay them along a curve.",
    parameters=(
        TABLE,
        Parameter(name="strategy", type="string", description="binpack (default) or sort"),
        Parameter(
            name="sort_order",
            type="string",
            description="'c1 DESC NULLS LAST, bucket(4, c2)', 'zorder(c1, c2)' or 'hilbert(c1, c2)'; default: the table's",
        ),
        Parameter(name="options", type="map<string,string>", description="sizes, thresholds, partial progress: see docs/procedures.md"),
        Parameter(name="where", type="string", description="only files that may hold rows matching this predicate"),
        Parameter(name="branch", type="string", description="branch to rewrite; default: main"),
    ),
    output=(
        Output(name="rewritten_data_files_count", type="int"),
        Output(name="added_data_files_count", type="int"),
        Output(name="rewritten_bytes_count", type="bigint"),
        Output(name="failed_data_files_count", type="int"),
        Output(name="removed_delete_files_count", type="int"),
    ),
    call=call,
)
