"""Spark's own interpreter of BEGIN ... END scripts, driven one statement at a time, so that statements Spark cannot run are run by another.

The interpreter (``SqlScriptingExecution``) keeps everything that is the language: variables, conditions, loops, labels, handlers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

from pyspark.errors.exceptions import captured
from pyspark.sql import DataFrame, SparkSession

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.handles import JavaObject
from icesql.table.after_commit import after_commit

_BODIES = frozenset({"body", "collection", "conditionalBodies", "elseBody", "handlers"})
_ASKED = frozenset({"condition", "conditions", "query", "caseVariableExpression", "conditionExpressions"})
_ABOUT_VARIABLES = frozenset({"CreateVariable", "DropVariable", "SetVariable"})
_REFLECTION = "java.lang.reflect.InvocationTargetException"


def version_numbers(version: str) -> tuple[int, int]:
    """Major and minor number of a Spark version (``4.10.0-SNAPSHOT``), to be compared."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


# -- a script as it was parsed -----------------------------------------------------------------------------------------
def parsed_script(spark: SparkSession, text: str) -> JavaObject | None:
    """Spark's tree of a script; ``None`` if the text is another statement. Raises Spark's own errors."""
    plan = bridge_of(spark).state.sqlParser().parsePlan(text)
    return plan if plan.nodeName() == "CompoundBody" else None


def statement_places(body: JavaObject) -> list[tuple[int, int]]:
    """Where in the text the statements stand that are steps of the script, but for those about variables."""
    return [place for place, is_step in _places(body) if is_step]


def expression_places(body: JavaObject) -> list[tuple[int, int]]:
    """Where in the text stands what Spark evaluates itself: conditions, queries of FOR, and statements about variables."""
    return [place for place, is_step in _places(body) if not is_step]


def _places(node: JavaObject) -> Iterator[tuple[tuple[int, int], bool]]:
    if node.nodeName() == "SingleStatement":
        yield from _place(node, node.parsedPlan().nodeName() not in _ABOUT_VARIABLES)
        return
    names = set(node.productElementNames().mkString(" ").split())  # listing the class's methods takes thousands of calls to the JVM
    for name in sorted(_BODIES & names):
        for child in _items(getattr(node, name)()):
            yield from _places(child)
    if node.nodeName() == "CompoundBody":
        return  # its ``conditions`` are names of errors
    for name in sorted(_ASKED & names):
        for child in _items(getattr(node, name)()):
            yield from _place(child, False)


def _place(node: JavaObject, is_step: bool) -> Iterator[tuple[tuple[int, int], bool]]:
    origin = node.origin()
    if origin.startIndex().isDefined():
        yield (origin.startIndex().get(), origin.stopIndex().get() + 1), is_step


def _items(value: JavaObject) -> Iterator[JavaObject]:
    """What a Scala Seq or Option holds, or the value itself."""
    kind = value.getClass().getName()
    if kind == "scala.Some":
        yield value.get()
    elif kind.startswith("scala.collection"):
        yield from (value.apply(i) for i in range(value.size()))
    elif not kind.startswith("scala.None"):
        yield value


