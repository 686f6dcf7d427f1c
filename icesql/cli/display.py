"""How the shell shows results: what ``\\x``, ``\\timing``, ``.mode`` and their kin set."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from icesql.cli.terminal import screen_of, show_paged
from icesql.session.output.layout import AUTO
from icesql.session.output.rows import print_rows


@dataclass(slots=True)
class Display:
    """``form``: one of ``rows.FORMATS``. ``expanded``: one of ``layout.EXPANDED``. ``has_timing``: whether the line below a result has its
    seconds. ``pages``: whether what is larger than the terminal goes through a pager. ``limit``: rows shown of a result, ``None`` for
    all."""

    form: str = "table"
    expanded: str = AUTO
    has_timing: bool = True
    pages: bool = False
    limit: int | None = None

    def rows(self, names: Sequence[str], rows: Sequence[Sequence[Any]], out: TextIO) -> None:
        """Show them. A result without columns shows nothing."""
        if not names:
            return
        if self.form != "table":
            print_rows(names, rows, self.form, out)
            return
        text = io.StringIO()
        print_rows(names, rows, self.form, text, screen_of(out, expanded=self.expanded, pages=self.pages))
        self.text(text.getvalue(), out)

    def text(self, text: str, out: TextIO) -> None:
        if self.pages:
            show_paged(text, out)
        else:
            out.write(text)
