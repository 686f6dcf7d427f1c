"""Histories as data, so that one and the same runs on icesql and on Iceberg's Java API.

A program is a table's shape, its files by name, and steps. A step is a dictionary: ``do`` names the operation, the other keys are its
settings (files by name, filters as REST JSON). ``hold`` loads the table and keeps it under a name; a later step that says ``on`` works
on what was held, as a writer does who read the table before others committed, and ``since`` its head is what validations start from.
Alternatives are tried one by one on the table that the steps left, each as if the others had not been.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from icesql.spec.files import DataFile
from icesql.spec.partitioning import UNPARTITIONED, PartitionSpec
from tests.table.memory import BY_P, SCHEMA, data_file, deletion_vector, equality_deletes, position_deletes

Step = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Program:
    steps: Sequence[Step]
    alternatives: Sequence[Step] = ()
    files: Mapping[str, DataFile] = field(default_factory=dict)
    spec: PartitionSpec = BY_P
    later_specs: tuple[PartitionSpec, ...] = ()  # those that steps add and files are of
    format_version: int = 2
    properties: Mapping[str, str] = field(default_factory=dict)


def equal(column: str, value: object) -> dict[str, Any]:
    return {"type": "eq", "term": column, "value": value}


A, B = data_file("a", (1,), ids=(0, 9)), data_file("b", (2,), ids=(10, 19))
FILES: dict[str, DataFile] = {
    "a": A,
    "b": B,
    "c1": data_file("c1", (1,), ids=(0, 9)),
    "c2": data_file("c2", (2,), ids=(10, 19)),
    "far": data_file("far", (1,), ids=(1000, 1009)),
    "n1": data_file("n1", (1,), ids=(0, 9)),
    "n2": data_file("n2", (2,), ids=(10, 19)),
    "a2": data_file("a2", (1,), ids=(0, 9)),
    "a3": data_file("a3", (1,), ids=(0, 9)),
    "null": data_file("null", (None,), records=3),
    "big": data_file("big", (1,), records=11, ids=(0, 10)),
    "da": position_deletes("da", of=A),
    "da2": position_deletes("da2", of=A, records=2),
    "db": position_deletes("db", of=B),
    "dp1": position_deletes("dp1", (1,)),
    "e1": equality_deletes("e1", (1,)),
    "e2": equality_deletes("e2", (2,)),
    "va": deletion_vector("va", A),
    "va2": deletion_vector("va2", A, records=2),
    "vb": deletion_vector("vb", B),
}
P1, P2, ID5 = equal("p", 1), equal("p", 2), equal("id", 5)


def unpartitioned(files: Mapping[str, DataFile] = FILES) -> dict[str, DataFile]:
    return {name: replace(file, partition=()) for name, file in files.items()}


__all__ = ["BY_P", "FILES", "ID5", "P1", "P2", "SCHEMA", "UNPARTITIONED", "Program", "Step", "equal", "unpartitioned"]
