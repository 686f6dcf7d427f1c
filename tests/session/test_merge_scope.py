"""Bare names in MERGE clauses that see one side only."""

from __future__ import annotations

import pytest

from icesql.session.rewrite.merge_scope import qualified


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("id + v.id", "`v`.id + v.id"),
        ("v.x = `id`", "v.x = `v`.`id`"),
        ("`a.id` = other", "`a.id` = other"),
        ("cast(id AS date)", "cast(`v`.id AS date)"),
        ("date '2020-01-01' < date", "date '2020-01-01' < `v`.date"),
        ("extract(date FROM id)", "extract(date FROM `v`.id)"),
        ("interval 1 date + id", "interval 1 date + `v`.id"),
        ("date(id)", "date(`v`.id)"),
        ("f(id => id)", "f(id => `v`.id)"),
        ("exists(a, id -> id > 1)", "exists(a, id -> id > 1)"),
        ("reduce(a, 0, (id, x) -> id + x)", "reduce(a, 0, (id, x) -> id + x)"),
        ("(SELECT max(id) FROM u) + id", "(SELECT max(id) FROM u) + `v`.id"),
    ],
)
def test_bare_names_mean_one_side(text: str, wanted: str):
    assert qualified(text, frozenset({"id", "date", "v"}), "v", frozenset({"t", "v"})) == wanted
