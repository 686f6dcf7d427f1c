"""Columns every table has beside its own, hidden from ``SELECT *``. Spec: "Reserved Field IDs", "Row Lineage".

Put into a projection, they are read.
"""

from __future__ import annotations

from icesql.spec.types import BooleanType, IntegerType, LongType, NestedField, StringType

_MAX = 2**31 - 1

FILE = NestedField(_MAX - 1, "_file", StringType(), True, "Path of the file in which a row is stored")
POS = NestedField(_MAX - 2, "_pos", LongType(), True, "Ordinal position of a row in the source data file")
DELETED = NestedField(_MAX - 3, "_deleted", BooleanType(), True, "Whether the row has been deleted")
SPEC_ID = NestedField(_MAX - 4, "_spec_id", IntegerType(), True, "Spec ID used to track the file containing a row")
ROW_ID = NestedField(_MAX - 107, "_row_id", LongType(), False, "Implicit row ID that is automatically assigned")
SEQUENCE = NestedField(_MAX - 108, "_last_updated_sequence_number", LongType(), False, "Sequence number when the row was last updated")
LINEAGE = (ROW_ID, SEQUENCE)
PARTITION_ID, PARTITION = _MAX - 5, "_partition"  # a struct of the partition fields that a table has had
