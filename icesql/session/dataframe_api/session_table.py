"""The tables of ``Session.table``: the catalog's Table, which reads and writes Spark DataFrames too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.expr.tree import Expression
from icesql.session.resolve.resolved import Readable
from icesql.session.resolve.time_travel import read_point
from icesql.session.resolve.write_target import target_of
from icesql.spec.snapshots import MAIN
from icesql.table.arguments import checked
from icesql.table.other_names import OverwriteNames, WriteNames, also_named
from icesql.table.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from icesql.session.session import Session
    from icesql.table.operations import TableVersion


@checked
class SessionTable(Table):
    """All that ``Table`` offers; ``append`` and ``overwrite`` take DataFrames too. A branch, tag or snapshot in the name is what
    ``to_df`` reads."""

    def __init__(self, session: Session, resolved: Readable) -> None:
        table = resolved.table
        super().__init__(table.operations, table.version, table.identifier, table.catalog)
        self._session, self._resolved = session, resolved

    def to_df(self, options: Mapping[str, str] | None = None) -> Any:
        """The rows as a DataFrame; files are pruned by the filters that Spark pushes when the query runs."""
        from dataclasses import replace

        with self._session.statement() as session:
            table = replace(self._resolved, table=Table(self.operations, self.version, self.identifier, self.catalog))
            point = read_point(table, None, "", session.microseconds, session.wap_branch)
            return session.plans.scan(table, point, dict(options or {}), unpinned=True).under_name(table.parts)

    @also_named(df="rows", snapshot_properties="summary")
    def append(
        self, rows: Any, *, branch: str | None = None, summary: Mapping[str, str] | None = None, **names: Unpack[WriteNames]
    ) -> TableVersion:
        """An Arrow table, or a DataFrame whose columns match by name."""
        if not _is_frame(rows):
            return super().append(rows, branch=MAIN if branch is None else branch, summary=summary)
        from icesql.session.dataframe_api.writer import write_rows

        with self._session.statement() as session:
            write_rows(session, target_of(session, self._resolved, _options(branch, summary)), rows, "append")
        return self.refresh().version

    @also_named(df="rows", overwrite_filter="where", snapshot_properties="summary")
    def overwrite(
        self,
        rows: Any,
        where: Expression | str | None = None,
        *,
        branch: str | None = None,
        summary: Mapping[str, str] | None = None,
        **names: Unpack[OverwriteNames],
    ) -> TableVersion:
        """An Arrow table or a DataFrame takes the place of the rows that match ``where``, of all rows without it."""
        if not _is_frame(rows):
            return super().overwrite(rows, where, branch=MAIN if branch is None else branch, summary=summary)
        from icesql.session.dataframe_api.writer import write_rows

        with self._session.statement() as session:
            target = target_of(session, self._resolved, _options(branch, summary))
            write_rows(session, target, rows, "overwrite", self.expression(where))
        return self.refresh().version


def _options(branch: str | None, summary: Mapping[str, str] | None) -> dict[str, str]:
    told = {f"snapshot-property.{key}": value for key, value in (summary or {}).items()}
    return {**({} if branch is None else {"branch": branch}), **told}


def _is_frame(rows: Any) -> bool:
    from pyspark.sql import DataFrame

    return isinstance(rows, DataFrame)
