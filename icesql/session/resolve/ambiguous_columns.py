"""Columns named twice are refused, those too that differ by case only while ``spark.sql.caseSensitive`` is false."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from icesql.session.sql_errors import column_exists
from icesql.spec.case_folding import NameKey, fold
from icesql.spec.schema import Schema
from icesql.spec.types import StructType, Type, children

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


def refuse_ambiguous(session: SessionState, schema: Schema) -> None:
    """Raises SqlError ``COLUMN_ALREADY_EXISTS`` for two columns, or two fields of one struct, that the session takes for one."""
    if _are_told_apart_by_case(schema) and not session.is_case_sensitive:
        refuse_doubled_fields(schema, fold)


@lru_cache(maxsize=256)
def _are_told_apart_by_case(schema: Schema) -> bool:
    names = [fold(name) for name in schema.ids_by_name]
    return len(set(names)) < len(names)


def refuse_doubled(names: Iterable[str], key: NameKey, parents: tuple[str, ...] = ()) -> None:
    """Raises SqlError for two names of one key."""
    seen: set[str] = set()
    for name in map(key, names):
        if name in seen:
            raise column_exists([*parents, name])
        seen.add(name)


def refuse_doubled_fields(schema: Schema, key: NameKey) -> None:
    """As ``refuse_doubled``, for the columns of a schema and the fields of their structs."""
    refuse_doubled((field.name for field in schema.fields), key)
    for field in schema.fields:
        refuse_doubled_within(field.name, field.type, key)


def refuse_doubled_within(name: str, type_: Type, key: NameKey, parents: tuple[str, ...] = ()) -> None:
    """The same within the type of one column."""
    path = (*parents, name)
    if isinstance(type_, StructType):
        refuse_doubled((field.name for field in type_.fields), key, path)
    for field in children(type_):
        refuse_doubled_within(field.name, field.type, key, path)
