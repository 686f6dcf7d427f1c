"""What parsing a statement costs: every statement of the case files and of the parser's pairs, in milliseconds of CPU.

``python -m benchmarks.parsing [CHECKOUT]``: with another checkout of this repository, a process of each by turns, and what a statement
costs more here than there.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.engines import ROOT

ROUNDS = 5
TIMED = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
started = time.process_time()
from icesql.errors import SqlError
from icesql.parser import parse
texts = json.load(sys.stdin)
def cost(text):
    best = float("inf")
    for blanks in range(5):  # what was parsed is kept by its text
        start = time.process_time()
        try:
            parse(text + " " * blanks)
        except SqlError:
            pass
        best = min(best, time.process_time() - start)
    return best * 1000
cost("select 1")
cost("alter table t drop column a")
first = (time.process_time() - started) * 1000
print(json.dumps([first, [cost(text) for text in texts]]))
"""


def statements() -> dict[str, list[str]]:
    """The statements of each set, each once."""
    from tests.parser.pairs_file import all_pairs
    from tests.sql.case_files import read_cases

    cases = [
        step.sql for path in sorted((ROOT / "tests" / "sql" / "cases").glob("*.sql")) for case in read_cases(path) for step in case.steps
    ]
    return {"case files": list(dict.fromkeys(cases)), "pairs": list(dict.fromkeys(text for _, text, _ in all_pairs()))}


def costs(checkout: Path, texts: list[str]) -> tuple[float, list[float]]:
    """(milliseconds of CPU until the parser is loaded and has read a statement, those of each statement at its best) in a new process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", TIMED, str(checkout)],
        input=json.dumps(texts), capture_output=True, text=True, check=True, cwd=checkout, env=environment,
    )  # fmt: skip
    first, each = json.loads(done.stdout)
    return first, each


def main(*others: str) -> None:
    checkouts = [ROOT, *map(Path, others)]
    for name, texts in statements().items():
        runs: dict[Path, list[tuple[float, list[float]]]] = {checkout: [] for checkout in checkouts}
        for round_ in range(ROUNDS):
            for checkout in checkouts if round_ % 2 else reversed(checkouts):
                runs[checkout].append(costs(checkout, texts))
        best = {checkout: [min(times) for times in zip(*(each for _, each in made), strict=True)] for checkout, made in runs.items()}
        print(f"{len(texts)} statements of the {name}, milliseconds of CPU")
        for checkout in checkouts:
            first = statistics.median(first for first, _ in runs[checkout])
            print(
                f"  {checkout}: median {statistics.median(best[checkout]):.3f}, mean {statistics.fmean(best[checkout]):.3f}, loading {first:.0f}"
            )
        for other in checkouts[1:]:
            more = sorted(ours - theirs for ours, theirs in zip(best[ROOT], best[other], strict=True))
            print(f"  more than {other}: median {statistics.median(more):+.3f}, of nine in ten at most {more[len(more) * 9 // 10]:+.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
