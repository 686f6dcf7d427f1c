"""Statements are recognised by the parser's tokens by Spark's plans: no regular expression in the session names a word of SQL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import icesql.session

ROOM = Path(icesql.session.__file__).parent
_FUNCTIONS = frozenset({"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
_SQL = """
    add all alter and as asc begin between by cache call case cast comment commit count create cross cube current data database
    declare default delete desc describe distinct drop dfs else end escape except execute exists explain extended false fetch
    filter first for from function functions full global group grouping handler having identifier identity if immediate in index
    inner insert intersect into is join last lateral like limit list local max merge min minus natural not null nulls of offset on
    order outer over overwrite parameter partition pivot refresh rename repeat replace reset right rollback rows schema select
    set show sqlstate sum table tables tblproperties temporary then timestamp to truncate uncache union unpivot update use using
    values variable view when where while window with
"""
_WORDS = frozenset(_SQL.split())


def _texts(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _words_in_patterns(source: str) -> list[str]:
    """The words of SQL that the patterns of a module's regular expressions spell out."""
    words = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FUNCTIONS and node.args:
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "re"):
                continue
            for text in _texts(node.args[0]):
                plain = re.sub(r"\\[a-zA-Z]", " ", text)
                words += [word for word in re.findall(r"[A-Za-z_]{2,}", plain) if word.lower() in _WORDS]
    return words


@pytest.mark.parametrize("path", sorted(ROOM.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOM)))
def test_no_regular_expression_spells_sql(path: Path) -> None:
    assert _words_in_patterns(path.read_text(encoding="utf-8")) == []


def test_a_regular_expression_over_sql_is_noticed() -> None:
    assert _words_in_patterns(r'import re; X = re.compile(r"\bgroup\s+by\b|\bOVER\s*\(", re.I)') == ["group", "by", "OVER"]
