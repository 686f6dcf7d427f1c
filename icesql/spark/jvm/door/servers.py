"""Spark's own servers over a session: the Thrift server for JDBC and ODBC, and Spark Connect."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.door.metadata_calls import Answer, MetadataCalls
from icesql.spark.jvm.handles import JavaObject


class JdbcServer:
    """The Thrift server. ``settings``: Hive's, ``hive.server2.*``. ``answer``: of metadata calls."""

    def __init__(self, spark: SparkSession, settings: Mapping[str, str], answer: Answer) -> None:
        self._bridge = bridge_of(spark)
        system = self._bridge.java_class("java.lang.System")
        system.clearProperty("derby.system.home")  # Hive's database in memory takes a folder of that name for its own, and fails
        for key, value in settings.items():
            system.setProperty(key, value)
        self._server = self._bridge.module(classes.THRIFT_SERVER).startWithContext(self._bridge.session.sqlContext())
        self._manager = _service(_service(self._server, "SparkSQLCLIService"), "SparkSQLSessionManager")
        sessions = _field(self._bridge.class_(classes.HIVE_SESSIONS), self._manager, "handleToSession")
        self._metadata_calls = MetadataCalls(self._bridge, sessions, self._spark_session, answer)

    def session_opened(self) -> None:
        """A session of Spark's was made: one of a client may have been, for which it was."""
        self._metadata_calls.stand_before_all()

    def _spark_session(self, handle: JavaObject) -> JavaObject | None:
        contexts = self._contexts()
        return None if contexts is None else contexts.get(handle)

    def _contexts(self) -> JavaObject | None:
        """By the handle of a client's session, its Spark session; ``None`` before the first."""
        operations = _field(self._manager.getClass(), self._manager, "sparkSqlOperationManager")
        return None if operations is None else operations.sessionToContexts()

    def open_sessions(self) -> set[str]:
        """The ids of the Spark sessions that clients have."""
        contexts = self._contexts()
        return set() if contexts is None else {str(each.sessionUUID()) for each in contexts.values()}

    def stop(self) -> None:
        self._server.stop()


def _service(server: JavaObject, name: str) -> JavaObject:
    return next(each for each in server.getServices() if each.getClass().getSimpleName() == name)


def _field(class_: JavaObject, owner: JavaObject, name: str) -> JavaObject:
    field = class_.getDeclaredField(name)
    field.setAccessible(True)
    return field.get(owner)


class ConnectServer:
    """Spark Connect, at the address and port of the context's settings."""

    def __init__(self, spark: SparkSession) -> None:
        self._bridge: Bridge = bridge_of(spark)
        self._service = self._bridge.module(classes.CONNECT_SERVICE)
        self._service.start(spark.sparkContext._jsc.sc())

    def session_opened(self) -> None:
        """Nothing here waits for it."""

    def open_sessions(self) -> set[str]:
        """The ids of the Spark sessions that clients have."""
        return {str(each.serverSessionId()) for each in self._bridge.as_java(self._service.sessionManager().listActiveSessions())}

    def stop(self) -> None:
        self._service.stop(self._bridge.none, self._bridge.none)
