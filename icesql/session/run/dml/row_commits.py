"""The commits that take written rows in: append, overwrite by a filter, dynamic overwrite.

They are prepared before the rows are written, so that whatever is wrong with them is said while there is nothing to remove.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from icesql.errors import InvalidArgumentError, SqlError
from icesql.expr.tree import Expression
from icesql.session.resolve.write_target import WriteTarget
from icesql.session.run.transactions import commit
from icesql.spec.files import DataFile
from icesql.spec.properties import whole_number
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.replace_partitions import ReplacePartitions

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

RowCommit = AppendFiles | OverwriteFiles | ReplacePartitions


def append(target: WriteTarget) -> AppendFiles:
    return target.applied(target.table.new_append()).owning_files()


def overwrite(target: WriteTarget, where: Expression) -> OverwriteFiles:
    builder = target.applied(target.table.new_overwrite()).owning_files()
    builder.overwrite_by_row_filter(where)
    _validate(builder, target)
    return builder


def replace_partitions(target: WriteTarget) -> ReplacePartitions:
    builder = target.applied(target.table.new_replace_partitions()).owning_files()
    _validate(builder, target)
    return builder


def commit_rows(session: SessionState, target: WriteTarget, builder: RowCommit, files: Sequence[DataFile]) -> None:
    """Hand the files over to the commit. A dynamic overwrite by no rows commits nothing."""
    if isinstance(builder, ReplacePartitions) and not files:
        return
    if isinstance(builder, AppendFiles):
        builder.append_files(files)
    else:
        for file in files:
            builder.add_file(file)
    commit(session, target.resolved.address, builder)


def isolation_level(target: WriteTarget) -> str | None:
    """Option ``isolation-level``. Raises SqlError for an unknown one."""
    level = target.options.get("isolation-level")
    if level is not None and level.lower() not in ("serializable", "snapshot"):
        raise SqlError(f"Cannot use isolation level: invalid isolation level: {level}")
    return None if level is None else level.lower()


def _validate(builder: OverwriteFiles | ReplacePartitions, target: WriteTarget) -> None:
    """Options ``isolation-level`` and ``validate-from-snapshot-id``; nothing is validated without them."""
    level, start = isolation_level(target), target.options.get("validate-from-snapshot-id")
    since = None if start is None else _snapshot_id(start)
    if level is None:
        return
    if since is not None:
        builder.validate_from_snapshot(since)
    if level == "serializable":
        builder.validate_no_conflicting_data()
    builder.validate_no_conflicting_deletes()


def _snapshot_id(text: str) -> int:
    try:
        return whole_number(text)
    except ValueError:
        raise InvalidArgumentError(f'Cannot use option validate-from-snapshot-id: For input string: "{text}"') from None
