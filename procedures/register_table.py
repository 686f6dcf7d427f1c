"""register_table(table, metadata_file): a catalog entry for a table whose metadata file exists already."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.errors import AlreadyExistsError, InvalidArgumentError
from icesql.io.metadata_files import read_metadata
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext


def call(context: ProcedureContext, table: str, metadata_file: str) -> Iterator[Row]:
    identifier = context.identifier(table)
    if not metadata_file:
        raise InvalidArgumentError("Cannot handle an empty argument metadata_file")
    if context.catalog.table_exists(identifier):
        raise AlreadyExistsError(f"Table already exists: {'.'.join(identifier)}")
    if context.dry_run:
        metadata = read_metadata(context.catalog.io, metadata_file)
        context.planned("register table", ".".join((context.catalog.name, *identifier)), reason=f"from {metadata_file}")
    else:
        metadata = context.catalog.register_table(identifier, metadata_file).metadata
    snapshot = metadata.current_snapshot
    if snapshot is None:
        yield None, None, None
    else:
        yield snapshot.snapshot_id, _count(snapshot.summary.get("total-records")), _count(snapshot.summary.get("total-data-files"))


def _count(text: str | None) -> int | None:
    return None if text is None else int(text)


PROCEDURE = Procedure(
    name="register_table",
    summary="Register the metadata file of an existing table under a new name.",
    parameters=(TABLE, Parameter(name="metadata_file", type="string", required=True, description="location of the metadata file")),
    output=(
        Output(name="current_snapshot_id", type="bigint", nullable=True),
        Output(name="total_records_count", type="bigint", nullable=True),
        Output(name="total_data_files_count", type="bigint", nullable=True),
    ),
    call=call,
)
