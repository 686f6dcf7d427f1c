"""Runs in the oracle process: tables read and written with Iceberg's own Java API, for what its SQL cannot say.

Python values would lose their Java types on the way over Py4J, so rows to write come from a table that icesql wrote: Java reads its
records and writes them on.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

from icesql.spec.json.types import schema_from_json
from icesql.spec.types import (
    BinaryType,
    DateType,
    DecimalType,
    FixedType,
    FloatType,
    ListType,
    MapType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
)
from tests.interop.wide import as_float32


def tables(spark: Any) -> Any:
    return spark._jvm.org.apache.iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration())


def create(spark: Any, folder: str, schema: str, spec: str, properties: dict[str, str]) -> Any:
    """A table at ``folder`` of a schema and a spec in JSON."""
    iceberg = spark._jvm.org.apache.iceberg
    made = iceberg.SchemaParser.fromJson(schema)
    return tables(spark).create(made, iceberg.PartitionSpecParser.fromJson(made, spec), properties, folder)


def records(spark: Any, table: Any) -> list[Any]:
    """Java's own reader's records of a table."""
    found = spark._jvm.org.apache.iceberg.data.IcebergGenerics.read(table).build()
    rows = list(found.iterator())
    found.close()
    return rows


def read(spark: Any, folder: str) -> list[tuple[Any, ...]]:
    """All rows as Java reads them, in internal form."""
    table = tables(spark).load(folder)
    schema = schema_from_json(_json(spark._jvm.org.apache.iceberg.SchemaParser.toJson(table.schema())))
    return [internal(schema.as_struct(), record) for record in records(spark, table)]


def _json(text: str) -> Any:
    import json

    return json.loads(text)


def internal(type_: Type, value: Any) -> Any:
    """A value of Java's generic reader in internal form."""
    if value is None:
        return None
    match type_:
        case StructType(fields=fields):
            return tuple(internal(field.type, value.get(i)) for i, field in enumerate(fields))
        case ListType(element=element):
            return [internal(element, part) for part in value]
        case MapType(key=key, value=item):
            return {internal(key, entry.getKey()): internal(item, entry.getValue()) for entry in value.entrySet()}
        case DateType():
            return value.toEpochDay()
        case TimeType():
            return value.toNanoOfDay() // 1000
        case TimestampType() | TimestamptzType() | TimestampNanoType() | TimestamptzNanoType():
            return _moment(type_, value)
        case DecimalType():
            return Decimal(str(value))
        case UUIDType():
            return UUID(value.toString())
        case FixedType() if isinstance(value, bytes | bytearray):
            return bytes(value)
        case FixedType() | BinaryType():  # a constant of a partition is a buffer for both
            return bytes(value.array())[value.arrayOffset() + value.position() :][: value.remaining()]
        case FloatType():
            return as_float32(value)
    return value


def _moment(type_: Type, value: Any) -> int:
    if isinstance(value, int):  # Java's generic reader gives nanosecond constants of a partition as they are
        return value
    utc = value if isinstance(type_, TimestamptzType | TimestamptzNanoType) else value.atOffset(_utc(value))
    nanos = int(utc.toEpochSecond()) * 1_000_000_000 + int(utc.getNano())
    return nanos if isinstance(type_, TimestampNanoType | TimestamptzNanoType) else nanos // 1000


def _utc(value: Any) -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()._jvm.java.time.ZoneOffset.UTC


