"""Every class of Spark, and of the libraries that Spark brings, that icesql names or calls: what to look at when Spark changes."""

from __future__ import annotations

from dataclasses import dataclass

SUPPORTED = ("4.0", "4.1", "4.2", "4.3")


@dataclass(frozen=True, slots=True)
class JvmClass:
    """``calls``: methods as ``name/number of arguments``, constructors as ``new/...``; of a Scala object too, whose class ends in ``$``.

    ``versions``: the releases of Spark in which the class and all the calls were seen.
    """

    name: str
    calls: tuple[str, ...]
    versions: tuple[str, ...]


TABLE: dict[str, JvmClass] = {}


def _class(name: str, *calls: str, versions: tuple[str, ...] = SUPPORTED) -> str:
    """Lists a class; gives its name."""
    TABLE[name] = JvmClass(name, calls, versions)
    return name


def _object(name: str, *calls: str, versions: tuple[str, ...] = SUPPORTED) -> str:
    """Lists a Scala object; gives its name without the ``$``."""
    _class(name + "$", *calls, versions=versions)
    return name


_CATALYST = "org.apache.spark.sql.catalyst."
_EXPRESSIONS = _CATALYST + "expressions."
_LOGICAL = _CATALYST + "plans.logical."
_SOURCES = "org.apache.spark.sql.execution.datasources."

# -- expressions -------------------------------------------------------------------------------------------------------
EXPRESSION_UTILS = _class("org.apache.spark.sql.classic.ExpressionUtils")
NEW_INSTANCE = _class(_EXPRESSIONS + "objects.NewInstance")
INVOKE = _class(_EXPRESSIONS + "objects.Invoke")
STATIC_INVOKE = _class(_EXPRESSIONS + "objects.StaticInvoke")
LITERAL = _class(_EXPRESSIONS + "Literal")
LITERALS = _object(_EXPRESSIONS + "Literal")
AND = _class(_EXPRESSIONS + "And")
BIND_REFERENCES = _class(_EXPRESSIONS + "BindReferences")
BOUND_REFERENCE = _class(_EXPRESSIONS + "BoundReference")
CAST = _class(_EXPRESSIONS + "Cast")
EQUAL_TO = _class(_EXPRESSIONS + "EqualTo")
IF = _class(_EXPRESSIONS + "If")
KNOWN_NULLABLE = _class(_EXPRESSIONS + "KnownNullable")
PRECISE_TIMESTAMP_CONVERSION = _class(_EXPRESSIONS + "PreciseTimestampConversion")
SHIFT_RIGHT = _class(_EXPRESSIONS + "ShiftRight")
UNSCALED_VALUE = _class(_EXPRESSIONS + "UnscaledValue")
UNRESOLVED_ATTRIBUTE = _class(_CATALYST + "analysis.UnresolvedAttribute")
ATTRIBUTE_SEQ = _class(_EXPRESSIONS + "package$AttributeSeq")
DATA_TYPE_UTILS = _object(_CATALYST + "types.DataTypeUtils")

# -- classes and methods that expressions name: Spark finds them by reflection, or compiles calls of them --------------------
MURMUR3 = _class("org.apache.spark.unsafe.hash.Murmur3_x86_32")
MURMUR3_OF_BYTES = _class("org.apache.commons.codec.digest.MurmurHash3")
DECIMAL = _class("org.apache.spark.sql.types.Decimal")
ROARING_BITMAP = _class("org.roaringbitmap.buffer.ImmutableRoaringBitmap")

# -- types and rows ----------------------------------------------------------------------------------------------------
DATA_TYPE = _class("org.apache.spark.sql.types.DataType")
DECIMAL_TYPE = _class("org.apache.spark.sql.types.DecimalType")
OBJECT_TYPE = _class("org.apache.spark.sql.types.ObjectType")
TIME_TYPE = _class("org.apache.spark.sql.types.TimeType", versions=SUPPORTED[1:])
TYPES = {
    name: _object("org.apache.spark.sql.types." + name)
    for name in ("BinaryType", "BooleanType", "ByteType", "IntegerType", "LongType", "StringType", "TimestampNTZType", "TimestampType")
}
INTERNAL_ROW = _class(_CATALYST + "InternalRow")
GENERIC_ARRAY_DATA = _class(_CATALYST + "util.GenericArrayData")
EXPRESSION_DESERIALIZER = _class(_CATALYST + "encoders.ExpressionEncoder$Deserializer")
ARROW_CONVERTERS = _object("org.apache.spark.sql.execution.arrow.ArrowConverters")

