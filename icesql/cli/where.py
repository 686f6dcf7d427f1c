"""Which conditions of a query each of its tables can be pruned by: text in, text out. Knows no schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from icesql.parser.text.names import Place, TableReference
from icesql.parser.text.references import references
from icesql.parser.text.tokens import Kind, Token, tokenize

_ENDS_WHERE = frozenset({
    "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "WINDOW", "LIMIT", "OFFSET", "QUALIFY", "UNION", "EXCEPT", "MINUS",
    "INTERSECT", ";",
})  # fmt: skip
_SET_OPERATIONS = frozenset({"UNION", "EXCEPT", "MINUS", "INTERSECT", ";"})


@dataclass(frozen=True, slots=True)
class Condition:
    """One conjunct of WHERE. ``text``: without the qualifiers that name the table; ``written``: as it stands in the query; ``others``:
    whether it names another table's columns."""

    text: str
    written: str
    others: bool = False


@dataclass(frozen=True, slots=True)
class TableConditions:
    """A table that a query reads. ``conditions`` are those that every row which it contributes must meet."""

    reference: TableReference
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """One SELECT: its tokens, and how deep in brackets it is."""

    start: int
    end: int
    depth: int


def table_conditions(text: str) -> list[TableConditions]:
    """Each table that the query reads, with the conditions of the SELECT it stands in. Raises SqlError for text that is no SQL."""
    tokens = tokenize(text)
    depths = _depths(tokens)
    blocks = _blocks(tokens, depths)
    tables = [table for table in references(text).tables if table.place is not Place.TARGET]
    by_table = []
    for table in tables:
        at = next(i for i, token in enumerate(tokens) if token.start == table.start)
        block = max((b for b in blocks if b.start <= at < b.end), key=lambda b: b.start, default=None)
        usable = block is not None and _keeps_rows(tokens, depths, block, at)
        conditions = _conditions(text, tokens, depths, block, table, tables) if usable and block is not None else ()
        by_table.append(TableConditions(table, tuple(conditions)))
    return by_table


def _depths(tokens: Sequence[Token]) -> list[int]:
    depth, depths = 0, []
    for token in tokens:
        depth -= token.key in (")", "]", "}")
        depths.append(depth)
        depth += token.key in ("(", "[", "{")
    return depths


def _blocks(tokens: Sequence[Token], depths: Sequence[int]) -> list[_Block]:
    blocks = []
    for start, token in enumerate(tokens):
        if token.key != "SELECT":
            continue
        depth, end = depths[start], start + 1
        while (
            tokens[end].kind is not Kind.END and depths[end] >= depth and not (depths[end] == depth and tokens[end].key in _SET_OPERATIONS)
        ):
            end += 1
        blocks.append(_Block(start, end, depth))
    return blocks


def _keeps_rows(tokens: Sequence[Token], depths: Sequence[int], block: _Block, at: int) -> bool:
    """Whether a row of the table that does not meet WHERE is in no result: not so on the side of an outer join that may be null."""
    joins = [i for i in range(block.start, block.end) if tokens[i].key == "JOIN" and depths[i] >= block.depth]
    sides = {i: {token.key for token in tokens[max(block.start, i - 3) : i]} for i in joins}
    before = [sides[i] for i in joins if i < at]
    after = [sides[i] for i in joins if i > at]
    is_joined_outside = bool(before) and not before[-1].isdisjoint({"LEFT", "FULL", "ANTI"})
    return not is_joined_outside and all(keys.isdisjoint({"RIGHT", "FULL"}) for keys in after)


def _conditions(
    text: str, tokens: Sequence[Token], depths: Sequence[int], block: _Block, table: TableReference, tables: Sequence[TableReference]
) -> Iterator[Condition]:
    where = next((i for i in range(block.start, block.end) if tokens[i].key == "WHERE" and depths[i] == block.depth), None)
    if where is None:
        return
    end = where + 1
    while end < block.end and not (depths[end] == block.depth and tokens[end].key in _ENDS_WHERE):
        end += 1
    for first, last in _conjuncts(tokens, depths, where + 1, end, block.depth):
        yield _condition(text, tokens[first:last], table, tables)


def _conjuncts(tokens: Sequence[Token], depths: Sequence[int], start: int, end: int, depth: int) -> Iterator[tuple[int, int]]:
    """Pieces between the ANDs; one piece where there is an OR beside them."""
    level = [i for i in range(start, end) if depths[i] == depth]
    if any(tokens[i].key in ("OR", "CASE") for i in level):
        yield start, end
        return
    first, is_between = start, False
    for i in level:
        if tokens[i].key == "BETWEEN":
            is_between = True
        elif tokens[i].key == "AND" and is_between:
            is_between = False
        elif tokens[i].key == "AND":
            yield first, i
            first = i + 1
    if first < end:
        yield first, end


def _condition(text: str, tokens: Sequence[Token], table: TableReference, tables: Sequence[TableReference]) -> Condition:
    names = [tuple(part.lower() for part in name) for name in _names_of(table)]
    others = [tuple(part.lower() for part in name) for other in tables if other is not table for name in _names_of(other)]
    kept, at, is_others = [], 0, False
    while at < len(tokens):
        length = _qualifier(tokens, at, names)
        is_others = is_others or (not length and bool(_qualifier(tokens, at, others)))
        at += length
        kept.append(tokens[at])
        at += 1
    pieces = [kept[0].text]
    for before, token in pairwise(kept):
        pieces += [" " if before.end != token.start else "", token.text]
    return Condition("".join(pieces), text[tokens[0].start : tokens[-1].end], is_others)


def _names_of(table: TableReference) -> list[tuple[str, ...]]:
    """By which its columns may be qualified: its alias, else any end of its name, the longest first."""
    return [(table.alias,)] if table.alias else [table.parts[at:] for at in range(len(table.parts))]


def _qualifier(tokens: Sequence[Token], at: int, names: Sequence[tuple[str, ...]]) -> int:
    """How many tokens, dots too, qualify the column that begins at a token."""
    if at and tokens[at - 1].key == ".":
        return 0
    for name in names:
        piece = tokens[at : at + 2 * len(name)]
        if len(piece) == 2 * len(name) and at + 2 * len(name) < len(tokens):
            parts = tuple(token.name.lower() for token in piece[::2] if token.is_identifier)
            if parts == name and all(token.key == "." for token in piece[1::2]):
                return 2 * len(name)
    return 0
