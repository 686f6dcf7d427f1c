"""``icesql sql-server``: JDBC and Spark Connect for every client, in this process."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer

from icesql.errors import IcesqlError


def sql_server(
    jdbc_port: Annotated[int, typer.Option("--jdbc-port", help="for JDBC and ODBC; 0 for none")] = 10000,
    connect_port: Annotated[int, typer.Option("--connect-port", help="for Spark Connect; 0 for none")] = 15002,
    host: Annotated[str, typer.Option("--host", help="address to listen at; others than this machine's need authentication")] = "127.0.0.1",
    conf: Annotated[list[str] | None, typer.Option("--conf", "-c", metavar="KEY=VALUE", help="a Spark, catalog or Hive setting")] = None,
    master: Annotated[str | None, typer.Option("--master", help="Spark's master, default local[*]")] = None,
) -> None:
    """Serve Iceberg's SQL by JDBC (beeline, DBeaver, Superset, dbt) and Spark Connect, each client with a session of its own."""
    from icesql.cli.main import key_values
    from icesql.sql_server.running import Options, SqlServer

    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    options = Options(
        host=host, jdbc_port=jdbc_port or None, connect_port=connect_port or None, conf=key_values(conf, "--conf"), master=master
    )
    try:
        server = SqlServer(options)
    except IcesqlError as error:
        typer.echo(f"icesql: {error}", err=True)
        raise typer.Exit(1) from None
    if jdbc_port:
        typer.echo(f"JDBC at jdbc:hive2://{host}:{jdbc_port}")
    if connect_port:
        typer.echo(f"Spark Connect at sc://{host}:{connect_port}")
    stopped.wait()
    server.stop()
