"""What Tab offers: read from the whole statement, what stands behind the cursor too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from icesql.cli.cursor import Cursor, cursor_in
from icesql.cli.keywords import KEYWORDS
from icesql.errors import IcesqlError
from icesql.parser.text.names import TableReference
from icesql.procedures.registry import NAMES, procedure
from icesql.session.output.layout import EXPANDED
from icesql.session.output.rows import FORMATS
from icesql.session.output.table_text import quoted_if_needed
from icesql.session.resolve.resolved import CHANGES, MetadataTable, ResolvedTable
from icesql.session.resolve.resolver import readable
from icesql.session.session import Session
from icesql.spec import types as t
from icesql.spec.schema import Schema
from icesql.table.metadata_tables.registry import METADATA_TABLES, metadata_table_schema
from icesql.table.table import Table

_BEFORE_TABLE = frozenset({"FROM", "JOIN", "INTO", "TABLE", "UPDATE", "DESCRIBE", "DESC", "VIEW", "OVERWRITE", "EXISTS", "USING"})
_SETTINGS_OF_OURS = ("spark.wap.branch", "spark.wap.id", "spark.sql.iceberg.")


@dataclass(frozen=True, slots=True)
class Candidate:
    """``text`` stands for the last ``replaced`` characters before the cursor; ``meta`` says what it is."""

    text: str
    replaced: int
    meta: str = ""


class StatementCompleter(Completer):
    """``functions`` and ``settings`` list names that Spark knows; they are asked once, when they are first needed."""

    def __init__(self, session: Session, functions: Callable[[], Sequence[str]], settings: Callable[[], Sequence[str]]) -> None:
        self._session, self._functions_asked, self._settings_asked = session, functions, settings

    @cached_property
    def _functions(self) -> Sequence[str]:
        return self._functions_asked()

    @cached_property
    def _settings(self) -> Sequence[str]:
        return self._settings_asked()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        for candidate in self.candidates(document.text_before_cursor, document.text_after_cursor):
            yield Completion(candidate.text, start_position=-candidate.replaced, display_meta=candidate.meta)

    def candidates(self, before: str, after: str = "") -> list[Candidate]:
        """What may stand at the cursor: columns and names first, keywords last. Never raises for what cannot be listed."""
        try:
            at = cursor_in(before, after)
            offered = list(self._offered(at))
        except IcesqlError:
            return []
        shown: dict[str, Candidate] = {}
        for name, meta in offered:
            if name.lower().startswith(at.start.lower()):
                shown.setdefault(name, Candidate(name, len(at.start), meta))
        return list(shown.values())

    def _offered(self, at: Cursor) -> Iterator[tuple[str, str]]:
        if at.command is not None:
            yield from self._of_command(at)
        elif at.call is not None and at.is_in_arguments:
            yield from self._of_call(at)
        elif at.time_travel is not None:
            yield from self._versions(at)
        elif at.is_in_string:
            return
        elif at.verb in ("SET", "RESET") and len(at.keys) <= 1 and not at.has_equals:
            yield from self._setting_names(at)
        elif at.outer:
            yield from self._behind(at)
        elif at.previous in _BEFORE_TABLE or (at.previous == "," and at.is_in_from):
            yield from self._relations(at)
        else:
            yield from self._anything(at)

    # -- names in SQL --------------------------------------------------------------------------------------------
    def _anything(self, at: Cursor) -> Iterator[tuple[str, str]]:
        yield from self._columns(at)
        yield from ((reference.alias, "alias") for reference in at.tables if reference.alias)
        yield from self._relations(at)
        if at.verb == "CALL":
            yield "system", "procedures"
        yield from ((keyword, "") for keyword in KEYWORDS)
        if at.start:
            yield from ((name, "function") for name in self._functions)

    def _relations(self, at: Cursor) -> Iterator[tuple[str, str]]:
        yield from ((name, "") for name in sorted(at.temporary))
        yield from self._inside(None)
        yield from ((name, "catalog") for name in self._session.catalogs)

    def _inside(self, parts: tuple[str, ...] | None) -> Iterator[tuple[str, str]]:
        where = self._session.state.names.namespace(parts)
        if where is None:
            return
        catalog, namespace = where
        try:
            yield from ((quoted_if_needed(table[-1]), "table") for table in catalog.list_tables(namespace))
            yield from ((quoted_if_needed(view[-1]), "view") for view in catalog.list_views(namespace))
            yield from ((quoted_if_needed(child[-1]), "namespace") for child in catalog.list_namespaces(namespace))
        except IcesqlError:
            return

    def _columns(self, at: Cursor) -> Iterator[tuple[str, str]]:
        for reference in at.tables:
            schema = self._schema(reference.parts)
            if schema is not None:
                yield from ((quoted_if_needed(field.name), str(field.type)) for field in schema.fields)

    def _schema(self, parts: Sequence[str]) -> Schema | None:
        match readable(self._session.state, parts):
            case ResolvedTable() as table:
                return table.table.schema
            case MetadataTable(metadata_table=name, table=table) if name != CHANGES:
                return metadata_table_schema(name, table.metadata)
        return None

    def _behind(self, at: Cursor) -> Iterator[tuple[str, str]]:
        """Behind a dot: fields of a column, columns of a table or alias, what a catalog or namespace holds, metadata tables."""
        outer = at.outer
        if outer[-1].lower() == "system":
            yield from ((name, procedure(name).summary) for name in NAMES)
            return
        for reference in at.tables:
            schema = self._schema(reference.parts)
            if schema is None:
                continue
            named = _length_of_qualifier(reference, outer)
            yield from _fields(schema.as_struct(), outer[named:]) if named else ()
            yield from _fields(schema.as_struct(), outer)
        if self._session.state.names.namespace(outer) is None:
            return
        listed = list(self._inside(outer))
        yield from listed
        if at.verb == "CALL":
            yield "system", "procedures"
        elif readable(self._session.state, outer) is not None:
            yield from ((name, "metadata table") for name in (*METADATA_TABLES, CHANGES))

    # -- versions, calls, settings, commands ---------------------------------------------------------------------
    def _versions(self, at: Cursor) -> Iterator[tuple[str, str]]:
        table = self._table(at.time_travelled)
        if table is None:
            return
        if at.time_travel == "VERSION":
            yield from _refs(table, at)
            if not at.is_in_string:
                yield from _snapshot_ids(table)
        else:
            for snapshot in reversed(table.snapshots):
                yield at.quoted(_time(snapshot.timestamp_ms)), f"{snapshot.operation} {snapshot.snapshot_id}"

    def _of_call(self, at: Cursor) -> Iterator[tuple[str, str]]:
        """Arguments, and what they may be."""
        one = procedure(at.call or "")
        name = at.argument_name or (one.signature[at.argument].name if at.argument < len(one.signature) else "")
        table = self._table(at.called_table)
        if name.endswith("table") and at.is_in_string:
            yield from self._table_texts(at)
        elif name == "strategy" and at.is_in_string:
            yield from ((strategy, "") for strategy in ("binpack", "sort"))
        elif name in ("branch", "ref", "to", "tag", "source_ref") and table is not None:
            yield from _refs(table, at)
        elif name.endswith("snapshot_id") and table is not None and at.argument_name:
            yield from _snapshot_ids(table)
        elif not at.is_in_string and not at.argument_name:
            if name.endswith("snapshot_id") and table is not None:
                yield from _snapshot_ids(table)
            yield from ((f"{parameter.name} => ", parameter.type) for parameter in one.signature if parameter.name not in at.given)

    def _table_texts(self, at: Cursor) -> Iterator[tuple[str, str]]:
        """Names of tables in the string of an argument, with all that is before them: they are relative to the call's catalog."""
        inside = tuple(at.start.split(".")[:-1])
        catalogs = self._session.catalogs
        within = inside if inside[:1] and inside[0] in catalogs else (*at.called_catalog, *inside)
        prefix = "".join(f"{part}." for part in inside)
        yield from ((prefix + name, meta) for name, meta in self._inside(within or None))

    def _table(self, parts: Sequence[str]) -> Table | None:
        relation = readable(self._session.state, parts) if parts else None
        return None if relation is None else relation.table

    def _setting_names(self, at: Cursor) -> Iterator[tuple[str, str]]:
        """Keys whole: their dots part no names."""
        yield from ((key, "") for key in (*_SETTINGS_OF_OURS, *self._settings))
        yield from ((f"spark.sql.catalog.{name}.", "catalog") for name in self._session.catalogs)

    def _of_command(self, at: Cursor) -> Iterator[tuple[str, str]]:
        from icesql.cli.commands import COMMANDS

        command = at.command or ""
        if command == at.start:
            yield from ((name, one.help) for name, one in COMMANDS.items())
        elif COMMANDS.get(command) is COMMANDS["help"]:
            yield from (("CALL", "procedures"), *((name, "procedure") for name in NAMES), *((name, "command") for name in COMMANDS))
        elif COMMANDS.get(command) in (COMMANDS["\\x"], COMMANDS["\\timing"], COMMANDS["\\pager"]):
            yield from ((choice, "") for choice in EXPANDED)
        elif COMMANDS.get(command) is COMMANDS["\\format"]:
            yield from ((form, "") for form in (*FORMATS, "line"))
        elif at.outer:
            yield from self._inside(at.outer)
        elif COMMANDS.get(command) in (COMMANDS["\\d"], COMMANDS["\\dt"], COMMANDS["\\sc"], COMMANDS["\\c"], COMMANDS["\\dn"]):
            yield from self._relations(at)


