"""What a session knows between and during its statements. It runs none of them: ``icesql.session.session`` does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from icesql.errors import IcesqlError, InvalidArgumentError, SqlError
from icesql.session.state.catalogs import Catalogs
from icesql.session.state.settings import Settings
from icesql.spark_errors import spark_message
from icesql.spec.case_folding import NameKey, name_key
from icesql.table.after_commit import after_commit, telling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from icesql.parser.text.names import References
    from icesql.pictures.pruning_steps import Planning
    from icesql.procedures.context import PlannedAction
    from icesql.procedures.progress import Watcher
    from icesql.session.plans.relation_plans import RelationPlans
    from icesql.session.state.names import Names
    from icesql.session.state.transactions import SessionTransaction
    from icesql.session.views.temporary_functions import TemporaryFunctions
    from icesql.session.views.temporary_views import TemporaryViews
    from icesql.spark.jvm.scripting import Script

_numbers = itertools.count(1)


class SessionState:
    """Spark, catalogs, current names, settings, temporary views, the transaction, and what the current statement reports.

    ``notices``, ``has_committed``, ``planned_actions`` and ``explained`` are of the last statement.
    ``watcher`` is called with the progress of long calls.
    ``run`` runs a statement within the current one (the text of EXECUTE IMMEDIATE), ``query`` a query whose references are known
    (a stored view's); the session gives both, so that what stands on the state need not know how statements run.
    """

    def __init__(
        self,
        spark: SparkSession,
        catalogs: Mapping[str, Mapping[str, Any]],
        *,
        run: Callable[..., DataFrame],
        query: Callable[[str, References], DataFrame],
    ) -> None:
        self.spark, self.run, self.query = spark, run, query
        self.settings = Settings(spark)
        self.catalogs = Catalogs(self.settings.all, catalogs)
        self.notices: tuple[str, ...] = ()
        self.has_committed = False
        self.planned_actions: tuple[PlannedAction, ...] = ()
        self.explained: tuple[Planning, ...] = ()
        self.watcher: Watcher | None = None
        self.transaction_in_progress: SessionTransaction | None = None
        self.script: Script | None = None  # the BEGIN ... END script at work
        self.is_cancelled: Callable[[], bool] = lambda: False  # whoever lets statements be cancelled puts its own here
        self._open_views: list[str] = []

    # What statements need is imported with the first of them: connecting should not take longer than Spark does.
    @cached_property
    def names(self) -> Names:
        from icesql.session.state.default_catalog import take_default
        from icesql.session.state.names import Names

        names = Names(self.catalogs)
        names.default_catalog = take_default(self)
        return names

    @cached_property
    def plans(self) -> RelationPlans:
        from icesql.session.plans.relation_plans import RelationPlans

        return RelationPlans(self)

    @cached_property
    def temporary_views(self) -> TemporaryViews:
        from icesql.session.views.temporary_views import TemporaryViews

        return TemporaryViews(self)

    @cached_property
    def temporary_functions(self) -> TemporaryFunctions:
        from icesql.session.views.temporary_functions import TemporaryFunctions

        return TemporaryFunctions(self)

    # -- the current statement ----------------------------------------------------------------------------------
    def begin_statement(self) -> None:
        """What the last statement left is forgotten; what any statement may need once it has committed is there."""
        self.nothing  # noqa: B018
        self.notices, self.planned_actions, self.explained = (), (), ()
        self.has_committed = False
        self.settings.forget()
        self.plans.reports.clear()

    def notice(self, text: str) -> None:
        """Something the user should know that is no result and no error."""
        self.notices = (*self.notices, text)

    def committed(self) -> None:
        """Called when the current statement has committed."""
        self.has_committed = True

    def check_wanted(self) -> None:
        """Called before each commit."""
        if self.is_cancelled():
            raise IcesqlError(spark_message("OPERATION_CANCELED", "Operation has been canceled."))

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Around whatever may commit: an error after the commit is a notice, and what was left in the JVM is let go of."""
        with telling(self):
            try:
                yield
            finally:
                with after_commit("let go of what the statement left in the JVM"):
                    self._tidy()

    def _tidy(self) -> None:
        from icesql.spark.jvm.bridge import tidy

        tidy(self.spark)

    @contextmanager
    def running_script(self, script: Script) -> Iterator[None]:
        """The statements that run while the block lasts are the script's."""
        before, self.script = self.script, script
        try:
            yield
        finally:
            self.script = before

    @contextmanager
    def reading_view(self, name: str) -> Iterator[None]:
        """The query of a stored view runs while the block lasts. Raises SqlError for a view that is read already."""
        if name in self._open_views:
            cycle = " -> ".join((*self._open_views, name))
            raise SqlError(f"Recursive cycle in view detected: {name} (cycle: {cycle})")
        self._open_views.append(name)
        try:
            yield
        finally:
            self._open_views.pop()

    @contextmanager
    def watched_by(self, watcher: Watcher) -> Iterator[None]:
        """``watcher`` is told how far long calls are, from whichever thread works, while the block lasts."""
        before, self.watcher = self.watcher, watcher
        try:
            yield
        finally:
            self.watcher = before

    # -- transactions --------------------------------------------------------------------------------------------
    def begin_transaction(self, transaction: SessionTransaction) -> None:
        """Raises InvalidArgumentError if one is in progress."""
        if self.transaction_in_progress is not None:
            raise InvalidArgumentError("Cannot begin transaction: one is in progress")
        self.transaction_in_progress = transaction

    def end_transaction(self) -> None:
        self.transaction_in_progress = None

    # -- Spark ---------------------------------------------------------------------------------------------------
    @cached_property
    def nothing(self) -> DataFrame:
        """The result of a command without rows."""
        from icesql.session.output.results import NOTHING

        frame: DataFrame = NOTHING.frame(self.spark)
        return frame

    def spark_sql(self, text: str, args: Any = None) -> DataFrame:
        """``spark.sql`` as PySpark has it, whatever ``icesql.enable`` put in its place."""
        from pyspark.sql import SparkSession

        from icesql.spark.jvm.spark_session import run_sql

        if args is None:
            return run_sql(self.spark, text)
        plain = getattr(SparkSession.sql, "__wrapped__", SparkSession.sql)
        frame: DataFrame = plain(self.spark, text, args)
        return frame

    def is_temporary_view(self, *parts: str) -> bool:
        """Whether a name is that of a local temporary view, which has one part; it goes before our tables then."""
        if len(parts) != 1:
            return False
        from icesql.spark.jvm.spark_session import has_local_view

        return has_local_view(self._session_catalog, parts[0])

    @cached_property
    def _session_catalog(self) -> Any:
        from icesql.spark.jvm.spark_session import session_catalog

        return session_catalog(self.spark)

    @contextmanager
    def view_of(self, frame: DataFrame) -> Iterator[str]:
        """The name of a temporary view that shows the frame while the block runs."""
        from icesql.spark.jvm import short_views

        view = f"_ice_frame{next(_numbers)}"
        short_views.show(frame, view)
        try:
            yield view
        finally:
            self.drop_views([view])

    def drop_views(self, names: Iterable[str]) -> None:
        from icesql.spark.jvm import short_views

        for name in names:
            with after_commit(f"drop temporary view {name}"):
                short_views.hide(self.spark, name)

    def microseconds(self, expression: str) -> int | None:
        """A timestamp expression evaluated by Spark; ``None`` for null and for text that is no timestamp."""
        frame = self.spark_sql(f"SELECT unix_micros(TRY_CAST(({expression}) AS TIMESTAMP_LTZ)) AS t")
        rows = frame.collect()
        return None if not rows else rows[0][0]

    # -- settings ------------------------------------------------------------------------------------------------
    def conf(self, key: str, default: str | None = None) -> str | None:
        """A Spark setting, read at most once a statement; ``default`` where the session does not set it."""
        return self.settings.value(key, default)

    @property
    def is_case_sensitive(self) -> bool:
        return self.conf("spark.sql.caseSensitive", "false") == "true"

    @property
    def name_key(self) -> NameKey:
        """What two spellings of one column's name have in common in this session."""
        return name_key(case_sensitive=self.is_case_sensitive)

    @property
    def wap_branch(self) -> str | None:
        return self.conf("spark.wap.branch")

    def snapshot_properties(self) -> dict[str, str]:
        """``spark.sql.iceberg.snapshot-property.*`` of the session, for the summaries of its snapshots."""
        return self.settings.below("spark.sql.iceberg.snapshot-property.")

    @cached_property
    def engine_summary(self) -> dict[str, str]:
        """Who makes snapshots, with the keys that Iceberg's runtime writes into their summaries."""
        from icesql import __version__

        context: Any = self.spark.sparkContext
        return {
            "spark.app.id": str(context.applicationId),
            "engine-name": "spark",
            "engine-version": str(context.version),
            "app-id": str(context.applicationId),
            "app-name": str(context.appName),
            "iceberg-version": f"icesql {__version__}",
        }
