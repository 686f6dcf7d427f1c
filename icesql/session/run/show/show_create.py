"""SHOW CREATE TABLE, as Spark writes it for a v2 table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from icesql.parser.text.parameters import quoted_pairs, quoted_string
from icesql.session.resolve.resolved import CHANGES, Readable
from icesql.session.run.show import describing
from icesql.spark.jvm.queries import type_ddl

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState
    from icesql.spec.metadata import TableMetadata

_OPTION = "option."


def create_table_text(session: SessionState, resolved: Readable) -> str:
    """A statement that would make the table again. Column types are spelled by Spark itself."""
    metadata = resolved.table.metadata
    columns = ",\n  ".join(_column_ddl(session, field) for field in describing.spark_fields(session, resolved))
    text = f"CREATE TABLE {describing.quoted_if_needed(*resolved.parts)} (\n  {columns})\n"
    if resolved.metadata_table == CHANGES:
        return text
    text += "USING iceberg\n"
    properties = describing.shown_properties(session, resolved)
    options = {key.removeprefix(_OPTION): value for key, value in properties.items() if key.startswith(_OPTION)}
    text += listed("OPTIONS", options)
    if resolved.metadata_table is None:
        text += _partitioning_and_comment(metadata)
    elif resolved.metadata_table == "position_deletes":
        text += _partitioned_by([f"partition.{describing.quoted_if_needed(name)}" for name in describing.partition_struct_names(metadata)])
    text += f"LOCATION {quoted_string(metadata.location)}\n"
    return text + listed("TBLPROPERTIES", {k: v for k, v in properties.items() if k not in options and not k.startswith(_OPTION)})


def listed(clause: str, pairs: Mapping[str, str]) -> str:
    """The pairs in the order of their keys, one a line; nothing where there are none."""
    lines = quoted_pairs(dict(sorted(pairs.items())), between=",\n  ")
    return f"{clause} (\n  {lines})\n" if pairs else ""


def _partitioning_and_comment(metadata: TableMetadata) -> str:
    text = _partitioned_by(describing.partitioning(metadata.spec, metadata.schema))
    for clause in ("comment", "collation"):
        if clause in metadata.properties:
            text += f"{clause.upper()} {quoted_string(metadata.properties[clause])}\n"
    return text


def _partitioned_by(texts: Sequence[str]) -> str:
    return f"PARTITIONED BY ({', '.join(texts)})\n" if texts else ""


def _column_ddl(session: SessionState, field: object) -> str:
    from pyspark.sql.types import StructField, StructType

    assert isinstance(field, StructField)
    comment = {"comment": field.metadata["comment"]} if "comment" in field.metadata else {}
    bare = StructType([StructField(field.name, field.dataType, field.nullable, comment)])
    return type_ddl(session.spark, bare)
