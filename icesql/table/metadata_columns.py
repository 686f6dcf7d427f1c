"""Columns every table has beside its own. Spec: "Reserved Field IDs", "Row Lineage"; hidden from ``SELECT *``."""

from __future__ import annotations

from icesql.spec.metadata import TableMetadata
from icesql.spec.types import BooleanType, IntegerType, LongType, NestedField, StringType, StructType
from icesql.table.partition_types import union_partition_type

_MAX = 2**31 - 1
FILE_ID = _MAX - 1
POS_ID = _MAX - 2
DELETED_ID = _MAX - 3
SPEC_ID_ID = _MAX - 4
PARTITION_ID = _MAX - 5
ROW_ID_ID = _MAX - 107
LAST_UPDATED_SEQUENCE_NUMBER_ID = _MAX - 108

FILE = NestedField(FILE_ID, "_file", StringType(), True, "Path of the file in which a row is stored")
POS = NestedField(POS_ID, "_pos", LongType(), True, "Ordinal position of a row in the source data file")
DELETED = NestedField(DELETED_ID, "_deleted", BooleanType(), True, "Whether the row has been deleted")
SPEC_ID = NestedField(SPEC_ID_ID, "_spec_id", IntegerType(), True, "Spec ID used to track the file containing a row")
ROW_ID = NestedField(ROW_ID_ID, "_row_id", LongType(), False, "Implicit row ID that is automatically assigned")
LAST_UPDATED_SEQUENCE_NUMBER = NestedField(
    LAST_UPDATED_SEQUENCE_NUMBER_ID, "_last_updated_sequence_number", LongType(), False, "Sequence number when the row was last updated"
)
_PLAIN = {field.name: field for field in (FILE, POS, DELETED, SPEC_ID, ROW_ID, LAST_UPDATED_SEQUENCE_NUMBER)}
_LINEAGE = frozenset({ROW_ID_ID, LAST_UPDATED_SEQUENCE_NUMBER_ID})
NAMES = (*_PLAIN, "_partition")


def metadata_column(metadata: TableMetadata, name: str, *, case_sensitive: bool = True) -> NestedField | None:
    """The metadata column of that name, ``None`` if there is none. Row lineage needs format version 3."""
    key = name if case_sensitive else name.lower()
    if key == "_partition":
        return partition_column(metadata)
    found = _PLAIN.get(key)
    if found is not None and found.id in _LINEAGE and metadata.format_version < 3:
        return None
    return found


def partition_column(metadata: TableMetadata) -> NestedField:
    """``_partition``: a struct of every partition field any spec of the table had."""
    return NestedField(
        PARTITION_ID, "_partition", StructType(union_partition_type(metadata).fields), False, "Partition to which a row belongs to"
    )
