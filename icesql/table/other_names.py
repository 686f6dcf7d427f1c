"""Keywords by PyIceberg's names, for code written for it: ``table.scan(row_filter="id > 1", selected_fields=("id",))``.

A method takes them as ``**names: Unpack[ScanNames]``, so that type checkers and completion know them; ``also_named`` says what each
stands for, and ``icesql.table.arguments`` passes it on by that name, so that ``names`` is empty in the method itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, TypeVar

from icesql.expr.tree import Expression
from icesql.spec.partitioning import PartitionSpec

_F = TypeVar("_F", bound=Callable[..., object])


class ScanNames(TypedDict, total=False):
    row_filter: Expression | str | None
    selected_fields: Sequence[str]


class WriteNames(TypedDict, total=False):
    snapshot_properties: Mapping[str, str]


class OverwriteNames(WriteNames, total=False):
    overwrite_filter: Expression | str | None


class DeleteNames(WriteNames, total=False):
    delete_filter: Expression | str | None


class CreateNames(TypedDict, total=False):
    partition_spec: PartitionSpec


def also_named(**meanings: str) -> Callable[[_F], _F]:
    """The function takes each keyword for the parameter that it names."""

    def name(function: _F) -> _F:
        function.also_named = meanings  # type: ignore[attr-defined]
        return function

    return name
