"""SQL text to frozen statements. ``parse`` one, ``split`` a script, ``statements`` for the values. Imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icesql.parser.parsing import parse, parse_script_statement
    from icesql.parser.text.script import ScriptStatement, split

__all__ = ["ScriptStatement", "parse", "parse_script_statement", "split"]
_MODULES = {
    "ScriptStatement": "icesql.parser.text.script",
    "parse": "icesql.parser.parsing",
    "parse_script_statement": "icesql.parser.parsing",
    "split": "icesql.parser.text.script",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'icesql.parser' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)
