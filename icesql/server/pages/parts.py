"""Parts of the page as HTML. Every value is escaped where it is put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from icesql.catalog.names import Identifier, dotted
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.scan.report import ScanReport

STYLE = (
    "body{font:14px system-ui;margin:1.5em;color:#222}h1{font-size:1.3em}h2{font-size:1.1em;margin-top:1.5em}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em .2em 0;text-align:left;vertical-align:top}"
    "ul{margin:0;padding-left:1.2em}.ref{background:#def;border-radius:3px;padding:0 .3em}.error{color:#b00}"
    ".bar{display:flex;width:32em;height:1.2em;background:#eee}.bar span{display:block;height:100%}"
    ".manifests{background:#bbb}.partitions{background:#8bd}.metrics{background:#6c9}.read{background:#d55}code{font-size:.95em}"
)
_MOST_SNAPSHOTS = 200


def page(title: str, parts: Iterable[str]) -> str:
    return (
        f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1><a href='/'>icesql</a> {escape(title)}</h1>{''.join(parts)}</body></html>"
    )


def link(text: str, **query: str) -> str:
    return f"<a href='/?{escape(urlencode(query))}'>{escape(text)}</a>"


def names(catalog: str, tables: Mapping[Identifier, Sequence[Identifier]]) -> str:
    """Namespaces with their tables."""
    items = ""
    for namespace, held in tables.items():
        links = "".join(f"<li>{link(one[-1], catalog=catalog, table=dotted(one))}</li>" for one in held)
        items += f"<li>{escape(dotted(namespace))}<ul>{links}</ul></li>"
    return f"<h2>{escape(catalog)}</h2><ul>{items}</ul>"


def snapshots(metadata: TableMetadata) -> str:
    """As a tree, the newest of each line first: a snapshot that several others build on has them as branches below it."""
    children: dict[int | None, list[Snapshot]] = {}
    known = metadata.snapshots_by_id
    for snapshot in metadata.snapshots[-_MOST_SNAPSHOTS:]:
        parent = snapshot.parent_snapshot_id if snapshot.parent_snapshot_id in known else None
        children.setdefault(parent, []).append(snapshot)
    refs: dict[int, list[str]] = {}
    for name, ref in metadata.refs.items():
        refs.setdefault(ref.snapshot_id, []).append(name)
    lines: list[str] = []
    shown = {snapshot.snapshot_id for held in children.values() for snapshot in held}
    roots = [one for parent, held in children.items() if parent not in shown for one in held]
    pending = [(root, 0) for root in roots]
    while pending:
        snapshot, depth = pending.pop()
        lines.append(_snapshot(snapshot, refs.get(snapshot.snapshot_id, ()), depth))
        below = children.get(snapshot.snapshot_id, [])
        pending += [(one, depth + (len(below) > 1)) for one in below]
    head = "<tr><th>snapshot</th><th>sequence</th><th>operation</th><th>files</th><th>rows</th></tr>"
    return f"<h2>Snapshots</h2><table class='snapshots'>{head}{''.join(lines)}</table>"


def _snapshot(snapshot: Snapshot, refs: Sequence[str], depth: int) -> str:
    summary = snapshot.summary
    marks = "".join(f" <span class='ref'>{escape(name)}</span>" for name in refs)
    files = f"+{summary.get('added-data-files', '0')} -{summary.get('deleted-data-files', '0')}"
    rows = f"+{summary.get('added-records', '0')} -{summary.get('deleted-records', '0')}"
    cells = (f"{'&nbsp;' * 4 * depth}<code>{snapshot.snapshot_id}</code>{marks}", str(snapshot.sequence_number),
             escape(str(snapshot.operation or "")), escape(files), escape(rows))  # fmt: skip
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def filter_form(catalog: str, table: str, text: str) -> str:
    hidden = "".join(
        f"<input type='hidden' name='{name}' value='{escape(value, quote=True)}'>"
        for name, value in (("catalog", catalog), ("table", table))
    )
    field = f"<input name='filter' size='60' value='{escape(text, quote=True)}' placeholder=\"day = DATE '2026-11-23'\">"
    return f"<h2>Files that a filter leaves</h2><form>{hidden}{field} <button>Prune</button></form>"


def pruning(report: ScanReport) -> str:
    """How many files are left out by manifests, by partition and by column metrics, and how many are read."""
    by_manifest = report.files_in_skipped_manifests or 0
    by_partition = sum(one.count for one in report.files_skipped_by_partition)
    by_metrics = sum(one.count for one in report.files_skipped_by_metrics)
    parts = (
        ("manifests", "skipped with their manifests", by_manifest),
        ("partitions", "skipped by partition", by_partition),
        ("metrics", "skipped by column metrics", by_metrics),
        ("read", "read", report.files_planned),
    )
    total = max(1, sum(count for _, _, count in parts))
    bar = "".join(f"<span class='{kind}' style='width:{100 * count / total:.2f}%'></span>" for kind, _, count in parts if count)
    rows = "".join(f"<tr><td>{escape(text)}</td><td>{count:,}</td></tr>" for _, text, count in parts)
    return f"<div class='bar'>{bar}</div><table class='pruning'>{rows}</table>"


def error(text: str) -> str:
    return f"<p class='error'>{escape(text)}</p>"


def events(found: Sequence[Mapping[str, Any]]) -> str:
    """The newest first."""
    rows = "".join(
        f"<tr><td>{one['event-id']}</td><td>{escape(one['type'])}</td>"
        f"<td>{escape(dotted((*one['identifier']['namespace'], one['identifier']['name'])))}</td>"
        f"<td>{escape(', '.join(one.get('actions', ())))}</td><td>{escape(one.get('principal', ''))}</td></tr>"
        for one in reversed(found)
    )
    return f"<h2>Latest events</h2><table class='events'>{rows}</table>"
