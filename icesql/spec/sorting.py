"""Sort orders as values. Spec: "Sorting". Order id 0 is the unsorted order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from icesql.spec.transforms import Transform


class SortDirection(str, Enum):
    ASC = "asc"
    DESC = "desc"


class NullOrder(str, Enum):
    NULLS_FIRST = "nulls-first"
    NULLS_LAST = "nulls-last"


@dataclass(frozen=True, slots=True, kw_only=True)
class SortField:
    source_ids: tuple[int, ...]
    transform: Transform
    direction: SortDirection = SortDirection.ASC
    null_order: NullOrder = NullOrder.NULLS_FIRST

    @property
    def source_id(self) -> int:
        return self.source_ids[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SortOrder:
    order_id: int = 0
    fields: tuple[SortField, ...] = ()

    @property
    def is_unsorted(self) -> bool:
        return not self.fields


UNSORTED = SortOrder()
