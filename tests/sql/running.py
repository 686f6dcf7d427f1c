"""Runs a case on an engine and compares two runs. An engine is a function from a statement to (columns with types, rows)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from tests.sql.case_files import Case, Step
from tests.sql.normal_form import hide, latest_metadata, metadata_in_normal_form, plain, rows_in_normal_form

Engine: TypeAlias = Callable[[str], tuple[list[tuple[str, str]], list[Any]]]
Record: TypeAlias = dict[str, Any]
ORACLE_FAULT = re.compile(r"INTERNAL_ERROR|NullPointerException|ClassCastException")


def run_case(case: Case, engine: Engine, warehouse: Path, location: str | None = None) -> Record:
    """Every step's columns and rows or error, then the metadata of every table the case left. ``location``: the warehouse as statements
    name it, where that is not the folder itself."""
    place = location or str(warehouse)
    values = {"ns": f"local.{case.namespace}", "nsname": case.namespace, "loc": f"{place}/{case.namespace}", "wh": place}
    if case.variable:
        values[case.variable[0]] = case.variable[1]
    steps = [_run_step(step, engine, values, place) for step in case.steps]
    tables = {}
    for folder in sorted(warehouse.glob(f"{case.namespace}/*/metadata")):
        file = latest_metadata(folder.parent)
        if file is not None:
            tables[folder.parent.name] = metadata_in_normal_form(file, place)
    return {"steps": steps, "tables": tables}


def _run_step(step: Step, engine: Engine, values: dict[str, str], warehouse: str) -> Record:
    record: Record = {"sql": step.sql[:300], "line": step.line}
    text = re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[0])), step.sql)
    extra = {name.strip() for name in step.directives.get("mask", "").split(",") if name.strip()}
    try:
        columns, rows = engine(text)
    except Exception as error:
        message = str(getattr(error, "_desc", None) or getattr(error, "desc", None) or error)
        record["error"] = hide(message, warehouse)[:600]
    else:
        record["cols"] = [list(column) for column in columns]
        if "set" in step.directives and rows:
            values[step.directives["set"]] = plain(rows[0][0])
        names = [name for name, _ in columns]
        record["rows"] = rows_in_normal_form(names, rows, extra, ordered="ordered" in step.directives, warehouse=warehouse)
    record.update({f"want_{key}": step.directives[key] for key in ("error", "ignore", "loose") if key in step.directives})
    return record


def differences(expected: Record, found: Record) -> list[str]:
    """What the oracle answered and icesql did not; empty when the runs agree."""
    seen: list[str] = []
    for want, got in zip(expected["steps"], found["steps"], strict=True):
        seen += [f"line {want['line']}: {want['sql'][:160]!r}: {text}" for text in _step_differences(want, got)]
    for table, want in expected["tables"].items():
        got = found["tables"].get(table)
        if got is None:
            seen.append(f"table {table}: no metadata found")
            continue
        seen += [f"table {table}: {key}: {want[key]} is here {got.get(key)}" for key in want if want[key] != got.get(key)]
    return seen


def _step_differences(want: Record, got: Record) -> list[str]:
    if "error" in want and "want_error" not in want and ORACLE_FAULT.search(want["error"]):
        return []  # the runtime itself is broken here; docs/differences.md lists such statements
    if ("error" in want) != ("error" in got):
        return [f"must fail: {want['error'][:200]}" if "error" in want else f"failed: {got['error'][:400]}"]
    if "error" in want:
        text = want.get("want_error") or ""
        return [] if text.lower() in got["error"].lower() else [f"message {got['error'][:300]!r} lacks {text!r}"]
    if "want_ignore" in want:
        return []
    loose = "want_loose" in want
    if not loose and want["cols"] != got["cols"]:
        return [f"columns {got['cols']} are not {want['cols']}"]
    mine, theirs = ([_values(row, loose) for row in side["rows"]] for side in (got, want))
    if mine == theirs:
        return []
    return [f"rows: missing {[r for r in theirs if r not in mine][:2]}, unexpected {[r for r in mine if r not in theirs][:2]}"]


def _values(row: Any, loose: bool) -> Any:
    return list(row.values()) if loose and isinstance(row, dict) else row
