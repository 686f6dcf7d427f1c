"""``icesql fmt FILE...``: SQL scripts laid out anew, without Spark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from icesql.errors import SqlError


def fmt(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="scripts; - is the standard input")],
    check: Annotated[bool, typer.Option("--check", help="write nothing; fail if a file would change")] = False,
) -> None:
    """Lay SQL scripts out anew: one clause a line, keywords in capitals, comments kept."""
    raise typer.Exit(format_files(files, check=check))


def format_files(files: list[Path], *, check: bool) -> int:
    """The exit code: 0, or 1 for files that cannot be read and, with ``check``, for those whose layout would change.

    ``-`` is the standard input, and its layout goes to the standard output. With ``check`` nothing is written.
    """
    from icesql.parser.formatting import format_script

    failed = False
    for file in files:
        try:
            script = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
            formatted = format_script(script)
        except (OSError, UnicodeDecodeError, SqlError) as error:
            print(f"icesql: Cannot format {file}: {error}", file=sys.stderr)
            failed = True
            continue
        if check:
            failed |= formatted != script
            if formatted != script:
                print(f"would be laid out anew: {file}")
        elif str(file) == "-":
            sys.stdout.write(formatted)
        elif formatted != script:
            file.write_text(formatted, encoding="utf-8")
            print(f"laid out anew: {file}")
    return int(failed)
