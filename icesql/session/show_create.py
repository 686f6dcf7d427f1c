"""SHOW CREATE TABLE, as Spark writes it for a v2 table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.session import describing
from icesql.session.names import Found

if TYPE_CHECKING:
    from icesql.session.session import Session


def create_table_text(session: Session, found: Found) -> str:
    """A statement that would make the table again. Column types are spelled by Spark itself."""
    from icesql.session.run_show import spark_fields

    metadata = found.table.metadata
    columns = ",\n  ".join(_column_ddl(session, field) for field in spark_fields(session, found))
    text = f"CREATE TABLE {'.'.join(describing.quoted_if_needed(part) for part in found.address.parts)} (\n  {columns})\nUSING iceberg\n"
    partitioning = describing.partitioning(metadata.spec, metadata.schema)
    if partitioning:
        text += f"PARTITIONED BY ({', '.join(partitioning)})\n"
    if "comment" in metadata.properties:
        text += f"COMMENT '{_escaped(metadata.properties['comment'])}'\n"
    text += f"LOCATION '{_escaped(metadata.location)}'\n"
    properties = ",\n  ".join(f"'{_escaped(k)}' = '{_escaped(v)}'" for k, v in sorted(describing.table_properties(found).items()))
    return text + (f"TBLPROPERTIES (\n  {properties})\n" if properties else "")


def _column_ddl(session: Session, field: object) -> str:
    from pyspark.sql.types import StructField, StructType

    assert isinstance(field, StructField)
    comment = {"comment": field.metadata["comment"]} if "comment" in field.metadata else {}
    bare = StructType([StructField(field.name, field.dataType, field.nullable, comment)])
    jvm = session.spark._jvm
    return str(jvm.org.apache.spark.sql.types.DataType.fromJson(bare.json()).toDDL())  # type: ignore[union-attr]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
