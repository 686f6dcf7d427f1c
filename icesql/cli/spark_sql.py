"""``icesql spark-sql``: Spark's own SQL shell with icesql inside."""

from __future__ import annotations

from typing import Annotated

import typer

from icesql.errors import IcesqlError

SETTINGS = {"ignore_unknown_options": True, "help_option_names": ["--help"]}


def spark_sql(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OPTION ...]", help="as of spark-sql: -e SQL, -f FILE, -i FILE, -S, --hivevar, --conf, --master ..."),
    ] = None,
) -> None:
    """Spark's own shell, spark-sql, with Iceberg's statements: its options, its output, its exit codes."""
    from icesql.sql_server.shell import run

    try:
        code = run(arguments or [])
    except IcesqlError as error:
        typer.echo(f"icesql: {error}", err=True)
        code = 1
    raise typer.Exit(code)
