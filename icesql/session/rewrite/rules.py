"""What happens to the text of a statement before Spark reads it, in order. Each rule gives edits of the user's text; none sees another's.

Before these, ``run_text`` fills in variables, double-quoted identifiers, parameters and IDENTIFIER clauses, which decide what is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from icesql.parser.text.edits import Edit
from icesql.parser.text.names import NameParts, References
from icesql.parser.text.substitute import Aliases, Replacement, view_edits
from icesql.session.rewrite.current_names import current_name_edits
from icesql.session.rewrite.hidden_columns import Hidden, star_edits
from icesql.session.rewrite.system_functions import function_edits

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """A text, its references, and the views that stand for those of our tables (``replacements``, by ``reference.start``).

    ``hidden``: references whose views show metadata columns that stars leave out. ``qualifiers``: further full names of tables, and what
    columns qualified by them are to be qualified with.
    """

    session: SessionState
    text: str
    references: References
    replacements: Mapping[int, Replacement]
    hidden: Sequence[Hidden] = ()
    qualifiers: Mapping[NameParts, str] = field(default_factory=dict)
    aliases: Aliases


def table_names(bindings: Bindings) -> Iterable[Edit]:
    """Views in the place of tables; columns qualified by more than the table's own name follow."""
    return view_edits(bindings.references, bindings.replacements, bindings.aliases, bindings.qualifiers)


def stars(bindings: Bindings) -> Iterable[Edit]:
    """``SELECT *`` leaves metadata columns out."""
    return star_edits(bindings.text, bindings.hidden)


def system_functions(bindings: Bindings) -> Iterable[Edit]:
    """``catalog.system.bucket(...)`` under the name that Spark knows."""
    return function_edits(bindings.session, bindings.text)


def current_names(bindings: Bindings) -> Iterable[Edit]:
    """``current_catalog()`` and its kin as literals, where the current catalog is ours."""
    return current_name_edits(bindings.session, bindings.text)


RULES: tuple[Callable[[Bindings], Iterable[Edit]], ...] = (table_names, stars, system_functions, current_names)


def edits(bindings: Bindings) -> list[Edit]:
    """Those of all rules."""
    return [edit for rule in RULES for edit in rule(bindings)]
