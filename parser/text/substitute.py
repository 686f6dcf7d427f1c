"""Views in the place of table references; everything else stays the user's text, and every place can be traced back to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from icesql.parser.text.edits import Edit, Rewritten, quote, rewrite
from icesql.parser.text.names import ColumnChain, NameParts, Place, References, Span, TableReference
from icesql.spec.case_folding import fold, folded


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What stands for one reference.

    ``view`` is SQL text, put in as it is. ``full_name`` is the table's resolved name (catalog, namespace levels, table), which columns
    may be qualified with. ``keep_name`` False: no alias is added where the user gave none.
    """

    view: str
    full_name: NameParts
    keep_name: bool = True


def substitute(
    text: str,
    references: References,
    replacements: Mapping[int, Replacement],
    *,
    pieces: Sequence[Span] | None = None,
    qualifiers: Mapping[NameParts, str] | None = None,
) -> Rewritten:
    """``text``, or those ``pieces`` of it joined by blanks, with views in the place of references: see ``view_edits``."""
    aliases = Aliases(references, replacements)
    return rewrite(text, view_edits(references, replacements, aliases, qualifiers or {}), pieces)


def view_edits(
    references: References, replacements: Mapping[int, Replacement], aliases: Aliases, qualifiers: Mapping[NameParts, str]
) -> Iterator[Edit]:
    """The edits that put views in the place of references.

    ``replacements`` is keyed by ``reference.start``; references without one stay as they are. A view stands for the name with its time
    travel and options; where the user gave no alias the table's own name is added as one, and columns qualified by more than it
    (``local.db.t.id``, ``db.t.id``) are rewritten to it. ``qualifiers``: further full names, and what columns qualified by them (two
    parts or more) shall be qualified with instead, say of the target of an UPDATE.
    """
    for reference in references.tables:
        replacement = replacements.get(reference.start)
        if replacement is not None:
            yield from _reference_edits(reference, replacement, aliases)
    for chain in references.chains:
        edit = aliases.qualifier_edit(chain, qualifiers)
        if edit is not None:
            yield edit


def _reference_edits(reference: TableReference, replacement: Replacement, aliases: Aliases) -> Iterator[Edit]:
    yield Edit(reference.start, reference.clause_end, replacement.view)
    if reference.place is Place.FROM and reference.alias is None and reference.alias_at is not None and replacement.keep_name:
        yield Edit(reference.alias_at, reference.alias_at, f" AS {quote(aliases.of(replacement.full_name))}")


class Aliases:
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

    def qualifier_edit(self, chain: ColumnChain, further: Mapping[NameParts, str]) -> Edit | None:
        """The edit that makes a qualified column fit the alias, if it needs one."""
        best, text = 1, ""
        for key, alias in self.names.items():
            length = _qualifier_length(chain, key)
            if length > best:
                best, text = length, quote(alias)
        for name, qualifier in further.items():
            length = _qualifier_length(chain, _lower(name))
            if length > best:
                best, text = length, qualifier
        if best > 1:
            return Edit(chain.part_spans[0].start, chain.part_spans[best - 1].end, text)
        nearest = self._nearest_clash(chain) if self.clashing else None
        return None if nearest is None else Edit(chain.part_spans[0].start, chain.part_spans[0].end, quote(self.names[nearest]))

    def _nearest_clash(self, chain: ColumnChain) -> NameParts | None:
        """Which of the tables whose alias had to change a column qualified by the bare name means: the nearest around it."""
        scope, last = chain.scope, fold(chain.parts[0])
        while scope >= 0:
            here = {key for key in self.in_scope.get(scope, ()) if key in self.clashing and key[-1] == last}
            if here:
                return here.pop() if len(here) == 1 else None
            scope = self.parents[scope]
        return None


def _lower(name: NameParts) -> NameParts:
    return folded(name)


def _qualifier_length(chain: ColumnChain, full_name: NameParts) -> int:
    """How many parts at the chain's front are the last parts of ``full_name`` (lower case); 0 if none."""
    parts = _lower(chain.parts)
    longest = min(len(full_name), len(parts) if chain.star else len(parts) - 1)
    for length in range(longest, 0, -1):
        if parts[:length] == full_name[-length:]:
            return length
    return 0
