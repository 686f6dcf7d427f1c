"""Errors of a Python parser as Spark raises its own: with condition, SQLSTATE, place and message, and without Py4J's trace.

A parser that Java calls by an interface may throw Spark's ParseException and unchecked exceptions; Java wraps all others. What is not
one becomes a ParseException, which is an AnalysisException too, with the message and the condition of what it stands for.
"""

from __future__ import annotations

import re

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from icesql.errors import (
    CommitFailedError,
    CorruptMetadataError,
    IcesqlError,
    ServiceError,
    SqlError,
    UnsupportedError,
)
from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject

_CONDITION = re.compile(r"\[([A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\] ")
_DEEPEST = 10  # causes of causes
_ANY = "PARSE_EMPTY_STATEMENT"  # a condition without parameters
_CONDITIONS = (  # of Spark's, for errors that name none: clients go by the SQLSTATE. The first that fits
    (SqlError, "INVALID_SQL_SYNTAX", "42000"),
    (UnsupportedError, "UNSUPPORTED_FEATURE", "0A000"),
    (CommitFailedError, "CONCURRENT_STREAM_LOG_UPDATE", "40000"),  # the one that says: again
    (CorruptMetadataError, "INTERNAL_ERROR_METADATA_CATALOG", "XX000"),
    (ServiceError, "INTERNAL_ERROR_NETWORK", "XX000"),
    (IcesqlError, "INVALID_PARAMETER_VALUE", "22023"),
    (BaseException, "INTERNAL_ERROR", "XX000"),
)


def propagate(spark: SparkSession) -> None:
    """From now on Java exceptions that a callback raises reach the JVM as they are."""
    gateway = bridge_of(spark).gateway
    gateway.python_parameters.propagate_java_exceptions = True
    gateway.callback_server_parameters.propagate_java_exceptions = True


def as_java(spark: SparkSession, text: str, error: BaseException) -> Py4JJavaError:
    """The error to raise in a callback. ``text``: the statement."""
    bridge = bridge_of(spark)
    java = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    if java is None or not _may_be_thrown(bridge, java):
        java = _parse_exception(bridge, text, error)
    _forget_trace(bridge, java)
    return Py4JJavaError("", java)


def _forget_trace(bridge: Bridge, java: JavaObject) -> None:
    """Spark Connect shows it to clients, who need not see how Python and Java call each other."""
    nothing = bridge.gateway.new_array(bridge.java_class("java.lang.StackTraceElement"), 0)
    for _ in range(_DEEPEST):
        if java is None:
            return
        java.setStackTrace(nothing)
        java = java.getCause()


def _may_be_thrown(bridge: Bridge, java: JavaObject) -> bool:
    return any(bridge.class_(name).isInstance(java) for name in (classes.PARSE_EXCEPTION, "java.lang.RuntimeException", "java.lang.Error"))


def _parse_exception(bridge: Bridge, text: str, error: BaseException) -> JavaObject:
    message = str(error._desc) if isinstance(error, CapturedException) else str(error) or type(error).__name__
    message = message.partition(" Trace:\n")[0]  # of Py4J's own errors
    line, column = (error.line, error.column) if isinstance(error, SqlError) else (None, None)
    if line is not None:
        message = message.partition(f" (line {line}, column {column})")[0]  # Spark's exception shows the place itself
    condition, message = _with_condition(message.strip(), error)
    some, none = bridge.java_class(classes.SOME), bridge.none
    place = [none if line is None else some(line), none if column is None else some(column - 1)]
    is_4_0 = pyspark.__version__.startswith("4.0.")
    origin = bridge.java_class(classes.ORIGIN)(*place, *[none] * (7 if is_4_0 else 8))
    ends = (origin, origin) if is_4_0 else (origin,)
    thrown = bridge.java_class(classes.PARSE_EXCEPTION)(some(text), *ends, _ANY, bridge.scala_map({}))
    _set(bridge, thrown, "message", message)
    _set(bridge, thrown, "errorClass", some(condition))
    return thrown


def _with_condition(message: str, error: BaseException) -> tuple[str, str]:
    """The condition, and the message that names it and its SQLSTATE."""
    if (named := _CONDITION.match(message)) is not None:
        return named[1], message
    condition, state = next((condition, state) for kind, condition, state in _CONDITIONS if isinstance(error, kind))
    return condition, f"[{condition}] {message.removesuffix('.')}. SQLSTATE: {state}"


def _set(bridge: Bridge, thrown: JavaObject, name: str, value: object) -> None:
    for class_ in (classes.PARSE_EXCEPTION, classes.ANALYSIS_EXCEPTION):
        for field in bridge.class_(class_).getDeclaredFields():
            if field.getName() == name:
                field.setAccessible(True)
                field.set(thrown, value)
