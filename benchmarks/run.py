"""Runs the named benchmarks: ``./dev bench planning sql`` (no name: lists them)."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = {
    "planning": "plan a table of 100,000 files (and 1,000,000), beside the JAR and PyIceberg",
    "commits": "append to the 100,000-file table, commits per second, expiry of 1,000 snapshots",
    "sql": "TPC-H SF1 through SQL: writes, queries, row-level changes, beside the JAR",
    "stores": "the Arrow reader beside Spark's own, and the runtime beside icesql on an S3 server: seconds and requests",
    "maintenance": "rewrite_manifests, rewrite_data_files, orphan removal, add_files, beside the JAR",
    "rest": "REST clients by turns on Iceberg's own server: loads, lists, commits, beside Java and PyIceberg",
    "parsing": "what parsing a statement costs, also beside another checkout",
    "server": "appends a second to one table through icesql serve from 64 clients, beside writers that build snapshots themselves",
    "servers": "REST servers by turns: icesql serve, Iceberg's reference server, and Nessie with --nessie",
    "sql_server": "what JDBC adds to a statement, beside stock Spark's Thrift server with the JAR",
    "load_commits": "many processes committing to one table; nothing may be lost",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown or not names:
        for name in unknown:
            print(f"unknown benchmark: {name}", file=sys.stderr)
        for name, text in BENCHMARKS.items():
            print(f"  {name:14s} {text}")
        return 1 if unknown else 0
    for name in names:
        print(f"== {name}: {BENCHMARKS[name]}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
