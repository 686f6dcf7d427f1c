"""``icesql serve``: the REST catalog server, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    catalog: Annotated[str | None, typer.Option("--catalog", metavar="NAME", help="for clients that name none")] = None,
    host: Annotated[str | None, typer.Option("--host", help="address to listen at, default 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option("--port", help="default 8181")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="settings, a TOML file")] = None,
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", help="processes, for catalogs on PostgreSQL")] = None,
    new_token: Annotated[str | None, typer.Option("--new-token", metavar="NAME", help="print a token for NAME, and its settings")] = None,
) -> None:
    """Serve Iceberg's REST catalog protocol; with nothing configured, the catalog in ./warehouse."""
    try:
        from icesql.server.access.authentication import new_token as make_token
        from icesql.server.run import serve as run_server
    except ImportError as error:
        typer.echo(f"icesql: Cannot serve: {error.name} is not installed: pip install 'icesql[server]'", err=True)
        raise typer.Exit(1) from None
    if new_token is not None:
        token, lines = make_token(new_token)
        typer.echo(f"{lines}\n# The token itself, which is kept nowhere else: {token}")
        return
    raise typer.Exit(run_server(config, catalog=catalog, host=host, port=port, workers=workers))
