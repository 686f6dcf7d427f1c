"""Spark's own servers over a session: the Thrift server for JDBC and ODBC, and Spark Connect."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject


class JdbcServer:
    """The Thrift server. ``settings``: Hive's, ``hive.server2.*``."""

    def __init__(self, spark: SparkSession, settings: Mapping[str, str]) -> None:
        self._bridge = bridge_of(spark)
        system = self._bridge.java_class("java.lang.System")
        system.clearProperty("derby.system.home")  # Hive's database in memory takes a folder of that name for its own, and fails
        for key, value in settings.items():
            system.setProperty(key, value)
        self._server = self._bridge.module(classes.THRIFT_SERVER).startWithContext(self._bridge.session.sqlContext())

    def open_sessions(self) -> set[str]:
        """The ids of the Spark sessions that clients have."""
        manager = _service(_service(self._server, "SparkSQLCLIService"), "SparkSQLSessionManager")
        field = manager.getClass().getDeclaredField("sparkSqlOperationManager")
        field.setAccessible(True)
        operations = field.get(manager)
        return set() if operations is None else {str(each.sessionUUID()) for each in operations.sessionToContexts().values()}

    def stop(self) -> None:
        self._server.stop()


def _service(server: JavaObject, name: str) -> JavaObject:
    return next(each for each in server.getServices() if each.getClass().getSimpleName() == name)


class ConnectServer:
    """Spark Connect, at the address and port of the context's settings."""

    def __init__(self, spark: SparkSession) -> None:
        self._bridge: Bridge = bridge_of(spark)
        self._service = self._bridge.module(classes.CONNECT_SERVICE)
        self._service.start(spark.sparkContext._jsc.sc())

    def open_sessions(self) -> set[str]:
        """The ids of the Spark sessions that clients have."""
        return {str(each.serverSessionId()) for each in self._bridge.as_java(self._service.sessionManager().listActiveSessions())}

    def stop(self) -> None:
        self._service.stop(self._bridge.none, self._bridge.none)