# -- writing -----------------------------------------------------------------------------------------------------------
class Writer:
    """Writes records into files of one table, format and delete kind, and hands the files back."""

    _numbers = iter(range(1_000_000))

    def __init__(self, spark: Any, table: Any, file_format: str, spec: Any = None, equality_ids: tuple[int, ...] = ()) -> None:
        self.jvm, self.table, self.format = spark._jvm, table, file_format
        self.iceberg = self.jvm.org.apache.iceberg
        self.spec = table.spec() if spec is None else spec
        self.schema = table.schema()
        self.equality = self._ids(spark, equality_ids) if equality_ids else None
        self.delete_schema = None
        if equality_ids:
            wanted = self.jvm.java.util.HashSet(list(equality_ids))
            self.delete_schema = self.iceberg.types.TypeUtil.select(self.schema, wanted)
        form = self.iceberg.FileFormat.fromString(file_format)
        builder = getattr(self.iceberg.data, "GenericFileWriterFactory$Builder")(table)
        builder = builder.dataSchema(self.schema).dataFileFormat(form).deleteFileFormat(form)
        if equality_ids:
            builder = builder.equalityFieldIds(self.equality).equalityDeleteRowSchema(self.delete_schema)
        self.factory = builder.build()

    @staticmethod
    def _ids(spark: Any, ids: tuple[int, ...]) -> Any:
        array = spark.sparkContext._gateway.new_array(spark._jvm.int, len(ids))
        for place, field_id in enumerate(ids):
            array[place] = field_id
        return array

    def _output(self) -> Any:
        number = next(self._numbers)
        file = self.table.io().newOutputFile(f"{self.table.location()}/data/java {number} é%20.{self.format}")
        return self.iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(file)

    def by_partition(self, rows: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
        """(partition, its records)."""
        wrapper = self.iceberg.data.InternalRecordWrapper(self.schema.asStruct())
        groups: dict[str, tuple[Any, list[Any]]] = {}
        for record in rows:
            key = self.iceberg.PartitionKey(self.spec, self.schema)
            key.partition(wrapper.wrap(record))
            groups.setdefault(key.toPath(), (key, []))[1].append(record)
        yield from groups.values()

    def data_files(self, rows: list[Any]) -> list[Any]:
        return [
            self._written(self.factory.newDataWriter(self._output(), self.spec, key), part).toDataFile()
            for key, part in self.by_partition(rows)
        ]

    def equality_deletes(self, rows: list[Any], partition: Any = None) -> Any:
        return self._written(self.factory.newEqualityDeleteWriter(self._output(), self.spec, partition), rows).toDeleteFile()

    def position_deletes(self, positions: list[tuple[str, int]], partition: Any = None) -> Any:
        one = self.iceberg.deletes.PositionDelete
        writer = self.factory.newPositionDeleteWriter(self._output(), self.spec, partition)
        return self._written(writer, [one.create().set(path, position) for path, position in positions]).toDeleteFile()

    @staticmethod
    def _written(writer: Any, rows: list[Any]) -> Any:
        for row in rows:
            writer.write(row)
        writer.close()
        return writer


def append(table: Any, files: list[Any]) -> None:
    action = table.newAppend()
    for file in files:
        action = action.appendFile(file)
    action.commit()


def copy(spark: Any, source: str, folder: str, schema: str, spec: str, properties: dict[str, str]) -> None:
    """A new table at ``folder`` with the rows of ``source``, written by Java in ``write.format.default``."""
    rows = records(spark, tables(spark).load(source))
    table = create(spark, folder, schema, spec, properties)
    append(table, Writer(spark, table, properties["write.format.default"]).data_files(rows))


# -- deletes -----------------------------------------------------------------------------------------------------------
def delete_forms(spark: Any, source: str, folder: str, schema: str, file_format: str) -> None:
    """A table with every kind of delete file, of rows ``(id int, key string, x double, p int)``, over an evolving schema and spec.

    Sources: ``source`` has the rows, ``source_k``, ``source_i``, ``source_x`` the
    key, id (a long) and x of rows to delete.
    """
    iceberg = spark._jvm.org.apache.iceberg
    by_p = '{"spec-id": 0, "fields": [{"name": "p", "transform": "identity", "source-id": 4, "field-id": 1000}]}'
    properties = {"format-version": "2", "write.format.default": file_format}
    table = create(spark, folder, schema, by_p, properties)
    rows = records(spark, tables(spark).load(source))
    writer = Writer(spark, table, file_format)
    parts = dict(_part(group) for group in writer.by_partition(rows))
    first = {path: writer.data_files(found)[0] for path, (_, found) in parts.items()}
    append(table, list(first.values()))

    # the first row of p=0, and of p=1 the first two, each by a file of its partition
    positions = [("p=0", [0]), ("p=1", [0, 1])]
    delta = table.newRowDelta()
    for path, places in positions:
        delta = delta.addDeletes(writer.position_deletes([(first[path].location(), n) for n in places], parts[path][0]))
    delta.commit()

    # by key, in p=1 only: nulls equal nulls
    deleted = records(spark, tables(spark).load(f"{source}_k"))
    table.newRowDelta().addDeletes(Writer(spark, table, file_format, equality_ids=(2,)).equality_deletes(deleted, parts["p=1"][0])).commit()

    # the same rows once more: earlier deletes do not touch them
    append(table, writer.data_files(rows))

    # the compared column gets another name and a wider type
    table.updateSchema().renameColumn("id", "number").updateColumn("id", iceberg.types.Types.LongType.get()).moveFirst("x").commit()
    deleted = records(spark, tables(spark).load(f"{source}_i"))
    table.newRowDelta().addDeletes(Writer(spark, table, file_format, equality_ids=(1,)).equality_deletes(deleted, parts["p=0"][0])).commit()

    # without a partition: over all files of all specs; NaN equals NaN
    table.updateSpec().removeField("p").commit()
    deleted = records(spark, tables(spark).load(f"{source}_x"))
    table.newRowDelta().addDeletes(Writer(spark, table, file_format, equality_ids=(3,)).equality_deletes(deleted)).commit()


def _part(group: tuple[Any, list[Any]]) -> tuple[str, tuple[Any, list[Any]]]:
    return str(group[0].toPath()), group


def add_columns(spark: Any, folder: str, columns: list[tuple[str, str, Any]]) -> None:
    """Format 3: columns (name, type, initial and write default); a dotted name goes into a struct.

    Text stands for values of types that Python lacks.
    """
    iceberg = spark._jvm.org.apache.iceberg
    update = tables(spark).load(folder).updateSchema()
    for name, type_, default in columns:
        made = iceberg.types.Types.fromPrimitiveString(type_)
        literal = iceberg.expressions.Expressions.lit(default).to(made)
        parent, _, leaf = name.rpartition(".")
        update = update.addColumn(*([parent] if parent else []), leaf, made, None, literal)
    update.commit()


def write_plain(spark: Any, query: str, folder: str, file_format: str) -> None:
    """Files of Spark's own writer, which knows no field ids."""
    spark.sql(query).coalesce(1).write.format(file_format).save(folder)


def expire(
    spark: Any, folder: str, older_than_ms: int, retain_last: int | None, snapshot_ids: tuple[int, ...], clean_metadata: bool
) -> None:
    """As Iceberg's own API does it, outside Spark."""
    update = tables(spark).load(folder).expireSnapshots().expireOlderThan(older_than_ms).cleanExpiredMetadata(clean_metadata)
    if retain_last is not None:
        update.retainLast(retain_last)
    for snapshot_id in snapshot_ids:
        update.expireSnapshotId(snapshot_id)
    update.commit()
