"""Where a statement writes: the table, a branch of it, staged or not, and what its snapshot's summary says of the writer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.session.resolve.ambiguous_columns import refuse_ambiguous
from icesql.session.resolve.resolved import MetadataTable, Missing, Readable, ResolvedTable, SparkOwned, StoredView, TemporaryView
from icesql.session.resolve.resolver import not_found, resolve
from icesql.session.resolve.write_audit_publish import wap_of
from icesql.session.sql_errors import branch_not_found
from icesql.spec.snapshots import MAIN

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState
    from icesql.table.snapshot.snapshot_update import SnapshotUpdate
    from icesql.table.table import Table

Builder = TypeVar("Builder", bound="SnapshotUpdate")
_SUMMARY_PREFIX = "snapshot-property."
_ENGINE_KEYS = frozenset({"spark.app.id", "engine-name", "engine-version", "app-id", "app-name", "iceberg-version"})


class SessionSettings(Mapping[str, str]):
    """Spark's settings, asked for one at a time when needed."""

    def __init__(self, session: SessionState) -> None:
        self._session = session

    def __getitem__(self, key: str) -> str:
        value = self._session.conf(key)
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 1  # as a whole it is never empty: what it holds is asked for by key


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTarget:
    """``branch`` may not exist yet where it was named by an option or by ``spark.wap.branch``: the commit makes it."""

    resolved: Readable
    branch: str = MAIN
    wap_id: str | None = None
    summary: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    """Keys in lower case."""

    @property
    def table(self) -> Table:
        return self.resolved.table

    @property
    def base_snapshot_id(self) -> int | None:
        """The snapshot that the branch points to before the write; main's where the branch does not exist yet."""
        head = self.table.metadata.head(self.branch) or self.table.metadata.current_snapshot
        return None if head is None else head.snapshot_id

    @property
    def output_spec_id(self) -> int | None:
        """The spec by which the option ``output-spec-id`` asks to write. Raises InvalidArgumentError for one that the table has not."""
        text = self.options.get("output-spec-id")
        if text is None:
            return None
        if not text.isdigit() or int(text) not in self.table.metadata.specs_by_id:
            raise InvalidArgumentError(f"Output spec id {text} is not a valid spec id for table")
        return int(text)

    @property
    def output_sort_order_id(self) -> int | None:
        """The sort order that the option ``output-sort-order-id`` says the rows are in. Raises InvalidArgumentError for one that the
        table has not."""
        text = self.options.get("output-sort-order-id")
        if text is None:
            return None
        from icesql.spark.write.distribution import integer

        order_id = integer(text)
        if order_id not in {order.order_id for order in self.table.metadata.sort_orders}:
            raise InvalidArgumentError(
                f"Cannot use output sort order id {order_id} because the table does not contain a sort order with that id"
            )
        return order_id

    def unstaged(self) -> WriteTarget:
        """The same for changes that metadata alone decides: those are never staged, and take no summary properties of the session's."""
        return replace(self, wap_id=None, summary={k: v for k, v in self.summary.items() if k in _ENGINE_KEYS})

    def applied(self, builder: Builder) -> Builder:
        """The builder set to commit here."""
        if self.branch != MAIN:
            builder.to_branch(self.branch)
        if self.wap_id is not None:
            builder.stage_only()
        builder.set_all(self.summary)
        return builder


def asks_dynamic(options: Mapping[str, str]) -> bool:
    """Whether a write that would replace all rows is to replace those of its partitions only. ``options``: keys in lower case."""
    return options.get("overwrite-mode", "").lower() == "dynamic"


def write_target(
    session: SessionState, parts: tuple[str, ...], *, text: str, offset: int, options: Mapping[str, str], verb: str = "write to"
) -> WriteTarget | None:
    """``None`` if the name is Spark's. Raises NotFoundError, and UnsupportedError for what cannot be written (a tag, a metadata table)."""
    match resolve(session, parts):
        case ResolvedTable() | MetadataTable() as table:
            return target_of(session, table, options, verb=verb)
        case TemporaryView() | SparkOwned():
            return None
        case StoredView() | Missing():
            raise not_found(session, parts, text=text, offset=offset)


def target_of(session: SessionState, resolved: Readable, options: Mapping[str, str], *, verb: str = "write to") -> WriteTarget:
    metadata = resolved.table.metadata
    options = {key.lower(): value for key, value in options.items()}
    if resolved.metadata_table is not None:
        raise UnsupportedError(
            f"Cannot {verb} a metadata table: {resolved.dotted}.{resolved.metadata_table}: table does not support writes"
        )
    if not resolved.selector.is_empty and resolved.branch is None:
        resolved = _branch_called_a_tag(resolved, verb)
    given = options.get("branch")
    if resolved.branch is not None and given is not None and given != resolved.branch:
        raise InvalidArgumentError(f"Explicitly configured branch [{resolved.branch}] and write option [{given}] are in conflict")
    if resolved.branch is not None and resolved.branch != MAIN and resolved.branch not in metadata.refs:
        raise branch_not_found(resolved.branch, metadata.refs)
    wap_id, wap_branch = wap_of(session, metadata, explicit=resolved.branch or given)
    branch = resolved.branch or given or wap_branch
    if branch is not None and branch in metadata.refs and not metadata.refs[branch].is_branch:
        raise InvalidArgumentError(f"Cannot {verb} {branch}: it is a tag, not a branch. Tags cannot be targets for producing snapshots")
    if verb != "truncate":
        refuse_ambiguous(session, metadata.schema)
    summary = {**session.engine_summary, **given_summary(session, options)}
    if wap_id is not None:
        summary["wap.id"] = wap_id
    return WriteTarget(resolved=resolved, branch=branch or MAIN, wap_id=wap_id, summary=summary, options=options)


def _branch_called_a_tag(resolved: Readable, verb: str) -> Readable:
    """``t.tag_x`` where ``x`` is a branch means the branch, as in reads. Raises InvalidArgumentError for every other selector."""
    ref = resolved.selector.ref
    if ref is not None and ref not in resolved.table.metadata.refs:
        raise InvalidArgumentError(f"Cannot find matching snapshot ID or reference name for version {ref}")
    if ref is None or not resolved.table.metadata.refs[ref].is_branch:
        raise InvalidArgumentError(f"Cannot {verb} table with time travel: {resolved.dotted}")
    return replace(resolved, selector=replace(resolved.selector, ref_type="branch"))


def given_summary(session: SessionState, options: Mapping[str, str]) -> dict[str, str]:
    given = {key[len(_SUMMARY_PREFIX) :]: value for key, value in options.items() if key.startswith(_SUMMARY_PREFIX)}
    return {**session.snapshot_properties(), **given}
