"""rewrite_table_path(table, source_prefix, target_prefix, ...): stage metadata for a copy of the table at another place."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.table.maintenance.path_prefix import PathPrefix
from icesql.table.maintenance.rewrite_table_path import RewriteTablePath
from icesql.table.scan.read_numbers import check_metadata_splits


def call(
    context: ProcedureContext,
    table: str,
    source_prefix: str,
    target_prefix: str,
    start_version: str | None,
    end_version: str | None,
    staging_location: str | None,
    create_file_list: bool | None,
) -> Iterator[Row]:
    loaded = context.table(table)
    check_metadata_splits(loaded.properties)
    rewrite = RewriteTablePath(
        table=loaded,
        prefix=PathPrefix(source_prefix, target_prefix),
        start_version=start_version,
        end_version=end_version,
        staging_location=staging_location,
        create_file_list=create_file_list is not False,
    )
    result = rewrite.run()
    for source, target in result.copies if context.dry_run else ():
        context.planned("list copy", source, reason=f"to {target}")
    if not context.dry_run:
        context.notice(f"{len(result.copies)} files are to be copied; staged files are in {result.staging}")
    yield result.latest_version, result.file_list or "N/A", result.manifests, result.delete_files


PROCEDURE = Procedure(
    name="rewrite_table_path",
    summary="Stage a table's metadata with another path prefix, and list the files to copy there. The table itself is not touched.",
    parameters=(
        TABLE,
        Parameter(name="source_prefix", type="string", required=True, description="prefix of all the table's paths now"),
        Parameter(name="target_prefix", type="string", required=True, description="what it becomes"),
        Parameter(name="start_version", type="string", description="name of a metadata file: only what came after it; default: everything"),
        Parameter(name="end_version", type="string", description="name of the last metadata file to take; default: the current one"),
        Parameter(name="staging_location", type="string", description="where to write; default: a new folder among the metadata"),
        Parameter(name="create_file_list", type="boolean", description="write the list of copies as CSV; default true"),
    ),
    output=(
        Output(name="latest_version", type="string", nullable=True),
        Output(name="file_list_location", type="string", nullable=True),
        Output(name="rewritten_manifest_file_paths_count", type="int", nullable=True),
        Output(name="rewritten_delete_file_paths_count", type="int", nullable=True),
    ),
    call=call,
)
