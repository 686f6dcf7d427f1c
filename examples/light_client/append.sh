#!/bin/sh
# Append a Parquet file to an Iceberg table with curl and jq: append.sh URL NAMESPACE TABLE FILE ROWS
# The file's columns have the table's field ids. Prints the new snapshot's id.
set -eu
url=$1 namespace=$2 table=$3 file=$4 rows=$5
path="$url/v1/namespaces/$namespace/tables/$table"
location=$(curl -fsS "$path?snapshots=refs" | jq -r .metadata.location)
target="${location#file:}/data/$(cat /proc/sys/kernel/random/uuid).parquet"
mkdir -p "$(dirname "$target")"
cp "$file" "$target"
jq -n --arg path "$target" --argjson size "$(wc -c <"$target")" --argjson rows "$rows" '{
    requirements: [],
    updates: [{action: "produce-snapshot", operation: "append", "add-data-files": [{
        content: "data", "file-format": "parquet", "spec-id": 0, partition: [],
        "file-path": $path, "file-size-in-bytes": $size, "record-count": $rows}]}]
}' | curl -fsS "$path" -H 'Content-Type: application/json' -H 'Prefer: return=minimal' -d @- |
    grep -o '"snapshot-id":[0-9]*' | cut -d: -f2 # jq would round it
