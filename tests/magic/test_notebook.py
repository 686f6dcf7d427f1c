"""A real notebook, executed in a kernel of its own: one kernel for all that is checked here."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark

CELLS = {
    "load": "%load_ext icesql",
    "connect": (
        "import icesql\nice = icesql.connect(master='local[2]', conf={'spark.driver.memory': '1g', 'spark.sql.shuffle.partitions': 2})"
    ),
    "make": (
        "%%sql\n"
        "CREATE NAMESPACE local.db;\n"
        "CREATE TABLE local.db.t (id bigint, p string) PARTITIONED BY (p);\n"
        "INSERT INTO local.db.t VALUES (1, 'a'), (2, 'b'), (3, '<b>')"
    ),
    "cell": "%%sql kept\nSELECT id, p FROM local.db.t ORDER BY id",
    "out": "[row.id for row in kept.collect()]",
    "in": "wanted, ids = 'b', [1, 3]",
    "line": "%sql SELECT id FROM local.db.t WHERE p = {wanted}",
    "again": "%sql SELECT id FROM local.db.t WHERE p = {wanted}",
    "list": "%sql SELECT count(*) AS n FROM local.db.t WHERE array_contains({ids}, id)",
    "notice": "%sql CALL local.system.rewrite_data_files('db.t')",
    "pruning": "%sql EXPLAIN PRUNING SELECT * FROM local.db.t WHERE p = 'a'",
    "stages": (
        "from icesql.magic import progress\n"
        "texts = []\n"
        "class Kept:\n"
        "    def update(self, text): texts.append(text)\n"
        "    def clear(self): texts.append('cleared')\n"
        "with progress.shown_progress(ice, Kept()):\n"
        "    ice.spark.sparkContext.parallelize(range(2), 2).map(lambda i: __import__('time').sleep(4)).collect()\n"
        "texts"
    ),
    "slow": "%sql SELECT reflect('java.lang.Thread', 'sleep', 3000L) AS n FROM range(0, 2, 1, 2)",
    "limited": "%%sql --limit 2 three\nSELECT id FROM local.db.t ORDER BY id",
    "kept": "three.count()",
    "orc": (
        "%%sql\n"
        "CREATE TABLE local.db.orc (id bigint) TBLPROPERTIES ('write.format.default' = 'orc');\n"
        "INSERT INTO local.db.orc SELECT id FROM local.db.t;\n"
        "SELECT sum(id) AS total FROM local.db.orc"
    ),
    "describe": "%sql DESCRIBE local.db.t",
    "snapshots": "%sql SELECT * FROM local.db.t.snapshots",
    "partitions": "%sql SELECT * FROM local.db.t.partitions",
    "caught": "try:\n    get_ipython().run_line_magic('sql', 'SELEC 1')\nexcept Exception as error:\n    print(error)",
    "error": "%sql SELECT nothing FROM local.db.t",
    "traceback": "%sql --traceback",
    "full": "%%sql --traceback\nSELECT * FROM local.db.missing",
}
RAISING = ("error", "full")


def path_without_environment(folder: Path) -> str:
    """A PATH as that of a kernel whose environment is not activated: its ``python3`` has neither icesql nor pyarrow."""
    (folder / "path").mkdir()
    bare = folder / "path" / "python3"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    java = Path(shutil.which("java") or "/usr/bin/java").parent
    return os.pathsep.join([str(bare.parent), str(java), "/usr/bin", "/bin"])


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What each cell shows."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat comes with nbclient, of the test extra")
    from nbclient import NotebookClient

    folder: Path = tmp_path_factory.mktemp("notebook")
    kernel = folder / "kernels" / "here"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "here", "language": "python"}))
    tags = {name: {"tags": ["raises-exception"]} if name in RAISING else {} for name in CELLS}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text, metadata=tags[name]) for name, text in CELLS.items()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("PATH", path_without_environment(folder))
        for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
            patch.delenv(name, raising=False)
        NotebookClient(notebook, timeout=300, kernel_name="here", resources={"metadata": {"path": str(folder)}}).execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def result(outputs: dict[str, list[Any]], cell: str, kind: str = "text/html") -> str:
    return next(str(out.data[kind]) for out in outputs[cell] if out.output_type == "execute_result")


def test_results_are_tables(outputs: dict[str, list[Any]]) -> None:
    shown = result(outputs, "cell")
    assert re.findall(r"<th[^>]*>(\w+)</th>", shown) == ["id", "p"]
    assert cells_of(shown)[-2:] == ["3", "&lt;b&gt;"]
    assert result(outputs, "cell", "text/plain").splitlines()[1].split() == ["1", "a"]


def test_variables_go_out_and_in(outputs: dict[str, list[Any]]) -> None:
    assert result(outputs, "out", "text/plain") == "[1, 2, 3]"
    assert cells_of(result(outputs, "line")) == ["2"]
    assert cells_of(result(outputs, "list")) == ["2"]


def test_each_query_says_what_it_read_even_again(outputs: dict[str, list[Any]]) -> None:
    for cell in ("line", "again"):
        assert "files read 1 of 3" in result(outputs, cell)


def test_workers_are_the_kernels_interpreter_where_its_environment_is_not_activated(outputs: dict[str, list[Any]]) -> None:
    """ORC is written and read by Python workers."""
    assert cells_of(result(outputs, "orc")) == ["6"]


def test_notices_and_pruning_pictures(outputs: dict[str, list[Any]]) -> None:
    assert "rewrote nothing" in result(outputs, "notice")
    picture = result(outputs, "pruning")
    assert "<svg" in picture
    assert "1 file</text>" in picture
    assert "p = &#x27;a&#x27;" in picture


def test_stages_of_spark_are_shown_while_they_run(outputs: dict[str, list[Any]]) -> None:
    texts = result(outputs, "stages", "text/plain")
    assert "of 2 tasks" in texts
    assert "cleared" in texts
    displays = [out for out in outputs["slow"] if out.output_type == "display_data"]
    assert displays, "a slow cell shows an output for its stages"
    assert displays[-1].data["text/plain"].strip() == "", "which is emptied at the end"


def test_errors_are_those_of_sql(outputs: dict[str, list[Any]]) -> None:
    assert "SELEC" in printed(outputs, "caught")


def test_a_limit_is_of_what_is_shown_not_of_the_frame(outputs: dict[str, list[Any]]) -> None:
    shown = result(outputs, "limited")
    assert cells_of(shown) == ["1", "2"]
    assert "2+ rows" in shown
    assert result(outputs, "kept", "text/plain") == "3"


def test_metadata_tables_and_descriptions_are_drawn(outputs: dict[str, list[Any]]) -> None:
    tree = result(outputs, "snapshots")
    assert tree.count("<circle") == 1
    assert 'class="branch"' in tree
    assert "p=a</text>" in result(outputs, "partitions")
    assert result(outputs, "partitions").count("<rect") == 3
    assert ">Partitioning</th>" in result(outputs, "describe").replace("Partition Information", "Partitioning")


def test_text_has_no_escape_codes(outputs: dict[str, list[Any]]) -> None:
    for cell in ("cell", "pruning", "snapshots", "describe"):
        assert "\x1b" not in result(outputs, cell, "text/plain")


def test_an_error_is_one_box_without_its_traceback(outputs: dict[str, list[Any]]) -> None:
    (box,) = [out for out in outputs["error"] if out.output_type == "error"]
    assert "nothing" in box.traceback[0]
    assert not any("Traceback" in line or ".py" in line or "\tat " in line for line in box.traceback)
    assert len(box.traceback) < 15


def test_the_whole_traceback_is_there_on_request(outputs: dict[str, list[Any]]) -> None:
    assert "Traceback (most recent call last)" in printed(outputs, "traceback")
    (box,) = [out for out in outputs["full"] if out.output_type == "error"]
    assert any("session.py" in line for line in box.traceback)


def printed(outputs: dict[str, list[Any]], cell: str) -> str:
    return "".join(out.text for out in outputs[cell] if out.output_type == "stream")


def cells_of(shown: str) -> list[str]:
    return re.findall(r"<td[^>]*>(.*?)</td>", shown)
