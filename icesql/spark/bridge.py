"""The JVM handles a Spark session needs, looked up once and kept as long as the session.

Every Py4J name look-up is a round trip, so modules of this room ask the bridge, never ``spark._jvm``.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import os
import re
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

from py4j.java_gateway import JavaPackage
from pyspark.errors.exceptions import captured
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.types import DataType, StructType

from icesql.errors import UnsupportedError
from icesql.spark.callbacks import accept_callbacks, forget_connections

_SENT_BYTES = 32 << 10
_KEPT_TYPES = 256


class JvmNames:
    """A JVM package whose members are looked up once."""

    def __init__(self, package: Any) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._package, name)
        if isinstance(found, JavaPackage):
            found = JvmNames(found)
        setattr(self, name, found)
        return found


class Bridge:
    """JVM handles of one classic session. Thread safe: each handle is immutable once found."""

    def __init__(self, spark: SparkSession) -> None:
        if not hasattr(spark, "_jsparkSession"):
            raise UnsupportedError("Cannot use Spark session: icesql needs a classic session, not Spark Connect")
        self._spark = weakref.ref(spark)
        self.jvm: Any = JvmNames(spark._jvm)
        self.session: Any = spark._jsparkSession
        self.gateway: Any = spark.sparkContext._gateway
        accept_callbacks(self.gateway)
        install_error_translation()

    @property
    def spark(self) -> SparkSession:
        spark = self._spark()
        if spark is None:
            raise UnsupportedError("Cannot use Spark session: it was closed")
        return spark

    # -- Scala values --------------------------------------------------------------------------------------------
    @cached_property
    def as_java(self) -> Any:
        return self.jvm.scala.jdk.javaapi.CollectionConverters.asJava

    def seq(self, *items: Any) -> Any:
        """An immutable Scala List."""
        found = self.nil
        for item in reversed(items):
            found = getattr(found, "$colon$colon")(item)
        return found

    def scala_map(self, entries: dict[str, str]) -> Any:
        return self._to_scala_map(entries)

    @cached_property
    def _to_scala_map(self) -> Any:
        return self.jvm.PythonUtils.toScalaMap

    @cached_property
    def none(self) -> Any:
        return self.module("scala.None")

    @cached_property
    def nil(self) -> Any:
        return self.module("scala.collection.immutable.Nil")

    @cached_property
    def internal_row(self) -> Any:
        return self.jvm.org.apache.spark.sql.catalyst.InternalRow

    @cached_property
    def empty_row(self) -> Any:
        return self.internal_row.empty()

    def module(self, name: str) -> Any:
        """A Scala object by its full name."""
        found = self._modules.get(name)
        if found is None:
            found = self._modules[name] = self.class_(name + "$").getField("MODULE$").get(None)
        return found

    @cached_property
    def _modules(self) -> dict[str, Any]:
        return {}

    def class_(self, name: str) -> Any:
        """A ``java.lang.Class``, found with the loader Spark itself uses."""
        found = self._classes.get(name)
        if found is None:
            found = self._classes[name] = self.jvm.java.lang.Class.forName(name)
        return found

    @cached_property
    def _classes(self) -> dict[str, Any]:
        return {}

    # -- Catalyst ------------------------------------------------------------------------------------------------
    @cached_property
    def expressions(self) -> Any:
        return self.jvm.org.apache.spark.sql.catalyst.expressions

    @cached_property
    def new_instance(self) -> Any:
        return self.expressions.objects.NewInstance

    @cached_property
    def invoke_class(self) -> Any:
        return self.expressions.objects.Invoke

    @cached_property
    def static_invoke_class(self) -> Any:
        return self.expressions.objects.StaticInvoke

    @cached_property
    def literal_class(self) -> Any:
        return self.expressions.Literal

    @cached_property
    def _expression_of(self) -> Any:
        return self.jvm.org.apache.spark.sql.classic.ExpressionUtils.expression

    @cached_property
    def _column_of(self) -> Any:
        return self.jvm.org.apache.spark.sql.classic.ExpressionUtils.column

    def expression(self, column: Any) -> Any:
        """The Catalyst expression of a Column."""
        return self._expression_of(column._jc)

    def column(self, expression: Any) -> ClassicColumn:
        """A Column of a Catalyst expression."""
        return ClassicColumn(self._column_of(expression))

    @cached_property
    def types(self) -> Any:
        return self.jvm.org.apache.spark.sql.types

    def object_type(self, class_name: str) -> Any:
        found = self._object_types.get(class_name)
        if found is None:
            found = self._object_types[class_name] = self.types.ObjectType(self.class_(class_name))
        return found

    @cached_property
    def _object_types(self) -> dict[str, Any]:
        return {}

    def type_module(self, name: str) -> Any:
        """One of Spark's singleton types: ``IntegerType``, ``BooleanType``, ..."""
        return self.module(f"org.apache.spark.sql.types.{name}")

    def invoke(self, target: Any, method: str, returns: Any, *arguments: Any, propagate_null: bool = False) -> Any:
        """A method call on an object, as an expression. No input types: the method is found by the arguments' own classes."""
        return self.invoke_class(target, method, returns, self.seq(*arguments), self.seq(), propagate_null, True, True)

    def static_invoke(self, class_name: str, method: str, returns: Any, *arguments: Any, propagate_null: bool = True) -> Any:
        return self.static_invoke_class(
            self.class_(class_name), returns, method, self.seq(*arguments), self.seq(), propagate_null, True, True, self.none
        )

    def construct(self, class_name: str, *arguments: Any, propagate_null: bool = False) -> Any:
        """A constructor call, as an expression."""
        return self.new_instance(
            self.class_(class_name), self.seq(*arguments), self.seq(), propagate_null, self.object_type(class_name), self.none
        )

    def jvm_schema(self, schema: StructType) -> Any:
        return self.jvm_type(schema)

    def jvm_type(self, type_: DataType) -> Any:
        return self._type_from_json(type_.json())

    @cached_property
    def _type_from_json(self) -> Callable[[str], Any]:
        from_json = self.types.DataType.fromJson
        return lru_cache(_KEPT_TYPES)(lambda json: from_json(json))

    def once(self, key: tuple[str, ...], make: Callable[[], Any]) -> Any:
        """What ``make`` gave the first time: for immutable JVM objects that take many round trips to build."""
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found

    @cached_property
    def _made(self) -> dict[tuple[str, ...], Any]:
        return {}

    # -- frames --------------------------------------------------------------------------------------------------
    def frame(self, plan: Any) -> DataFrame:
        """A DataFrame of a logical plan, which Spark analyses."""
        return DataFrame(self._frame_of(self.session, plan), self.spark)

    @cached_property
    def _frame_of(self) -> Any:
        return self.module("org.apache.spark.sql.classic.Dataset").ofRows

    @cached_property
    def logical_relation(self) -> Any:
        """Makes the analysed logical plan of a relation."""
        return self.module("org.apache.spark.sql.execution.datasources.LogicalRelation").apply

    @cached_property
    def arrow_converters(self) -> Any:
        return self.module("org.apache.spark.sql.execution.arrow.ArrowConverters")

    @contextlib.contextmanager
    def input_stream(self, data: bytes) -> Iterator[Any]:
        """The bytes as an ``InputStream``. Py4J sends them as Base64 text, so more than a few go by a file, as PySpark's own rows do."""
        if len(data) < _SENT_BYTES or self._encrypts:
            yield self._byte_stream(data)
            return
        handle, path = tempfile.mkstemp(dir=self.spark.sparkContext._temp_dir)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            stream = self._file_stream(path)
            try:
                yield stream
            finally:
                stream.close()
        finally:
            os.unlink(path)

    @cached_property
    def _encrypts(self) -> bool:
        """True if the user wants nothing on disk that is not encrypted."""
        return str(self.spark.sparkContext._conf.get("spark.io.encryption.enabled", "false")).lower() == "true"

    @cached_property
    def _file_stream(self) -> Any:
        return self.jvm.java.io.FileInputStream

    def byte_arrays(self, iterator: Any) -> Iterator[bytes]:
        """The byte arrays of a Scala iterator. They come as Base64 text: Py4J unpacks an array that it returns byte by byte in Python."""
        arrays = iterator.toArray(self._byte_array_tag)
        for place in range(len(arrays)):
            arguments = self._new_array(self._object_class, 1)
            self._copy_array(arrays, place, arguments, 0, 1)  # the array never leaves the JVM, or Py4J would take its content along
            yield base64.b64decode(self._encode.invoke(self._base64_encoder, arguments))

    @cached_property
    def _byte_array_tag(self) -> Any:
        return self.module("scala.reflect.ClassTag").apply(self.class_("[B"))

    @cached_property
    def _new_array(self) -> Any:
        return self.gateway.new_array

    @cached_property
    def _object_class(self) -> Any:
        return self.jvm.java.lang.Object

    @cached_property
    def _copy_array(self) -> Any:
        return self.jvm.java.lang.System.arraycopy

    @cached_property
    def _base64_encoder(self) -> Any:
        return self.jvm.java.util.Base64.getEncoder()

    @cached_property
    def _encode(self) -> Any:
        """``Base64.Encoder.encodeToString``, to be called by reflection."""
        return next(m for m in self.class_("java.util.Base64$Encoder").getMethods() if m.getName() == "encodeToString")

    @cached_property
    def buffered_data_input(self) -> Any:
        buffered, data_input = self.jvm.java.io.BufferedInputStream, self.jvm.java.io.DataInputStream
        return lambda stream: data_input(buffered(stream))

    @cached_property
    def array_writable(self) -> Any:
        return self.jvm.org.apache.hadoop.io.ArrayWritable

    @cached_property
    def path(self) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path

    @cached_property
    def file_status(self) -> Any:
        return self.jvm.org.apache.hadoop.fs.FileStatus

    @cached_property
    def partition_directory(self) -> Any:
        return self.jvm.org.apache.spark.sql.execution.datasources.PartitionDirectory

    @cached_property
    def array_copy(self) -> Any:
        return self.jvm.java.lang.System.arraycopy

    @cached_property
    def new_channel(self) -> Any:
        return self.jvm.java.nio.channels.Channels.newChannel

    @cached_property
    def _byte_stream(self) -> Any:
        return self.jvm.java.io.ByteArrayInputStream

    def conf(self, key: str, default: str) -> str:
        return str(self.session.conf().get(key, default))


