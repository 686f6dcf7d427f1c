"""One rule for names whose case does not matter, and one place for it."""

from __future__ import annotations

import re
from pathlib import Path

import icesql
from icesql.spec.case_folding import fold, folded, name_key

ROOT = Path(icesql.__file__).parent


def test_names_are_compared_as_spelled_or_folded() -> None:
    assert name_key(case_sensitive=True)("Ab") == "Ab"
    assert name_key(case_sensitive=False)("Ab") == fold("aB") == "ab"
    assert folded(("A", "b")) == ("a", "b")


def test_a_sharp_s_is_no_double_s() -> None:
    """Spark folds by ``toLowerCase``, which keeps what Python's ``casefold`` would make one."""
    assert fold("Straße") != fold("STRASSE")


def test_no_module_folds_names_by_itself() -> None:
    paths = [path for room in ("session", "procedures") for path in (ROOT / room).rglob("*.py")]
    own = re.compile(r"\bstr\.lower\b|\.casefold\(|\bname\.lower\(\)")
    assert [path.name for path in paths if own.search(path.read_text(encoding="utf-8"))] == []
