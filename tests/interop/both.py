"""Runs programs on both engines and pairs what came of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from icesql.spec.files import DataFile
from icesql.spec.json.specs import spec_to_json
from icesql.spec.json.types import schema_to_json
from icesql.spec.metadata import TableMetadata
from icesql.table.metadata.create import new_metadata
from icesql.table.snapshot.content_file_json import content_file_to_json
from tests.interop.history import history_of
from tests.interop.icesql_steps import run_program
from tests.interop.java_steps import Outcome, Try
from tests.interop.layout import newest_metadata_file
from tests.interop.programs import SCHEMA, Program
from tests.oracle.client import Oracle

_numbers = itertools.count()


@dataclass(frozen=True)
class Side:
    """One engine's: ``outcomes`` of the steps (an alternative's as the last), and the ``history`` its table tells afterwards."""

    outcomes: list[Outcome]
    history: dict[str, Any]
    location: str


def run_on_both(oracle: Oracle, programs: Sequence[Program], folder: Path) -> Iterator[list[tuple[Side, Side]]]:
    """A program's pairs (icesql, Java): one of its steps alone, or one an alternative. All of Java's are run in one request."""
    numbers = [next(_numbers) for _ in programs]
    locations = [f"{folder}/java{number}" for number in numbers]
    answers = oracle.call("tests.interop.java_steps:run_programs", [_for_java(*pair) for pair in zip(programs, locations, strict=True)])
    for program, number, location, theirs in zip(programs, numbers, locations, answers, strict=True):
        root = folder / f"ours{number}"
        made, tried, ours = run_program(program, files_at(program, f"{root}/db/t"), root)
        yield list(zip(_sides(made, tried, ours), _sides(theirs[0], theirs[1], location), strict=True))


def _sides(made: list[Outcome], tried: Sequence[Try], location: str) -> Iterator[Side]:
    newest = newest_metadata_file(location)
    for more, metadata_file in [([last], file) for last, file in tried] or [([], None)]:
        yield Side([_told(outcome, location) for outcome in (*made, *more)], history_of(metadata_file or newest), location)


def files_at(program: Program, location: str) -> dict[str, DataFile]:
    """The program's files inside the table's folder."""

    def at(path: str | None) -> str | None:
        return None if path is None else f"{location}{path}"

    return {
        name: replace(file, file_path=f"{location}{file.file_path}", referenced_data_file=at(file.referenced_data_file))
        for name, file in program.files.items()
    }


def _for_java(program: Program, location: str) -> dict[str, Any]:
    metadata = new_metadata(SCHEMA, spec=program.spec, location=location, format_version=program.format_version)
    known = replace(metadata, partition_specs=(*metadata.partition_specs, *program.later_specs))
    return {
        "location": location,
        "schema": schema_to_json(metadata.schema),
        "spec": spec_to_json(metadata.spec),
        "properties": {**program.properties, "format-version": str(program.format_version)},
        "files": {name: _file_for_java(file, known) for name, file in files_at(program, location).items()},
        "steps": list(program.steps),
        "alternatives": list(program.alternatives),
    }


def _file_for_java(file: DataFile, metadata: TableMetadata) -> dict[str, Any]:
    """Java writes bounds as the bytes they are."""
    node = content_file_to_json(file, metadata)
    for key, bounds in (("lower-bounds", file.lower_bounds), ("upper-bounds", file.upper_bounds)):
        if bounds:
            node[key] = {"keys": list(bounds), "values": [value.hex().upper() for value in bounds.values()]}
    return node


def _told(outcome: Outcome, location: str) -> Outcome:
    return None if outcome is None else (outcome[0], outcome[1].replace(location, ""))
