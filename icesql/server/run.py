"""``icesql serve``: the process."""

from __future__ import annotations

import ipaddress
import logging
import sys
from pathlib import Path
from types import FrameType

import uvicorn

from icesql.errors import IcesqlError, InvalidArgumentError
from icesql.server.http.app import application
from icesql.server.service import Service
from icesql.server.settings import Settings, read_settings


def serve(config: Path | None = None, *, catalog: str | None = None, host: str | None = None, port: int | None = None) -> int:
    """Serve until told to stop; the exit code. What the command line says goes before the file."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    try:
        settings = _with(read_settings(config), catalog, host, port)
        _check_exposure(settings)
        service = Service.of(settings)
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        return 1
    names = ", ".join(service.catalogs)
    scheme = "http" if settings.tls is None else "https"
    print(f"icesql serves {names} at {scheme}://{settings.host}:{settings.port}", file=sys.stderr, flush=True)
    process = uvicorn.Config(
        application(service),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        ssl_certfile=None if settings.tls is None else settings.tls.certificate,
        ssl_keyfile=None if settings.tls is None else settings.tls.key,
        timeout_graceful_shutdown=30,
    )
    _Server(process, service).run()
    return 0


class _Server(uvicorn.Server):
    """Tells the service at once when it is to stop: streams of events end then, and requests under way are still answered."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._service.is_stopping = True
        super().handle_exit(sig, frame)


def _check_exposure(settings: Settings) -> None:
    """Raises InvalidArgumentError for a server that anybody could reach and use."""
    if settings.access.is_open and not _is_loopback(settings.host):
        raise InvalidArgumentError(
            f"Cannot serve at {settings.host}: anybody who reaches it could change every table. "
            "Configure access.tokens or access.jwt, or serve at 127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _with(settings: Settings, catalog: str | None, host: str | None, port: int | None) -> Settings:
    import msgspec

    given = {"default_catalog": catalog, "host": host, "port": port}
    return msgspec.structs.replace(settings, **{key: value for key, value in given.items() if value is not None})
