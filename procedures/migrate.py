"""migrate(table, ...): a Spark table becomes a table of ours, under its name, over its files; the old one is kept as a backup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from icesql.catalog.base import Identifier
from icesql.catalog.names import strip_trailing_slash
from icesql.errors import AlreadyExistsError, InvalidArgumentError
from icesql.procedures.base import Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.procedures.import_sources import SESSION_CATALOG, session_table
from icesql.table.table import Table


def call(
    context: ProcedureContext,
    table: str,
    properties: dict[str, str] | None,
    drop_backup: bool | None,
    backup_table_name: str | None,
    parallelism: int | None,
    ignore_missing_files: bool | None,
) -> Iterator[Row]:
    if parallelism is not None and parallelism <= 0:
        raise InvalidArgumentError("Parallelism should be larger than 0")
    if context.catalog.name != SESSION_CATALOG:
        raise InvalidArgumentError(
            "Cannot migrate a table from a non-Iceberg Spark Session Catalog. "
            f"Found {context.catalog.name} of type {context.catalog.properties.get('type', 'unknown')} as the source catalog."
        )
    name = context.identifier(table)
    taken_over = context.catalog.load_table(name) if context.catalog.table_exists(name) else None
    source = _source(context, name, taken_over)
    backup = backup_table_name or f"{source.name[1]}_BACKUP_"
    _check_backup(context, source, backup)
    settings = {"owner": str(context.spark.sparkContext.sparkUser()), **(properties or {}), "migrated": "true"}
    reading = {"parallelism": parallelism or 1, "ignore_missing": bool(ignore_missing_files)}
    count = _take_over(context, source, settings, reading) if taken_over is None else _taken_over(taken_over)
    _put_aside(context, source, backup, drop=bool(drop_backup))
    yield (count,)


def _source(context: ProcedureContext, name: Identifier, taken_over: Table | None) -> Any:
    """The Spark table of that name. Raises AlreadyExistsError for one of ours, unless an earlier call that was killed made it."""
    from icesql.spark.maintenance.import_files import spark_table_exists

    exists = len(name) == 2 and spark_table_exists(context.spark, *name)
    source = session_table(context, (SESSION_CATALOG, *name), "migrate") if exists or taken_over is None else None
    if taken_over is None:
        return source
    if source is None or taken_over.properties.get("migrated") != "true" or taken_over.location != strip_trailing_slash(source.location):
        raise AlreadyExistsError(f"Cannot migrate table, it is an Iceberg table already: {'.'.join(name)}")
    context.notice(f"{source.dotted} was taken over by an earlier call that did not end; only the old table is put aside")
    return source


def _check_backup(context: ProcedureContext, source: Any, backup: str) -> None:
    from icesql.spark.maintenance.import_files import spark_table_exists

    if spark_table_exists(context.spark, source.name[0], backup):
        raise AlreadyExistsError(
            f"Cannot rename {source.dotted} as {source.name[0]}.{backup} for backup. The backup table already exists: "
            "give backup_table_name another name"
        )


def _take_over(context: ProcedureContext, source: Any, settings: dict[str, str], reading: dict[str, Any]) -> int:
    """Ours is found before Spark's of the same name, so that at any moment there is one to be read."""
    from icesql.spark.maintenance.adopt_table import adopt

    adoption = adopt(context.spark, source, context.catalog, source.name, properties=settings, location=source.location, **reading)
    if not context.dry_run:
        return adoption.commit()
    context.planned("create table", source.dotted, reason="over the files of the old one")
    for file in adoption.files:
        context.planned("add file", file.location, reason=f"belongs to {source.dotted}")
    return len(adoption.files)


def _taken_over(table: Table) -> int:
    """How many files the earlier call took over."""
    return int(table.snapshots[0].summary.get("added-data-files", "0")) if table.snapshots else 0


def _put_aside(context: ProcedureContext, source: Any, backup: str, *, drop: bool) -> None:
    from icesql.spark.maintenance.import_files import forget_spark_table, put_spark_table_aside

    if context.dry_run:
        context.planned(
            "drop table" if drop else "rename table", source.dotted, reason="its files stay" if drop else f"to {backup}, as a backup"
        )
    elif drop:
        forget_spark_table(context.spark, source.name)
    else:
        put_spark_table_aside(context.spark, source.name, backup)
        context.notice(f"the old table is kept as {source.name[0]}.{backup}")


PROCEDURE = Procedure(
    name="migrate",
    summary="Replace a Spark table by a table over the same files; the old one is kept under another name.",
    parameters=(
        Parameter(name="table", type="string", required=True, description="a table of Spark's session catalog"),
        Parameter(name="properties", type="map<string,string>", description="properties of the new table"),
        Parameter(name="drop_backup", type="boolean", description="drop the old table at the end; default false"),
        Parameter(name="backup_table_name", type="string", description="name of the old table afterwards; default: <table>_BACKUP_"),
        Parameter(name="parallelism", type="int", description="threads or tasks that read the files' metrics; default 1"),
        Parameter(name="ignore_missing_files", type="boolean", description="pass by partitions whose folder is gone; default false"),
    ),
    output=(Output(name="migrated_files_count", type="bigint"),),
    call=call,
)
