"""SHOW CREATE TABLE, as Spark writes it for a v2 table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.parser.parameters import quoted_string
from icesql.session import describing
from icesql.session.names import Found

if TYPE_CHECKING:
    from icesql.session.session import Session
    from icesql.spec.metadata import TableMetadata


def create_table_text(session: Session, found: Found) -> str:
    """A statement that would make the table again. Column types are spelled by Spark itself."""
    from icesql.session.run_show import spark_fields

    metadata = found.table.metadata
    columns = ",\n  ".join(_column_ddl(session, field) for field in spark_fields(session, found))
    text = f"CREATE TABLE {'.'.join(describing.quoted_if_needed(part) for part in found.parts)} (\n  {columns})\nUSING iceberg\n"
    if found.metadata_table is None:
        text += _partitioning_and_comment(metadata)
    text += f"LOCATION {quoted_string(metadata.location)}\n"
    properties = ",\n  ".join(f"{quoted_string(k)} = {quoted_string(v)}" for k, v in sorted(describing.table_properties(found).items()))
    return text + (f"TBLPROPERTIES (\n  {properties})\n" if properties else "")


def _partitioning_and_comment(metadata: TableMetadata) -> str:
    partitioning = describing.partitioning(metadata.spec, metadata.schema)
    text = f"PARTITIONED BY ({', '.join(partitioning)})\n" if partitioning else ""
    for clause in ("comment", "collation"):
        if clause in metadata.properties:
            text += f"{clause.upper()} {quoted_string(metadata.properties[clause])}\n"
    return text


def _column_ddl(session: Session, field: object) -> str:
    from pyspark.sql.types import StructField, StructType

    assert isinstance(field, StructField)
    comment = {"comment": field.metadata["comment"]} if "comment" in field.metadata else {}
    bare = StructType([StructField(field.name, field.dataType, field.nullable, comment)])
    jvm = session.spark._jvm
    return str(jvm.org.apache.spark.sql.types.DataType.fromJson(bare.json()).toDDL())
