"""Snapshots, refs, logs and statistics entries as JSON. Spec: appendix C, "Table Metadata and Snapshots"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from icesql.spec.json.faults import JsonFault, JsonObject, JsonValue
from icesql.spec.json.metadata_wire import (
    NO_SUMMARY,
    BlobWire,
    EncryptedKeyWire,
    PartitionStatisticsWire,
    RefWire,
    SnapshotLogWire,
    SnapshotWire,
    StatisticsWire,
)
from icesql.spec.snapshots import (
    BlobMetadata,
    EncryptedKey,
    PartitionStatisticsFile,
    RefType,
    Snapshot,
    SnapshotLogEntry,
    SnapshotRef,
    StatisticsFile,
)

_W = TypeVar("_W")
_PLACE = re.compile(r"(?P<reason>.*?)(?: - at `(?:key in )?\$\.?(?P<path>.*)`)?", re.DOTALL)
_SUMMARY = msgspec.json.Decoder(dict[str, str])
_SUMMARIES = msgspec.json.Decoder(list[dict[str, str] | None])
_MISSING_OPERATION = "overwrite"  # what Java assumes


class LazySummary(Mapping[str, str]):
    """A summary as the document has it, parsed when first asked for. Raises CorruptMetadataError then, if it is not strings by name."""

    __slots__ = ("_parsed", "raw")

    def __init__(self, raw: msgspec.Raw) -> None:
        self.raw = raw
        self._parsed: dict[str, str] | None = None

    def parsed(self) -> dict[str, str]:
        if self._parsed is None:
            self._parsed = _parse_summary(self.raw)
        return self._parsed

    def __getitem__(self, key: str) -> str:
        return self.parsed()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parsed())

    def __len__(self) -> int:
        return len(self.parsed())

    def __repr__(self) -> str:
        return repr(self.parsed())

    def __reduce__(self) -> tuple[type[dict[str, str]], tuple[dict[str, str]]]:
        return dict, (self.parsed(),)


def _parse_summary(raw: msgspec.Raw) -> dict[str, str]:
    if not raw or bytes(raw) == b"null":
        return {}
    with faults_of_msgspec():
        summary = _SUMMARY.decode(raw)
    return summary if not summary or "operation" in summary else {"operation": _MISSING_OPERATION, **summary}


class faults_of_msgspec:
    """Turns msgspec's errors into JsonFault with the path in our form."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, msgspec.MsgspecError | UnicodeError):
            raise _fault(str(error)) from error
        if isinstance(error, RecursionError):
            raise JsonFault("nested too deep") from None


def _fault(text: str) -> JsonFault:
    matched = _PLACE.fullmatch(text)
    assert matched is not None
    reason = matched["reason"].replace("`", "").replace(" | null", "")
    return JsonFault(reason[:1].lower() + reason[1:], matched["path"] or "")


def decode(type_: type[_W], node: JsonValue) -> _W:
    """A wire struct of a parsed JSON value. Raises CorruptMetadataError naming the path."""
    with faults_of_msgspec():
        return msgspec.json.decode(msgspec.json.encode(node), type=type_)


def snapshot_from_wire(wire: SnapshotWire) -> Snapshot:
    """Sets the fields that differ from the class's defaults all at once.

    The dataclass's own constructor takes three times as long, and documents have thousands of snapshots.
    """
    snapshot = _new(Snapshot)
    fields: dict[str, Any] = {
        "snapshot_id": wire.snapshot_id,
        "parent_snapshot_id": wire.parent_snapshot_id,
        "sequence_number": wire.sequence_number or 0,
        "timestamp_ms": wire.timestamp_ms,
        "manifest_list": wire.manifest_list,
        "summary": LazySummary(wire.summary),
        "schema_id": wire.schema_id,
    }
    if wire.first_row_id is not None or wire.added_rows is not None or wire.key_id is not None:
        fields |= {"first_row_id": wire.first_row_id, "added_rows": wire.added_rows, "key_id": wire.key_id}
    if wire.manifests:
        fields["manifests"] = tuple(wire.manifests)
    _set(snapshot, "__dict__", fields)
    return snapshot


