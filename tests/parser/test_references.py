"""The scan for table names: against sqlglot's opinion where sqlglot can parse, and against itself."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from icesql.errors import SqlError
from icesql.parser.statements import Query
from icesql.parser.text.names import Place
from icesql.parser.text.references import references, table_references
from icesql.parser.text.substitute import Replacement, substitute
from tests.parser.pairs_file import all_pairs
from tests.parser.second_opinion import sqlglot_tables
from tests.parser.test_statements import outcome

TEXTS = [text for _, text, _ in all_pairs()]
QUERIES = [text for text in TEXTS if isinstance(outcome(text), Query)]


def readable(text):
    try:
        return references(text)
    except SqlError:
        return None


@pytest.mark.parametrize("text", [text for text in TEXTS if readable(text) is not None])
def test_every_reference_put_in_its_own_place_changes_nothing(text):
    found = references(text)
    itself = {
        table.start: Replacement(view=text[table.start : table.clause_end], full_name=("no", "such", "name"), keep_name=False)
        for table in found.tables
    }
    assert substitute(text, found, itself).text == text


def test_sqlglot_finds_the_same_tables():
    compared, different = 0, []
    for text in QUERIES:
        opinion = sqlglot_tables(text)
        if opinion is None:
            continue
        ours = sorted({tuple(part.lower() for part in table.parts) for table in table_references(text)})
        theirs = sorted({tuple(part.lower() for part in parts) for parts in opinion})
        compared += 1
        if ours != theirs and not set(theirs) <= set(ours):
            different.append((text, ours, theirs))
    assert compared > 30
    assert not different


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("with a as (select * from a) select * from a, A, b", ["a", "b"]),
        ("select * from x where a in (with c as (select 1) select * from c) and b in (select * from c)", ["x", "c"]),
        ("with a as (select 1), b as (select * from a) select * from b union all select * from a", []),
        ("select * from db.a, a union (with a as (select 1) select * from a)", ["db.a", "a"]),
        ("select (select max(x) from (select * from t1 join (t2 cross join t3))) from t4", ["t1", "t2", "t3", "t4"]),
        ("from t |> select a, b |> union all (select * from u) |> join v on a = b", ["t", "u", "v"]),
        ("select a from t order by (select 1 from u), b limit (select 2 from v)", ["t", "u", "v"]),
        ("insert into t select * from u where exists (select 1 from v, w)", ["t", "u", "v", "w"]),
        ("select from_unixtime(a), b as `from`, c.`join` from `t` as `where`", ["t"]),
        ("select * from t -- , u\n, v /* , w */", ["t", "v"]),
        ("select 'from x', \"join y\" from t", ["t"]),
        ("cache table c as select * from t", ["c", "t"]),
        ("update t set a = (select b from u) where c in (select d from v)", ["t", "u", "v"]),
        ("select * from t where x = any (select 1 from u) or y between (select 1 from v) and 2", ["t", "u", "v"]),
        ("select sum(a) filter (where b in (select 1 from u)) over (partition by c order by d) from t", ["u", "t"]),
        ("set var x = (select 1 from t); ", ["t"]),
        ("select * from t tablesample", ["t"]),
        (
            "begin for r as select * from t do update u set a = 1; merge into v using w on a = b when matched then delete; end for; end",
            list("tuvw"),
        ),
    ],
)
def test_tables(text, tables):
    assert [table.dotted for table in table_references(text)] == tables


@pytest.mark.parametrize(
    "clause", ["tablesample (10 rows) repeatable (1) as a", "for version as of 1 with ('k' = 'v') a (b)", "version as of :v + 1"]
)
def test_a_statement_may_break_off_anywhere(clause):
    text = f"select * from t {clause}"
    for end in range(len("select * from t"), len(text)):
        with suppress(SqlError):
            assert [table.dotted for table in table_references(text[:end])] == ["t"]


def test_targets_are_told_from_sources():
    found = table_references("merge into a.t using b.u on 1 = 1 when matched then update set x = (select 1 from c.v)")
    assert [(table.dotted, table.place) for table in found] == [("a.t", Place.TARGET), ("b.u", Place.FROM), ("c.v", Place.FROM)]


def test_ordinary_statements_are_scanned_in_a_few_milliseconds():
    text = "select a.x, b.y, count(*) from local.db.a a join local.db.b b on a.id = b.id where a.x > 5 and b.y in (1, 2, 3) group by 1, 2 "
    texts = [text + " " * i for i in range(20)]
    started = time.process_time()
    for each in texts:
        references(each)
    assert (time.process_time() - started) / 20 < 0.02
