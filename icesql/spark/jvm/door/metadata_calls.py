"""JDBC's metadata calls. Spark's Thrift server answers them from its own catalog; here each session of a client is asked first.

A session in Hive's protocol is a Java interface: in the server's map of sessions a Python object stands before each. It answers such a
call by running a query that gives the rows, whose operation the client then reads as it would that of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.handles import JavaObject

Answer = Callable[[str, JavaObject, Sequence[Any]], str | None]
"""The query of a call (``getTables``) of a client with a Spark session, and its arguments; ``None``: Spark is to answer."""

_CALLS = ("getCatalogs", "getSchemas", "getTables", "getColumns")
_GENERAL_ERROR = "HY000"
_BEFORE = "icesql before"


class MetadataCalls:
    """``contexts``: the Spark session of a session's handle, ``None`` before it is made."""

    def __init__(self, bridge: Bridge, sessions: JavaObject, contexts: Callable[[JavaObject], JavaObject | None], answer: Answer) -> None:
        self._bridge, self._sessions = bridge, sessions
        self._contexts, self._answer = contexts, answer

    def stand_before_all(self) -> None:
        """Called when a session may have been opened."""
        for entry in self._sessions.entrySet():
            session = entry.getValue()
            if not str(session.toString()).startswith(_BEFORE):
                self._sessions.replace(entry.getKey(), session, _Session(self, session))

    def operation(self, session: JavaObject, name: str, arguments: Sequence[Any]) -> JavaObject:
        spark = self._contexts(session.getSessionHandle())
        query = None if spark is None else self._asked(name, spark, arguments)
        if query is None:
            return getattr(session, name)(*arguments)
        return session.executeStatement(query, self._bridge.java_class("java.util.HashMap")())

    def _asked(self, name: str, spark: JavaObject, arguments: Sequence[Any]) -> str | None:
        try:
            return self._answer(name, spark, arguments)
        except Py4JJavaError:
            raise
        except Exception as error:
            raise Py4JJavaError("", self._bridge.java_class(classes.HIVE_ERROR)(str(error), _GENERAL_ERROR)) from None


class _Session:
    def __init__(self, calls: MetadataCalls, session: JavaObject) -> None:
        self._calls, self._session = calls, session

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _CALLS:
            return lambda *arguments: self._calls.operation(self._session, name, arguments)
        return getattr(self._session, name)

    def toString(self) -> str:
        return f"{_BEFORE} {self._session.toString()}"

    def hashCode(self) -> int:
        return int(self._session.hashCode())

    def equals(self, other: object) -> bool:
        return self is other

    class Java:
        implements = [classes.HIVE_SESSION]
