"""A table in a few lines, as the Python prompt and notebooks show it."""

from __future__ import annotations

from html import escape

from icesql.spec.metadata import TableMetadata

_MOST = 40  # columns shown


def described(name: str, metadata: TableMetadata) -> list[str]:
    """Name and size, columns, partitioning, branches and tags."""
    return [f"Table {_heading(name, metadata)}", *(f"  {' '.join(column)}".rstrip() for column in _columns(metadata)), *_rest(metadata)]


def as_html(name: str, metadata: TableMetadata) -> str:
    rows = "".join(
        f"<tr>{''.join(f'<td style=text-align:left>{escape(cell)}</td>' for cell in column)}</tr>" for column in _columns(metadata)
    )
    below = "<br>".join(escape(line.strip()) for line in _rest(metadata))
    return f"<b>{escape(_heading(name, metadata))}</b><table>{rows}</table>{below}"


def _heading(name: str, metadata: TableMetadata) -> str:
    snapshot = metadata.current_snapshot
    summary = {} if snapshot is None else snapshot.summary
    rows = summary.get("total-records", "unknown number of") if snapshot is not None else "0"
    counted = f"{rows} row{'' if rows == '1' else 's'}"
    count = len(metadata.snapshots)
    return f"{name} (format version {metadata.format_version}, {counted}, {count} snapshot{'' if count == 1 else 's'})"


def _columns(metadata: TableMetadata) -> list[tuple[str, str, str]]:
    fields = metadata.schema.fields
    shown = [(field.name, str(field.type), "required" if field.required else "") for field in fields[:_MOST]]
    return shown if len(fields) <= _MOST else [*shown, (f"... and {len(fields) - _MOST} more columns", "", "")]


def _rest(metadata: TableMetadata) -> list[str]:
    lines = []
    if metadata.spec.fields:
        names = metadata.schema.names_by_id
        parts = [f"{field.transform}({names.get(field.source_id, field.source_id)})" for field in metadata.spec.fields]
        lines.append(f"  partitioned by {', '.join(parts)}")
    if set(metadata.refs) - {"main"}:
        lines.append(f"  branches and tags: {', '.join(sorted(metadata.refs))}")
    return lines
