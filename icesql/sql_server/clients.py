"""The clients of a server: each Spark session of theirs has an icesql session of its own, as long as the connection lasts."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from icesql.errors import IcesqlError
from icesql.parser.parsing import parse
from icesql.parser.statements import Other, Query
from icesql.parser.text.script import is_script
from icesql.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pyspark.sql import DataFrame, SparkSession

    from icesql.spark.jvm.door.parser import Arguments


_log = logging.getLogger(__name__)


class Clients:
    """What ``icesql.spark.jvm.door`` asks for the statements of clients."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._missing: set[str] = set()
        self._lock = threading.Lock()
        self.when_made: Callable[[], None] = lambda: None  # called while Spark makes a session

    def session_made(self) -> None:
        try:
            self.when_made()
        except Exception:
            _log.exception("Cannot prepare session of a client")

    def is_inside(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        return session is not None and session.is_inside

    def run(self, session_id: str, spark: SparkSession, text: str, args: Arguments | None) -> tuple[DataFrame, bool]:
        is_query = _is_query(text)
        return self.session(session_id, spark).sql(text, args), is_query

    def session(self, session_id: str, spark: SparkSession) -> Session:
        """A client's, made when it is first asked for."""
        with self._lock:
            session = self._sessions.get(session_id)
            if session is None:
                session = self._sessions[session_id] = Session(spark)
            return session

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


def _is_query(text: str) -> bool:
    """Whether Spark may plan and run what the text gives; all else has run. Text that cannot be read before its parameters and names are
    filled in is taken for a command: its rows are then collected here."""
    if is_script(text):
        return False
    try:
        return isinstance(parse(text), Query | Other)
    except IcesqlError:
        return False