# -- a script at work --------------------------------------------------------------------------------------------------
class Script:
    """Its steps are taken within ``running()``. ``user_text``: Spark's messages as the user is to read them."""

    def __init__(self, spark: SparkSession, body: JavaObject, user_text: Callable[[str], str]) -> None:
        self._spark, self._user_text = spark, user_text
        self._bridge: Bridge = bridge_of(spark)
        execution = self._bridge.java_class(classes.SCRIPTING_EXECUTION)
        self._execution = execution(body, self._bridge.session, self._bridge.scala_map({}))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Spark finds the script's variables while the block runs."""
        with self._variables_of(self._manager):
            yield

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Spark does not find the script's variables while the block runs."""
        with self._variables_of(None):
            yield

    def steps(self, before: Callable[[], None]) -> Iterator[JavaObject]:
        """Each statement to run, in turn. ``before`` is called before Spark looks for the next. What its conditions and loops raise goes
        to the script's handlers."""
        while True:
            before()
            try:
                option = self._method("getNextStatement").invoke(self._execution, None)
            except Exception as error:
                self.handle(error, by_spark=True)
                continue
            if option.isEmpty():
                return
            statement = option.get()
            if statement.getClass().getSimpleName() == "SingleStatementExec" and not statement.isExecuted():
                yield statement

    def place(self, statement: JavaObject) -> int:
        """Where it begins in the text; -1 for those that the interpreter adds."""
        start = statement.origin().startIndex()
        return -1 if statement.isInternal() or start.isEmpty() else int(start.get())

    def run(self, statement: JavaObject) -> None:
        """Let Spark run a statement that has no rows; what it raises goes to the script's handlers."""
        try:
            statement.buildDataFrame(self._bridge.session)
        except Exception as error:
            self.handle(error, by_spark=True)

    def handle(self, error: Exception, *, by_spark: bool = False) -> None:
        """Make the handler that takes the error the next to run. Raises the error where none does; ``by_spark``: in the user's words."""
        thrown = _thrown(error)
        if thrown is None or not self._has_condition(thrown):
            raise error if thrown is None else self._as_pyspark(error, thrown, by_spark)
        try:
            self._method("handleException").invoke(self._execution, self._array(thrown))
        except Exception as again:
            other = _thrown(again)
            if other is not None and not other.equals(thrown):
                raise self._as_pyspark(again, other, by_spark) from None
            raise self._as_pyspark(error, thrown, by_spark) from None

    def takes(self, condition: str, message: str) -> bool:
        """Whether the script has a handler for that condition of Spark's; it is then the next to run."""
        bridge = self._bridge
        contexts = bridge.gateway.new_array(bridge.java_class(classes.QUERY_CONTEXT), 0)
        name = bridge.java_class(classes.SOME)(condition)
        thrown = bridge.java_class(classes.SPARK_EXCEPTION)(message, None, name, bridge.scala_map({}), contexts)
        if not self._has_condition(thrown):
            return False
        try:
            self._method("handleException").invoke(self._execution, self._array(thrown))
        except Exception as error:
            if thrown.equals(_thrown(error)):
                return False
            raise
        return True

    def rows_kept(self, frame: DataFrame) -> DataFrame:
        """The frame's rows as they are now."""
        rows = frame._jdf.collectAsList()
        return DataFrame(self._bridge.session.createDataFrame(rows, frame._jdf.schema()), self._spark)

    # -- the interpreter's private parts -------------------------------------------------------------------------
    @cached_property
    def _current(self) -> JavaObject:
        """The thread's manager of variables."""
        return getattr(self._bridge.module(classes.SCRIPTING_CONTEXT_MANAGER), classes.CONTEXT_MANAGER_FIELD)()

    @cached_property
    def _manager(self) -> JavaObject:
        field = self._execution.getClass().getDeclaredField("contextManager")
        field.setAccessible(True)
        return field.get(self._execution)

    @contextmanager
    def _variables_of(self, manager: JavaObject) -> Iterator[None]:
        before = self._current.get()
        self._set(manager)
        try:
            yield
        finally:
            with after_commit("give Spark back the variables outside of the script"):
                self._set_back(before)

    def _set_back(self, manager: JavaObject) -> None:
        self._set(manager)

    def _set(self, manager: JavaObject) -> None:
        if manager is None:
            self._current.remove()
        else:
            self._current.set(manager)

    def _method(self, name: str) -> JavaObject:
        method = self._methods.get(name)
        if method is None:
            method = next(method for method in self._execution.getClass().getDeclaredMethods() if method.getName() == name)
            method.setAccessible(True)
            self._methods[name] = method
        return method

    @cached_property
    def _methods(self) -> dict[str, JavaObject]:
        return {}

    def _array(self, value: JavaObject) -> JavaObject:
        array = self._bridge.gateway.new_array(self._bridge.java_class("java.lang.Object"), 1)
        array[0] = value
        return array

    def _has_condition(self, thrown: JavaObject) -> bool:
        """Whether handlers can take it."""
        is_one = self._bridge.class_(classes.SPARK_THROWABLE).isInstance(thrown)
        return bool(is_one) and thrown.getCondition() is not None and bool(thrown.getSqlState())

    def _as_pyspark(self, error: Exception, thrown: JavaObject, by_spark: bool) -> Exception:
        """The error as PySpark raises it."""
        if not isinstance(error, captured.CapturedException) or error._origin is not thrown:
            converted = captured.convert_exception(thrown)
            error = error if isinstance(converted, captured.UnknownException) else converted
        if by_spark and isinstance(error, captured.AnalysisException) and error._desc:
            error._desc = self._user_text(error._desc)
        return error


def _thrown(error: BaseException) -> JavaObject | None:
    """The Java exception behind an error, out of the wrapping of reflection."""
    thrown = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while thrown is not None and thrown.getClass().getName() == _REFLECTION:
        thrown = thrown.getTargetException()
    return thrown