def log_entry_from_wire(wire: SnapshotLogWire) -> SnapshotLogEntry:
    entry = _new(SnapshotLogEntry)
    _set(entry, "__dict__", {"snapshot_id": wire.snapshot_id, "timestamp_ms": wire.timestamp_ms})
    return entry


_new, _set = object.__new__, object.__setattr__


def snapshot_to_wire(snapshot: Snapshot) -> SnapshotWire:
    return SnapshotWire(
        sequence_number=snapshot.sequence_number or None,
        snapshot_id=snapshot.snapshot_id,
        parent_snapshot_id=snapshot.parent_snapshot_id,
        timestamp_ms=snapshot.timestamp_ms,
        summary=_summary_to_raw(snapshot.summary),
        manifest_list=snapshot.manifest_list,
        manifests=list(snapshot.manifests) if snapshot.manifest_list is None else None,
        schema_id=snapshot.schema_id,
        first_row_id=snapshot.first_row_id,
        added_rows=snapshot.added_rows,
        key_id=snapshot.key_id,
    )


def _summary_to_raw(summary: Mapping[str, str]) -> msgspec.Raw:
    if isinstance(summary, LazySummary):
        return summary.raw
    return msgspec.Raw(msgspec.json.encode(dict(summary))) if summary else NO_SUMMARY


def snapshot_to_json(snapshot: Snapshot) -> dict[str, Any]:
    """The object REST's ``add-snapshot`` carries."""
    node: JsonObject = msgspec.json.decode(msgspec.json.encode(snapshot_to_wire(snapshot)))
    return node


def snapshot_from_json(node: JsonValue) -> Snapshot:
    """Raises CorruptMetadataError naming the path."""
    snapshot = snapshot_from_wire(decode(SnapshotWire, node))
    check_summary(snapshot)
    return snapshot


def are_summaries_sound(snapshots: Iterable[Snapshot]) -> bool:
    """Whether all lazy summaries can be parsed. Asked of all at once it takes a small part of the time that ``check_summary`` takes."""
    raws = (snapshot.summary.raw for snapshot in snapshots if isinstance(snapshot.summary, LazySummary))
    try:
        _SUMMARIES.decode(b"[" + b",".join(raw for raw in raws if raw) + b"]")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def check_summary(snapshot: Snapshot) -> None:
    """Parses a lazy summary now. Raises CorruptMetadataError."""
    if isinstance(snapshot.summary, LazySummary):
        try:
            snapshot.summary.parsed()
        except JsonFault as fault:
            raise fault.under("summary") from fault.__cause__


def ref_from_wire(wire: RefWire) -> SnapshotRef:
    try:
        type_ = RefType(wire.type.lower())
    except ValueError:
        raise JsonFault(f"expected branch or tag, got {wire.type!r}", "type") from None
    return SnapshotRef(
        snapshot_id=wire.snapshot_id,
        type=type_,
        min_snapshots_to_keep=wire.min_snapshots_to_keep,
        max_snapshot_age_ms=wire.max_snapshot_age_ms,
        max_ref_age_ms=wire.max_ref_age_ms,
    )


def ref_to_wire(ref: SnapshotRef) -> RefWire:
    return RefWire(
        snapshot_id=ref.snapshot_id,
        type=ref.type.value,
        min_snapshots_to_keep=ref.min_snapshots_to_keep,
        max_snapshot_age_ms=ref.max_snapshot_age_ms,
        max_ref_age_ms=ref.max_ref_age_ms,
    )


def ref_to_json(ref: SnapshotRef) -> dict[str, Any]:
    return _builtins(ref_to_wire(ref))


def ref_from_json(node: JsonValue) -> SnapshotRef:
    """Raises CorruptMetadataError naming the path."""
    return ref_from_wire(decode(RefWire, node))


