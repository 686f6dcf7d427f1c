"""create_changelog_view(table, changelog_view, ...): a temporary view of the rows that came and went between snapshots.

The view shows the table as it is when the view is read; options that fit no changes are refused then, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.procedures.base import TABLE, Output, Parameter, Procedure, Row
from icesql.procedures.context import ProcedureContext
from icesql.spec.schema import Schema
from icesql.spec.types import MapType, VariantType

_TRAVEL = frozenset({"versionasof", "timestampasof"})


def call(
    context: ProcedureContext,
    table: str,
    changelog_view: str | None,
    options: dict[str, str] | None,
    compute_updates: bool | None,
    identifier_columns: list[str] | None,
    net_changes: bool | None,
) -> Iterator[Row]:
    from icesql.spark.read.changelog import changelog_frame
    from icesql.spark.read.changelog_view import net_changes as netted
    from icesql.spark.read.changelog_view import with_update_images, without_carried_over

    loaded, branch = context.table_and_branch(table)
    if branch is not None:
        raise InvalidArgumentError(f"Cannot create changelog view: changes are those of the table's main branch: {table}", branch=branch)
    schema = loaded.schema
    if None in (identifier_columns or ()):
        raise InvalidArgumentError("Cannot create changelog view: an identifier column is null")
    identifiers = identifier_columns or [schema.names_by_id[field_id] for field_id in schema.identifier_field_ids]
    unorderable = _unorderable(schema)
    if unorderable and not identifiers:
        raise InvalidArgumentError(f"Identifier field is required as table contains unorderable columns: [{', '.join(unorderable)}]")
    updates = identifier_columns is not None if compute_updates is None else compute_updates
    if updates and not identifiers:
        raise InvalidArgumentError("Cannot compute the update images because identifier columns are not set")
    if updates and net_changes:
        raise InvalidArgumentError("Not support net changes with update images")
    options = {key.lower(): value for key, value in (options or {}).items()}
    if None in options.values():
        raise InvalidArgumentError("Cannot create changelog view: the value of an option is null")
    if not _TRAVEL.isdisjoint(options):
        raise InvalidArgumentError("Can't time travel in changelog")
    parts = (context.catalog.name, *loaded.identifier)

    def shown() -> Any:
        named = context.session.table(parts)
        if named is None:
            raise NotFoundError(f"Cannot find table: Table does not exist: {'.'.join(parts)}")
        changes = changelog_frame(context.spark, named.table, options=options)
        if updates:
            return with_update_images(changes, identifiers)
        return netted(changes) if net_changes else without_carried_over(changes)

    name = f"`{loaded.identifier[-1]}_changes`" if changelog_view is None else changelog_view
    context.session.create_temporary_view(name, shown, parts)
    yield (name,)


def _unorderable(schema: Schema) -> list[str]:
    """Columns with a map or a variant somewhere in them."""
    kinds = (MapType, VariantType)
    return [
        field.name
        for field in schema.fields
        if isinstance(field.type, kinds) or any(isinstance(inner.type, kinds) for _, inner, _ in Schema((field,)).walk())
    ]


PROCEDURE = Procedure(
    name="create_changelog_view",
    summary="Create a temporary view of the changes between snapshots, over copy-on-write and merge-on-read.",
    parameters=(
        TABLE,
        Parameter(name="changelog_view", type="string", description="name of the view; default: `<table>_changes`"),
        Parameter(
            name="options", type="map<string,string>", description="start-snapshot-id, end-snapshot-id, start-timestamp, end-timestamp"
        ),
        Parameter(name="compute_updates", type="boolean", description="show updates as such; default: if identifier_columns are given"),
        Parameter(
            name="identifier_columns", type="array<string>", description="what tells rows apart; default: the table's identifier fields"
        ),
        Parameter(name="net_changes", type="boolean", description="leave out what later snapshots undo; default false"),
    ),
    output=(Output(name="changelog_view", type="string"),),
    call=call,
    mutating=False,
)
