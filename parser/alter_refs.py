"""ALTER TABLE ... BRANCH and TAG: create, replace, drop, with their retention clauses."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.alter_statements import AlterTable, CreateBranch, CreateTag, DropBranch, DropTag
from icesql.parser.cursor import Cursor
from icesql.parser.names import TableName

_LARGEST_INT, _LARGEST_LONG = 2**31 - 1, 2**63 - 1
_UNIT_MS = {"DAYS": 86_400_000, "HOURS": 3_600_000, "MINUTES": 60_000}


def alter_refs(cursor: Cursor, table: TableName) -> AlterTable | None:
    """Read ``CREATE | REPLACE | DROP  BRANCH | TAG ...``; None if something else comes."""
    if _begins(cursor, "DROP"):
        return _drop(cursor, table)
    create = replace = False
    if _begins(cursor, "CREATE", "OR", "REPLACE"):
        create = replace = True
        cursor.expect("CREATE", "OR", "REPLACE")
    elif _begins(cursor, "CREATE"):
        create = cursor.accept("CREATE")
    elif _begins(cursor, "REPLACE"):
        replace = cursor.accept("REPLACE")
    else:
        return None
    return _create(cursor, table, create=create, replace=replace)


def _begins(cursor: Cursor, *verb: str) -> bool:
    return cursor.at(*verb, "BRANCH") or cursor.at(*verb, "TAG")


def _drop(cursor: Cursor, table: TableName) -> AlterTable:
    cursor.expect("DROP")
    kind = cursor.expect_any("BRANCH", "TAG")
    if_exists = clauses.if_exists(cursor)
    name = cursor.identifier()
    cursor.expect_end()
    if kind == "BRANCH":
        return DropBranch(text=cursor.text, table=table, name=name, if_exists=if_exists)
    return DropTag(text=cursor.text, table=table, name=name, if_exists=if_exists)


def _create(cursor: Cursor, table: TableName, *, create: bool, replace: bool) -> AlterTable:
    kind = cursor.expect_any("BRANCH", "TAG")
    if_not_exists = create and not replace and clauses.if_not_exists(cursor)
    name = cursor.identifier()
    snapshot_id = _signed_integer(cursor) if cursor.accept("AS", "OF", "VERSION") else None
    max_ref_age_ms = _duration_ms(cursor) if cursor.accept("RETAIN") else None
    if kind == "TAG":
        cursor.expect_end()
        return CreateTag(
            text=cursor.text,
            table=table,
            name=name,
            create=create,
            replace=replace,
            if_not_exists=if_not_exists,
            snapshot_id=snapshot_id,
            max_ref_age_ms=max_ref_age_ms,
        )
    min_snapshots, max_snapshot_age_ms = _snapshot_retention(cursor)
    cursor.expect_end()
    return CreateBranch(
        text=cursor.text,
        table=table,
        name=name,
        create=create,
        replace=replace,
        if_not_exists=if_not_exists,
        snapshot_id=snapshot_id,
        max_ref_age_ms=max_ref_age_ms,
        min_snapshots_to_keep=min_snapshots,
        max_snapshot_age_ms=max_snapshot_age_ms,
    )


def _snapshot_retention(cursor: Cursor) -> tuple[int | None, int | None]:
    if not cursor.accept("WITH"):
        return None, None
    cursor.expect("SNAPSHOT", "RETENTION")
    token, amount = cursor.token, _signed_integer(cursor)
    if not cursor.accept("SNAPSHOTS"):
        return None, _milliseconds(amount, _unit_ms(cursor, "SNAPSHOTS"))
    if amount > _LARGEST_INT:
        cursor.fail(f"Cannot set snapshot retention: at most {_LARGEST_INT} snapshots can be kept: {amount}", token)
    if cursor.at_end or cursor.at(";"):
        return amount, None
    return amount, _duration_ms(cursor)


def _duration_ms(cursor: Cursor) -> int:
    return _milliseconds(_signed_integer(cursor), _unit_ms(cursor))


def _milliseconds(amount: int, unit_ms: int) -> int:
    """A duration longer than a long holds means for ever."""
    return max(-_LARGEST_LONG - 1, min(amount * unit_ms, _LARGEST_LONG))


def _unit_ms(cursor: Cursor, *also: str) -> int:
    if cursor.token.key not in _UNIT_MS:
        cursor.mismatch(*also, *_UNIT_MS)
    return _UNIT_MS[cursor.next().key]


def _signed_integer(cursor: Cursor) -> int:
    negative, token = cursor.accept("-"), cursor.token
    value = cursor.integer()
    if value > _LARGEST_LONG:
        cursor.fail(f'For input string: "{token.text[:40]}"', token)
    return -value if negative else value
