"""Sort orders as procedures take them: ``id DESC NULLS LAST, bucket(4, x)`` , ``zorder(a, b)`` or ``hilbert(a, b)``."""

from __future__ import annotations

from dataclasses import dataclass

from icesql.errors import SqlError
from icesql.parser.statements.ddl import SortTerm
from icesql.parser.text.names import NameParts


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSortOrder:
    """``terms``, or the columns of a Z-order or those of a Hilbert curve."""

    terms: tuple[SortTerm, ...] = ()
    zorder: tuple[NameParts, ...] = ()
    hilbert: tuple[NameParts, ...] = ()


def parse_sort_order(text: str) -> ParsedSortOrder:
    """Read a sort order.

    Raises SqlError ``Unable to parse sortOrder: ...`` or ``Cannot mix ... sort expressions: ...``.
    """
    from icesql.parser.clauses.sort_order_rules import read_sort_order  # sqlglot is loaded when it is first needed

    try:
        terms, zorder, hilbert = read_sort_order(text)
    except SqlError as error:
        if "not supported" in error.message or "width" in error.message:
            raise
        raise SqlError(
            f"Unable to parse sortOrder: {text}", text=text, line=error.line, column=error.column, length=error.length
        ) from error
    if zorder and hilbert:
        raise SqlError(f"Cannot mix Zorder and Hilbert sort expressions: {text}")
    if terms and (zorder or hilbert):
        raise SqlError(f"Cannot mix identity sort columns and a Zorder or Hilbert sort expression: {text}")
    return ParsedSortOrder(terms=tuple(terms), zorder=tuple(zorder), hilbert=tuple(hilbert))
