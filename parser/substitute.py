"""Views in the place of table references; everything else stays the user's text, and every place can be traced back to it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from icesql.parser.names import ColumnChain, NameParts, Place, References, Span, TableReference


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What stands for one reference.

    ``view`` is SQL text, put in as it is. ``full_name`` is the table's resolved name (catalog, namespace levels, table), which columns
    may be qualified with. ``keep_name`` False: no alias is added where the user gave none.
    """

    view: str
    full_name: NameParts
    keep_name: bool = True


@dataclass(frozen=True, slots=True)
class Substituted:
    """The new text. ``starts`` and ``origins`` pair the offset of each piece with where it comes from; ``copied``: it is the user's own."""

    text: str
    source: str
    starts: tuple[int, ...] = field(repr=False)
    origins: tuple[int, ...] = field(repr=False)
    copied: tuple[bool, ...] = field(repr=False)

    def origin(self, offset: int) -> int:
        """The offset in the user's text that ``offset`` of the new text stems from; within an inserted view, the reference's own."""
        if not self.starts:
            return 0
        piece = max(0, bisect_right(self.starts, offset) - 1)
        if not self.copied[piece]:
            return self.origins[piece]
        return min(self.origins[piece] + max(0, offset - self.starts[piece]), len(self.source))

    def origin_of(self, line: int, column: int) -> int:
        """``origin`` of a 1-based line and column of the new text, as Spark's errors give them (lines end at ``\\n``)."""
        offset = 0
        for _ in range(line - 1):
            found = self.text.find("\n", offset)
            if found < 0:
                break
            offset = found + 1
        return self.origin(min(offset + column - 1, len(self.text)))


def quoted(name: str) -> str:
    """``name`` in back-ticks."""
    return "`" + name.replace("`", "``") + "`"


def substitute(
    text: str,
    references: References,
    replacements: Mapping[int, Replacement],
    *,
    pieces: Sequence[Span] | None = None,
    qualifiers: Mapping[NameParts, str] | None = None,
) -> Substituted:
    """``text`` with views in the place of references.

    ``replacements`` is keyed by ``reference.start``; references without one stay as they are. A view stands for the name with its time
    travel and options; where the user gave no alias the table's own name is added as one, and columns qualified by more than it
    (``local.db.t.id``, ``db.t.id``) are rewritten to it. ``pieces``: only these spans, joined by blanks. ``qualifiers``: further full names
    and what columns qualified by them (two parts or more) shall be qualified with instead, say of the target of an UPDATE.
    """
    aliases = _Aliases(references, replacements)
    edits: list[tuple[int, int, str]] = []
    for reference in references.tables:
        replacement = replacements.get(reference.start)
        if replacement is not None:
            edits.extend(_reference_edits(reference, replacement, aliases))
    for chain in references.chains:
        edit = aliases.qualifier_edit(chain, qualifiers or {})
        if edit is not None:
            edits.append(edit)
    return _apply(text, sorted(edits), pieces if pieces is not None else (Span(0, len(text)),))


def _reference_edits(reference: TableReference, replacement: Replacement, aliases: _Aliases) -> list[tuple[int, int, str]]:
    edits = [(reference.start, reference.clause_end, replacement.view)]
    if reference.place is Place.FROM and reference.alias is None and reference.alias_at is not None and replacement.keep_name:
        edits.append((reference.alias_at, reference.alias_at, f" AS {quoted(aliases.of(replacement.full_name))}"))
    return edits


class _Aliases:
    """The alias of each table that the user gave none. It is the table's own name, unless two tables of one name would be confused."""

    def __init__(self, references: References, replacements: Mapping[int, Replacement]) -> None:
        self.parents = references.scope_parents
        self.names: dict[NameParts, str] = {}  # full name in lower case -> alias
        self.in_scope: dict[int, list[NameParts]] = {}
        for reference in references.tables:
            replacement = replacements.get(reference.start)
            if replacement is not None and replacement.keep_name and reference.alias is None and reference.place is Place.FROM:
                key = _lower(replacement.full_name)
                self.names.setdefault(key, (reference.parts or replacement.full_name)[-1])
                self.in_scope.setdefault(reference.scope, []).append(key)
        self.clashing = self._clashes(references)
        for number, key in enumerate(sorted(self.clashing), 1):
            self.names[key] = f"{self.names[key]}__{number}"

    def _clashes(self, references: References) -> frozenset[NameParts]:
        """Tables that share their last name, if a longer qualifier tells them apart somewhere."""
        by_last: dict[str, set[NameParts]] = {}
        for key in self.names:
            by_last.setdefault(key[-1], set()).add(key)
        shared = frozenset(key for keys in by_last.values() if len(keys) > 1 for key in keys)
        told_apart = any(_qualifier_length(chain, key) > 1 for chain in references.chains for key in shared) if shared else False
        return shared if told_apart else frozenset()

    def of(self, full_name: NameParts) -> str:
        return self.names[_lower(full_name)]

    def qualifier_edit(self, chain: ColumnChain, further: Mapping[NameParts, str]) -> tuple[int, int, str] | None:
        """The edit that makes a qualified column fit the alias, if it needs one."""
        best, text = 1, ""
        for key, alias in self.names.items():
            length = _qualifier_length(chain, key)
            if length > best:
                best, text = length, quoted(alias)
        for name, qualifier in further.items():
            length = _qualifier_length(chain, _lower(name))
            if length > best:
                best, text = length, qualifier
        if best > 1:
            return chain.part_spans[0].start, chain.part_spans[best - 1].end, text
        nearest = self._nearest_clash(chain) if self.clashing else None
        return None if nearest is None else (chain.part_spans[0].start, chain.part_spans[0].end, quoted(self.names[nearest]))

    def _nearest_clash(self, chain: ColumnChain) -> NameParts | None:
        """Which of the tables whose alias had to change a column qualified by the bare name means: the nearest around it."""
        scope, last = chain.scope, chain.parts[0].casefold()
        while scope >= 0:
            here = {key for key in self.in_scope.get(scope, ()) if key in self.clashing and key[-1] == last}
            if here:
                return here.pop() if len(here) == 1 else None
            scope = self.parents[scope]
        return None


def _lower(name: NameParts) -> NameParts:
    return tuple(part.casefold() for part in name)


def _qualifier_length(chain: ColumnChain, full_name: NameParts) -> int:
    """How many parts at the chain's front are the last parts of ``full_name`` (lower case); 0 if none."""
    parts = _lower(chain.parts)
    longest = min(len(full_name), len(parts) if chain.star else len(parts) - 1)
    for length in range(longest, 0, -1):
        if parts[:length] == full_name[-length:]:
            return length
    return 0


def _apply(text: str, edits: list[tuple[int, int, str]], pieces: Sequence[Span]) -> Substituted:
    out: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    copied: list[bool] = []
    size = 0

    def put(piece: str, origin: int, own: bool) -> None:
        nonlocal size
        if piece:
            out.append(piece)
            starts.append(size)
            origins.append(origin)
            copied.append(own)
            size += len(piece)

    for number, piece in enumerate(pieces):
        if number:
            put(" ", piece.start, False)
        at = piece.start
        for start, end, replacement in edits:
            if piece.start <= start and end <= piece.end and start >= at:
                put(text[at:start], at, True)
                put(replacement, start, False)
                at = end
        put(text[at : piece.end], at, True)
    return Substituted("".join(out), text, tuple(starts), tuple(origins), tuple(copied))
