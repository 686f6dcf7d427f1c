"""What add_files, snapshot and migrate take over: a folder, or a table of Spark's session catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.procedures.context import ProcedureContext
from icesql.spec.case_folding import fold
from icesql.table.maintenance.import_files import ImportFiles, Reader
from icesql.table.maintenance.import_source import FORMATS, source_partitions
from icesql.table.table import Table

SESSION_CATALOG = "spark_catalog"


def import_of(
    context: ProcedureContext,
    table: Table,
    parts: Sequence[str],
    partition_filter: Mapping[str, str],
    *,
    branch: str | None = None,
    check_duplicates: bool,
    parallelism: int,
) -> tuple[ImportFiles, Reader]:
    """The import of a ``source_table`` argument, and how its metrics are read."""
    if len(parts) == 2 and parts[0].lower() in FORMATS:
        partitions, columns, counts = source_partitions(table.io, parts[1], parts[0].lower()), None, False
    else:
        from icesql.spark.maintenance.import_files import partitions_of

        source = session_table(context, parts)
        partitions, columns = partitions_of(context.spark, table.io, source), source.partition_columns
        counts = not columns
    task = ImportFiles(
        table=table,
        partitions=partitions,
        partition_columns=columns,
        partition_filter=partition_filter,
        check_duplicates=check_duplicates,
        parallelism=parallelism,
        count_partitions=counts,
        branch=branch,
    )
    return task, reader_of(context, table, parallelism)


def reader_of(context: ProcedureContext, table: Table, parallelism: int) -> Reader:
    from icesql.spark.maintenance.import_files import read_metrics

    return lambda files: read_metrics(context.spark, table.io, table.metadata, files, parallelism)


def not_spark_s(catalog: str, verb: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Cannot {verb} a table that isn't in the session catalog (i.e. spark_catalog). Found source catalog: {catalog}."
    )


def session_table(context: ProcedureContext, parts: Sequence[str], verb: str = "import") -> Any:
    """A table of Spark's session catalog. Raises InvalidArgumentError for one of another catalog, NotFoundError."""
    from icesql.spark.maintenance.import_files import spark_table

    names = list(parts)
    if fold(names[0]) == SESSION_CATALOG and len(names) > 1:
        names = names[1:]
    elif len(names) > 1 and context.session.is_ours(names[0]):
        raise not_spark_s(names[0], verb)
    if len(names) > 2:
        raise InvalidArgumentError(f"Cannot use table as a source: its name has more than two parts: {'.'.join(names)}")
    return spark_table(context.spark, names[0] if len(names) == 2 else None, names[-1])
