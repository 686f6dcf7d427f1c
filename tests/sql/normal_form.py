"""What two engines must agree on, in a form that can be compared: rows, columns, errors and table metadata without ids, times and paths."""

from __future__ import annotations

import datetime
import decimal
import gzip
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

MASKED = frozenset(
    [
        "snapshot_id",
        "parent_id",
        "made_current_at",
        "committed_at",
        "manifest_list",
        "file_path",
        "path",
        "file_size_in_bytes",
        "length",
        "timestamp",
        "timestamp_ms",
        "file",
        "added_snapshot_id",
        "latest_snapshot_id",
        "last_updated_at",
        "last_updated_snapshot_id",
        "total_data_file_size_in_bytes",
        "column_sizes",
        "split_offsets",
        "current_snapshot_id",
        "previous_snapshot_id",
        "source_snapshot_id",
        "new_snapshot_id",
        "rewritten_bytes_count",
        "added_bytes_count",
        "orphan_file_location",
        "metadata_file_location",
        "statistics_file",
        "statistics_path",
        "current_partition_statistics",
        "partition_statistics_file",
        "_file",
        "partition_size",
        "latest_version",
        "file_size",
        "snapshot_ids",
        "readable_metrics",
        "key_metadata",
        "upper_bounds",
        "lower_bounds",
        "data_file",
        "manifest_path",
        "referenced_data_file",
        "content_size_in_bytes",
        "content_offset",
        "latest_schema_id_time",
    ]
)
SUMMARY_KEYS = (
    "added-records", "deleted-records", "total-records", "changed-partition-count", "total-position-deletes", "total-equality-deletes",
    "replace-partitions", "wap.id", "published-wap-id", "source-snapshot-id",
)  # fmt: skip
UNCOMPARED_PROPERTIES = ("owner", "write.parquet.compression-codec", "created-at")


def plain(value: Any) -> Any:
    """A value of a row as JSON can hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return "NaN" if value != value else float(f"{value:.9g}")
    if isinstance(value, bytes | bytearray):
        return "0x" + bytes(value).hex()
    if isinstance(value, datetime.datetime | datetime.date | decimal.Decimal | datetime.timedelta):
        return str(value)
    if hasattr(value, "asDict"):
        return {key: plain(item) for key, item in zip(value.__fields__, value, strict=True)}
    if isinstance(value, dict):
        return {str(plain(key)): plain(item) for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return str(value)


def hide(text: str, warehouse: str) -> str:
    """The text without paths, uuids, snapshot ids and times."""
    for form in (f"file://{warehouse}", f"file:{warehouse}", warehouse):
        text = text.replace(form, "WH")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID", text)
    text = re.sub(r"\b\d{17,19}\b", "ID", text)
    return re.sub(r"\b1[78]\d{11}\b", "TIME", text)


def mask(value: Any, extra: Collection[str], warehouse: str) -> Any:
    """The value with the columns that differ by run replaced by ``*``."""
    if isinstance(value, dict):
        return {
            key: "*" if (key in MASKED or key in extra) and item is not None else mask(item, extra, warehouse)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [mask(item, extra, warehouse) for item in value]
    return hide(value, warehouse) if isinstance(value, str) else value


def rows_in_normal_form(columns: list[str], rows: list[Any], extra: Collection[str], *, ordered: bool, warehouse: str) -> list[Any]:
    """Masked rows, as dicts by column name (lists where names repeat), sorted unless ``ordered``."""
    unique = len(set(columns)) == len(columns)
    values = [[plain(item) for item in row] for row in rows]
    named = [dict(zip(columns, row, strict=True)) if unique else row for row in values]
    keyed = [json.dumps(mask(row, extra, warehouse), default=str) for row in named]
    return [json.loads(key) for key in (keyed if ordered else sorted(keyed))]


def latest_metadata(table: Path) -> Path | None:
    """The newest metadata file of a table's folder by version, then by time."""

    def version(file: Path) -> tuple[int, float]:
        match = re.match(r"v(\d+)\.|(\d+)-", file.name)
        return (int(match[1] or match[2]) if match else -1, file.stat().st_mtime)

    return max(table.glob("metadata/*.metadata.json"), key=version, default=None)


def metadata_in_normal_form(file: Path, warehouse: str) -> dict[str, Any]:
    """Schema with ids, spec, order, properties, refs and snapshots of a metadata file; snapshots are numbered in order."""
    data = file.read_bytes()
    metadata = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    numbers = {snapshot["snapshot-id"]: number for number, snapshot in enumerate(metadata.get("snapshots") or [])}
    refs = metadata.get("refs") or {}
    current = metadata.get("current-snapshot-id", -1)
    if not refs and current not in (-1, None):
        refs = {"main": {"snapshot-id": current, "type": "branch"}}

    def chosen(items: str, single: str | None, id_key: str, default: str) -> Any:
        found = [item for item in metadata.get(items, []) if item.get(id_key) == metadata.get(default)]
        return found[0] if found else metadata.get(single) if single else None

    form = {
        "format": metadata["format-version"],
        "schema": chosen("schemas", "schema", "schema-id", "current-schema-id"),
        "n_schemas": len(metadata.get("schemas", [1])),
        "last-column-id": metadata["last-column-id"],
        "spec": chosen("partition-specs", "partition-spec", "spec-id", "default-spec-id"),
        "n_specs": len(metadata.get("partition-specs", [1])),
        "last-partition-id": metadata.get("last-partition-id"),
        "order": chosen("sort-orders", None, "order-id", "default-sort-order-id"),
        "n_orders": len(metadata.get("sort-orders", [])),
        "properties": {k: v for k, v in (metadata.get("properties") or {}).items() if k not in UNCOMPARED_PROPERTIES},
        "refs": {
            name: {**{k: v for k, v in ref.items() if k != "snapshot-id"}, "at": numbers.get(ref["snapshot-id"], "gone")}
            for name, ref in sorted(refs.items())
        },
        "snapshots": [
            {**_summary(s.get("summary") or {}), "parent": numbers.get(s.get("parent-snapshot-id")), "schema-id": s.get("schema-id")}
            for s in metadata.get("snapshots") or []
        ],
        "last-seq": metadata.get("last-sequence-number"),
        "next-row-id": metadata.get("next-row-id"),
        "statistics": len(metadata.get("statistics", [])),
        "partition-statistics": len(metadata.get("partition-statistics", [])),
    }
    normal: dict[str, Any] = json.loads(hide(json.dumps(form), warehouse))
    return normal


def _summary(summary: dict[str, str]) -> dict[str, Any]:
    skipped = () if summary.get("operation") == "append" else ("added-records", "deleted-records", "changed-partition-count")
    kept = {key: summary[key] for key in SUMMARY_KEYS if key in summary and not key.endswith("-id") and key not in skipped}
    return {**kept, "operation": summary.get("operation")}
