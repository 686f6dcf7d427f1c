"""``icesql serve``: the process."""

from __future__ import annotations

import ipaddress
import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette

from icesql.errors import IcesqlError, InvalidArgumentError
from icesql.server.http.app import application
from icesql.server.logs import log_to_stderr
from icesql.server.service import Service
from icesql.server.settings import Settings, read_settings

_SETTINGS = "ICESQL_SERVER_SETTINGS"


def serve(
    config: Path | None = None,
    *,
    catalog: str | None = None,
    host: str | None = None,
    port: int | None = None,
    workers: int | None = None,
) -> int:
    """Serve until told to stop; the exit code. What the command line says goes before the file."""
    try:
        settings = _with(read_settings(config), default_catalog=catalog, host=host, port=port, workers=workers)
        log_to_stderr(settings.log_format)
        _check_exposure(settings)
        service = Service.of(settings)
        _check_workers(settings, service)
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        return 1
    names = ", ".join(service.catalogs)
    scheme = "http" if settings.tls is None else "https"
    print(f"icesql serves {names} at {scheme}://{settings.host}:{settings.port}", file=sys.stderr, flush=True)
    if settings.workers > 1:
        service.close()
        os.environ[_SETTINGS] = msgspec.json.encode(settings).decode()
        uvicorn.run("icesql.server.run:worker", factory=True, workers=settings.workers, **_options(settings))
        return 0
    _Server(uvicorn.Config(application(service), **_options(settings)), service).run()
    return 0


def worker() -> Starlette:
    """The application of one of several processes; its settings are in the environment."""
    threading.Thread(target=_end_with_the_parent, name="icesql-parent", daemon=True).start()
    settings = msgspec.json.decode(os.environ[_SETTINGS], type=Settings)
    log_to_stderr(settings.log_format)
    return application(Service.of(settings))


def _end_with_the_parent() -> None:
    """Stop as asked by a signal once the process that started this one is gone, however it ended: nobody else would stop it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "ssl_certfile": None if settings.tls is None else settings.tls.certificate,
        "ssl_keyfile": None if settings.tls is None else settings.tls.key,
        "timeout_graceful_shutdown": 30,
        "timeout_worker_healthcheck": 60,  # a process that is slow for a while is not killed in the middle of commits
    }


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


def _check_workers(settings: Settings, service: Service) -> None:
    """Raises InvalidArgumentError: SQLite is one process's at a time, and files have no server that decides."""
    if settings.workers < 1:
        raise InvalidArgumentError(f"Cannot serve with {settings.workers} processes")
    others = [name for name, served in service.catalogs.items() if served.store is None or not served.store.is_shared]
    if settings.workers > 1 and settings.planning.submit_above_manifests:
        raise InvalidArgumentError(
            "Cannot serve with several processes: planning.submit-above-manifests is set, and plans are one process's"
        )
    if settings.workers > 1 and others:
        raise InvalidArgumentError(f"Cannot serve with several processes: these catalogs are not on PostgreSQL: {', '.join(others)}")


def _with(settings: Settings, **given: object) -> Settings:
    return msgspec.structs.replace(settings, **{key: value for key, value in given.items() if value is not None})
