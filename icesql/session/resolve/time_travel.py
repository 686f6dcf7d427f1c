"""Which snapshot, and with which schema, a mention of a table reads."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from icesql.errors import InvalidArgumentError, NotFoundError, SqlError, UnsupportedError, ValidationError, nearest
from icesql.parser.text.names import TimeTravel
from icesql.parser.text.parameters import quoted_string
from icesql.session.resolve.resolved import CHANGES, Readable, Selector
from icesql.session.sql_errors import both_version_and_selector, branch_not_found
from icesql.spark_errors import spark_message
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import WRITE_AUDIT_PUBLISH_ENABLED
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Snapshot
from icesql.table.scan.read_numbers import check_batch_size
from icesql.table.scan.splits import split_options

Microseconds = Callable[[str], int | None]
"""Evaluates the SQL of a timestamp expression to microseconds since the epoch; ``None`` for null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPoint:
    """``snapshot`` is ``None`` for an empty table. ``branch`` is set where the read tracks a branch: then it has the table's current
    schema.

    ``pinned``: the read asked for one version, so a later commit must not change what it sees.
    """

    snapshot: Snapshot | None
    schema: Schema
    branch: str | None = None
    pinned: bool = False

    @property
    def snapshot_id(self) -> int | None:
        return None if self.snapshot is None else self.snapshot.snapshot_id


def read_point(
    resolved: Readable, time_travel: TimeTravel | None, text: str, microseconds: Microseconds, wap_branch: str | None = None
) -> ReadPoint:
    """Raises InvalidArgumentError or NotFoundError for a version that is not there, or for two ways of time travel at once.

    ``wap_branch``: ``spark.wap.branch``, followed where the table asks for it and the branch exists.
    """
    metadata = resolved.table.metadata
    if time_travel is None:
        return _selected(metadata, resolved.selector, wap_branch if resolved.metadata_table is None else None)
    if resolved.metadata_table == "changes":
        raise InvalidArgumentError("Can't time travel in changelog")
    if not resolved.selector.is_empty:
        raise both_version_and_selector()
    if time_travel.kind == "version":
        if time_travel.value is None:
            raise SqlError(spark_message("PARSE_SYNTAX_ERROR", f"Syntax error at or near '{time_travel.expression.of(text)}'."))
        return at_version(metadata, time_travel.value)
    return at_timestamp(metadata, _timestamp_ms(time_travel, text, microseconds))


def _selected(metadata: TableMetadata, selector: Selector, wap_branch: str | None) -> ReadPoint:
    if selector.snapshot_id is not None:
        return at_snapshot(metadata, selector.snapshot_id)
    if selector.timestamp_ms is not None:
        return at_timestamp(metadata, selector.timestamp_ms)
    if selector.ref is not None:
        if selector.ref_type == "branch":
            return _as_branch(metadata, selector.ref)
        return at_version(metadata, selector.ref)
    if (
        wap_branch is not None
        and metadata.properties.get(WRITE_AUDIT_PUBLISH_ENABLED, "false").lower() == "true"
        and wap_branch in metadata.refs
    ):
        return _as_branch(metadata, wap_branch)
    return current(metadata)


def current(metadata: TableMetadata) -> ReadPoint:
    return ReadPoint(snapshot=metadata.current_snapshot, schema=metadata.schema, branch=MAIN)


def at_snapshot(metadata: TableMetadata, snapshot_id: int) -> ReadPoint:
    """Raises NotFoundError ``Cannot find snapshot with ID ...``."""
    snapshot = metadata.snapshot(snapshot_id)
    return ReadPoint(snapshot=snapshot, schema=metadata.schema_of(snapshot), pinned=True)


def at_version(metadata: TableMetadata, version: int | str) -> ReadPoint:
    """A number, also as text, is a snapshot id; other text is a branch or tag."""
    try:
        snapshot_id = int(version)
    except ValueError:
        pass
    else:
        return at_snapshot(metadata, snapshot_id)
    if version not in metadata.refs:
        raise NotFoundError(
            f"Cannot find matching snapshot ID or reference name for version {version}{nearest(str(version), metadata.refs)}",
            version=version,
        )
    return at_ref(metadata, str(version))


def at_ref(metadata: TableMetadata, name: str) -> ReadPoint:
    """A branch reads with the table's current schema, a tag with its snapshot's. Raises NotFoundError."""
    if name == MAIN and MAIN not in metadata.refs:
        raise NotFoundError(f"Cannot find matching snapshot ID or reference name for version {name}", ref=name)
    ref = metadata.ref(name)
    snapshot = metadata.snapshot(ref.snapshot_id)
    if ref.is_branch:
        return ReadPoint(snapshot=snapshot, schema=metadata.schema, branch=name)
    return ReadPoint(snapshot=snapshot, schema=metadata.schema_of(snapshot), pinned=True)


