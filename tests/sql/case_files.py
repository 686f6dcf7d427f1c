"""Case files: SQL that runs on icesql and on the oracle, with what must be equal.

A file holds blocks begun by ``-- case: name``; statements end with ``;`` at a line's end. ``{ns}`` is the case's own namespace
(``local.<file>_<name>``), ``{nsname}`` its name without the catalog, ``{loc}`` its folder. ``-- each: v=1,2,3`` under the case line
runs it once a value. Directives on a line of their own before a statement:

    -- error           must fail on both            -- error: text   the same, and icesql's message contains the text
    -- mask: a, b      columns that differ by run   -- ignore        only that it succeeds is compared
    -- ordered         rows in order                -- loose         names and types of columns are not compared
    -- set: name       keep the first value of the first row as {name}
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

CASE = re.compile(r"-- case: (\w+)")
EACH = re.compile(r"-- each: (\w+)=(.*)")
DIRECTIVE = re.compile(r"-- (error|mask|ignore|ordered|set|loose)(?::\s*(.*))?$")


@dataclass(frozen=True)
class Step:
    """One statement; ``directives`` maps each directive to its text (may be empty)."""

    sql: str
    line: int
    directives: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    file: str
    name: str
    line: int
    steps: tuple[Step, ...]
    variable: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        return f"{self.file}.{self.name}"

    @property
    def namespace(self) -> str:
        return f"{self.file}_{self.name}".lower()


def read_cases(path: Path) -> list[Case]:
    """All cases of a file, those with ``-- each`` once a value. Raises ValueError for two of one name."""
    cases: list[Case] = []
    name, line_number = "", 0
    each: tuple[str, list[str]] | None = None
    steps: list[Step] = []
    buffer: list[str] = []
    directives: dict[str, str] = {}

    def close() -> None:
        if name:
            cases.extend(_expand(path.stem, name, line_number, tuple(steps), each))

    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.strip()
        if match := CASE.match(text):
            close()
            name, line_number, each, steps, buffer, directives = match[1], number, None, [], [], {}
        elif not buffer and (not name or not text):
            continue
        elif not buffer and (match := EACH.match(text)):
            each = (match[1], [value.strip() for value in match[2].split(",")])
        elif not buffer and (match := DIRECTIVE.match(text)):
            directives[match[1]] = match[2] or ""
        elif not buffer and text.startswith("--"):
            continue
        else:
            buffer.append(line)
            if text.endswith(";"):
                steps.append(Step("\n".join(buffer).rstrip().rstrip(";"), number, directives))
                buffer, directives = [], {}
    close()
    doubled = [key for key, count in Counter(case.key for case in cases).items() if count > 1]
    if doubled:
        raise ValueError(f"{path}: cases of one name: {doubled}")
    return cases


def _expand(file: str, name: str, line: int, steps: tuple[Step, ...], each: tuple[str, list[str]] | None) -> list[Case]:
    if each is None:
        return [Case(file, name, line, steps)]
    variable, values = each
    return [Case(file, f"{name}_{re.sub(r'[^a-z0-9]+', '_', v.lower())}", line, steps, (variable, v)) for v in values]
