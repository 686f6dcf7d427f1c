"""migrate(table, ...): a Spark table becomes a table of ours, under its name, over its files; the old one is kept as a backup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from icesql.errors import AlreadyExistsError, InvalidArgumentError
from icesql.procedures.base import Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.procedures.import_sources import SESSION_CATALOG, session_table
from icesql.table.commit import failed_for_certain
from icesql.table.transaction import Transaction


def call(
    context: ProcedureContext,
    table: str,
    properties: dict[str, str] | None,
    drop_backup: bool | None,
    backup_table_name: str | None,
    parallelism: int | None,
) -> Iterator[Row]:
    if parallelism is not None and parallelism <= 0:
        raise InvalidArgumentError("Parallelism should be larger than 0")
    if context.catalog.name != SESSION_CATALOG:
        raise InvalidArgumentError(
            "Cannot migrate a table from a non-Iceberg Spark Session Catalog. "
            f"Found {context.catalog.name} of type {context.catalog.properties.get('type', 'unknown')} as the source catalog."
        )
    source = session_table(context, (SESSION_CATALOG, *context.identifier(table)), "migrate")
    if context.catalog.table_exists(source.name):
        raise AlreadyExistsError(f"Cannot migrate table, it is an Iceberg table already: {source.dotted}")
    backup = backup_table_name or f"{source.name[1]}_BACKUP_"
    settings = {"owner": str(context.spark.sparkContext.sparkUser()), "migrated": "true", **(properties or {})}
    if context.dry_run:
        yield (_rehearse(context, source, settings, backup),)
    else:
        yield (_migrate(context, source, settings, backup, drop_backup, parallelism),)


def _rehearse(context: ProcedureContext, source: Any, settings: dict[str, str], backup: str) -> int:
    from icesql.spark.adopt_table import adopt

    adoption = adopt(context.spark, source, context.catalog, source.name, properties=settings, location=source.location, parallelism=1)
    context.planned("rename table", source.dotted, reason=f"to {backup}, as a backup")
    context.planned("create table", source.dotted, reason="over the files of the old one")
    for file in adoption.files:
        context.planned("add file", file.location, reason=f"belongs to {source.dotted}")
    return len(adoption.files)


def _migrate(
    context: ProcedureContext, source: Any, settings: dict[str, str], backup: str, drop_backup: bool | None, parallelism: int | None
) -> int:
    from icesql.spark.adopt_table import adopt
    from icesql.spark.import_files import forget_spark_table

    _rename(context, source.name, backup)
    transaction: Transaction | None = None
    try:
        moved = session_table(context, (SESSION_CATALOG, source.name[0], backup), "migrate")
        adoption = adopt(
            context.spark, moved, context.catalog, source.name, properties=settings, location=source.location, parallelism=parallelism or 1
        )
        count, transaction = adoption.stage(), adoption.transaction
        transaction.commit()
    except BaseException as error:
        if transaction is None or failed_for_certain(error):  # else the new table may be there, under the old one's name
            _restore(context, source, backup)
        raise
    if drop_backup:
        forget_spark_table(context.spark, source.name[0], backup)
    else:
        context.notice(f"the old table is kept as {source.name[0]}.{backup}")
    return count


def _restore(context: ProcedureContext, source: Any, backup: str) -> None:
    """The old table under its name again. Where its files went with the first rename, the failed commit has left empty folders in
    their place, which Spark would take for another table's."""
    io = context.catalog.io
    if next(iter(io.list_files(source.location)), None) is None:
        io.delete_folder(source.location)
    _rename(context, (source.name[0], backup), source.name[1])


def _rename(context: ProcedureContext, name: tuple[str, str], new_name: str) -> None:
    """In Spark's own session catalog, whatever ours holds under that name."""
    from icesql.spark.import_files import rename_spark_table

    rename_spark_table(context.spark, *name, new_name)


PROCEDURE = Procedure(
    name="migrate",
    summary="Replace a Spark table by a table over the same files; the old one is kept under another name.",
    parameters=(
        Parameter(name="table", type="string", required=True, description="a table of Spark's session catalog"),
        Parameter(name="properties", type="map<string,string>", description="properties of the new table"),
        Parameter(name="drop_backup", type="boolean", description="drop the old table at the end; default false"),
        Parameter(name="backup_table_name", type="string", description="name of the old table afterwards; default: <table>_BACKUP_"),
        Parameter(name="parallelism", type="int", description="threads or tasks that read the files' metrics; default 1"),
    ),
    output=(Output(name="migrated_files_count", type="bigint"),),
    call=call,
)
