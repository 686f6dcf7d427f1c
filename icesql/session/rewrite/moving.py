"""Table references of a query that is cut out of its statement: offsets are counted from the query's start."""

from __future__ import annotations

from dataclasses import replace

from icesql.parser.text.names import ColumnChain, References, Span, TableReference, TimeTravel


def moved(references: References, start: int) -> References:
    """``references`` of a text, for the part of it that begins at ``start``; those before it are left out."""
    return replace(
        references,
        tables=tuple(_reference(r, start) for r in references.tables if r.start >= start),
        chains=tuple(_chain(c, start) for c in references.chains if c.part_spans[0].start >= start),
    )


def _span(span: Span, start: int) -> Span:
    return Span(span.start - start, span.end - start)


def _reference(reference: TableReference, start: int) -> TableReference:
    return replace(
        reference,
        start=reference.start - start,
        end=reference.end - start,
        clause_end=reference.clause_end - start,
        alias_at=None if reference.alias_at is None else reference.alias_at - start,
        time_travel=None if reference.time_travel is None else _time_travel(reference.time_travel, start),
    )


def _time_travel(travel: TimeTravel, start: int) -> TimeTravel:
    return replace(travel, expression=_span(travel.expression, start), span=_span(travel.span, start))


def _chain(chain: ColumnChain, start: int) -> ColumnChain:
    return replace(chain, part_spans=tuple(_span(span, start) for span in chain.part_spans))
