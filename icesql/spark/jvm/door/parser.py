"""The parser that each session of Spark's is given: a Python object that asks ``Door`` what a text is, and Spark's own for the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from pyspark.sql import Column, DataFrame, SparkSession

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.door.errors import as_java, propagate
from icesql.spark.jvm.door.results import command_result, query_plan
from icesql.spark.jvm.door.returned import kept
from icesql.spark.jvm.handles import JavaObject

_READERS = ("SparkConnectPlanner.transformReadRel(", "classic.DataFrameReader.table(")
Arguments = Mapping[str, Column] | Sequence[Column]


@dataclass(frozen=True, slots=True)
class Answer:
    """A statement's rows. A command has run, once; a query's plan is Spark's to run. ``shown``: what Spark's shell prints of a command's
    rows, where that is less than they are."""

    frame: DataFrame
    is_query: bool
    shown: DataFrame | None = None


class Door(Protocol):
    """Who answers clients' statements. ``session_id``: that of the Spark session that a client has."""

    def session_made(self) -> None:
        """Called while Spark makes a session. Raises nothing."""

    def is_inside(self, session_id: str) -> bool:
        """Whether the text that this thread has Spark parse is a statement's own: then it is Spark's."""

    def run(self, session_id: str, spark: Callable[[], SparkSession], text: str, args: Arguments | None) -> Answer:
        """What the statement gives, which is run once. ``spark``: the session, for whoever does not have it yet."""

    def is_ours(self, session_id: str, spark: Callable[[], SparkSession], name: str) -> bool:
        """Whether a name may be that of a table of ours."""

    def view_of(self, session_id: str, name: str) -> str | None:
        """The name of a temporary view of a table of ours, made now; ``None`` for a name that is Spark's after all."""


def open_door(spark: SparkSession, door: Door) -> SparkSession:
    """A new session of the same Spark, now the default one: in it, and in sessions made of it, ``door`` answers what is parsed."""
    bridge = bridge_of(spark)
    propagate(spark)
    session = bridge.java_class(classes.SPARK_SESSION)
    session.clearActiveSession()
    session.clearDefaultSession()
    made = session.builder().withExtensions(_Extensions(spark, door)).getOrCreate()
    return SparkSession(spark.sparkContext, made)


class _Parser:
    """The session is held weakly: it holds its parser, and neither side's collector sees the other's references."""

    def __init__(self, root: SparkSession, door: Door, session: JavaObject, delegate: JavaObject) -> None:
        bridge = bridge_of(root)
        self._root, self._door, self._delegate = root, door, delegate
        self._id = str(session.sessionUUID())
        self._session = bridge.java_class("java.lang.ref.WeakReference")(session)

    def parsePlan(self, text: str) -> JavaObject:
        if self._door.is_inside(self._id):
            return self._asked("parsePlan", text)
        return kept(self._run(text, None))

    def parsePlanWithParameters(self, text: str, context: JavaObject) -> JavaObject:
        if self._door.is_inside(self._id):
            return self._asked("parsePlanWithParameters", text, context)
        return kept(self._run(text, _arguments(bridge_of(self._root), context)))

    def parseMultipartIdentifier(self, text: str) -> JavaObject:
        """The parts of a name; where a table is to be read that is ours, those of a view of it."""
        try:
            if (
                not self._door.is_inside(self._id)
                and self._door.is_ours(self._id, self._spark, text)
                and _reads_table(bridge_of(self._root))
            ):
                view = self._door.view_of(self._id, text)
                text = text if view is None else f"`{view}`"
        except Exception as error:
            raise as_java(self._root, text, error) from None
        return self._asked("parseMultipartIdentifier", text)

    def _run(self, text: str, args: Arguments | None) -> JavaObject:
        try:
            answer = self._door.run(self._id, self._spark, text, args)
            return query_plan(answer.frame) if answer.is_query else command_result(answer.frame, answer.shown)
        except Exception as error:
            raise as_java(self._root, text, error) from None

    def _spark(self) -> SparkSession:
        return SparkSession(self._root.sparkContext, self._session.get())

    def _asked(self, method: str, text: str, *rest: Any) -> JavaObject:
        """What Spark's own parser answers, or raises."""
        try:
            return kept(getattr(self._delegate, method)(text, *rest))
        except Exception as error:
            raise as_java(self._root, text, error) from None

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("parse"):
            raise AttributeError(name)
        return partial(self._asked, name)

    def toString(self) -> str:
        return f"icesql's parser of session {self._id}"

    class Java:
        implements = [classes.PARSER_INTERFACE]


def _reads_table(bridge: Bridge) -> bool:
    """Whether a name is parsed for ``spark.table`` or ``spark.read.table``, of the JVM or of a Spark Connect client: writers parse names
    of targets by the same method."""
    frames = bridge.java_class(classes.SCALA_RUN_TIME).stringOf(bridge.java_class("java.lang.Thread").currentThread().getStackTrace())
    return any(reader in frames for reader in _READERS)


def _arguments(bridge: Bridge, context: JavaObject) -> Arguments | None:
    """Those of a ``ParameterContext``, by name or by place."""
    params = bridge.as_java(context.params())
    if context.getClass().getSimpleName() == "NamedParameterContext":
        return {str(entry.getKey()): bridge.column(entry.getValue()) for entry in params.entrySet()} or None
    return [bridge.column(value) for value in params] or None


class _MakeParser:
    def __init__(self, root: SparkSession, door: Door) -> None:
        self._root, self._door = root, door

    def apply(self, session: JavaObject, delegate: JavaObject) -> _Parser:
        self._door.session_made()
        return _Parser(self._root, self._door, session, delegate)

    class Java:
        implements = ["scala.Function2"]


class _Extensions:
    def __init__(self, root: SparkSession, door: Door) -> None:
        self._make = _MakeParser(root, door)

    def apply(self, extensions: JavaObject) -> None:
        extensions.injectParser(self._make)

    class Java:
        implements = ["scala.Function1"]
