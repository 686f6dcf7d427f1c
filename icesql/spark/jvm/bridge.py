"""The JVM handles a Spark session needs, looked up once and kept as long as the session.

Every Py4J name look-up is a round trip, so modules of this room ask the bridge, never ``spark._jvm``; classes are named in ``classes``.
"""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Any

from py4j.java_gateway import JavaClass
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.types import DataType, StructType

from icesql.errors import UnsupportedError
from icesql.spark.jvm import classes
from icesql.spark.jvm.callback_errors import install_error_translation
from icesql.spark.jvm.callbacks import accept_callbacks, forget_connections
from icesql.spark.jvm.handles import JavaObject

_SENT_BYTES = 32 << 10
_KEPT_TYPES = 256


class Bridge:
    """JVM handles of one classic session. Thread safe: handles are immutable."""

    def __init__(self, spark: SparkSession) -> None:
        if not hasattr(spark, "_jsparkSession"):
            raise UnsupportedError("Cannot use Spark session: icesql needs a classic session, not Spark Connect")
        self._spark = weakref.ref(spark)
        self.session: JavaObject = spark._jsparkSession
        self.gateway: JavaObject = spark.sparkContext._gateway
        accept_callbacks(self.gateway)
        install_error_translation()

    @property
    def spark(self) -> SparkSession:
        spark = self._spark()
        if spark is None:
            raise UnsupportedError("Cannot use Spark session: it was closed")
        return spark

    # -- classes -------------------------------------------------------------------------------------------------
    def java_class(self, name: str) -> JavaObject:
        """A class to call the constructor or static methods of."""
        class_ = self._java_classes.get(name)
        if class_ is None:
            class_ = self._java_classes[name] = JavaClass(name, self.gateway._gateway_client)
        return class_

    @cached_property
    def _java_classes(self) -> dict[str, JavaObject]:
        return {}

    def module(self, name: str) -> JavaObject:
        """A Scala object by its full name."""
        module = self._modules.get(name)
        if module is None:
            module = self._modules[name] = self.class_(name + "$").getField("MODULE$").get(None)
        return module

    @cached_property
    def _modules(self) -> dict[str, JavaObject]:
        return {}

    def class_(self, name: str) -> JavaObject:
        """A ``java.lang.Class``, loaded by the loader that Spark itself uses."""
        class_ = self._classes.get(name)
        if class_ is None:
            class_ = self._classes[name] = self.java_class("java.lang.Class").forName(name)
        return class_

    @cached_property
    def _classes(self) -> dict[str, JavaObject]:
        return {}

    # -- the session ---------------------------------------------------------------------------------------------
    @property
    def state(self) -> JavaObject:
        """The ``SessionState``: settings, catalog, parser, functions."""
        return self.session.sessionState()

    def conf(self, key: str, default: str) -> str:
        return str(self.session.conf().get(key, default))

    # -- Scala values --------------------------------------------------------------------------------------------
    @cached_property
    def as_java(self) -> JavaObject:
        return self.java_class(classes.COLLECTION_CONVERTERS).asJava

    def seq(self, *items: Any) -> JavaObject:
        """An immutable Scala List."""
        list_ = self.nil
        for item in reversed(items):
            list_ = getattr(list_, "$colon$colon")(item)
        return list_

    def scala_map(self, entries: dict[str, str]) -> JavaObject:
        return self._to_scala_map(entries)

    @cached_property
    def _to_scala_map(self) -> JavaObject:
        return self.java_class(classes.PYTHON_UTILS).toScalaMap

    @cached_property
    def empty_map(self) -> JavaObject:
        """An immutable Scala map. A map is a function too."""
        return self.module(classes.MAP).empty()

    @cached_property
    def none(self) -> JavaObject:
        return self.module(classes.NONE)

    @cached_property
    def nil(self) -> JavaObject:
        return self.module(classes.NIL)

    @cached_property
    def empty_row(self) -> JavaObject:
        return self.java_class(classes.INTERNAL_ROW).empty()

    def row(self, *values: object) -> JavaObject:
        """An ``InternalRow``."""
        return self.java_class(classes.INTERNAL_ROW).fromSeq(self.seq(*values))

    def typed_array(self, class_name: str, items: JavaObject, count: int) -> JavaObject:
        """A Java array of that class, of the first items of another array."""
        typed = self.gateway.new_array(self.java_class(class_name), count)
        self._copy_array(items, 0, typed, 0, count)
        return typed

    def no_strings(self) -> JavaObject:
        """An empty ``String[]``."""
        return self.gateway.new_array(self.java_class("java.lang.String"), 0)

    # -- Catalyst ------------------------------------------------------------------------------------------------
    @cached_property
    def literal_class(self) -> JavaObject:
        return self.java_class(classes.LITERAL)

    @cached_property
    def _expression_of(self) -> JavaObject:
        return self.java_class(classes.EXPRESSION_UTILS).expression

    @cached_property
    def _column_of(self) -> JavaObject:
        return self.java_class(classes.EXPRESSION_UTILS).column

    def expression(self, column: Column) -> JavaObject:
        """The Catalyst expression of a Column, for use inside of another expression."""
        return self._expression_of(column._jc)

    def resolved_expression(self, column: Column) -> JavaObject:
        """The Catalyst expression that Spark's session makes of a Column; ``expression`` only wraps it."""
        return self.session.expression(column._jc)

    def column(self, expression: JavaObject) -> ClassicColumn:
        """A Column of a Catalyst expression."""
        return ClassicColumn(self._column_of(expression))

    def object_type(self, class_name: str) -> JavaObject:
        type_ = self._object_types.get(class_name)
        if type_ is None:
            type_ = self._object_types[class_name] = self.java_class(classes.OBJECT_TYPE)(self.class_(class_name))
        return type_

    @cached_property
    def _object_types(self) -> dict[str, JavaObject]:
        return {}

    def type_module(self, name: str) -> JavaObject:
        """One of Spark's singleton types: ``IntegerType``, ``BooleanType``, ..."""
        return self.module(classes.TYPES[name])

    def decimal_type(self, precision: int, scale: int) -> JavaObject:
        return self.java_class(classes.DECIMAL_TYPE)(precision, scale)

    def attributes(self, schema: StructType) -> JavaObject:
        """A Seq of new attributes with those names and types."""
        return self.module(classes.DATA_TYPE_UTILS).toAttributes(self.jvm_schema(schema))

    def invoke(
        self, target: JavaObject, method: str, returns: JavaObject, *arguments: JavaObject, propagate_null: bool = False
    ) -> JavaObject:
        """A method call on an object, as an expression. No input types: the method is found by the arguments' own classes."""
        return self._invoke_class(target, method, returns, self.seq(*arguments), self.seq(), propagate_null, True, True)

    def static_invoke(
        self, class_name: str, method: str, returns: JavaObject, *arguments: JavaObject, propagate_null: bool = True
    ) -> JavaObject:
        """A call of a static method, as an expression."""
        return self._static_invoke_class(
            self.class_(class_name), returns, method, self.seq(*arguments), self.seq(), propagate_null, True, True, self.none
        )

    def construct(self, class_name: str, *arguments: JavaObject, propagate_null: bool = False) -> JavaObject:
        """A constructor call, as an expression."""
        return self._new_instance(
            self.class_(class_name), self.seq(*arguments), self.seq(), propagate_null, self.object_type(class_name), self.none
        )

    @cached_property
    def _invoke_class(self) -> JavaObject:
        return self.java_class(classes.INVOKE)

    @cached_property
    def _static_invoke_class(self) -> JavaObject:
        return self.java_class(classes.STATIC_INVOKE)

    @cached_property
    def _new_instance(self) -> JavaObject:
        return self.java_class(classes.NEW_INSTANCE)

    def jvm_schema(self, schema: StructType) -> JavaObject:
        return self.jvm_type(schema)

    def jvm_type(self, type_: DataType) -> JavaObject:
        return self._type_from_json(type_.json())

    @cached_property
    def _type_from_json(self) -> Callable[[str], JavaObject]:
        from_json = self.java_class(classes.DATA_TYPE).fromJson
        return lru_cache(_KEPT_TYPES)(lambda json: from_json(json))

    def once(self, key: tuple[str, ...], make: Callable[[], Any]) -> Any:
        """What ``make`` gave the first time: for immutable JVM objects that take many round trips to build."""
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = make()
        return made

    @cached_property
    def _made(self) -> dict[tuple[str, ...], Any]:
        return {}

    # -- frames --------------------------------------------------------------------------------------------------
    def frame(self, plan: JavaObject) -> DataFrame:
        """A DataFrame of a logical plan, which Spark analyses."""
        return DataFrame(self._frame_of(self.session, plan), self.spark)

    @cached_property
    def _frame_of(self) -> JavaObject:
        return self.module(classes.DATASET).ofRows

    @cached_property
    def logical_relation(self) -> JavaObject:
        """Makes the analysed logical plan of a relation."""
        return self.module(classes.LOGICAL_RELATION).apply

    @cached_property
    def arrow_converters(self) -> JavaObject:
        return self.module(classes.ARROW_CONVERTERS)

    @contextlib.contextmanager
    def input_stream(self, data: bytes) -> Iterator[JavaObject]:
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
    def _file_stream(self) -> JavaObject:
        return self.java_class("java.io.FileInputStream")

    def byte_arrays(self, iterator: JavaObject) -> Iterator[bytes]:
        """The byte arrays of a Scala iterator. They come as Base64 text: Py4J unpacks an array that it returns byte by byte in Python."""
        arrays = iterator.toArray(self._byte_array_tag)
        for place in range(len(arrays)):
            arguments = self._new_array(self._object_class, 1)
            self._copy_array(arrays, place, arguments, 0, 1)  # the array never leaves the JVM, or Py4J would take its content along
            yield base64.b64decode(self._encode.invoke(self._base64_encoder, arguments))

    @cached_property
    def _byte_array_tag(self) -> JavaObject:
        return self.module(classes.CLASS_TAG).apply(self.class_("[B"))

    @cached_property
    def _new_array(self) -> JavaObject:
        return self.gateway.new_array

    @cached_property
    def _object_class(self) -> JavaObject:
        return self.java_class("java.lang.Object")

    @cached_property
    def _copy_array(self) -> JavaObject:
        return self.java_class("java.lang.System").arraycopy

    @cached_property
    def _base64_encoder(self) -> JavaObject:
        return self.java_class("java.util.Base64").getEncoder()

    @cached_property
    def _encode(self) -> JavaObject:
        """``Base64.Encoder.encodeToString``, to be called by reflection."""
        return next(m for m in self.class_("java.util.Base64$Encoder").getMethods() if m.getName() == "encodeToString")

    @cached_property
    def buffered_data_input(self) -> JavaObject:
        buffered, data_input = self.java_class("java.io.BufferedInputStream"), self.java_class("java.io.DataInputStream")
        return lambda stream: data_input(buffered(stream))

    @cached_property
    def new_channel(self) -> JavaObject:
        return self.java_class("java.nio.channels.Channels").newChannel

    @cached_property
    def _byte_stream(self) -> JavaObject:
        return self.java_class("java.io.ByteArrayInputStream")


_bridges: weakref.WeakKeyDictionary[SparkSession, Bridge] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def bridge_of(spark: SparkSession) -> Bridge:
    """The bridge of a session, made at first use. Raises UnsupportedError for a Spark Connect session."""
    with _lock:
        bridge = _bridges.get(spark)
        if bridge is None:
            bridge = _bridges[spark] = Bridge(spark)
        return bridge


def tidy(spark: SparkSession) -> None:
    """Let go of what statements left in the JVM; nothing happens for a session that had no bridge, or has stopped."""
    bridge = _bridges.get(spark)
    if bridge is not None and spark.sparkContext._jsc is not None:
        forget_connections(bridge.gateway)