_bridges: weakref.WeakKeyDictionary[SparkSession, Bridge] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def bridge_of(spark: SparkSession) -> Bridge:
    """The bridge of a session, made at first use. Raises UnsupportedError for a Spark Connect session."""
    with _lock:
        found = _bridges.get(spark)
        if found is None:
            found = _bridges[spark] = Bridge(spark)
        return found


def tidy(spark: SparkSession) -> None:
    """Let go of what statements left in the JVM; nothing happens for a session that had no bridge, or has stopped."""
    found = _bridges.get(spark)
    if found is not None and spark.sparkContext._jsc is not None:
        forget_connections(found.gateway)


# -- errors raised by Python code that the JVM called -------------------------------------------------------------------

_TOKEN = re.compile(r"icesql-callback-error-(\d+)")
_errors: dict[int, BaseException] = {}
_numbers = itertools.count(1)
_KEPT = 256


class CallbackError(Exception):
    """Carries only a number through the JVM; the error it stands for waits here and is raised in the user's own call."""


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method the JVM calls: what it raises surfaces in Python as itself, not as a Java exception with a traceback in its text."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            number = next(_numbers)
            _errors[number] = error
            while len(_errors) > _KEPT:
                _errors.pop(next(iter(_errors)), None)
            raise CallbackError(f"icesql-callback-error-{number}: {type(error).__name__}: {error}") from error

    return call


def callback_error(text: str) -> BaseException | None:
    """The error that a JVM exception's text stands for, if any."""
    found = _TOKEN.search(text)
    return None if found is None else _errors.get(int(found.group(1)))


_installed = False


def install_error_translation() -> None:
    """Let PySpark raise our own error where a JVM exception was caused by our callback; every other exception is untouched."""
    global _installed
    if _installed:
        return
    original = captured.convert_exception

    def convert(java_exception: Any) -> Any:
        for text in _messages(java_exception):
            error = callback_error(text)
            if error is not None:
                return error
        return original(java_exception)

    captured.convert_exception = convert
    _installed = True


def _messages(java_exception: Any) -> Iterable[str]:
    """Messages of the exception and its causes; the walk is bounded."""
    for _ in range(8):
        if java_exception is None:
            return
        text = java_exception.getMessage()
        if text is not None:
            yield str(text)
        java_exception = java_exception.getCause()
