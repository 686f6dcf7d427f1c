"""Spark's own SQL shell, ``SparkSQLCLIDriver``, in the JVM of a session: its arguments, its standard input, its Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import SparkSession

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import bridge_of


def run_shell(spark: SparkSession, arguments: Sequence[str], standard_input: int, interrupted: Callable[[], None]) -> None:
    """Run the shell over the default session. At its end the JVM ends, with the shell's exit code.

    ``standard_input``: the descriptor, inherited by the JVM, that it reads: its own is the pipe by which it knows that Python lives.
    ``interrupted`` is called for Ctrl-C while a statement runs, from another thread.
    """
    bridge = bridge_of(spark)
    descriptor = bridge.class_("java.io.FileDescriptor")
    number = descriptor.getDeclaredField("fd")
    number.setAccessible(True)
    number.setInt(descriptor.getField("in").get(None), standard_input)
    bridge.java_class(classes.HIVE_INTERRUPTS).add(_Interrupted(interrupted))
    words = bridge.gateway.new_array(bridge.java_class("java.lang.String"), len(arguments))
    for place, word in enumerate(arguments):
        words[place] = word
    bridge.java_class(classes.SQL_SHELL).main(words)


class _Interrupted:
    def __init__(self, interrupted: Callable[[], None]) -> None:
        self._interrupted = interrupted

    def interrupt(self) -> None:
        self._interrupted()

    class Java:
        implements = [classes.HIVE_INTERRUPT_CALLBACK]
