"""Records anew what Iceberg's runtime answers to the case files: ``python -m tests.sql.record [file ...]`` (default: all of ``cases/``)."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.conftest import SPARK_CONF
from tests.oracle.client import Oracle
from tests.sql.case_files import read_cases
from tests.sql.engines import oracle_engine
from tests.sql.running import run_case

HERE = Path(__file__).parent


def main(names: list[str]) -> None:
    files = [HERE / "cases" / f"{name}.sql" for name in names] or sorted((HERE / "cases").glob("*.sql"))
    for path in files:
        with tempfile.TemporaryDirectory() as folder, Oracle(folder, SPARK_CONF) as oracle:
            answers = {case.name: run_case(case, oracle_engine(oracle), Path(folder)) for case in read_cases(path)}
        lines = (f"{json.dumps(name)}:{json.dumps(answer, separators=(',', ':'))}" for name, answer in answers.items())
        (HERE / "expected" / f"{path.stem}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(f"{path.stem}: {len(answers)} cases")


if __name__ == "__main__":
    main(sys.argv[1:])
