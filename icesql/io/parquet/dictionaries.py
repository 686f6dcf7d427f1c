"""Chooses the columns of a Parquet file that get a dictionary.

A dictionary of many values is slow to write and slow to read: each value is looked up, where plain numbers are copied. It also hides the
order of the values from the compression: sorted keys take twice the room. Two samples of the first row group estimate the number of
distinct values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from icesql.io.arrow.types import is_list
from icesql.spec.properties import PARQUET_DICT_ENCODING_ENABLED_PREFIX

_SAMPLE = 5_000  # values
_LARGEST_SHARE = 0.5  # of the plain bytes
_NUMBER_BYTES = 8  # values this short are copied faster than looked up,
_FEWEST_REPEATS = 8  # unless they repeat this often


def dictionary_columns(rows: pa.Table, properties: Mapping[str, str], limit: int) -> list[str]:
    """Paths of the leaf columns (``a``, ``s.x``, ``l.list.element``, ``m.key_value.key``) that get a dictionary of at most ``limit`` bytes.

    Those whose values are less than half as many bytes with one, numbers only if they repeat. A column that
    ``write.parquet.dict-encoding-enabled.column.<path>`` sets to ``false`` gets none.
    """
    disabled = {
        key[len(PARQUET_DICT_ENCODING_ENABLED_PREFIX) :]
        for key, value in properties.items()
        if key.startswith(PARQUET_DICT_ENCODING_ENABLED_PREFIX) and value.lower() == "false"
    }
    samples = [rows] if rows.num_rows <= 2 * _SAMPLE else [rows.slice(0, _SAMPLE), rows.slice(rows.num_rows // 2, _SAMPLE)]
    columns = []
    for number, name in enumerate(rows.column_names):
        leaves = [_leaves(name, _one_array(sample.column(number))) for sample in samples]
        for (path, first), *others in zip(*leaves, strict=True):
            if path not in disabled and _pays([first, *(values for _, values in others)], rows.num_rows, limit):
                columns.append(path)
    return columns


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)


def _leaves(path: str, values: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_struct(values.type):
        for number, field in enumerate(values.type):
            yield from _leaves(f"{path}.{field.name}", values.field(number))
    elif pa.types.is_map(values.type):
        entries = slice(values.offsets[0].as_py(), values.offsets[-1].as_py())
        yield from _leaves(f"{path}.key_value.key", values.keys[entries])
        yield from _leaves(f"{path}.key_value.value", values.items[entries])
    elif is_list(values.type):
        yield from _leaves(f"{path}.list.element", values.flatten())
    else:
        yield path, values[: 2 * _SAMPLE]


def _pays(samples: list[pa.Array], rows: int, limit: int) -> bool:
    """True if the distinct values and a number for each value are few enough bytes."""
    type_ = samples[0].type
    sampled = sum(len(values) - values.null_count for values in samples)
    if not sampled or pa.types.is_boolean(type_) or pa.types.is_null(type_):
        return False
    uniques = [values.unique().drop_null() for values in samples]
    seen = uniques[0] if len(uniques) == 1 else pa.concat_arrays(uniques).unique()
    count = max(rows, sampled)
    distinct = _distinct([len(one) for one in uniques], len(seen), count / sampled)
    width = sum(map(_plain_bytes, samples)) / sampled
    dictionary = distinct * _plain_bytes(seen) / len(seen)
    numbers = count * max(1, int(distinct - 1).bit_length()) / 8
    if dictionary > limit or (width <= _NUMBER_BYTES and distinct * _FEWEST_REPEATS > count):
        return False
    return bool(dictionary + numbers < _LARGEST_SHARE * count * width)


def _distinct(each: list[int], together: int, scale: float) -> float:
    """An estimate of the number of distinct values from the overlap of two samples (Lincoln and Petersen)."""
    common = sum(each) - together
    if len(each) == 1:
        return together
    most = together * scale
    return max(together, min(each[0] * each[1] / common, most) if common else most)


def _plain_bytes(values: pa.Array) -> int:
    """Bytes of the values that are not null in the PLAIN encoding."""
    type_, count = values.type, int(len(values) - values.null_count)
    if pa.types.is_decimal(type_):
        each = 4 if type_.precision <= 9 else 8 if type_.precision <= 18 else int(type_.byte_width)
    elif pa.types.is_primitive(type_) or pa.types.is_fixed_size_binary(type_):
        each = max(4, int(type_.bit_width) // 8)
    else:
        return 4 * count + int(pc.sum(pc.binary_length(values)).as_py() or 0)
    return count * each
