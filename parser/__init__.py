"""SQL text to frozen statements. ``parse`` one, ``split`` a script, ``statements`` for the values."""

from icesql.parser.parse import parse, parse_script_statement
from icesql.parser.text.script import ScriptStatement, split

__all__ = ["ScriptStatement", "parse", "parse_script_statement", "split"]
