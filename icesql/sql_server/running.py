"""``icesql sql-server``: Spark with icesql inside, its Thrift server and Spark Connect, until it is told to stop."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.session.connecting import start_spark
from icesql.session.own_folder import own_folder_path

_AUTHENTICATION = "hive.server2.authentication"
_TOKEN, _TOKEN_VARIABLE = "spark.connect.authenticate.token", "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_SECONDS_BETWEEN = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Where to listen; a port is ``None`` for a server that is not wanted. ``conf``: Spark's settings, and Hive's (``hive.server2.*``)."""

    host: str = "127.0.0.1"
    jdbc_port: int | None = 10000
    connect_port: int | None = 15002
    conf: Mapping[str, str]
    master: str | None = None


def check(options: Options) -> None:
    """Raises InvalidArgumentError for a server that others than this machine's users could use without saying who they are."""
    if options.jdbc_port is None and options.connect_port is None:
        raise InvalidArgumentError("Cannot serve SQL: neither JDBC nor Spark Connect is wanted")
    if _is_loopback(options.host):
        return
    where = f"Cannot serve SQL at {options.host} without authentication"
    if options.jdbc_port is not None and options.conf.get(_AUTHENTICATION, "NONE").upper() in ("NONE", "NOSASL"):
        raise InvalidArgumentError(f"{where}: set {_AUTHENTICATION} for JDBC (LDAP, CUSTOM or KERBEROS), or serve at 127.0.0.1")
    if options.connect_port is not None and not (options.conf.get(_TOKEN) or os.environ.get(_TOKEN_VARIABLE)):
        raise InvalidArgumentError(f"{where}: set {_TOKEN} or {_TOKEN_VARIABLE} for Spark Connect, or serve at 127.0.0.1")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class SqlServer:
    """Runs from when it is made until ``stop``. Raises InvalidArgumentError as ``check`` does, IcesqlError when Java is missing."""

    def __init__(self, options: Options) -> None:
        from icesql.spark.jvm.door.parser import open_door
        from icesql.spark.jvm.door.servers import ConnectServer, JdbcServer
        from icesql.sql_server.clients import Clients

        check(options)
        conf = {key: value for key, value in options.conf.items() if not key.startswith("hive.")}
        conf |= {"spark.connect.grpc.binding.address": options.host, "spark.connect.grpc.binding.port": str(options.connect_port or 0)}
        self.clients = Clients()
        self.spark = open_door(start_spark(conf, master=options.master, app_name="icesql sql-server"), self.clients)
        self._servers: list[Any] = []
        if options.jdbc_port is not None:
            hive = {"derby.stream.error.file": str(own_folder_path() / "derby.log")}
            # A folder of its own: each server removes it when it stops, with the logs of others in it
            hive["hive.server2.logging.operation.log.location"] = str(own_folder_path() / f"operations-{os.getpid()}")
            hive |= {key: value for key, value in options.conf.items() if key.startswith("hive.")}
            hive |= {"hive.server2.thrift.bind.host": options.host, "hive.server2.thrift.port": str(options.jdbc_port)}
            self._servers.append(JdbcServer(self.spark, hive, self._metadata_call))
        if options.connect_port is not None:
            self._servers.append(ConnectServer(self.spark))
        self.clients.when_made = self._session_opened
        self._stopped = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="icesql-sql-clients", daemon=True)
        self._watcher.start()

    def _session_opened(self) -> None:
        for server in self._servers:
            server.session_opened()

    def _metadata_call(self, name: str, spark: Any, arguments: Sequence[Any]) -> str | None:
        from pyspark.sql import SparkSession

        from icesql.sql_server.metadata_calls import query

        session = self.clients.session(str(spark.sessionUUID()), lambda: SparkSession(self.spark.sparkContext, spark))
        return query(session, name, arguments)

    def _watch(self) -> None:
        """Lets go of what clients that have left had: their sessions, and the connections by which their threads called Python."""
        from icesql.spark.jvm.bridge import tidy

        while not self._stopped.wait(_SECONDS_BETWEEN):
            self.clients.keep({session for server in self._servers for session in server.open_sessions()})
            tidy(self.spark)

    def stop(self) -> None:
        """No statement is taken any more; what runs is cancelled."""
        self._stopped.set()
        self._watcher.join()
        for server in self._servers:
            server.stop()
        self.spark.stop()
