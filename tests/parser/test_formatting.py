from __future__ import annotations

import pytest

from icesql.errors import SqlError
from icesql.parser import parse, split
from icesql.parser.formatting import format_script
from icesql.parser.statements import Other
from tests.parser.meaning import meaning, tables
from tests.parser.pairs_file import all_pairs


def readable(text: str) -> bool:
    try:
        found = parse(text)
    except SqlError:
        return False
    return not (isinstance(found, Other) and found.error is not None)


TEXTS = sorted({text for _, text, _ in all_pairs() if readable(text)})


@pytest.mark.parametrize("text", TEXTS)
def test_a_formatted_statement_says_the_same_and_stays(text: str) -> None:
    formatted = format_script(text)
    assert format_script(formatted) == formatted
    (before,), (after,) = split(text), split(formatted)
    assert meaning(parse(after.text), expressions=False) == meaning(parse(before.text), expressions=False)
    assert tables(parse(after.text)) == tables(parse(before.text))


@pytest.mark.parametrize(
    "text",
    [
        "select nvl(a, 1) from t",
        "add jar '/x.jar'",
        "begin select 1; end",
        "select timestamp '2024-01-01 00:00:00'",
        "alter table t -- of all\nadd column a int",
    ],
)
def test_what_would_be_said_otherwise_stays_as_written(text: str) -> None:
    assert format_script(text) == f"{text}\n"


def test_comments_and_blank_lines_between_statements() -> None:
    script = "\n-- one\n\n\nuse a ; -- here\n/* two */\n\n\n\nuse b -- before\n;\n-- last"
    assert format_script(script) == "-- one\n\nUSE a; -- here\n/* two */\n\nUSE b; -- before\n-- last\n"


def test_comments_stay_with_what_they_are_about() -> None:
    table = "create table t (id int, -- the key\nat timestamp -- when\n) tblproperties ('a' = 'b', /* why */ 'c' = 'd')"
    assert format_script(table) == (
        "CREATE TABLE t (\n  id INT /* the key */,\n  at TIMESTAMP /* when */\n)\nTBLPROPERTIES (\n  'a' = 'b' /* why */,\n  'c' = 'd'\n)\n"
    )
    call = "call local.system.expire_snapshots(table => 'db.t', -- ours\n retain_last => 5)"
    assert format_script(call) == "CALL local.system.expire_snapshots(table => 'db.t' /* ours */, retain_last => 5)\n"


def test_an_empty_script() -> None:
    assert format_script("  \n") == ""


def test_a_statement_that_cannot_be_is_told_with_its_place() -> None:
    with pytest.raises(SqlError) as caught:
        format_script("use a;\n\nalter table t create branch b retain 5 seconds;")
    assert (caught.value.line, caught.value.column) == (3, 40)
