"""Every statement form: the pairs under ``pairs/`` give the SQL and the statement it is."""

from __future__ import annotations

import pytest

from icesql.errors import SqlError
from icesql.parser import parse, split
from icesql.parser.statements import Call, CreateTable, Explain, Other, Statement
from tests.parser.pairs_file import FOLDER, all_pairs, pairs
from tests.parser.rendering import render

PAIRS = [case for case in all_pairs() if case[0] != "kinds"]


def outcome(text: str) -> Statement | SqlError:
    try:
        return parse(text)
    except SqlError as error:
        return error


@pytest.mark.parametrize(("family", "text", "expected"), PAIRS, ids=[f"{family}-{i}" for i, (family, _, _) in enumerate(PAIRS)])
def test_a_statement_is_read_as_expected(family: str, text: str, expected: str) -> None:
    assert render(outcome(text)) == " ".join(expected.split("\n"))


@pytest.mark.parametrize(("family", "text", "expected"), PAIRS, ids=[f"{family}-{i}" for i, (family, _, _) in enumerate(PAIRS)])
def test_comments_case_and_a_semicolon_change_nothing(family: str, text: str, expected: str) -> None:
    dressed = f"/* a /* nested */ ; comment */ -- and ' another\n{text} ;"
    plain, commented = outcome(text), outcome(dressed)
    assert type(plain) is type(commented)
    if isinstance(plain, SqlError | Other | Explain):
        return
    assert render(commented) == render(plain)


def test_the_kinds_of_many_statements() -> None:
    wrong = [
        (text, type(outcome(text)).__name__, kind) for text, kind in pairs(FOLDER / "kinds.sql") if type(outcome(text)).__name__ != kind
    ]
    assert not wrong


def test_every_statement_of_the_union_is_covered() -> None:
    from icesql.parser import statements

    values = {name for name in statements.__all__ if isinstance(getattr(statements, name), type)}
    forms = {name for name in values if issubclass(getattr(statements, name), Statement)} - {"Statement", "AlterTable"}
    covered = {expected.split("(", 1)[0] for _, _, expected in PAIRS}
    assert forms <= covered | {"Other"}, forms - covered


@pytest.mark.parametrize("text", [text for _, text, _ in PAIRS])
def test_a_script_of_one_statement_is_that_statement(text: str) -> None:
    try:
        found = split(f"\n  {text} ;\n")
    except SqlError:
        return
    assert [(statement.line, statement.column) for statement in found] == [(2, 3)]
    assert text.startswith(found[0].text)
    assert render(outcome(found[0].text)) == render(outcome(text))


def test_an_error_points_at_its_place() -> None:
    with pytest.raises(SqlError) as caught:
        parse("alter table t\n  create branch b retain 5 seconds")
    assert (caught.value.line, caught.value.column, caught.value.length) == (2, 28, 7)
    assert str(caught.value).split("\n")[1:] == ["  create branch b retain 5 seconds", " " * 27 + "^^^^^^^"]


def test_a_stock_statement_that_goes_wrong_is_left_to_spark_with_the_reason() -> None:
    found = parse("create table local.db.t (a int,, b int)")
    assert isinstance(found, Other)
    assert isinstance(found.error, SqlError)
    assert [table.dotted for table in found.references.tables] == ["local.db.t"]


@pytest.mark.parametrize("text", ["create table local.db.t (a int) using iceberg", "create table t", "replace table t (a int)"])
def test_nothing_follows_the_end_of_a_table(text: str) -> None:
    assert isinstance(parse(f"{text} ;"), CreateTable)
    followed = parse(f"{text} ; garbage")
    assert isinstance(followed, Other)
    assert "extraneous input 'garbage'" in str(followed.error)


def test_a_query_is_no_argument_of_call() -> None:
    assert isinstance(parse("call c.system.p((select max(id) from t))"), Call)
    with pytest.raises(SqlError, match="no viable alternative at input 'select'"):
        parse("call c.system.p(select 'a')")
