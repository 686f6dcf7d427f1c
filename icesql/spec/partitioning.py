"""Partition specs as values. Spec: "Partitioning". The transforms themselves are in ``icesql.spec.transforms``."""

from __future__ import annotations

import math
from dataclasses import dataclass

from icesql.spec.schema import Schema
from icesql.spec.transforms import Transform, result_type
from icesql.spec.types import NestedField, StructType, UnknownType

PARTITION_FIELD_ID_START = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionField:
    """One partition value: ``transform`` of the source column. ``source_ids`` has one id, more only in v3 multi-argument transforms."""

    source_ids: tuple[int, ...]
    field_id: int
    transform: Transform
    name: str

    @property
    def source_id(self) -> int:
        return self.source_ids[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSpec:
    """How rows map to partition tuples; a tuple has one value (internal form, None = null) a field, in this order."""

    spec_id: int = 0
    fields: tuple[PartitionField, ...] = ()

    @property
    def is_unpartitioned(self) -> bool:
        """True with no field, or void fields only."""
        return all(field.transform.is_void for field in self.fields)

    @property
    def last_field_id(self) -> int:
        return max((field.field_id for field in self.fields), default=PARTITION_FIELD_ID_START - 1)

    def partition_type(self, schema: Schema) -> StructType:
        """The struct of a partition tuple. A source column that the schema no longer has gives ``unknown``."""
        return StructType(tuple(self._result_field(field, schema) for field in self.fields))

    @staticmethod
    def _result_field(field: PartitionField, schema: Schema) -> NestedField:
        source = schema.find(field.source_id)
        type_ = UnknownType() if source is None else result_type(field.transform, source.type)
        return NestedField(field.field_id, field.name, type_)


UNPARTITIONED = PartitionSpec()


def partition_key(partition: tuple[object, ...]) -> tuple[tuple[object, ...], ...]:
    """Equal for tuples of one partition: NaN equals NaN, -0.0 is not 0.0 (a reader may take the value from it), 1 is not True."""
    return tuple(_exact(value) for value in partition)


def _exact(value: object) -> tuple[object, ...]:
    if not isinstance(value, float):
        return type(value), value
    return (float, "nan") if math.isnan(value) else (float, value, math.copysign(1.0, value))
