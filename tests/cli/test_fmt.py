from __future__ import annotations

import pytest
from typer.testing import CliRunner

from icesql.cli.main import app

MESSY = "-- the table\ncreate table t(id int,ts timestamp)partitioned by(days(ts)); alter table t create tag g ; -- kept\n"
NEAT = """-- the table
CREATE TABLE t (
  id INT,
  ts TIMESTAMP
)
PARTITIONED BY (days(ts));
ALTER TABLE t CREATE TAG g; -- kept
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.sql"
    path.write_text(MESSY, encoding="utf-8")
    return path


def test_a_script_is_laid_out_once(script):
    assert CliRunner().invoke(app, ["fmt", "--check", str(script)]).exit_code == 1
    assert script.read_text(encoding="utf-8") == MESSY
    assert CliRunner().invoke(app, ["fmt", str(script)]).exit_code == 0
    assert script.read_text(encoding="utf-8") == NEAT
    assert CliRunner().invoke(app, ["fmt", "--check", str(script)]).exit_code == 0


def test_the_standard_input_is_printed(script):
    done = CliRunner().invoke(app, ["fmt", "-"], input=MESSY)
    assert (done.exit_code, done.output) == (0, NEAT)


def test_what_is_no_sql_is_told_and_left(script):
    script.write_text("SELECT 'open", encoding="utf-8")
    done = CliRunner().invoke(app, ["fmt", str(script)])
    assert done.exit_code == 1
    assert "never ends (line 1, column 8)" in done.output
    assert script.read_text(encoding="utf-8") == "SELECT 'open"
