"""Partition transforms. Spec: "Partition Transforms", appendix B (hashing), "Truncate Transform Details".

A transform is a value; ``transform_function`` gives the function over internal-form values (null in, null out).
"""

from __future__ import annotations

from dataclasses import dataclass

from icesql.spec.types import Type


@dataclass(frozen=True, slots=True)
class Transform:
    """``name`` in lower case: identity, bucket, truncate, year, month, day, hour, void, or an unknown one kept as it was written."""

    name: str
    width: int | None = None  # bucket count N, or truncate width W

    def __str__(self) -> str:
        return self.name if self.width is None else f"{self.name}[{self.width}]"

    @property
    def is_void(self) -> bool:
        return self.name == "void"

    @property
    def is_identity(self) -> bool:
        return self.name == "identity"


IDENTITY = Transform("identity")
VOID = Transform("void")
YEAR = Transform("year")
MONTH = Transform("month")
DAY = Transform("day")
HOUR = Transform("hour")


def bucket(count: int) -> Transform:
    return Transform("bucket", count)


def truncate(width: int) -> Transform:
    return Transform("truncate", width)


def result_type(transform: Transform, source: Type) -> Type:
    """Type of a transform's results over ``source``."""
    raise NotImplementedError("spec helper writes this")