def _length_of_qualifier(reference: TableReference, outer: Sequence[str]) -> int:
    """How many parts of a dotted name qualify it by the table: its alias, or the end of its name."""
    if reference.alias:
        return int(outer[0].lower() == reference.alias.lower())
    parts = [part.lower() for part in reference.parts]
    lengths = range(min(len(parts), len(outer)), 0, -1)
    return next((n for n in lengths if [part.lower() for part in outer[:n]] == parts[-n:]), 0)


def _fields(type_: t.Type, path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Fields of the struct that a path of names leads to; of a list's elements and a map's values too."""
    for name in path:
        field = next((field for field in _struct(type_) if field.name.lower() == name.lower()), None)
        if field is None:
            return
        type_ = field.type
    yield from ((quoted_if_needed(field.name), str(field.type)) for field in _struct(type_))


def _struct(type_: t.Type) -> Iterable[t.NestedField]:
    return type_.fields if isinstance(type_, t.StructType) else ()


def _refs(table: Table, at: Cursor) -> Iterator[tuple[str, str]]:
    yield from ((at.quoted(name), f"{ref.type.value} at {ref.snapshot_id}") for name, ref in table.refs.items())


def _snapshot_ids(table: Table) -> Iterator[tuple[str, str]]:
    """Newest first."""
    for snapshot in reversed(table.snapshots):
        yield str(snapshot.snapshot_id), f"{snapshot.operation} {_time(snapshot.timestamp_ms)}"


def _time(milliseconds: int) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc).isoformat(sep=" ", timespec="milliseconds")
