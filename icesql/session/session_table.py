"""A table as a session shows it: the catalog's Table, with its rows as Spark DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.expr.tree import Expression
from icesql.session.names import Found
from icesql.session.time_travel import read_point
from icesql.session.write_target import target_of
from icesql.spec.snapshots import MAIN
from icesql.table.arguments import checked
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.session.session import Session
    from icesql.table.operations import TableVersion


@checked
class SessionTable(Table):
    """All that ``Table`` offers; ``append`` and ``overwrite`` take DataFrames too. A branch, tag or snapshot in the name is what
    ``to_df`` reads."""

    def __init__(self, session: Session, found: Found) -> None:
        table = found.table
        super().__init__(table.operations, table.version, table.identifier, table.catalog)
        self._session, self._found = session, found

    def to_df(self, options: Mapping[str, str] | None = None) -> Any:
        """The rows as a DataFrame; files are pruned by the filters that Spark pushes when the query runs."""
        from dataclasses import replace

        session = self._session
        found = replace(self._found, table=Table(self.operations, self.version, self.identifier, self.catalog))
        point = read_point(found, None, "", session.microseconds, session.wap_branch)
        return session.frames.scan(found, point, dict(options or {}), follow=True).under_name(found.parts)

    def append(self, rows: Any, *, branch: str | None = None, summary: Mapping[str, str] | None = None) -> TableVersion:
        """An Arrow table, or a DataFrame whose columns match by name."""
        if not _is_frame(rows):
            return super().append(rows, branch=MAIN if branch is None else branch, summary=summary)
        from icesql.session.writer import write_rows

        target = target_of(self._session, self._found, _options(branch, summary))
        write_rows(self._session, target, rows, "append")
        return self.refresh().version

    def overwrite(
        self,
        rows: Any,
        where: Expression | str | None = None,
        *,
        branch: str | None = None,
        summary: Mapping[str, str] | None = None,
    ) -> TableVersion:
        """An Arrow table or a DataFrame takes the place of the rows that match ``where``, of all rows without it."""
        if not _is_frame(rows):
            return super().overwrite(rows, where, branch=MAIN if branch is None else branch, summary=summary)
        from icesql.session.writer import write_rows

        target = target_of(self._session, self._found, _options(branch, summary))
        write_rows(self._session, target, rows, "overwrite", self.expression(where))
        return self.refresh().version


def _options(branch: str | None, summary: Mapping[str, str] | None) -> dict[str, str]:
    told = {f"snapshot-property.{key}": value for key, value in (summary or {}).items()}
    return {**({} if branch is None else {"branch": branch}), **told}


def _is_frame(rows: Any) -> bool:
    from pyspark.sql import DataFrame

    return isinstance(rows, DataFrame)
