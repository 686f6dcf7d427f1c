"""Metadata that is about to be written is read by our own reader first: what cannot be read again is never committed.

A snapshot or log entry that the version before holds as the same object was read or written with that version. Of those only the ties
between them are checked, so that the check costs no more as a table's history grows.
"""

from __future__ import annotations

from dataclasses import replace
from operator import is_
from typing import TypeVar

from icesql.errors import CorruptMetadataError, UnsupportedError
from icesql.spec.json.metadata import metadata_from_json, metadata_to_json
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_checks import check_metadata
from icesql.spec.schema import Schema

_T = TypeVar("_T")


def unreadable(metadata: TableMetadata, before: TableMetadata | None) -> str | None:
    """Why metadata built on ``before`` could not be read again; ``None`` where it can be."""
    try:
        check_metadata(metadata)
        written = _new_parts(metadata, before)
        return _difference(written, metadata_from_json(metadata_to_json(written), metadata.location))
    except (CorruptMetadataError, UnsupportedError) as error:
        return error.message
    except (TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:  # a value that has no JSON form
        return f"{type(error).__name__}: {error}"


def _difference(written: TableMetadata, read: TableMetadata) -> str | None:
    """Values that JSON takes and gives back as others, such as bytes as the default of a text column."""
    for given, schema in zip(written.schemas, read.schemas, strict=True):
        for one, other in zip(given.fields, schema.fields, strict=True):
            if one != other and repr(one) != repr(other):  # NaN is not equal to itself
                return f"column {one.name} would become another: {other}"
    return None if written.properties == read.properties else "its properties would become others"


def _new_parts(metadata: TableMetadata, before: TableMetadata | None) -> TableMetadata:
    """The metadata without what ``before`` holds already, but for the snapshots that refs lead to."""
    if before is None:
        return metadata
    named = {ref.snapshot_id for ref in metadata.refs.values()} | {metadata.current_snapshot_id}
    fresh = _fresh(metadata.snapshots, before.snapshots)
    ids = {snapshot.snapshot_id for snapshot in fresh}
    held = metadata.snapshots_by_id
    return replace(
        metadata,
        schemas=_schemas(metadata, before),
        snapshots=(*(held[one] for one in named if one is not None and one not in ids), *fresh),
        snapshot_log=_fresh(metadata.snapshot_log, before.snapshot_log),
        metadata_log=_fresh(metadata.metadata_log, before.metadata_log),
        statistics=_fresh(metadata.statistics, before.statistics),
        partition_statistics=_fresh(metadata.partition_statistics, before.partition_statistics),
    )


def _schemas(metadata: TableMetadata, before: TableMetadata) -> tuple[Schema, ...]:
    fresh = _fresh(metadata.schemas, before.schemas)
    return fresh if metadata.schema in fresh else (metadata.schema, *fresh)


def _fresh(now: tuple[_T, ...], before: tuple[_T, ...]) -> tuple[_T, ...]:
    if len(before) <= len(now) and all(map(is_, now, before)):
        return now[len(before) :]
    held = set(map(id, before))
    return tuple(one for one in now if id(one) not in held)