def _as_branch(metadata: TableMetadata, name: str) -> ReadPoint:
    """A tag, too, reads with the table's current schema where it is called a branch. Raises ValidationError."""
    if name not in metadata.refs:
        if name == MAIN:
            return current(metadata)  # nothing was written to it yet
        raise branch_not_found(name, metadata.refs)
    return replace(at_ref(metadata, name), schema=metadata.schema)


def at_timestamp(metadata: TableMetadata, timestamp_ms: int) -> ReadPoint:
    """The state of main at that time, by the snapshot log. Raises NotFoundError where the log starts later."""
    last = None
    for entry in metadata.snapshot_log:
        if entry.timestamp_ms > timestamp_ms:
            break
        last = entry
    if last is None:
        at = datetime.datetime.fromtimestamp(timestamp_ms / 1000, tz=datetime.timezone.utc).isoformat(timespec="milliseconds")
        raise NotFoundError(f"Cannot find a snapshot older than {at}", timestamp_ms=timestamp_ms)
    return at_snapshot(metadata, last.snapshot_id)


def _timestamp_ms(time_travel: TimeTravel, text: str, microseconds: Microseconds) -> int:
    """Numbers count seconds. Raises ValidationError ``[INVALID_TIME_TRAVEL_TIMESTAMP_EXPR...]``."""
    if isinstance(time_travel.value, int):
        return time_travel.value * 1000
    expression = time_travel.expression.of(text)
    if expression.isidentifier():
        raise SqlError(f"Invalid time travel spec: timestamp expression cannot refer to any columns: {expression}")
    micros = microseconds(expression)
    if micros is None:
        raise ValidationError(
            spark_message(
                "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT",
                f"The time travel timestamp expression {expression!r} is invalid. Cannot be casted to the 'TIMESTAMP' type.",
            )
        )
    return micros // 1000


_GONE = {
    "snapshot-id": "Time travel option `snapshot-id` is no longer supported, use Spark built-in `versionAsOf` instead",
    "as-of-timestamp": "Time travel option `as-of-timestamp` (in millis) is no longer supported, use Spark built-in `timestampAsOf` "
    "instead (properly formatted timestamp)",
    "tag": "Time travel option `tag` is no longer supported, use Spark built-in `versionAsOf` instead",
}


def optioned_point(
    resolved: Readable, point: ReadPoint, options: Mapping[str, str], microseconds: Microseconds, *, travels: bool
) -> ReadPoint:
    """``point``, or what the options of a read (keys in lower case) name: a version, a time, a branch. ``travels``: a version or
    selector is there already.

    Raises InvalidArgumentError for options that Spark has its own syntax for, NotFoundError for an unknown branch.
    """
    for key, message in _GONE.items():
        if key in options:
            raise InvalidArgumentError(message)
    _check_sizes(options)
    if resolved.metadata_table not in (None, CHANGES) and "start-snapshot-id" in options:
        raise UnsupportedError("Incremental append scan is not supported")
    named = named_point(resolved.table.metadata, options, microseconds)
    if "start-snapshot-id" in options and (named or point).pinned and resolved.metadata_table is None:
        raise InvalidArgumentError("Cannot use time travel in incremental scan")
    if named is not None and travels:
        raise InvalidArgumentError(
            spark_message("MULTIPLE_TIME_TRAVEL_SPEC", "Cannot specify time travel in both the time travel clause and options.")
        )
    point = named or point
    branch = options.get("branch")
    if branch is None:
        return point
    if branch not in resolved.table.metadata.refs:
        raise branch_not_found(branch, resolved.table.metadata.refs)
    if named is not None or (travels and resolved.selector.is_empty):
        return point  # a version or a time wins
    if travels and (resolved.selector.ref_type, resolved.selector.ref) != ("branch", branch):
        raise InvalidArgumentError(f"Explicitly configured branch [{resolved.selector.ref}] and read option [{branch}] are in conflict")
    return _as_branch(resolved.table.metadata, branch)


def named_point(metadata: TableMetadata, options: Mapping[str, str], microseconds: Microseconds) -> ReadPoint | None:
    version, timestamp = options.get("versionasof"), options.get("timestampasof")
    if version is not None and timestamp is not None:
        raise InvalidArgumentError("Cannot specify both version and timestamp when time travelling the table.")
    if version is not None:
        return at_version(metadata, version)
    if timestamp is None:
        return None
    micros = microseconds(quoted_string(timestamp))
    if micros is None:
        raise InvalidArgumentError(
            spark_message(
                "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.OPTION",
                f"Timestamp string in the options must be able to cast to TIMESTAMP: {timestamp}",
            )
        )
    return at_timestamp(metadata, micros // 1000)


def _check_sizes(options: Mapping[str, str]) -> None:
    """Options that are numbers, though nothing here is read by them. Raises InvalidArgumentError."""
    split_options({}, options)
    check_batch_size({}, options)
