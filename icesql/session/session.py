"""Session: SQL text in, Spark DataFrames out. A facade: what it knows is ``SessionState``, what it runs is ``run_text``."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icesql.session.state.session_state import SessionState
from icesql.table.arguments import checked_call, unfit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from icesql.catalog.base import Catalog
    from icesql.parser.text.names import References
    from icesql.pictures.pruning_steps import Planning
    from icesql.procedures.context import PlannedAction
    from icesql.procedures.progress import Watcher
    from icesql.session.dataframe_api.merge_writer import MergeWriter
    from icesql.session.dataframe_api.reader import Reader
    from icesql.session.dataframe_api.session_table import SessionTable
    from icesql.session.dataframe_api.writer import Writer
    from icesql.session.state.transactions import SessionTransaction


class Session:
    """One user's work: a Spark session, catalogs, a current catalog and namespace. Made by ``icesql.connect``.

    Statements of one session run one at a time, whichever way they come: SQL, a procedure's call, a DataFrame writer, a table's method.
    ``state`` is what they share; users need it not.
    """

    def __init__(self, spark: SparkSession, catalogs: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self.state = SessionState(spark, catalogs or {}, run=self._run, query=self._query)
        self._lock = threading.RLock()
        self._at_work: int | None = None  # the thread whose statement runs

    def beside(self, spark: SparkSession) -> Session:
        """A session over another Spark session of this application, with the same open catalogs; it begins with the same current names."""
        session = Session(spark)
        session.state.catalogs = self.state.catalogs
        names = self.state.names
        session.state.names.enter(names.current_catalog, names.current_namespace)
        return session

    @property
    def spark(self) -> SparkSession:
        return self.state.spark

    # -- SQL -----------------------------------------------------------------------------------------------------
    def sql(self, text: str, args: Mapping[str, Any] | Sequence[Any] | None = None) -> DataFrame:
        """Run one statement and return its rows; commands are done when this returns, queries run when rows are asked for.

        ``args`` fill named (``:name``) or positional (``?``) parameters, as in PySpark. Raises IcesqlError and its kin, and Spark's
        own errors.
        """
        if not isinstance(text, str):
            raise unfit("run statement", "it", "text", text)
        with self.statement():
            return self._run(text, args)

    @contextmanager
    def statement(self) -> Iterator[SessionState]:
        """Every statement runs inside: others wait, and what the last one left (notices, reports, settings) is forgotten.

        A statement within another one (a writer that runs SQL) is part of it.
        """
        from icesql.spark.jvm.error_places import java_errors_as_spark_raises

        with self._lock:
            if self._at_work is not None:
                yield self.state
                return
            with self.state.telling():
                self.state.begin_statement()
                self._at_work = threading.get_ident()
                try:
                    with java_errors_as_spark_raises():
                        yield self.state
                finally:
                    self._at_work = None

    @property
    def is_inside(self) -> bool:
        """Whether this thread runs a statement of ours: what it asks of Spark is then Spark's."""
        return self._at_work == threading.get_ident()

    def _run(self, text: str, args: Mapping[str, Any] | Sequence[Any] | None = None) -> DataFrame:
        from icesql.session.run_text import run_text

        return run_text(self.state, text, args)

    def _query(self, text: str, references: References) -> DataFrame:
        from icesql.session.run.queries import run_query

        frame: DataFrame = run_query(self.state, text, references)
        return frame

    @checked_call
    def run_script(self, script: str | Path, variables: Mapping[str, str] | None = None) -> list[DataFrame]:
        """Run a file (a Path, or a string that ends in ``.sql``) or the text of several statements; one DataFrame each, which shows what
        its statement found, whatever comes after it.

        Stops at the first error: ScriptError says which statement, line and column; what ran before it stays committed.
        """
        from icesql.session.script import run_script

        with self.state.plans.pinned():
            return list(run_script(self, script, variables or {}))

    @checked_call
    def call(self, procedure: str, **arguments: Any) -> DataFrame:
        """``session.call("rewrite_manifests", table="db.t")``. A name may be qualified; the current catalog, else ``local``, is the
        default."""
        from icesql.session.run.call import call_by_name

        with self.statement() as state:
            frame: DataFrame = call_by_name(state, procedure, arguments)
            return frame

    # -- of the last statement -----------------------------------------------------------------------------------
    @property
    def last_notices(self) -> tuple[str, ...]:
        """What the user should know of the last statement."""
        return self.state.notices

    @property
    def has_committed(self) -> bool:
        """Whether the last statement has committed anything, also where it was interrupted."""
        return self.state.has_committed

    @property
    def last_plan(self) -> tuple[PlannedAction, ...]:
        """What a dry run would have done."""
        return self.state.planned_actions

    @property
    def last_explained(self) -> tuple[Planning, ...]:
        """What EXPLAIN PRUNING planned."""
        return self.state.explained

    @property
    def last_plannings(self) -> Sequence[Planning]:
        """As ``last_report``, each with the size of its snapshot. Grows while the statement's DataFrame is planned."""
        return self.state.plans.reports

    @property
    def last_report(self) -> tuple[Any, ...]:
        """A ``ScanReport`` for each time that the last statement's files were planned: which manifests and files were skipped, and why."""
        return tuple(planning.report for planning in self.state.plans.reports)

    def watched_by(self, watcher: Watcher) -> AbstractContextManager[None]:
        """Within the block ``watcher`` is told how far long calls are, from whichever thread works."""
        return self.state.watched_by(watcher)

    # -- tables --------------------------------------------------------------------------------------------------
    @checked_call
    def table(self, name: str) -> SessionTable:
        """A table by its dotted name: schema, snapshots, scan, builders, and ``to_df()``. Raises NotFoundError."""
        from icesql.parser.text.identifiers import parse_name
        from icesql.session.dataframe_api.session_table import SessionTable
        from icesql.session.resolve.resolver import required

        return SessionTable(self, required(self.state, parse_name(name)))

    @property
    def read(self) -> Reader:
        """Options, then a table: ``session.read.option("branch", "audit").table("db.t")``."""
        from icesql.session.dataframe_api.reader import Reader

        return Reader(self)

    @property
    def catalogs(self) -> Sequence[str]:
        """The names of the session's catalogs."""
        return self.state.catalogs.names

    @checked_call
    def catalog(self, name: str | None = None) -> Catalog:
        """One of the session's catalogs; the current one by default. Raises NotFoundError."""
        return self.state.names.catalog(name)

    @checked_call
    def write_to(self, frame: DataFrame, name: str) -> Writer:
        """A writer with DataFrameWriterV2's verbs: ``session.write_to(df, "db.t").append()``."""
        from icesql.session.dataframe_api.writer import Writer

        return Writer(self, frame, name)

    @checked_call
    def merge_into(self, frame: DataFrame, name: str, condition: Column) -> MergeWriter:
        """A writer with MergeIntoWriter's verbs: ``session.merge_into(df, "db.t", F.col("t.id") == df.id).whenMatched().delete()``."""
        from icesql.session.dataframe_api.merge_writer import MergeWriter

        return MergeWriter(self, frame, name, condition)

    def transaction(self) -> SessionTransaction:
        """``with session.transaction(): ...``: what is done inside is committed together at the end, or not at all."""
        from icesql.session.state.transactions import SessionTransaction

        return SessionTransaction(self.state)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        """The Spark session stays: it may be the caller's own."""

    def __repr__(self) -> str:
        names = self.state.names
        return f"Session(catalogs={self.state.catalogs.names}, current={'.'.join((names.current_catalog, *names.current_namespace))})"
