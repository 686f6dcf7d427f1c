"""Statements between BEGIN and END."""

from __future__ import annotations

import pytest

from icesql.parser.compound import statements_inside
from icesql.parser.statements import Other

SCRIPT = """lab: BEGIN
  DECLARE n INT DEFAULT 1;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN DELETE FROM a WHERE x = 'in; string'; END;
  IF (SELECT count(*) FROM t) > 1 THEN INSERT INTO b VALUES (CASE WHEN n = 1 THEN 2 ELSE 3 END); ELSE DROP TABLE c; END IF;
  w: WHILE n < 3 DO SET n = n + 1; UPDATE d SET x = n; END WHILE;
  FOR r AS SELECT * FROM t DO CALL system.p(); END FOR;
  ALTER TABLE e ADD PARTITION FIELD x;
  SELECT 1;
END"""


def test_statements_of_blocks_are_found_with_their_places():
    found = [(span.of(SCRIPT), type(s).__name__) for span, s in statements_inside(SCRIPT) if not isinstance(s, Other)]
    assert found == [
        ("DELETE FROM a WHERE x = 'in; string'", "Delete"),
        ("INSERT INTO b VALUES (CASE WHEN n = 1 THEN 2 ELSE 3 END)", "Insert"),
        ("DROP TABLE c", "DropTable"),
        ("SET n = n + 1", "SetConfiguration"),
        ("UPDATE d SET x = n", "Update"),
        ("CALL system.p()", "Call"),
        ("ALTER TABLE e ADD PARTITION FIELD x", "AddPartitionField"),
        ("SELECT 1", "Query"),
    ]


@pytest.mark.parametrize("text", ["", "BEGIN", "BEGIN TRANSACTION", "INSERT INTO t VALUES (1); SELECT 1"])
def test_what_is_no_script_has_no_statements_inside(text):
    assert list(statements_inside(text)) == []
