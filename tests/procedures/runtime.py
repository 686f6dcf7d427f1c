"""What Iceberg's own Java API reads of files that procedures write. Runs inside the oracle process."""

from __future__ import annotations

from typing import Any


def _table(spark: Any, warehouse: str, name: str) -> Any:
    iceberg = spark._jvm.org.apache.iceberg
    catalog = iceberg.hadoop.HadoopCatalog(spark._jsc.hadoopConfiguration(), warehouse)
    return catalog.loadTable(iceberg.catalog.TableIdentifier.parse(name))


def _listed(spark: Any, iterable: Any) -> list[Any]:
    """A Java Iterable as a list."""
    return list(spark._jvm.org.apache.iceberg.relocated.com.google.common.collect.Lists.newArrayList(iterable))


def partition_statistics(spark: Any, warehouse: str, name: str) -> list[tuple[str, int, int, int, int]]:
    """(partition, data records, data files, position delete records, position delete files) of the current snapshot's file."""
    rows = _table(spark, warehouse, name).newPartitionStatisticsScan().scan()
    return [
        (
            str(row.partition().get(0, spark._jvm.java.lang.Class.forName("java.lang.Object"))),
            int(row.dataRecordCount()),
            int(row.dataFileCount()),
            int(row.positionDeleteRecordCount()),
            int(row.positionDeleteFileCount()),
        )
        for row in _listed(spark, rows)
    ]


def blob_types(spark: Any, warehouse: str, name: str) -> list[tuple[str, list[int], str, int]]:
    """(type, fields, ndv, bytes) of each blob of the newest statistics file, read by Java's Puffin reader."""
    iceberg, table = spark._jvm.org.apache.iceberg, _table(spark, warehouse, name)
    file = list(table.statisticsFiles())[-1]
    reader = iceberg.puffin.Puffin.read(table.io().newInputFile(file.path())).withFooterSize(file.fileFooterSizeInBytes()).build()
    blobs = reader.fileMetadata().blobs()
    found = []
    for pair in _listed(spark, reader.readAll(blobs)):
        blob = pair.first()
        found.append(
            (str(blob.type()), [int(i) for i in blob.inputFields()], str(blob.properties().get("ndv")), int(pair.second().remaining()))
        )
    return found
