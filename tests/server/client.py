"""Requests to a server in this process, and the bodies that the tests send."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from starlette.testclient import TestClient

from icesql.server.service import Service
from tests.server.openapi import check_commit

SCHEMA: dict[str, Any] = {
    "type": "struct",
    "schema-id": 0,
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "data", "required": False, "type": "string"},
    ],
}
BY_ID: dict[str, Any] = {"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "transform": "identity", "name": "id"}]}


@dataclass(frozen=True)
class Server:
    client: TestClient
    service: Service

    def get(self, path: str, **options: Any) -> Any:
        return self.client.get(path, **options)

    def post(self, path: str, body: Any, **options: Any) -> Any:
        return self.client.post(path, json=body, **options)

    def create_table(self, name: str, *, namespace: str = "db", stage: bool = False, **body: Any) -> Any:
        """The answer's body. Raises where it is an error."""
        answer = self.post(f"/v1/namespaces/{namespace}/tables", {"name": name, "schema": SCHEMA, "stage-create": stage, **body})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def load(self, name: str = "t", namespace: str = "db") -> Any:
        answer = self.get(f"/v1/namespaces/{namespace}/tables/{name}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def commit(self, updates: list[Any], requirements: list[Any] | None = None, *, name: str = "t", **options: Any) -> Any:
        answer = self.post(f"/v1/namespaces/db/tables/{name}", {"requirements": requirements or [], "updates": updates}, **options)
        check_commit(updates, answer, is_minimal="return=minimal" in (options.get("headers") or {}).get("Prefer", ""))
        return answer

    def produce(self, operation: str, *, name: str = "t", headers: Any = None, **parts: Any) -> Any:
        """One snapshot from files. Keys are written with underscores."""
        update = {"action": "produce-snapshot", "operation": operation, **{key.replace("_", "-"): value for key, value in parts.items()}}
        return self.commit([update], name=name, headers=headers)


def error(answer: Any) -> tuple[int, str, str]:
    """Status, type and message of an error, whose body must be the protocol's."""
    body = answer.json()["error"]
    assert body["code"] == answer.status_code
    return answer.status_code, body["type"], body["message"]


def data_file(
    location: str, *, name: str | None = None, records: int = 1, partition: list[Any] | None = None, **parts: Any
) -> dict[str, Any]:
    """A data file that nobody wrote, below the table's location."""
    return {
        "content": "data",
        "file-path": f"{location}/data/{name or uuid.uuid4().hex}.parquet",
        "file-format": "parquet",
        "spec-id": 0,
        "partition": partition or [],
        "file-size-in-bytes": 100,
        "record-count": records,
        **{key.replace("_", "-"): value for key, value in parts.items()},
    }


def written_file(location: str, ids: list[int], *, name: str | None = None) -> dict[str, Any]:
    """A Parquet file of the table (id, data) with these ids, written below the table's location."""
    path = Path(f"{location}/data/{name or uuid.uuid4().hex}.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = [
        pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}),
        pa.field("data", pa.string(), metadata={"PARQUET:field_id": "2"}),
    ]
    rows = pa.table([pa.array(ids, pa.int64()), pa.array([f"row {i}" for i in ids])], schema=pa.schema(fields))
    pq.write_table(rows, path)
    return {
        "content": "data",
        "file-path": str(path),
        "file-format": "parquet",
        "spec-id": 0,
        "partition": [],
        "file-size-in-bytes": path.stat().st_size,
        "record-count": len(ids),
        "value-counts": {"keys": [1, 2], "values": [len(ids), len(ids)]},
        "null-value-counts": {"keys": [1, 2], "values": [0, 0]},
        "lower-bounds": {"keys": [1], "values": [min(ids)]},
        "upper-bounds": {"keys": [1], "values": [max(ids)]},
    }
