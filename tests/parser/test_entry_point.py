"""The dialect in the hands of sqlglot's users, whose sqlglot may be the compiled one."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.lineage import lineage

from icesql.parser.dialect.sqlglot_source import is_private_copy
from icesql.parser.entry_point import Iceberg


def test_the_entry_point_is_the_dialect() -> None:
    lines = Path("pyproject.toml").read_text(encoding="utf-8").split('[project.entry-points."sqlglot.dialects"]\n')[1].splitlines()
    name, _, value = lines[0].partition(" = ")
    assert (name, EntryPoint(name, value.strip('"'), "sqlglot.dialects").load()) == ("iceberg", Iceberg)
    assert issubclass(Iceberg, sqlglot.Dialect)
    assert is_private_copy == (type(sqlglot.tokens.Token.__init__).__name__ != "function")


def test_a_query_is_a_tree_of_the_users_sqlglot() -> None:
    tree = sqlglot.parse_one("SELECT a -- why\nFROM db.order VERSION AS OF 3 WHERE x < 5", read="iceberg")
    assert isinstance(tree, exp.Select)
    assert [table.name for table in tree.find_all(exp.Table)] == ["order"]
    assert tree.sql("iceberg") == "SELECT a /* why */ FROM db.order VERSION AS OF 3 WHERE x < 5"
    assert tree.sql("trino") == 'SELECT a /* why */ FROM db."order" FOR VERSION AS OF 3 WHERE x < 5'


SALES = "SELECT price * amount AS total FROM db.sales VERSION AS OF 'audit'"


def test_lineage() -> None:
    node = lineage("total", SALES, schema={"db": {"sales": {"price": "int", "amount": "int"}}}, dialect="iceberg")
    assert sorted(leaf.name for leaf in node.walk() if not leaf.downstream) == ["sales.amount", "sales.price"]


@pytest.mark.parametrize("sql", ["CALL local.system.rewrite_manifests('db.t')", "ALTER TABLE t CREATE BRANCH b RETAIN 5 DAYS"])
def test_statements_of_icebergs_print_themselves(sql: str) -> None:
    assert sqlglot.parse_one(sql, read="iceberg").sql("iceberg") == sql
    assert sqlglot.transpile(sql, read="iceberg", write="iceberg") == [sql]


def test_an_error_is_the_users_parse_error() -> None:
    with pytest.raises(sqlglot.ParseError, match="no viable alternative"):
        sqlglot.parse_one("ALTER TABLE t FROBNICATE", read="iceberg")