# -- plans -------------------------------------------------------------------------------------------------------------
DATASET = _object("org.apache.spark.sql.classic.Dataset")
ALIAS_IDENTIFIER = _class(_CATALYST + "AliasIdentifier")
DEDUPLICATE_RELATIONS = _object(_CATALYST + "analysis.DeduplicateRelations")
FILTER = _class(_LOGICAL + "Filter")
JOIN = _class(_LOGICAL + "Join")
JOIN_HINT = _class(_LOGICAL + "JoinHint")
JOIN_TYPE = _class(_CATALYST + "plans.JoinType")
PROJECT = _class(_LOGICAL + "Project")
REBALANCE_PARTITIONS = _class(_LOGICAL + "RebalancePartitions")
REPARTITION_BY_EXPRESSION = _class(_LOGICAL + "RepartitionByExpression")
SUBQUERY_ALIAS = _class(_LOGICAL + "SubqueryAlias")
UNION = _class(_LOGICAL + "Union")
CONSTANT_PROPAGATION = _object(_CATALYST + "optimizer.ConstantPropagation")
INFER_FILTERS = _object(_CATALYST + "optimizer.InferFiltersFromConstraints")

# -- relations of files ------------------------------------------------------------------------------------------------
FILE_INDEX = _class(_SOURCES + "FileIndex")
FILE_STATUS_WITH_METADATA = _class(_SOURCES + "FileStatusWithMetadata")
HADOOP_FS_RELATION = _class(_SOURCES + "HadoopFsRelation")
LOGICAL_RELATION = _object(_SOURCES + "LogicalRelation")
PARTITION_DIRECTORY = _class(_SOURCES + "PartitionDirectory")
PARQUET_FILE_FORMAT = _class(_SOURCES + "parquet.ParquetFileFormat")
BINARY_FILE_FORMAT = _class(_SOURCES + "binaryfile.BinaryFileFormat")
BINARY_FILES = _object(_SOURCES + "binaryfile.BinaryFileFormat")
ARRAY_WRITABLE = _class("org.apache.hadoop.io.ArrayWritable")
FILE_STATUS = _class("org.apache.hadoop.fs.FileStatus")
PATH = _class("org.apache.hadoop.fs.Path")

# -- store assignment --------------------------------------------------------------------------------------------------
TABLE_OUTPUT_RESOLVER = _object(_CATALYST + "analysis.TableOutputResolver")
DEFAULT_VALUE_FILL_MODE = _object(_CATALYST + "analysis.TableOutputResolver$DefaultValueFillMode", versions=SUPPORTED[2:])
QUERY_COMPILATION_ERRORS = _class("org.apache.spark.sql.errors.QueryCompilationErrors")

# -- the session -------------------------------------------------------------------------------------------------------
FUNCTION_IDENTIFIER = _class(_CATALYST + "FunctionIdentifier")
TABLE_IDENTIFIER = _class(_CATALYST + "TableIdentifier")
TABLE_IDENTIFIERS = _object(_CATALYST + "TableIdentifier")
TEMPORARY_VIEW_RELATION = _object(_CATALYST + "catalog.TemporaryViewRelation")
CATALOG_TABLE_TYPE = _class(_CATALYST + "catalog.CatalogTableType")
STORAGE_LEVEL = _class("org.apache.spark.storage.StorageLevel")

# -- scripts -----------------------------------------------------------------------------------------------------------
SCRIPTING_EXECUTION = _class("org.apache.spark.sql.scripting.SqlScriptingExecution")
SCRIPTING_CONTEXT_MANAGER = _object(_CATALYST + "SqlScriptingContextManager")
CONTEXT_MANAGER_FIELD = "org$apache$spark$util$LexicalThreadLocal$$tl"
SPARK_THROWABLE = _class("org.apache.spark.SparkThrowable")
SPARK_EXCEPTION = _class("org.apache.spark.SparkException")
QUERY_CONTEXT = _class("org.apache.spark.QueryContext")

# -- Scala -------------------------------------------------------------------------------------------------------------
CLASS_TAG = _object("scala.reflect.ClassTag")
COLLECTION_CONVERTERS = _class("scala.jdk.javaapi.CollectionConverters")
OPTION_CONVERTERS = _class("scala.jdk.javaapi.OptionConverters")
PYTHON_UTILS = _class("org.apache.spark.api.python.PythonUtils")
NIL = _object("scala.collection.immutable.Nil")
NONE = _object("scala.None")
MAP = _object("scala.collection.immutable.Map")
OPTION = _class("scala.Option")
SOME = _class("scala.Some")
