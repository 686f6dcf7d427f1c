"""Spark's own parser as the judge: what it accepts we read, and we find the tables it finds."""

from __future__ import annotations

from collections import Counter

import pytest

from icesql.parser.statements import Explain, Other, Query
from icesql.parser.text.references import references, table_references
from tests.parser.pairs_file import all_pairs
from tests.parser.test_statements import outcome

pytestmark = pytest.mark.spark
TEXTS = [text for family, text, _ in all_pairs() if "identifier(" not in text]


def relations(java, plan):
    kind = plan.getClass().getSimpleName()
    if kind == "UnresolvedRelation":
        yield ".".join(java(plan.multipartIdentifier()))
    inner = [pair._2() for pair in java(plan.cteRelations())] if kind == "UnresolvedWith" else []
    inner += [plan.relation()] if kind == "RelationTimeTravel" else []
    for child in (*inner, *java(plan.children()), *java(plan.subqueries())):
        yield from relations(java, child)


@pytest.fixture(scope="module")
def parsed(spark):
    """Text -> (accepted, tables of a query) as Spark sees it."""
    java = spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava
    parser = spark._jsparkSession.sessionState().sqlParser()
    found: dict[str, tuple[bool, list[str] | None]] = {}
    for text in TEXTS:
        try:
            plan = parser.parsePlan(text)
        except Exception:
            found[text] = (False, None)
            continue
        found[text] = (True, sorted(relations(java, plan)) if isinstance(outcome(text), Query) else None)
    return found


def test_what_spark_accepts_is_read(parsed):
    refused = [
        (text, found)
        for text, (accepted, _) in parsed.items()
        if accepted and ((isinstance(found := outcome(text), Other) and found.error is not None) or isinstance(found, Exception))
    ]
    expected = {text for text, _ in refused if any(mark in text for mark in REFUSED_FOR_ICEBERG)}
    assert [pair for pair in refused if pair[0] not in expected] == []


REFUSED_FOR_ICEBERG = ("foo(", "bucket(4, id, b)", "bucket(0, id)", "truncate(id)", "interval", "identifier")


def test_tables_of_queries_are_the_ones_spark_finds(parsed):
    compared, different = 0, []
    for text, (_, tables) in parsed.items():
        if tables is None or isinstance(outcome(text), Explain):
            continue
        ours = Counter(table.dotted for table in table_references(text))
        more = Counter(tables) - ours  # Spark's parser lists CTEs among the relations
        compared += 1
        if ours - Counter(tables) or not {name.lower() for name in more} <= references(text).temporary:
            different.append((text, ours, tables))
    assert compared > 60
    assert different == []
