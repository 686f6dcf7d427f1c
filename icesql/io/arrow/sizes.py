"""How many bytes the values of Arrow data take.

Arrow's own ``nbytes`` reads the first offset of every list, also of one without rows, which what Java's Arrow sends need not have: the
process then ends with a segmentation fault (a null map whose values hold a list is enough).
"""

from __future__ import annotations

import pyarrow as pa


def table_bytes(table: pa.Table) -> int:
    """Bytes of the rows: validity, offsets and values, of slices their part of them."""
    return sum(array_bytes(chunk) for column in table.columns for chunk in column.chunks)


def array_bytes(array: pa.Array) -> int:
    """As ``table_bytes``, of one array."""
    rows = len(array)
    if rows == 0:
        return 0
    if not isinstance(array, (pa.StructArray, pa.ListArray, pa.MapArray)):
        return int(array.nbytes)
    validity = 0 if array.buffers()[0] is None else (rows + 7) // 8
    if isinstance(array, pa.StructArray):
        return validity + sum(array_bytes(array.field(i)) for i in range(array.type.num_fields))
    first, last = array.offsets[0].as_py(), array.offsets[rows].as_py()
    parts = (array.keys, array.items) if isinstance(array, pa.MapArray) else (array.values,)
    return validity + 4 * rows + sum(array_bytes(part.slice(first, last - first)) for part in parts)
