"""The metadata columns of one table: row lineage depends on the format version, ``_partition`` on the table's specs."""

from __future__ import annotations

from icesql.spec.case_folding import name_key
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import DELETED, FILE, LINEAGE, PARTITION, PARTITION_ID, POS, SPEC_ID
from icesql.spec.types import NestedField, StructType
from icesql.table.metadata.partition_types import union_partition_type

_PLAIN = {field.name: field for field in (FILE, POS, DELETED, SPEC_ID, *LINEAGE)}
NAMES = (*_PLAIN, PARTITION)


def metadata_column(metadata: TableMetadata, name: str, *, case_sensitive: bool = True) -> NestedField | None:
    """The metadata column of that name, ``None`` if there is none. Row lineage needs format version 3."""
    key = name_key(case_sensitive=case_sensitive)(name)
    if key == PARTITION:
        return partition_column(metadata)
    column = _PLAIN.get(key)
    return None if column in LINEAGE and metadata.format_version < 3 else column


def partition_column(metadata: TableMetadata) -> NestedField:
    """``_partition``: a struct of every partition field that any spec of the table had."""
    return NestedField(
        PARTITION_ID, PARTITION, StructType(union_partition_type(metadata).fields), False, "Partition to which a row belongs to"
    )
