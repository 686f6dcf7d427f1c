"""Sort orders as procedures take them: ``id DESC NULLS LAST, bucket(4, x)`` or ``zorder(a, b)``."""

from __future__ import annotations

from dataclasses import dataclass

from icesql.errors import SqlError
from icesql.parser.statements.ddl import SortTerm
from icesql.parser.text.names import NameParts


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSortOrder:
    """Either ``terms`` or, for a Z-order, ``zorder``: the columns whose bits are interleaved."""

    terms: tuple[SortTerm, ...] = ()
    zorder: tuple[NameParts, ...] = ()


def parse_sort_order(text: str) -> ParsedSortOrder:
    """Read a sort order.

    Raises SqlError ``Unable to parse sortOrder: ...`` or ``Cannot mix identity sort columns and a Zorder sort expression: ...``.
    """
    from icesql.parser.clauses.sort_order_rules import read_sort_order  # sqlglot is loaded when it is first needed

    try:
        terms, zorders = read_sort_order(text)
    except SqlError as error:
        if "not supported" in error.message or "width" in error.message:
            raise
        raise SqlError(
            f"Unable to parse sortOrder: {text}", text=text, line=error.line, column=error.column, length=error.length
        ) from error
    if zorders and (terms or len(zorders) > 1):
        raise SqlError(f"Cannot mix identity sort columns and a Zorder sort expression: {text}")
    return ParsedSortOrder(terms=tuple(terms), zorder=zorders[0] if zorders else ())
