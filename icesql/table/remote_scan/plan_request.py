"""What a client asks a server to plan. Spec: ``PlanTableScanRequest``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.expr.expr_json import expression_from_json, expression_to_json
from icesql.expr.rewrite import without_patterns
from icesql.expr.tree import TRUE, AlwaysTrue, Expression
from icesql.spec.json.faults import JsonFault, JsonObject, JsonValue, array_field, as_object, bool_field, each, kind, long_field
from icesql.spec.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A scan of one snapshot (the current one, or ``snapshot_id``), or of what was appended after ``start_snapshot_id`` up to and including
    ``end_snapshot_id``.

    ``filter`` is unbound, or bound to the schema that the scan reads under. ``select``: ``None`` for all columns. ``use_snapshot_schema``:
    read under the snapshot's schema and not the table's. ``min_rows_requested``: any that many rows are enough. ``stats_fields``: columns
    whose metrics the data files are to carry.
    """

    snapshot_id: int | None = None
    select: tuple[str, ...] | None = None
    filter: Expression = TRUE
    min_rows_requested: int | None = None
    case_sensitive: bool = True
    use_snapshot_schema: bool = False
    start_snapshot_id: int | None = None
    end_snapshot_id: int | None = None
    stats_fields: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.snapshot_id is not None and self.is_incremental:
            raise InvalidArgumentError("Cannot plan scan: snapshot-id and start-snapshot-id or end-snapshot-id are both given")
        if self.start_snapshot_id is not None and self.end_snapshot_id is None:
            raise InvalidArgumentError("Cannot plan scan: start-snapshot-id is given without end-snapshot-id")
        if self.min_rows_requested is not None and self.min_rows_requested < 0:
            raise InvalidArgumentError(f"Cannot plan scan: min-rows-requested is negative: {self.min_rows_requested}")

    @property
    def is_incremental(self) -> bool:
        return self.start_snapshot_id is not None or self.end_snapshot_id is not None


_LONGS = ("snapshot-id", "min-rows-requested", "start-snapshot-id", "end-snapshot-id")
_FLAGS = {"case-sensitive": True, "use-snapshot-schema": False}
_NAMES = ("select", "stats-fields")


def plan_request_to_json(request: PlanRequest) -> JsonObject:
    """Keys only where they say something. The filter keeps SQL's meaning for readers with two truth values.

    Patterns of LIKE, which the specification lacks, are left out of the filter: the server then plans more files, and its residuals do not
    have them.
    """
    node: dict[str, Any] = {}
    for key in _LONGS:
        if (number := getattr(request, _attribute(key))) is not None:
            node[key] = number
    for key in _NAMES:
        if (names := getattr(request, _attribute(key))) is not None:
            node[key] = list(names)
    for key, default in _FLAGS.items():
        if getattr(request, _attribute(key)) != default:
            node[key] = not default
    filter_ = without_patterns(request.filter)
    if not isinstance(filter_, AlwaysTrue):
        node["filter"] = expression_to_json(filter_, null_safe=True)
    return node


def plan_request_from_json(node: JsonValue, schema: Schema | None = None) -> PlanRequest:
    """``schema``: for references by field id, and to convert typed literals. Raises InvalidArgumentError, CorruptMetadataError."""
    fields = as_object(node)
    held: dict[str, Any] = {_attribute(key): long_field(fields, key) for key in _LONGS if fields.get(key) is not None}
    held |= {_attribute(key): bool_field(fields, key) for key in _FLAGS if fields.get(key) is not None}
    held |= {_attribute(key): _names(fields, key) for key in _NAMES if fields.get(key) is not None}
    if fields.get("filter") is not None:
        held["filter"] = expression_from_json(fields["filter"], schema, null_safe=True)
    return PlanRequest(**held)


def _names(node: JsonObject, key: str) -> tuple[str, ...]:
    names = array_field(node, key)
    for path, name in each(names, key):
        if not isinstance(name, str):
            raise JsonFault(f"expected a string, got {kind(name)}", path)
    return tuple(names)


def _attribute(key: str) -> str:
    return key.replace("-", "_")
