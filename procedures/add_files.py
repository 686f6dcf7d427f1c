"""add_files(table, source_table, ...): data files that exist already become part of a table, without being copied."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.errors import InvalidArgumentError
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.procedures.import_sources import import_of
from icesql.spec.snapshots import MAIN
from icesql.table.maintenance.import_files import ensure_name_mapping


def call(
    context: ProcedureContext,
    table: str,
    source_table: str,
    partition_filter: dict[str, str] | None,
    check_duplicate_files: bool | None,
    parallelism: int | None,
) -> Iterator[Row]:
    if parallelism is not None and parallelism <= 0:
        raise InvalidArgumentError("Parallelism should be larger than 0")
    parts = context.parts(source_table, "source_table")
    loaded, branch = context.table_and_branch(table)
    ensure_name_mapping(loaded)
    task, reader = import_of(
        context, loaded, parts, partition_filter or {}, branch=branch, check_duplicates=check_duplicate_files is not False,
        parallelism=parallelism or 1,
    )  # fmt: skip
    files = task.files()
    for file in files if context.dry_run else ():
        context.planned("add file", file.location, size_in_bytes=loaded.io.size(file.location), reason=f"lies in {source_table}")
    if not files:
        context.notice(f"add_files added nothing: there is no data file in {source_table}")
    before = loaded.metadata
    added = task.commit(files, reader)
    head = loaded.metadata.head(branch or MAIN) if loaded.metadata is not before else None
    changed = None if head is None else head.summary.get("changed-partition-count")
    yield added, None if changed is None else int(changed)


PROCEDURE = Procedure(
    name="add_files",
    summary="Add existing Parquet, ORC or Avro files of a folder or a Spark table to a table.",
    parameters=(
        TABLE,
        Parameter(name="source_table", type="string", required=True, description="a Spark table, or a folder: `parquet`.`path`"),
        Parameter(name="partition_filter", type="map<string,string>", description="only partitions with these values"),
        Parameter(name="check_duplicate_files", type="boolean", description="refuse files that the table has already; default true"),
        Parameter(name="parallelism", type="int", description="threads or tasks that read the files' metrics; default 1"),
    ),
    output=(Output(name="added_files_count", type="bigint"), Output(name="changed_partition_count", type="bigint", nullable=True)),
    call=call,
)
