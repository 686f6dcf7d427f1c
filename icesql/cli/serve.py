"""``icesql serve``: Iceberg's REST catalog protocol, without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    catalog: Annotated[str | None, typer.Option("--catalog", metavar="NAME", help="for clients that name none")] = None,
    host: Annotated[str | None, typer.Option("--host", help="address to listen at, default 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option("--port", help="default 8181")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="settings, a TOML file")] = None,
) -> None:
    """Serve Iceberg's REST catalog protocol; with nothing configured, the catalog in ./warehouse."""
    try:
        from icesql.server.run import serve as run_server
    except ImportError as error:
        typer.echo(f"icesql: Cannot serve: {error.name} is not installed: pip install 'icesql[server]'", err=True)
        raise typer.Exit(1) from None
    raise typer.Exit(run_server(config, catalog=catalog, host=host, port=port))
