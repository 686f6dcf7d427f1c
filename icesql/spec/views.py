"""Views as values. Spec: "Iceberg View Spec", version 1. The JSON form is in ``icesql.spec.json.views``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from icesql.errors import NotFoundError, ValidationError
from icesql.spec.properties import whole_number
from icesql.spec.schema import Schema

VIEW_FORMAT_VERSION = 1
VERSION_HISTORY_SIZE = "version.history.num-entries"
VERSION_HISTORY_SIZE_DEFAULT = 10
REPLACE_DROP_DIALECT_ALLOWED = "replace.drop-dialect.allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRepresentation:
    """A query in one dialect (``spark``, ``trino``, ...)."""

    sql: str
    dialect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewVersion:
    """A definition of the view. ``default_catalog`` and ``default_namespace`` resolve unqualified names in its SQL."""

    version_id: int
    timestamp_ms: int
    schema_id: int
    summary: Mapping[str, str] = field(default_factory=dict)
    representations: tuple[SqlRepresentation, ...] = ()
    default_namespace: tuple[str, ...] = ()
    default_catalog: str | None = None

    def sql_for(self, dialect: str) -> SqlRepresentation | None:
        """The representation of that dialect in any case, or ``None``."""
        return next((sql for sql in self.representations if sql.dialect.lower() == dialect.lower()), None)

    def same_definition(self, other: ViewVersion) -> bool:
        """Equal but for id and time: adding it again gives the version that is there."""
        return replace(self, version_id=0, timestamp_ms=0) == replace(other, version_id=0, timestamp_ms=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewHistoryEntry:
    version_id: int
    timestamp_ms: int


@dataclass(frozen=True, kw_only=True)
class ViewMetadata:
    """The state of a view. ``current_version_id`` is one of ``versions`` and each version's schema one of ``schemas``."""

    view_uuid: str
    format_version: int = VIEW_FORMAT_VERSION
    location: str
    current_version_id: int
    versions: tuple[ViewVersion, ...]
    schemas: tuple[Schema, ...]
    version_log: tuple[ViewHistoryEntry, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def versions_by_id(self) -> dict[int, ViewVersion]:
        return {version.version_id: version for version in self.versions}

    @cached_property
    def schemas_by_id(self) -> dict[int, Schema]:
        return {schema.schema_id: schema for schema in self.schemas}

    @property
    def current_version(self) -> ViewVersion:
        return self.versions_by_id[self.current_version_id]

    @property
    def schema(self) -> Schema:
        return self.schemas_by_id[self.current_version.schema_id]

    def version(self, version_id: int) -> ViewVersion:
        """Raises NotFoundError for an unknown id."""
        try:
            return self.versions_by_id[version_id]
        except KeyError:
            raise NotFoundError(f"Cannot find view version with ID {version_id}", version_id=version_id) from None


def check_new_version(version: ViewVersion) -> None:
    """What every version must satisfy. Raises ValidationError, in Java's words for two queries of one dialect."""
    seen: set[str] = set()
    for representation in version.representations:
        if (dialect := representation.dialect.lower()) in seen:
            raise ValidationError(f"Invalid view version: Cannot add multiple queries for dialect {dialect}", dialect=dialect)
        seen.add(dialect)


def check_dialects_kept(previous: ViewVersion, version: ViewVersion, properties: Mapping[str, str]) -> None:
    """A replacement may drop a dialect only if ``replace.drop-dialect.allowed`` says so. Raises ValidationError."""
    if properties.get(REPLACE_DROP_DIALECT_ALLOWED, "false").lower() == "true":
        return
    before = sorted({sql.dialect.lower() for sql in previous.representations})
    after = sorted({sql.dialect.lower() for sql in version.representations})
    if not set(before) <= set(after):
        raise ValidationError(
            "Cannot replace view due to loss of view dialects "
            f"({REPLACE_DROP_DIALECT_ALLOWED}=false):\nPrevious dialects: {before}\nNew dialects: {after}"
        )


def new_view(
    *,
    view_uuid: str,
    location: str,
    schema: Schema,
    version: ViewVersion,
    properties: Mapping[str, str] | None = None,
) -> ViewMetadata:
    """A view with its first version. Raises ValidationError."""
    check_new_version(version)
    first = replace(version, version_id=1, schema_id=0)
    return ViewMetadata(
        view_uuid=view_uuid,
        location=location,
        current_version_id=1,
        versions=(first,),
        schemas=(replace(schema, schema_id=0),),
        version_log=(ViewHistoryEntry(version_id=1, timestamp_ms=version.timestamp_ms),),
        properties=dict(properties or {}),
    )


def replace_version(view: ViewMetadata, version: ViewVersion, schema: Schema) -> ViewMetadata:
    """The view with ``version`` over ``schema`` current; ids are given here, and an equal version or schema is used again.

    Keeps as many old versions as ``version.history.num-entries`` says. Raises ValidationError.
    """
    check_new_version(version)
    check_dialects_kept(view.current_version, version, view.properties)
    known = next((s for s in view.schemas if s.same_columns(schema)), None)
    schema = known or replace(schema, schema_id=max(view.schemas_by_id) + 1)
    version = replace(version, schema_id=schema.schema_id)
    same = next((v for v in view.versions if v.same_definition(version)), None)
    current = same or replace(version, version_id=max(view.versions_by_id) + 1)
    entry = ViewHistoryEntry(version_id=current.version_id, timestamp_ms=version.timestamp_ms)
    versions = view.versions if same else (*view.versions, current)
    return expire_versions(
        replace(
            view,
            schemas=view.schemas if known else (*view.schemas, schema),
            versions=versions,
            current_version_id=current.version_id,
            version_log=view.version_log if same is view.current_version else (*view.version_log, entry),
        )
    )


def expire_versions(view: ViewMetadata) -> ViewMetadata:
    """Drops the oldest versions beyond ``version.history.num-entries``, never the current one, and cuts the log at the gap it leaves.

    Raises ValidationError where the property is not a positive number.
    """
    text = view.properties.get(VERSION_HISTORY_SIZE, str(VERSION_HISTORY_SIZE_DEFAULT))
    try:
        count = whole_number(text)
    except ValueError:
        count = 0
    if count < 1:
        raise ValidationError(f"{VERSION_HISTORY_SIZE} must be positive but was {text}", key=VERSION_HISTORY_SIZE, value=text)
    by_age = sorted(view.versions, key=lambda version: (version.version_id == view.current_version_id, version.version_id))
    kept_ids = {version.version_id for version in by_age[-count:]}
    if len(kept_ids) == len(view.versions):
        return view
    log: list[ViewHistoryEntry] = []
    for entry in view.version_log:
        log = [*log, entry] if entry.version_id in kept_ids else []
    return replace(view, versions=tuple(v for v in view.versions if v.version_id in kept_ids), version_log=tuple(log))
