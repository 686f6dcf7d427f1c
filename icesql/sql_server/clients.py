"""The clients of a server: each Spark session of theirs has an icesql session of its own, as long as the connection lasts."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import pyspark

from icesql.errors import IcesqlError, UnsupportedError
from icesql.parser.parsing import parse
from icesql.parser.statements import Other, Query
from icesql.parser.text.identifiers import parse_name
from icesql.parser.text.parameters import parameter_markers
from icesql.parser.text.script import is_script
from icesql.session.session import Session
from icesql.sql_server.cancelling import Cancelling

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pyspark.sql import DataFrame, SparkSession

    from icesql.parser.statements.families import AnyStatement
    from icesql.spark.jvm.door.parser import Answer, Arguments


_log = logging.getLogger(__name__)


class Clients:
    """What ``icesql.spark.jvm.door`` asks for the statements of clients."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._missing: set[str] = set()
        self._cancelling = Cancelling()
        self._lock = threading.Lock()
        self.when_made: Callable[[], None] = lambda: None  # called while Spark makes a session

    def session_made(self) -> None:
        """A failure is logged, and the client has its session all the same: Spark then answers its metadata calls."""
        try:
            self.when_made()
        except Exception:
            _log.exception("Cannot prepare session of a client")

    def is_inside(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        return session is not None and session.is_inside

    def run(self, session_id: str, spark: Callable[[], SparkSession], text: str, args: Arguments | None) -> Answer:
        from icesql.spark.jvm.door.parser import Answer
        from icesql.spark.jvm.door.thread import WaitingThread

        session = self.session(session_id, spark)
        if args is None and pyspark.__version__.startswith("4.0.") and parameter_markers(text):
            raise UnsupportedError(
                "Cannot run statement: Spark 4.0 keeps the values of its parameters to itself; write them into it, or use Spark 4.1"
            )
        statement = _statement(text)
        with self._cancelling.watched(WaitingThread(session.spark)) as running, session.statement() as state:
            state.is_cancelled = running.is_cancelled
            frame = session.sql(text, args)
        return Answer(frame, isinstance(statement, Query | Other), self.shown(statement, frame))

    def session(self, session_id: str, spark: Callable[[], SparkSession]) -> Session:
        """A client's, made when it is first asked for."""
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None:
                session = self._sessions[session_id] = Session(spark())
            return session

    def is_ours(self, session_id: str, spark: Callable[[], SparkSession], name: str) -> bool:
        from icesql.session.dataframe_api.builders import is_ours

        return is_ours(self.session(session_id, spark), name)

    def view_of(self, session_id: str, name: str) -> str | None:
        from icesql.session.dataframe_api.builders import is_table, read_table
        from icesql.spark.jvm import short_views

        session = self._sessions[session_id]
        with session.statement():
            if not is_table(session, name):
                return None
            view = "_ice_" + ".".join(parse_name(name))  # of this name, which may lead elsewhere after a USE: made again each time
            short_views.show(read_table(session, name), view)
            return view

    def shown(self, statement: AnyStatement | None, frame: DataFrame) -> DataFrame | None:
        """What a shell prints of the rows, where that is less than they are."""
        return None

    def cancel(self) -> None:
        """All that runs now: its jobs, and what it would commit."""
        self._cancelling.cancel_all()

    def __len__(self) -> int:
        return len(self._sessions)

    def keep(self, open_sessions: Collection[str]) -> None:
        """Let go of the sessions that are not open now and were not when this was asked last: one that is being opened is in no list yet.

        A transaction that a client has left open is never committed: its changes were in memory alone.
        """
        with self._lock:
            gone = self._sessions.keys() - set(open_sessions)
            for session_id in gone & self._missing:
                del self._sessions[session_id]
            self._missing = gone - self._missing


def _statement(text: str) -> AnyStatement | None:
    """What decides whether Spark may plan and run what the text gives; all else has run. ``None`` for scripts, and for text that cannot
    be read before its parameters and names are filled in: their rows are collected here, as a command's."""
    if is_script(text):
        return None
    try:
        return parse(text)
    except IcesqlError:
        return None
