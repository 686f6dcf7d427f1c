"""Every class of Spark, and of the libraries that Spark brings, that icesql names or calls: what to look at when Spark changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SUPPORTED = ("4.0", "4.1", "4.2", "4.3")


@dataclass(frozen=True, slots=True)
class JvmClass:
    """``calls``: methods as ``name/number of arguments``, constructors as ``new/...``; of a Scala object too, whose class ends in ``$``.

    ``versions``: the releases of Spark in which the class and all the calls were seen; ``otherwise``: what is called instead in a release.
    """

    name: str
    calls: tuple[str, ...]
    versions: tuple[str, ...]
    otherwise: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def calls_in(self, version: str) -> tuple[str, ...]:
        return self.otherwise.get(version, self.calls)


TABLE: dict[str, JvmClass] = {}


def _class(name: str, *calls: str, versions: tuple[str, ...] = SUPPORTED, otherwise: Mapping[str, tuple[str, ...]] | None = None) -> str:
    """Lists a class; gives its name."""
    assert name not in TABLE, name
    TABLE[name] = JvmClass(name, calls, versions, otherwise or {})
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
EXPRESSION_UTILS = _class("org.apache.spark.sql.classic.ExpressionUtils", "column/1", "expression/1")
NEW_INSTANCE = _class(_EXPRESSIONS + "objects.NewInstance", "new/6")
INVOKE = _class(_EXPRESSIONS + "objects.Invoke", "new/8")
STATIC_INVOKE = _class(_EXPRESSIONS + "objects.StaticInvoke", "new/9")
LITERAL = _class(_EXPRESSIONS + "Literal", "new/2", "value/0")
LITERALS = _object(_EXPRESSIONS + "Literal", "default/1")
AND = _class(_EXPRESSIONS + "And", "new/2")
BIND_REFERENCES = _class(_EXPRESSIONS + "BindReferences", "bindReference/3")
BOUND_REFERENCE = _class(_EXPRESSIONS + "BoundReference", "new/3")
CAST = _class(_EXPRESSIONS + "Cast", "canUpCast/2")
EQUAL_TO = _class(_EXPRESSIONS + "EqualTo", "new/2")
IF = _class(_EXPRESSIONS + "If", "new/3")
KNOWN_NULLABLE = _class(_EXPRESSIONS + "KnownNullable", "new/1")
MAKE_DECIMAL = _class(_EXPRESSIONS + "MakeDecimal", "new/4")
PRECISE_TIMESTAMP_CONVERSION = _class(_EXPRESSIONS + "PreciseTimestampConversion", "new/3")
SHIFT_RIGHT = _class(_EXPRESSIONS + "ShiftRight", "new/2")
UNSCALED_VALUE = _class(_EXPRESSIONS + "UnscaledValue", "new/1")
UNRESOLVED_ATTRIBUTE = _class(_CATALYST + "analysis.UnresolvedAttribute", "new/1", "nameParts/0")
ATTRIBUTE_SEQ = _class(_EXPRESSIONS + "package$AttributeSeq", "new/1")
DATA_TYPE_UTILS = _object(_CATALYST + "types.DataTypeUtils", "toAttributes/1")

# -- classes and methods that expressions name: Spark finds them by reflection, or compiles calls of them --------------------
MURMUR3 = _class("org.apache.spark.unsafe.hash.Murmur3_x86_32", "hashLong/2")
MURMUR3_OF_BYTES = _class("org.apache.commons.codec.digest.MurmurHash3", "hash32x86/1")
DECIMAL = _class("org.apache.spark.sql.types.Decimal", "apply/1", "toJavaBigDecimal/0")
ROARING_BITMAP = _class("org.roaringbitmap.buffer.ImmutableRoaringBitmap", "new/1", "contains/1")

# -- types and rows ----------------------------------------------------------------------------------------------------
DATA_TYPE = _class("org.apache.spark.sql.types.DataType", "defaultSize/0", "fromDDL/1", "fromJson/1", "sql/0")
DECIMAL_TYPE = _class("org.apache.spark.sql.types.DecimalType", "new/2")
OBJECT_TYPE = _class("org.apache.spark.sql.types.ObjectType", "new/1")
TIME_TYPE = _class("org.apache.spark.sql.types.TimeType", "new/1", versions=SUPPORTED[1:])
TYPES = {
    name: _object("org.apache.spark.sql.types." + name)
    for name in ("BinaryType", "BooleanType", "ByteType", "IntegerType", "LongType", "StringType", "TimestampNTZType", "TimestampType")
}
INTERNAL_ROW = _class(_CATALYST + "InternalRow", "copy/0", "empty/0", "fromSeq/1")
GENERIC_ARRAY_DATA = _class(_CATALYST + "util.GenericArrayData", "new/1")
EXPRESSION_DESERIALIZER = _class(_CATALYST + "encoders.ExpressionEncoder$Deserializer", "new/1", "apply/1")
ARROW_CONVERTERS = _object(
    "org.apache.spark.sql.execution.arrow.ArrowConverters",
    "fromBatchIterator/6",
    "getBatchesFromStream/1",
    "toBatchWithSchemaIterator/7",
    "toDataFrame/3",
)

# -- plans -------------------------------------------------------------------------------------------------------------
DATASET = _object("org.apache.spark.sql.classic.Dataset", "ofRows/2")
ALIAS_IDENTIFIER = _class(_CATALYST + "AliasIdentifier", "new/2")
DEDUPLICATE_RELATIONS = _object(_CATALYST + "analysis.DeduplicateRelations", "apply/1")
FILTER = _class(_LOGICAL + "Filter", "condition/0", "copy/2", "new/2")
JOIN = _class(_LOGICAL + "Join", "new/5", "right/0")
JOIN_HINT = _class(_LOGICAL + "JoinHint", "NONE/0")
JOIN_TYPE = _class(_CATALYST + "plans.JoinType", "apply/1")
PROJECT = _class(_LOGICAL + "Project", "copy/2", "new/2", "projectList/0")
REBALANCE_PARTITIONS = _class(_LOGICAL + "RebalancePartitions", "new/4")
REPARTITION_BY_EXPRESSION = _class(_LOGICAL + "RepartitionByExpression", "new/4")
SUBQUERY_ALIAS = _class(_LOGICAL + "SubqueryAlias", "new/2")
UNION = _class(_LOGICAL + "Union", "new/3")
CONSTANT_PROPAGATION = _object(_CATALYST + "optimizer.ConstantPropagation")
INFER_FILTERS = _object(_CATALYST + "optimizer.InferFiltersFromConstraints")

# -- relations of files ------------------------------------------------------------------------------------------------
FILE_INDEX = _class(
    _SOURCES + "FileIndex",
    "inputFiles/0",
    "listFiles/2",
    "metadataOpsTimeNs/0",
    "partitionSchema/0",
    "refresh/0",
    "rootPaths/0",
    "sizeInBytes/0",
)
FILE_STATUS_WITH_METADATA = _class(_SOURCES + "FileStatusWithMetadata", "new/2")
HADOOP_FS_RELATION = _class(_SOURCES + "HadoopFsRelation", "location/0", "new/7")
LOGICAL_RELATION = _object(_SOURCES + "LogicalRelation", "apply/2")
PARTITION_DIRECTORY = _class(_SOURCES + "PartitionDirectory", "apply/2", "new/2", "values/0")
PARQUET_FILE_FORMAT = _class(_SOURCES + "parquet.ParquetFileFormat", "new/0")
BINARY_FILE_FORMAT = _class(_SOURCES + "binaryfile.BinaryFileFormat", "new/0")
BINARY_FILES = _object(_SOURCES + "binaryfile.BinaryFileFormat", "schema/0")
ARRAY_WRITABLE = _class("org.apache.hadoop.io.ArrayWritable", "get/0", "new/1", "readFields/1")
FILE_STATUS = _class("org.apache.hadoop.fs.FileStatus", "new/6")
FILE_SYSTEM = _class("org.apache.hadoop.fs.FileSystem", "getFileSystemClass/2")
PATH = _class("org.apache.hadoop.fs.Path", "getFileSystem/1", "new/1", "toString/0")
SOFT_REFERENCE = _class("java.lang.ref.SoftReference", "get/0", "new/1")

# -- store assignment --------------------------------------------------------------------------------------------------
TABLE_OUTPUT_RESOLVER = _object(_CATALYST + "analysis.TableOutputResolver", "resolveOutputColumns/6", "resolveOutputColumns$default$6/0")
DEFAULT_VALUE_FILL_MODE = _object(
    _CATALYST + "analysis.TableOutputResolver$DefaultValueFillMode", "FILL/0", "NONE/0", versions=SUPPORTED[1:]
)
QUERY_COMPILATION_ERRORS = _class(
    "org.apache.spark.sql.errors.QueryCompilationErrors",
    "cannotWriteNotEnoughColumnsToTableError/3",
    "cannotWriteTooManyColumnsToTableError/3",
    "legacyStoreAssignmentPolicyError/0",
)

# -- the session -------------------------------------------------------------------------------------------------------
FUNCTION_IDENTIFIER = _class(_CATALYST + "FunctionIdentifier", "new/1")
TABLE_IDENTIFIER = _class(_CATALYST + "TableIdentifier", "new/2")
TABLE_IDENTIFIERS = _object(_CATALYST + "TableIdentifier", "apply/1")
TEMPORARY_VIEW_RELATION = _object(_CATALYST + "catalog.TemporaryViewRelation", "apply/2")
CATALOG_TABLE_TYPE = _class(_CATALYST + "catalog.CatalogTableType", "EXTERNAL/0", "name/0")
STORAGE_LEVEL = _class("org.apache.spark.storage.StorageLevel", "fromString/1")

# -- scripts -----------------------------------------------------------------------------------------------------------
CONTEXT_MANAGER_FIELD = "org$apache$spark$util$LexicalThreadLocal$$tl"
SCRIPTING_EXECUTION = _class("org.apache.spark.sql.scripting.SqlScriptingExecution", "getNextStatement/0", "handleException/1", "new/3")
SCRIPTING_CONTEXT_MANAGER = _object(_CATALYST + "SqlScriptingContextManager", CONTEXT_MANAGER_FIELD + "/0", versions=SUPPORTED[1:])
SPARK_THROWABLE = _class("org.apache.spark.SparkThrowable", "getCondition/0", "getSqlState/0")
SPARK_EXCEPTION = _class("org.apache.spark.SparkException", "new/5")
QUERY_CONTEXT = _class("org.apache.spark.QueryContext")

# -- clients of Spark's servers ------------------------------------------------------------------------------------------
SPARK_SESSION = _class(
    "org.apache.spark.sql.classic.SparkSession",
    *("baseRelationToDataFrame/1", "builder/0", "clearActiveSession/0", "clearDefaultSession/0", "conf/0", "createDataFrame/2"),
    *("emptyDataFrame/0", "expression/1", "sessionState/0", "sessionUUID/0", "sharedState/0", "sql/1", "sqlContext/0"),
)
COMMAND_RESULT = _class(_LOGICAL + "CommandResult", "new/4")
ORIGIN = _class(
    _CATALYST + "trees.Origin", "new/10", "startIndex/0", "stopIndex/0", otherwise={"4.0": ("new/9", "startIndex/0", "stopIndex/0")}
)
PARSER_INTERFACE = _class(_CATALYST + "parser.ParserInterface", "parsePlan/1")
PARSE_EXCEPTION = _class(_CATALYST + "parser.ParseException", "new/4", otherwise={"4.0": ("new/5",)})
ANALYSIS_EXCEPTION = _class("org.apache.spark.sql.AnalysisException")
THRIFT_SERVER = _object("org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", "startWithContext/1")
HIVE_SESSIONS = _class("org.apache.hive.service.cli.session.SessionManager", "closeSession/1")
HIVE_SESSION = _class(
    "org.apache.hive.service.cli.session.HiveSession",
    *("executeStatement/2", "getCatalogs/0", "getColumns/4", "getSchemas/2", "getSessionHandle/0", "getTables/4"),
)
HIVE_ERROR = _class("org.apache.hive.service.cli.HiveSQLException", "new/2")
CONNECT_SERVICE = _object("org.apache.spark.sql.connect.service.SparkConnectService", "sessionManager/0", "start/1", "stop/2")
SQL_SHELL = _class("org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "main/1")
HIVE_INTERRUPTS = _class("org.apache.hadoop.hive.common.HiveInterruptUtils", "add/1")
HIVE_INTERRUPT_CALLBACK = _class("org.apache.hadoop.hive.common.HiveInterruptCallback")

# -- starting Spark's JVM ------------------------------------------------------------------------------------------------
LAUNCHER = _class("org.apache.spark.launcher.Main", "main/1")
SPARK_SUBMIT = _class("org.apache.spark.deploy.SparkSubmit", "main/1")

# -- Scala -------------------------------------------------------------------------------------------------------------
CLASS_TAG = _object("scala.reflect.ClassTag", "apply/1")
COLLECTION_CONVERTERS = _class("scala.jdk.javaapi.CollectionConverters", "asJava/1")
OPTION_CONVERTERS = _class("scala.jdk.javaapi.OptionConverters", "toScala/1")
PYTHON_UTILS = _class("org.apache.spark.api.python.PythonUtils", "toScalaMap/1")
SCALA_RUN_TIME = _class("scala.runtime.ScalaRunTime", "stringOf/1")
NIL = _object("scala.collection.immutable.Nil")
NONE = _object("scala.None")
MAP = _object("scala.collection.immutable.Map", "empty/0")
OPTION = _class("scala.Option", "apply/1", "get/0", "isDefined/0", "isEmpty/0")
SOME = _class("scala.Some", "new/1", "apply/1")

# -- what objects are, whose class is never named ------------------------------------------------------------------------
_class(_EXPRESSIONS + "Alias", "child/0")
_class(_EXPRESSIONS + "AttributeSet", "toSeq/0")
_class(_EXPRESSIONS + "Expression", "collectLeaves/0", "deterministic/0", "eval/1", "foldable/0", "references/0", "sql/0", "toJSON/0")
_class(_EXPRESSIONS + "InSet", "hset/0")
_class(_EXPRESSIONS + "NamedExpression", "name/0")
_class(_CATALYST + "trees.TreeNode", "apply/1", "children/0", "nodeName/0", "origin/0", "transform/1")
_class(_LOGICAL + "Aggregate", "aggregateExpressions/0", "groupingExpressions/0")
_class(_LOGICAL + "CompoundBody", "collection/0", "handlers/0")
_class(_LOGICAL + "LocalRelation", "data/0", "newInstance/0")
_class(
    _LOGICAL + "LogicalPlan",
    *("deterministic/0", "expressions/0", "output/0", "productArity/0", "productElement/1", "productElementNames/0"),
    *("resolve/2", "sameResult/1", "schema/0", "setAnalyzed/0", "stats/0", "subqueriesAll/0"),
)
_class(_LOGICAL + "SingleStatement", "parsedPlan/0")
_class(_LOGICAL + "Statistics", "sizeInBytes/0")
_class(_SOURCES + "LogicalRelation", "newInstance/0", "relation/0")
_class(_CATALYST + "analysis.FunctionRegistryBase", "createOrReplaceTempFunction/3")
_class(_CATALYST + "catalog.CatalogStorageFormat", "serde/0")
_class(
    _CATALYST + "catalog.CatalogTable",
    *("bucketSpec/0", "location/0", "partitionColumnNames/0", "productArity/0", "productElement/1", "productElementName/1"),
    *("properties/0", "provider/0", "schema/0", "storage/0", "tableType/0"),
)
_class(_CATALYST + "catalog.CatalogTablePartition", "location/0", "spec/0")
_class(
    _CATALYST + "catalog.SessionCatalog",
    *("alterTable/1", "createTempView/3", "dropTable/3", "dropTempFunction/2", "dropTempView/1", "getCurrentDatabase/0"),
    *("getRawTempView/1", "getTableMetadata/1", "getTempView/1", "isTemporaryFunction/1", "listPartitions/2", "renameTable/2"),
    "tableExists/1",
)
_class(_CATALYST + "catalog.TemporaryViewRelation", "tableMeta/0")
_class(
    "org.apache.spark.sql.classic.Dataset",
    *("collectAsList/0", "createOrReplaceTempView/1", "logicalPlan/0", "persist/1", "queryExecution/0", "schema/0"),
)
_class("org.apache.spark.sql.execution.CacheManager", "isEmpty/0", "recacheByPath/2")
_class("org.apache.spark.sql.execution.QueryExecution", "analyzed/0", "commandExecuted/0", "executedPlan/0", "optimizedPlan/0", "toRdd/0")
_class(
    "org.apache.spark.sql.internal.SQLConf",
    *("filesMaxPartitionBytes/0", "filesOpenCostInBytes/0", "getAllConfs/0", "redactOptions/1", "resolver/0", "settings/0"),
    *("storeAssignmentPolicy/0",),
)
_class(
    "org.apache.spark.sql.internal.SessionState",
    *("catalog/0", "conf/0", "functionRegistry/0", "newHadoopConf/0", "sqlParser/0"),
)
_class("org.apache.spark.sql.internal.SharedState", "cacheManager/0")
_class("org.apache.spark.sql.scripting.SingleStatementExec", "buildDataFrame/1", "isExecuted/0", "isInternal/0", "origin/0")
_class("scala.collection.Iterator", "flatMap/1", "mkString/1", "toArray/1", "toList/0")
_class("scala.collection.immutable.List", "$colon$colon/1")
_class("scala.collection.immutable.Map", "mkString/1", "updated/2")
_class("scala.collection.immutable.Set", "contains/1", "excl/1", "mkString/1")
_class(
    "scala.collection.immutable.Seq",
    *("apply/1", "head/0", "init/0", "isEmpty/0", "last/0", "nonEmpty/0", "prepended/1", "size/0"),
)

# -- private names of PySpark -----------------------------------------------------------------------------------------------
PYTHON_NAMES = (
    "pyspark.errors.exceptions.captured.CapturedException",
    "pyspark.errors.exceptions.captured.convert_exception",
    "pyspark.java_gateway.ensure_callback_server_started",
    "pyspark.sql.classic.column.Column",
    "pyspark.sql.pandas.types.to_arrow_schema",
    "pyspark.sql.pandas.types.to_arrow_type",
)
"""Functions and classes that no public module has."""
PYTHON_ATTRIBUTES = {
    "Catalog": ("_jcatalog",),
    "Column": ("_jc",),
    "DataFrame": ("_collect_as_arrow", "_jdf"),
    "SparkContext": ("_conf", "_gateway", "_jsc", "_temp_dir"),
    "SparkSession": ("_jsparkSession",),
}
"""Attributes of public classes' objects."""
