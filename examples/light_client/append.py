"""Append rows to an Iceberg table with pyarrow and one POST: append.py URL NAMESPACE TABLE

The table has the columns id (long) and name (string). No Iceberg library is needed: the server builds the snapshot.
"""

import sys
import time
import uuid
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq

url, namespace, table = sys.argv[1:]
path = f"{url}/v1/namespaces/{namespace}/tables/{table}"
location = httpx.get(path, params={"snapshots": "refs"}).raise_for_status().json()["metadata"]["location"]

# 1. A Parquet file below the table's location. Columns are told by their field ids.
columns = [
    pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}),
    pa.field("name", pa.string(), metadata={"PARQUET:field_id": "2"}),
]
rows = pa.table([pa.array([1, 2, 3], pa.int64()), ["one", "two", "three"]], schema=pa.schema(columns))
file = Path(location.removeprefix("file:")) / "data" / f"{uuid.uuid4()}.parquet"
file.parent.mkdir(parents=True, exist_ok=True)
pq.write_table(rows, file)

# 2. One POST. With the same key it may be sent again and again: the rows are appended once.
data_file = {
    "content": "data", "file-format": "parquet", "spec-id": 0, "partition": [],
    "file-path": str(file), "file-size-in-bytes": file.stat().st_size, "record-count": rows.num_rows,
}  # fmt: skip
append = {"action": "produce-snapshot", "operation": "append", "add-data-files": [data_file]}
random = uuid.uuid4().hex
key = str(uuid.UUID(f"{time.time_ns() // 1_000_000:012x}7{random[13:16]}8{random[17:]}"))
headers = {"Idempotency-Key": key, "Prefer": "return=minimal"}
answer = httpx.post(path, json={"requirements": [], "updates": [append]}, headers=headers)
print(answer.raise_for_status().json()["produced-snapshots"][0]["snapshot-id"])
