"""Reads of our tables that Spark's script interpreter runs itself: conditions, queries of FOR, values of variables.

Each table there stands for a temporary view, which is made again before each step if what it shows has changed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icesql.errors import CorruptMetadataError, IcesqlError
from icesql.parser.text.edits import Edit, quote, rewrite
from icesql.parser.text.names import Place, TableReference
from icesql.parser.text.references import references
from icesql.parser.text.substitute import Aliases, Replacement
from icesql.parser.text.tokens import tokenize
from icesql.session.resolve.resolved import CHANGES
from icesql.session.resolve.resolver import readable
from icesql.session.resolve.time_travel import read_point
from icesql.session.rewrite.bound_text import source_of, source_relation
from icesql.session.rewrite.hidden_columns import Hidden, named_for, named_metadata_columns, shown_columns
from icesql.session.rewrite.rules import Bindings, edits
from icesql.session.spark_errors import moved
from icesql.session.sql_errors import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_numbers = itertools.count(1)
_VIEW = re.compile(r"`?(_icescript\d+)`?")


@dataclass(slots=True)
class _Read:
    """One mention of a table in ``text``. ``shown``: what its view shows now, ``None`` where nothing is there."""

    view: str
    text: str
    reference: TableReference
    metadata_columns: tuple[str, ...] = ()
    shown: Any = None


class ScriptReads:
    """``text`` is the script as Spark is to walk through it."""

    def __init__(self, session: SessionState, text: str, places: Sequence[tuple[int, int]]) -> None:
        self._session, self._user_text = session, text
        self._reads: list[_Read] = []
        self.edits: list[Edit] = [edit for start, end in places for edit in self._edits(text[start:end], start)]
        self._rewritten = rewrite(text, self.edits)
        self.text = self._rewritten.text

    def _edits(self, piece: str, start: int) -> list[Edit]:
        named, session = references(piece), self._session
        replacements: dict[int, Replacement] = {}
        reads = []
        for reference in named.tables:
            if reference.place is not Place.TARGET and self._is_ours(reference):
                reads.append(_Read(f"_icescript{next(_numbers)}", piece, reference, self._metadata_columns(reference, piece)))
                replacements[reference.start] = Replacement(view=quote(reads[-1].view), full_name=self._full_name(reference))
        self._reads += reads
        aliases = Aliases(named, replacements)
        hidden = [
            Hidden(r.reference.start, r.reference.alias or aliases.of(replacements[r.reference.start].full_name), r.metadata_columns)
            for r in reads
            if r.metadata_columns
        ]
        bindings = Bindings(session=session, text=piece, references=named, replacements=replacements, hidden=hidden, aliases=aliases)
        return [Edit(edit.start + start, edit.end + start, edit.replacement) for edit in edits(bindings)]

    def _metadata_columns(self, reference: TableReference, piece: str) -> tuple[str, ...]:
        """Those that the text names, where a table is there already."""
        named = named_metadata_columns(piece)
        resolved = readable(self._session, reference.parts) if named and reference.place is Place.FROM else None
        if resolved is None or resolved.metadata_table not in (None, CHANGES):
            return ()
        try:
            point = read_point(resolved, reference.time_travel, piece, self._session.microseconds)
        except IcesqlError:
            return ()
        named = named_for(piece, reference.start, named)
        return shown_columns(resolved.table.metadata, point.schema, named, of_changes=resolved.metadata_table == CHANGES)

    def _is_ours(self, reference: TableReference) -> bool:
        """Whether it is, or may become, a table of ours: what a short name means can change with USE and with temporary views."""
        session = self._session
        if session.names.address(reference.parts) is not None or session.temporary_views.find(reference.parts) is not None:
            return True
        return bool(reference.parts) and any(token.key == "USE" for token in tokenize(self._user_text))

    def _full_name(self, reference: TableReference) -> tuple[str, ...]:
        address = self._session.names.address(reference.parts)
        return reference.parts if address is None else address.parts

    def refresh(self) -> None:
        for read in self._reads:
            frame = self._frame(read)
            if frame is None and read.shown is not None:
                self._session.drop_views([read.view])
            elif frame is not None and frame is not read.shown:
                frame.createOrReplaceTempView(read.view)
            read.shown = frame

    def _frame(self, read: _Read) -> DataFrame | None:
        """What it shows now, ``None`` where nothing is there. Raises CorruptMetadataError, of which Spark would know nothing."""
        from pyspark.errors import PySparkException

        session, reference = self._session, read.reference
        try:
            source = source_of(session, read.text, reference)
            if source is not None:
                return source_relation(session, reference, source, read.text, frozenset(read.metadata_columns), [])[0].frame
            view = session.temporary_views.find(reference.parts)
            if view is not None:
                session.temporary_views.refresh_view(view)
            return session.spark_sql(f"TABLE {'.'.join(map(quote, reference.parts))}")
        except CorruptMetadataError:
            raise
        except (IcesqlError, PySparkException):
            return None  # Spark says so when it comes to what reads it

    def user_text(self, message: str) -> str:
        """Spark's message with the user's names and places."""
        names = {read.view: quoted(read.reference.parts) for read in self._reads}
        message = _VIEW.sub(lambda match: names.get(match[1], match[0]), message)
        return moved(message, self._rewritten, self._user_text) if self.edits else message

    def close(self) -> None:
        self._session.drop_views(read.view for read in self._reads if read.shown is not None)
