"""snapshot(source_table, table, ...): a table of ours over the files of a Spark table, which stays as it is."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.errors import AlreadyExistsError, InvalidArgumentError
from icesql.procedures.base import Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.procedures.import_sources import SESSION_CATALOG, not_spark_s, session_table
from icesql.spec.case_folding import fold
from icesql.spec.properties import GC_ENABLED


def call(
    context: ProcedureContext,
    source_table: str,
    table: str,
    location: str | None,
    properties: dict[str, str] | None,
    parallelism: int | None,
    ignore_missing_files: bool | None,
) -> Iterator[Row]:
    from icesql.spark.maintenance.adopt_table import adopt

    for name, value in (("source_table", source_table), ("table", table)):
        if not value:
            raise InvalidArgumentError(f"Cannot handle an empty identifier for argument {name}")
    if source_table == table:
        raise InvalidArgumentError("Cannot create a snapshot with the same name as the source of the snapshot.")
    if parallelism is not None and parallelism <= 0:
        raise InvalidArgumentError("Parallelism should be larger than 0")
    parts, session = context.parts(source_table, "source_table"), context.session
    elsewhere = session.is_ours(session.current_catalog) and session.current_catalog != SESSION_CATALOG
    if elsewhere and fold(parts[0]) != SESSION_CATALOG and not session.is_ours(parts[0]):
        raise not_spark_s(session.current_catalog, "snapshot")  # as anywhere: a name without a catalog is in the current one
    source = session_table(context, parts, "snapshot")
    address = session.address(context.parts(table))
    if address is None:
        raise InvalidArgumentError(f"Cannot create a snapshot in catalog spark_catalog, it is no Iceberg catalog: {table}")
    catalog, identifier = address
    if catalog.table_exists(identifier):
        raise AlreadyExistsError(f"Cannot create table: Table already exists: {'.'.join(identifier)}")
    chosen = location or catalog.default_location(identifier)
    if chosen.rstrip("/") == source.location.rstrip("/"):
        raise InvalidArgumentError(
            "The snapshot table location cannot be same as the source table location. "
            "This would mix snapshot table files with original table files."
        )
    settings = {"owner": str(context.spark.sparkContext.sparkUser()), **(properties or {}), GC_ENABLED: "false", "snapshot": "true"}
    adoption = adopt(
        context.spark, source, catalog, identifier, properties=settings, location=location, parallelism=parallelism or 1,
        ignore_missing=bool(ignore_missing_files),
    )  # fmt: skip
    if not adoption.files:
        context.notice(f"snapshot found no data files in {source.dotted}: the new table is empty")
    if context.dry_run:
        context.planned("create table", ".".join((catalog.name, *identifier)), reason=f"over the files of {source.dotted}")
        for file in adoption.files:
            context.planned("add file", file.location, reason=f"belongs to {source.dotted}")
        yield (len(adoption.files),)
    else:
        yield (adoption.commit(),)


PROCEDURE = Procedure(
    name="snapshot",
    summary="Create a table over the files of a Spark table, to try things out; the source and its files stay as they are.",
    parameters=(
        Parameter(name="source_table", type="string", required=True, description="a table of Spark's session catalog"),
        Parameter(name="table", type="string", required=True, description="name of the new table"),
        Parameter(name="location", type="string", description="where the new table's own files go; default: the catalog's place for it"),
        Parameter(name="properties", type="map<string,string>", description="properties of the new table"),
        Parameter(name="parallelism", type="int", description="threads or tasks that read the files' metrics; default 1"),
        Parameter(name="ignore_missing_files", type="boolean", description="pass by partitions whose folder is gone; default false"),
    ),
    output=(Output(name="imported_files_count", type="bigint"),),
    call=call,
)
