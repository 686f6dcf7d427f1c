from __future__ import annotations

import pytest

from icesql.errors import SqlError
from icesql.parser import parse_script_statement, split
from icesql.parser.text.script import relocate

SCRIPT = """-- first; comment
select ';', `a;b`, "it""s;", r'\\;', $$x;y$$, $t$ ; $t$ /* ; /* ; */ ; */ from t ;;
/* only a comment */ ;
begin
  declare exit handler for sqlexception begin select 1; end;
  if x > 1 then select case when a then b end; elseif y then select 2; end if;
  for r as select 1 do insert into t values (1); end for;
  l: loop leave l; end loop;
end;
begin; insert into t values (1); commit
; select 2 -- last;"""


def test_statements_end_at_semicolons_outside_strings_comments_and_blocks():
    found = split(SCRIPT)
    assert [statement.text.split("\n")[0][:14] for statement in found] == [
        "select ';', `a",
        "begin",
        "begin",
        "insert into t ",
        "commit",
        "select 2",
    ]
    assert found[1].text.endswith("end loop;\nend")
    assert [statement.number for statement in found] == [1, 2, 3, 4, 5, 6]


def test_places_count_lines_and_columns_of_the_script():
    for statement in split(SCRIPT):
        assert SCRIPT[statement.offset :].startswith(statement.text)
        before = SCRIPT[: statement.offset]
        assert (statement.line, statement.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


def test_an_unclosed_string_is_an_error_at_its_beginning():
    with pytest.raises(SqlError) as caught:
        split("select 1;\nselect 'a;\nselect 2")
    assert (caught.value.line, caught.value.column) == (2, 8)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_errors_of_a_statement_point_into_the_script(newline):
    script = newline.join(["select 1;", "  alter table t", "   create branch b retain 1 weeks;"])
    with pytest.raises(SqlError) as caught:
        parse_script_statement(split(script)[1], script)
    assert (caught.value.line, caught.value.column) == (3, 29)
    assert script.splitlines()[2][28:33] == "weeks"


def test_an_error_without_a_place_points_at_its_statement():
    script = "select 1; select 2"
    moved = relocate(SqlError("Cannot do it: no"), split(script)[1], script)
    assert (moved.line, moved.column, str(moved).split("\n")[0]) == (1, 11, "Cannot do it: no (line 1, column 11)")


def test_ten_thousand_statements_split_in_linear_time():
    found = split("insert into t values (1, 'a;b');\n" * 10_000)
    assert len(found) == 10_000
    assert found[-1].line == 10_000


@pytest.mark.parametrize("script", ["", " \n", "-- x", "/* x */", ";;;", "/* a */ ; -- b"])
def test_a_script_may_hold_nothing(script):
    assert split(script) == []
