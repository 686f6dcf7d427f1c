"""``SELECT * FROM t.partitions`` drawn: a bar a partition, as long as its share of the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from icesql.pictures import svg
from icesql.pictures.pruning_steps import size_text
from icesql.session.output.rows import text

NEEDED = ("partition", "record_count", "file_count", "total_data_file_size_in_bytes")
MOST_BARS = 40
_BAR = 260


def partition_bars(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The largest first; ``rows`` have the columns ``NEEDED``. Empty where there are none."""
    sizes = sorted(rows, key=lambda row: -int(row["total_data_file_size_in_bytes"]))
    if not sizes:
        return ""
    largest = max(1, int(sizes[0]["total_data_file_size_in_bytes"]))
    shown = [(_name(row["partition"]), int(row["total_data_file_size_in_bytes"]), _facts(row)) for row in sizes[:MOST_BARS]]
    left = max(svg.width_of(name) for name, _, _ in shown)
    shapes = []
    for index, (name, size, facts) in enumerate(shown):
        top = svg.ROW * (index + 1)
        shapes += [
            svg.text(left, top + 13, name, anchor="end"),
            svg.bar(left + 8, top + 2, _BAR * size / largest),
            svg.text(left + _BAR + 18, top + 13, facts),
        ]
    if len(sizes) > MOST_BARS:
        shapes.append(svg.text(0, svg.ROW * (MOST_BARS + 1) + 13, f"and {len(sizes) - MOST_BARS:,} smaller partitions"))
    width = left + _BAR + 18 + max(svg.width_of(facts) for _, _, facts in shown)
    return svg.picture(title, "".join(shapes), width=width, rows=len(shown) + (len(sizes) > MOST_BARS))


def _name(partition: Any) -> str:
    fields = partition.asDict() if hasattr(partition, "asDict") else dict(partition)
    return ", ".join(f"{name}={text(value)}" for name, value in fields.items())


def _facts(row: Mapping[str, Any]) -> str:
    files, size, rows = int(row["file_count"]), int(row["total_data_file_size_in_bytes"]), int(row["record_count"])
    return f"{files:,} file{'' if files == 1 else 's'}, {size_text(size)}, {rows:,} row{'' if rows == 1 else 's'}"
