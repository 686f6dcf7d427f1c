"""``icesql serve``: the process."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import uvicorn

from icesql.errors import IcesqlError
from icesql.server.http.app import application
from icesql.server.service import Service
from icesql.server.settings import Settings, read_settings


def serve(config: Path | None = None, *, catalog: str | None = None, host: str | None = None, port: int | None = None) -> int:
    """Serve until told to stop; the exit code. What the command line says goes before the file."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    try:
        settings = _with(read_settings(config), catalog, host, port)
        service = Service.of(settings)
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        return 1
    names = ", ".join(service.catalogs)
    print(f"icesql serves {names} at http://{settings.host}:{settings.port}", file=sys.stderr, flush=True)
    uvicorn.run(
        application(service),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=30,
    )
    return 0


def _with(settings: Settings, catalog: str | None, host: str | None, port: int | None) -> Settings:
    import msgspec

    given = {"default_catalog": catalog, "host": host, "port": port}
    return msgspec.structs.replace(settings, **{key: value for key, value in given.items() if value is not None})
