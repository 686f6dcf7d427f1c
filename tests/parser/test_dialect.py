"""The dialect for sqlglot's users: trees of every statement, printed again and read again they are the same statement."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from icesql.errors import SqlError
from icesql.parser import parse
from icesql.parser.dialect.grammar import Parser
from icesql.parser.dialect.iceberg import Iceberg
from icesql.parser.dialect.sqlglot_source import ParseError, Spark, TokenError, exp, sqlglot
from icesql.parser.statements import Other, Query, Statement
from tests.parser.meaning import meaning, tables
from tests.parser.pairs_file import all_pairs
from tests.parser.test_fuzz import mutated
from tests.sql.case_files import read_cases

ICEBERG = Iceberg()
TEXTS = sorted({text for _, text, _ in all_pairs()})


def accepted(text: str) -> Statement | None:
    try:
        found = parse(text)
    except SqlError:
        return None
    return None if isinstance(found, Other) else found


OURS = [text for text in TEXTS if not isinstance(accepted(text), Query | None)]
CASE_FILES = sorted(path for folder in ("cases", "live") for path in (Path(__file__).parents[1] / "sql" / folder).glob("*.sql"))
QUERIES = [text for text in TEXTS if isinstance(accepted(text), Query)]


@pytest.mark.parametrize("text", OURS)
def test_a_printed_statement_is_the_same_statement(text: str) -> None:
    printed = ICEBERG.generate(Parser.of(text, ICEBERG).statement())
    assert meaning(parse(printed)) == meaning(parse(text))
    assert tables(parse(printed)) == tables(parse(text))


@pytest.mark.parametrize("pretty", [False, True])
@pytest.mark.parametrize("text", OURS)
def test_also_where_sqlglot_has_read_its_expressions(text: str, pretty: bool) -> None:
    (tree,) = ICEBERG.parse(text)
    assert tree.find(exp.Command) is None
    printed = tree.sql(ICEBERG, pretty=pretty)
    assert meaning(parse(printed), expressions=False) == meaning(parse(text), expressions=False)
    assert tables(parse(printed)) == tables(parse(text))
    assert sqlglot().parse_one(printed, read=ICEBERG).sql(ICEBERG, pretty=pretty) == printed


@pytest.mark.parametrize("file", CASE_FILES, ids=lambda file: file.stem)
def test_printed_statements_of_the_sql_cases_are_the_same(file: Path) -> None:
    """Each statement of the cases that icesql and Iceberg's runtime both run (``tests/sql``)."""
    printed_count = 0
    for case in read_cases(file):
        for step in case.steps:
            text = step.sql.replace("{ns}", "local.ns").replace("{nsname}", "ns").replace("{loc}", "/a/b")
            statement = accepted(text)
            if statement is None or isinstance(statement, Query):
                continue
            printed = ICEBERG.generate(Parser.of(text, ICEBERG).statement())
            assert meaning(parse(printed)) == meaning(statement), text
            assert tables(parse(printed)) == tables(statement), text
            printed_count += 1
    assert printed_count


def test_queries_keep_their_tables() -> None:
    read = 0
    for text in QUERIES:
        try:
            tree = sqlglot().parse_one(text, read=ICEBERG)
        except ParseError:
            continue
        read += 1
        assert tables(parse(tree.sql(ICEBERG))) == tables(parse(text)), text
    assert read > 0.8 * len(QUERIES)


def test_the_name_of_the_dialect_is_iceberg() -> None:
    tree = sqlglot().parse_one("alter table local.db.t add partition field bucket(16, id) as shard", read="iceberg")
    assert tree.sql("iceberg") == "ALTER TABLE local.db.t ADD PARTITION FIELD bucket(16, id) AS shard"


def test_comments_are_kept() -> None:
    for text in ("-- why\nCALL local.system.rewrite_manifests('db.t') /* really */", "SELECT 1 /* one */ -- and only"):
        (tree,) = ICEBERG.parse(text)
        printed = tree.sql(ICEBERG)
        words = [word for word in ("why", "really", "one", "and only") if word in text]
        assert all(printed.count(word) == 1 for word in words), printed


@pytest.mark.parametrize("number", ["1.5BD", "3L", "2F", "1e3"])
def test_numbers_keep_their_types(number: str) -> None:
    (tree,) = ICEBERG.parse(f"SELECT {number}")
    types = {"L": "BIGINT", "F": "FLOAT"}
    expected = f"CAST({number[:-1]} AS {types[number[-1]]})" if number[-1] in types else number
    assert tree.sql(ICEBERG) == f"SELECT {expected}"


def test_a_script_gives_a_tree_for_each_statement() -> None:
    trees = ICEBERG.parse("CREATE TABLE t (id INT) USING iceberg; INSERT INTO t VALUES (1);\nALTER TABLE t CREATE BRANCH b")
    assert [tree.key for tree in trees if tree is not None] == ["createtable", "insert", "createref"]


@pytest.mark.parametrize("text", ["ADD JAR '/x.jar'", "CREATE RESOURCE x", "SET TIME ZONE 'UTC'", "ALTER TABLE t FROBNICATE"])
def test_nothing_becomes_a_command_in_silence(text: str) -> None:
    with pytest.raises(ParseError):
        ICEBERG.parse(text)


def test_an_error_says_where() -> None:
    with pytest.raises(ParseError, match=r"line 1, column 40") as caught:
        ICEBERG.parse("ALTER TABLE t CREATE BRANCH b RETAIN 5 SECONDS")
    assert caught.value.errors[0]["col"] == 40


def test_no_rule_hides_one_of_sqlglots() -> None:
    """Releases come and go: a method of theirs with a name of ours would be called in its place."""
    replaced = {"parse", "parse_into", "_parse_statement", "_parse_command", "_parse_as_command"}
    ours = {
        name
        for base in Parser.__mro__
        if base.__module__.startswith("icesql")
        for name in vars(base)
        if not name.startswith("__") and name.islower()
    }
    assert ours & set(dir(Spark.Parser(dialect=Spark()))) <= replaced


@pytest.mark.parametrize("seed", range(5))
def test_mutations_are_trees_or_errors(seed: int) -> None:
    random_ = random.Random(1000 + seed)
    for _ in range(100):
        text = mutated(random_.choice(TEXTS), random_)
        try:
            trees = ICEBERG.parse(text)
        except (ParseError, TokenError):
            continue
        for tree in trees:
            assert tree is None or tree.find(exp.Command) is None, text
