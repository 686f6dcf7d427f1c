// Append rows to an Iceberg table with hyparquet-writer and one POST: node append.mjs URL NAMESPACE TABLE
// The table has the columns id (long) and name (string). No Iceberg library is needed: the server builds the snapshot.
import { mkdirSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { parquetWriteBuffer } from 'hyparquet-writer'

const [url, namespace, table] = process.argv.slice(2)
const path = `${url}/v1/namespaces/${namespace}/tables/${table}`
const location = (await (await fetch(`${path}?snapshots=refs`)).json()).metadata.location

// 1. A Parquet file below the table's location. Columns are told by their field ids.
const buffer = Buffer.from(parquetWriteBuffer({
  schema: [
    { name: 'root', num_children: 2 },
    { name: 'id', type: 'INT64', repetition_type: 'OPTIONAL', field_id: 1 },
    { name: 'name', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL', field_id: 2 },
  ],
  columnData: [
    { name: 'id', data: [4n, 5n] },
    { name: 'name', data: ['four', 'five'] },
  ],
}))
const folder = `${location.replace(/^file:/, '')}/data`
const file = `${folder}/${randomUUID()}.parquet`
mkdirSync(folder, { recursive: true })
writeFileSync(file, buffer)

// 2. One POST.
const dataFile = {
  content: 'data', 'file-format': 'parquet', 'spec-id': 0, partition: [],
  'file-path': file, 'file-size-in-bytes': buffer.length, 'record-count': 2,
}
const body = { requirements: [], updates: [{ action: 'produce-snapshot', operation: 'append', 'add-data-files': [dataFile] }] }
const headers = { 'Content-Type': 'application/json', Prefer: 'return=minimal' }
const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
const text = await answer.text()
if (!answer.ok) throw new Error(text)
console.log(/"snapshot-id":(\d+)/.exec(text)[1]) // as text: the number is larger than JavaScript's
