"""rewrite_position_delete_files(table, options, where): fewer position delete files, without positions of files that are gone."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.procedures.row_filters import row_filter
from icesql.table.maintenance.rewrite_options import delete_rewrite_options
from icesql.table.maintenance.rewrite_position_deletes import RewritePositionDeletes


def call(context: ProcedureContext, table: str, options: dict[str, str] | None, where: str | None) -> Iterator[Row]:
    loaded = context.table(table)
    checked = delete_rewrite_options(options or {}, loaded.metadata)
    rewrite = RewritePositionDeletes(table=loaded, options=checked, where=row_filter(context, loaded, where))
    if not rewrite.plan.groups:
        context.notice(f"rewrite_position_delete_files rewrote nothing: position deletes: {rewrite.plan.why_not}")
    if context.dry_run:
        result = rewrite.dry_run()
        for group in rewrite.plan.groups:
            for file in group.tasks:
                context.planned("rewrite file", file.file_path, size_in_bytes=file.file_size_in_bytes, reason=group.reason)
    else:
        result = rewrite.run(lambda *counts: context.progress("delete file groups rewritten", *counts))
    yield result.rewritten_files, result.added_files, result.rewritten_bytes, result.added_bytes


PROCEDURE = Procedure(
    name="rewrite_position_delete_files",
    summary="Combine position delete files and drop positions that point nowhere; in version 3 they become deletion vectors.",
    parameters=(
        TABLE,
        Parameter(name="options", type="map<string,string>", description="sizes, thresholds, partial progress: see docs/procedures.md"),
        Parameter(name="where", type="string", description="only delete files of partitions that may hold matching rows"),
    ),
    output=(
        Output(name="rewritten_delete_files_count", type="int"),
        Output(name="added_delete_files_count", type="int"),
        Output(name="rewritten_bytes_count", type="bigint"),
        Output(name="added_bytes_count", type="bigint"),
    ),
    call=call,
)
