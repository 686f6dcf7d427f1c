"""Session: SQL text in, Spark DataFrames out."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icesql.session.catalogs import SPARK_CATALOG, Catalogs
from icesql.table.after_commit import after_commit, telling
from icesql.table.arguments import checked_call, unfit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from icesql.catalog.base import Catalog
    from icesql.procedures.context import PlannedAction
    from icesql.procedures.progress import Watcher
    from icesql.session.frames import Frames
    from icesql.session.merge_writer import MergeWriter
    from icesql.session.names import Address, Found, Names
    from icesql.session.pruning_line import Planning
    from icesql.session.reader import Reader
    from icesql.session.session_table import SessionTable
    from icesql.session.temp_functions import TemporaryFunctions
    from icesql.session.temp_views import TemporaryViews
    from icesql.session.transactions import SessionTransaction
    from icesql.session.writer import Writer
    from icesql.spark.scripting import Script
    from icesql.table.table import Table

_numbers = itertools.count(1)


class Session:
    """One user's work: a Spark session, catalogs, a current catalog and namespace. Made by ``icesql.connect``.

    Statements of one session run one at a time; a lock sees to it when threads share one.

    Of the last statement: ``last_notices`` (what the user should know), ``last_plan`` (what a dry run would have done), ``last_explained``
    (what EXPLAIN PRUNING planned), ``last_report`` and ``has_committed``. ``watcher`` is told how far long calls are, from whichever
    thread works.
    """

    def __init__(self, spark: SparkSession, catalogs: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.spark = spark
        self.catalogs = Catalogs(self._spark_conf, catalogs or {})
        self.last_notices: tuple[str, ...] = ()
        self.has_committed = False
        self.last_plan: tuple[PlannedAction, ...] = ()
        self.last_explained: tuple[Planning, ...] = ()
        self.watcher: Watcher | None = None
        self.transaction_in_progress: SessionTransaction | None = None
        self.script: Script | None = None  # the BEGIN ... END script at work
        self._lock = threading.RLock()
        self._nothing: DataFrame | None = None
        self._settings: dict[str, str | None] = {}
        self._set_keys: str | None = None
        self._session_catalog: Any = None
        self.open_views: list[str] = []
        self.is_inside = False  # a statement of ours is running: what it asks of Spark is Spark's
        self.engine: dict[str, str] | None = None

    # What statements need is imported with the first of them: connecting should not take longer than Spark does.
    @cached_property
    def names(self) -> Names:
        from icesql.session.default_catalog import take_default
        from icesql.session.names import Names

        names = Names(self.catalogs, self._made_in_transaction)
        names.default_catalog = take_default(self)
        return names

    @cached_property
    def frames(self) -> Frames:
        from icesql.session.frames import Frames

        return Frames(self)

    @cached_property
    def temporary_views(self) -> TemporaryViews:
        from icesql.session.temp_views import TemporaryViews

        return TemporaryViews(self)

    @cached_property
    def temporary_functions(self) -> TemporaryFunctions:
        from icesql.session.temp_functions import TemporaryFunctions

        return TemporaryFunctions(self)

    # -- SQL -----------------------------------------------------------------------------------------------------
    def sql(self, text: str, args: Mapping[str, Any] | Sequence[Any] | None = None) -> DataFrame:
        """Run one statement and return its rows; commands are done when this returns, queries run when rows are asked for.

        ``args`` fill named (``:name``) or positional (``?``) parameters, as in PySpark. Raises IcesqlError and its kin, and Spark's
        own errors.
        """
        if not isinstance(text, str):
            raise unfit("run statement", "it", "text", text)
        with self._lock, self.telling():
            self._begin()
            self.is_inside = True
            try:
                return self.run(text, args)
            finally:
                self.is_inside = False

    def run(self, text: str, args: Mapping[str, Any] | Sequence[Any] | None = None) -> DataFrame:
        """A statement that is part of the one at work: what ``sql`` does, without beginning anew."""
        from icesql.session.run_text import run_text

        return run_text(self, text, args)

    @checked_call
    def run_script(self, script: str | Path, variables: Mapping[str, str] | None = None) -> list[DataFrame]:
        """Run a file (a Path, or a string that ends in ``.sql``) or the text of several statements; one DataFrame each, which shows what
        its statement found, whatever comes after it.

        Stops at the first error: ScriptError says which statement, line and column; what ran before it stays committed.
        """
        from icesql.session.script import run_script

        with self.frames.pinned():
            return list(run_script(self, script, variables or {}))

    @checked_call
    def call(self, procedure: str, **arguments: Any) -> DataFrame:
        """``session.call("rewrite_manifests", table="db.t")``. A name may be qualified; the current catalog, else ``local``, is the
        default."""
        from icesql.session.run_call import call_by_name

        with self._lock, self.telling():
            self._begin()
            return call_by_name(self, procedure, arguments)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Around whatever may commit: an error after the commit is a notice of this session."""
        with telling(self):
            try:
                yield
            finally:
                with after_commit("let go of what the statement left in the JVM"):
                    self._tidy()

    def _tidy(self) -> None:
        from icesql.spark.bridge import tidy

        tidy(self.spark)

    def _begin(self) -> None:
        """What the last statement left is forgotten; what any statement may need once it has committed is there."""
        self.nothing  # noqa: B018
        self.last_notices, self.last_plan, self.last_explained = (), (), ()
        self.has_committed = False
        self.forget_settings()
        self.frames.reports.clear()

    @property
    def last_report(self) -> tuple[Any, ...]:
        """A ``ScanReport`` for each time that the last statement's files were planned: which manifests and files were skipped, and why."""
        return tuple(planning.report for planning in self.frames.reports)

    # -- tables --------------------------------------------------------------------------------------------------
    @checked_call
    def table(self, name: str) -> SessionTable:
        """A table by its dotted name: schema, snapshots, scan, builders, and ``to_df()``. Raises NotFoundError."""
        from icesql.parser.identifiers import parse_name
        from icesql.session.session_table import SessionTable

        parts = parse_name(name)
        found = self.find(parts)
        if found is None:
            raise self.names.not_found(parts)
        return SessionTable(self, found)

    @property
    def read(self) -> Reader:
        """Options, then a table: ``session.read.option("branch", "audit").table("db.t")``."""
        from icesql.session.reader import Reader

        return Reader(self)

    @checked_call
    def catalog(self, name: str | None = None) -> Catalog:
        """One of the session's catalogs; the current one by default. Raises NotFoundError."""
        return self.names.catalog(name)

    @checked_call
    def write_to(self, frame: DataFrame, name: str) -> Writer:
        """A writer with DataFrameWriterV2's verbs: ``session.write_to(df, "db.t").append()``."""
        from icesql.session.writer import Writer

        return Writer(self, frame, name)

    @checked_call
    def merge_into(self, frame: DataFrame, name: str, condition: Column) -> MergeWriter:
        """A writer with MergeIntoWriter's verbs: ``session.merge_into(df, "db.t", F.col("t.id") == df.id).whenMatched().delete()``."""
        from icesql.session.merge_writer import MergeWriter

        return MergeWriter(self, frame, name, condition)

    def transaction(self) -> SessionTransaction:
        """``with session.transaction(): ...``: what is done inside is committed together at the end, or not at all."""
        from icesql.session.transactions import SessionTransaction

        return SessionTransaction(self)

    # -- for the statement runners -------------------------------------------------------------------------------
    @property
    def nothing(self) -> DataFrame:
        """The result of a command without rows."""
        if self._nothing is None:
            from icesql.session.results import NOTHING

            self._nothing = NOTHING.frame(self.spark)
        return self._nothing

    def find(self, parts: Sequence[str]) -> Found | None:
        """The table of ours a name leads to, as this session sees it (inside a transaction: with what it has staged)."""
        found = self.names.find(parts)
        if found is not None and self.transaction_in_progress is not None:
            return self.transaction_in_progress.staged(found)
        return found

    def _made_in_transaction(self, address: Address) -> Table | None:
        return None if self.transaction_in_progress is None else self.transaction_in_progress.made(address)

    def require(self, parts: Sequence[str], *, text: str = "", offset: int | None = None) -> Found:
        """Raises NotFoundError, with the place in ``text``."""
        found = self.find(parts)
        if found is None:
            raise self.names.not_found(parts, text=text, offset=offset)
        return found

    def falls_back_to_spark(self, parts: Sequence[str]) -> bool:
        """Whether a name in a catalog of ours that leads nowhere may still be a table of Spark's own session catalog."""
        address = self.names.address(parts)
        return address is not None and address.catalog.name == SPARK_CATALOG

    def spark_sql(self, text: str, args: Any = None) -> DataFrame:
        """``spark.sql`` as PySpark has it, whatever ``icesql.enable`` put in its place."""
        from pyspark.sql import DataFrame, SparkSession

        if args is None:  # PySpark would first build an empty map of arguments, in five round trips
            return DataFrame(self.spark._jsparkSession.sql(text), self.spark)
        plain = getattr(SparkSession.sql, "__wrapped__", SparkSession.sql)
        frame: DataFrame = plain(self.spark, text, args)
        return frame

    def is_temporary_view(self, *parts: str) -> bool:
        """Whether a name is that of a local temporary view, which has one part; it goes before our tables then."""
        if len(parts) != 1:
            return False
        if self._session_catalog is None:
            self._session_catalog = self.spark._jsparkSession.sessionState().catalog()
        return bool(self._session_catalog.getTempView(parts[0]).isDefined())

    @contextmanager
    def view_of(self, frame: DataFrame) -> Iterator[str]:
        """The name of a temporary view that shows the frame while the block runs."""
        from icesql.spark import short_views

        view = f"_ice_frame{next(_numbers)}"
        short_views.show(frame, view)
        try:
            yield view
        finally:
            self.drop_views([view])

    def drop_views(self, names: Iterable[str]) -> None:
        from icesql.spark import short_views

        for name in names:
            with after_commit(f"drop temporary view {name}"):
                short_views.hide(self.spark, name)

    def microseconds(self, expression: str) -> int | None:
        """A timestamp expression evaluated by Spark; ``None`` for null and for text that is no timestamp."""
        frame = self.spark_sql(f"SELECT unix_micros(TRY_CAST(({expression}) AS TIMESTAMP_LTZ)) AS t")
        rows = frame.collect()
        return None if not rows else rows[0][0]

    def conf(self, key: str, default: str | None = None) -> str | None:
        """A Spark setting, read at most once a statement; ``default`` where the session does not set it."""
        if key not in self._settings:
            self._settings[key] = self.spark.conf.get(key, None) if self._may_set(key) else None
        value = self._settings[key]
        return default if value is None else value

    def forget_settings(self) -> None:
        """Spark's settings may have changed: they are read anew."""
        self._settings, self._set_keys = {}, None

    def _may_set(self, part: str) -> bool:
        """Whether a setting's name may have this part: one round trip a statement, where most settings that are asked for are not set."""
        if self._set_keys is None:
            self._set_keys = str(self._keys_of_settings.toString())
        return part in self._set_keys

    @cached_property
    def _keys_of_settings(self) -> Any:
        """The session's own, a view that shows what is set later."""
        return self.spark._jsparkSession.sessionState().conf().settings().keySet()

    @property
    def is_case_sensitive(self) -> bool:
        return self.conf("spark.sql.caseSensitive", "false") == "true"

    @property
    def wap_branch(self) -> str | None:
        return self.conf("spark.wap.branch")

    def snapshot_properties(self) -> dict[str, str]:
        """``spark.sql.iceberg.snapshot-property.*`` of the session, for the summaries of its snapshots."""
        prefix = "spark.sql.iceberg.snapshot-property."
        if not self._may_set(prefix):
            return {}
        return {key[len(prefix) :]: value for key, value in self._spark_conf().items() if key.startswith(prefix)}

    def commit(self, target: Any, change: Any) -> None:
        """Commit a builder now, or stage it in the transaction in progress."""
        if self.transaction_in_progress is not None:
            self.transaction_in_progress.add(target.found, change)
        else:
            change.commit()

    def notice(self, text: str) -> None:
        """Something the user should know that is no result and no error."""
        self.last_notices = (*self.last_notices, text)

    def committed(self) -> None:
        """Heard when a commit of the statement at work is done."""
        self.has_committed = True

    def _spark_conf(self) -> dict[str, str]:
        """Spark's settings, of the context and of the session, in one call to the JVM."""
        entries = self.spark._jsparkSession.sessionState().conf().getAllConfs().mkString("\0")
        return dict(entry.split(" -> ", 1) for entry in entries.split("\0"))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        """The Spark session stays: it may be the caller's own."""

    def __repr__(self) -> str:
        return f"Session(catalogs={self.catalogs.names}, current={'.'.join((self.names.current_catalog, *self.names.current_namespace))})"
