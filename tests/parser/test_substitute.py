from __future__ import annotations

import pytest

from icesql.parser.parsing import parse
from icesql.parser.statements import Insert
from icesql.parser.text.names import Place, Span
from icesql.parser.text.references import references
from icesql.parser.text.substitute import Replacement, substitute


def views(text, namespace=("local", "db")):
    found = references(text)
    replacements = {}
    for number, table in enumerate(table for table in found.tables if table.place is not Place.TARGET):
        parts = (
            table.parts if table.parts[0] == "local" else ("local", *table.parts) if len(table.parts) > 1 else (*namespace, *table.parts)
        )
        replacements[table.start] = Replacement(view=f"v{number}", full_name=parts)
    return substitute(text, found, replacements)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select * from local.db.t", "select * from v0 AS `t`"),
        ("select * from t x", "select * from v0 x"),
        ("select * from t version as of 5 as x", "select * from v0 as x"),
        ("select * from t for timestamp as of now() where a", "select * from v0 AS `t` where a"),
        ("select * from t with ('a'='b') tablesample (5 rows), u", "select * from v0 tablesample (5 rows) AS `t`, v1 AS `u`"),
        ("table local.db.t", "table v0"),
        ("select local.db.t.id, db.t.id, t.id, id from local.db.t", "select `t`.id, `t`.id, t.id, id from v0 AS `t`"),
        ("select LOCAL.DB.T.s.f, `db`.`t`.* from t", "select `t`.s.f, `t`.* from v0 AS `t`"),
        ("select db.t.id from t x", "select db.t.id from v0 x"),
        (
            "select snapshots.operation, db.t.snapshots.operation from local.db.t.snapshots",
            "select snapshots.operation, `snapshots`.operation from v0 AS `snapshots`",
        ),
        ("select /*+ broadcast(local.db.t) */ 1 from t", "select /*+ broadcast(`t`) */ 1 from v0 AS `t`"),
        ("insert into local.db.t select db.u.a from u", "insert into local.db.t select `u`.a from v0 AS `u`"),
        (
            "select t.a, db.t.b from db.t where exists (select 1 from other.t where t.a = db.t.a)",
            "select `t__1`.a, `t__1`.b from v0 AS `t__1` where exists (select 1 from v1 AS `t__2` where `t__2`.a = `t__1`.a)",
        ),
        (
            "select t.a from db.t where exists (select t.b from other.t)",
            "select t.a from v0 AS `t` where exists (select t.b from v1 AS `t`)",
        ),
        ("select * from identifier('local.db.' || 't')", "select * from v0 AS `t`"),
    ],
)
def test_views_take_the_place_of_references(text, expected):
    assert views(text).text == expected


def test_every_place_leads_back_to_the_users_text():
    text = "select aaa,\n  bbb from local.db.t\n where ccc = 1"
    found = views(text)
    for word in ("aaa", "bbb", "where", "ccc", "1"):
        assert found.offset(found.text.index(word)) == text.index(word)
    assert found.offset(found.text.index("v0")) == text.index("local.db.t")
    assert found.offset(10_000) == len(text)


def test_pieces_are_joined_and_still_lead_back():
    text = "with q as (select 1 as a) insert into t select x from q, u"
    statement = parse(text)
    assert isinstance(statement, Insert)
    found = references(text)
    replaced = {table.start: Replacement(view="v", full_name=("local", "db", "u")) for table in statement.references.tables}
    result = substitute(text, found, replaced, pieces=statement.query)
    assert result.text == "with q as (select 1 as a) select x from q, v AS `u`"
    assert result.offset(result.text.index("x from")) == text.index("x from")


def test_columns_of_a_target_are_requalified():
    text = "delete from local.db.t where local.db.t.a = 1 and db.t.b = t.c"
    condition = Span(text.index("local.db.t.a"), len(text))
    result = substitute(text, references(text), {}, pieces=(condition,), qualifiers={("local", "db", "t"): "target"})
    assert result.text == "target.a = 1 and target.b = t.c"