def statistics_from_wire(wire: StatisticsWire) -> StatisticsFile:
    return StatisticsFile(
        snapshot_id=wire.snapshot_id,
        statistics_path=wire.statistics_path,
        file_size_in_bytes=wire.file_size_in_bytes,
        file_footer_size_in_bytes=wire.file_footer_size_in_bytes,
        blob_metadata=tuple(_blob_from_wire(blob) for blob in wire.blob_metadata),
        key_metadata=wire.key_metadata,
    )


def _blob_from_wire(wire: BlobWire) -> BlobMetadata:
    return BlobMetadata(
        type=wire.type,
        snapshot_id=wire.snapshot_id,
        sequence_number=wire.sequence_number,
        fields=tuple(wire.fields),
        properties=wire.properties or {},
    )


def statistics_to_wire(statistics: StatisticsFile) -> StatisticsWire:
    return StatisticsWire(
        snapshot_id=statistics.snapshot_id,
        statistics_path=statistics.statistics_path,
        file_size_in_bytes=statistics.file_size_in_bytes,
        file_footer_size_in_bytes=statistics.file_footer_size_in_bytes,
        key_metadata=statistics.key_metadata,
        blob_metadata=[
            BlobWire(
                type=blob.type,
                snapshot_id=blob.snapshot_id,
                sequence_number=blob.sequence_number,
                fields=list(blob.fields),
                properties=dict(blob.properties) or None,
            )
            for blob in statistics.blob_metadata
        ],
    )


def statistics_to_json(statistics: StatisticsFile) -> dict[str, Any]:
    return _builtins(statistics_to_wire(statistics))


def statistics_from_json(node: JsonValue) -> StatisticsFile:
    """Raises CorruptMetadataError naming the path."""
    return statistics_from_wire(decode(StatisticsWire, node))


def partition_statistics_from_wire(wire: PartitionStatisticsWire) -> PartitionStatisticsFile:
    return PartitionStatisticsFile(
        snapshot_id=wire.snapshot_id, statistics_path=wire.statistics_path, file_size_in_bytes=wire.file_size_in_bytes
    )


def partition_statistics_to_wire(statistics: PartitionStatisticsFile) -> PartitionStatisticsWire:
    return PartitionStatisticsWire(
        snapshot_id=statistics.snapshot_id,
        statistics_path=statistics.statistics_path,
        file_size_in_bytes=statistics.file_size_in_bytes,
    )


def partition_statistics_to_json(statistics: PartitionStatisticsFile) -> dict[str, Any]:
    return _builtins(partition_statistics_to_wire(statistics))


def partition_statistics_from_json(node: JsonValue) -> PartitionStatisticsFile:
    """Raises CorruptMetadataError naming the path."""
    return partition_statistics_from_wire(decode(PartitionStatisticsWire, node))


def encrypted_key_from_wire(wire: EncryptedKeyWire) -> EncryptedKey:
    return EncryptedKey(
        key_id=wire.key_id,
        encrypted_key_metadata=wire.encrypted_key_metadata,
        encrypted_by_id=wire.encrypted_by_id,
        properties=wire.properties or {},
    )


def encrypted_key_to_wire(key: EncryptedKey) -> EncryptedKeyWire:
    return EncryptedKeyWire(
        key_id=key.key_id,
        encrypted_key_metadata=key.encrypted_key_metadata,
        encrypted_by_id=key.encrypted_by_id,
        properties=dict(key.properties) or None,
    )


def encrypted_key_to_json(key: EncryptedKey) -> dict[str, Any]:
    return _builtins(encrypted_key_to_wire(key))


def encrypted_key_from_json(node: JsonValue) -> EncryptedKey:
    """Raises CorruptMetadataError naming the path."""
    return encrypted_key_from_wire(decode(EncryptedKeyWire, node))


def _builtins(wire: msgspec.Struct) -> dict[str, Any]:
    node: JsonObject = msgspec.to_builtins(wire)
    return node
