"""Which columns of a metadata table a statement can need."""

from __future__ import annotations

import pytest

from icesql.parser.text.references import references
from icesql.session.rewrite.named_columns import needed_columns

COLUMNS = ("content", "file_path", "record_count", "partition")


def needed(text: str) -> tuple[str, ...] | None:
    return needed_columns(text, references(text).tables[0], COLUMNS)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("select record_count from t.files", ("record_count",)),
        ("select RECORD_COUNT * 2, f.`partition`.p from t.files f", ("record_count", "partition")),
        ("select count(*) from t.files", ("content",)),
        ("select sum(record_count) from t.files where content = 0", ("content", "record_count")),
        ("with f as (select file_path from t.files) select count(*) from f", ("file_path",)),
        ('select "file_path" from t.files', ("file_path",)),
        ("select 3 * record_count from t.files", ("record_count",)),
    ],
)
def test_named_columns_are_enough(text, wanted):
    assert needed(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "select * from t.files",
        "select f.* from t.files f",
        "select distinct * from t.files",
        "select struct(*) from t.files",
        "from t.files",
        "from t.files |> where content = 0",
        "with x as (select 1) from t.files",
        "table t.files",
        "select a from t.files as f(a, b, c, d)",
        "select content from t.files natural join u",
        "select * from (select content, record_count from t.files) pivot (sum(record_count) for content in (0))",
        "select identifier('content') from t.files",
        "insert into u select /*+ coalesce(1) */ * from t.files",
    ],
)
def test_all_columns_where_the_text_means_more_than_it_names(text):
    assert needed(text) is None
