"""The order in which Java's ``HashSet<String>`` lists its members, where the reference writes such a set into a property."""

from __future__ import annotations

from collections.abc import Iterable

_SMALLEST_TABLE = 16
_LOAD_FACTOR = 0.75


def string_hash(text: str) -> int:
    """``String.hashCode``, unsigned: over UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def hash_set_order(names: Iterable[str]) -> tuple[str, ...]:
    """The distinct names as a hash set lists them: by bucket, within one in the order given."""
    distinct = tuple(dict.fromkeys(names))
    size = _SMALLEST_TABLE
    while len(distinct) > size * _LOAD_FACTOR:
        size *= 2

    def bucket(name: str) -> int:
        value = string_hash(name)
        return (value ^ value >> 16) & (size - 1)

    return tuple(sorted(distinct, key=bucket))
