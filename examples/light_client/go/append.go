// Append rows to an Iceberg table with parquet-go and one POST: go run . URL NAMESPACE TABLE
//
// The table has the columns id (long) and name (string). No Iceberg library is needed: the server builds the snapshot.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Columns are told by their field ids.
type row struct {
	ID   int64  `parquet:"id,id(1)"`
	Name string `parquet:"name,id(2)"`
}

func main() {
	path := fmt.Sprintf("%s/v1/namespaces/%s/tables/%s", os.Args[1], os.Args[2], os.Args[3])
	var table struct {
		Metadata struct {
			Location string `json:"location"`
		} `json:"metadata"`
	}
	call(http.Get(path+"?snapshots=refs"))(&table)

	// 1. A Parquet file below the table's location.
	var buffer bytes.Buffer
	check(parquet.Write(&buffer, []row{{6, "six"}, {7, "seven"}}))
	folder := filepath.Join(strings.TrimPrefix(table.Metadata.Location, "file:"), "data")
	check(os.MkdirAll(folder, 0o777))
	file := filepath.Join(folder, rand.Text()+".parquet")
	check(os.WriteFile(file, buffer.Bytes(), 0o666))

	// 2. One POST.
	dataFile := map[string]any{
		"content": "data", "file-format": "parquet", "spec-id": 0, "partition": []any{},
		"file-path": file, "file-size-in-bytes": buffer.Len(), "record-count": 2,
	}
	update := map[string]any{"action": "produce-snapshot", "operation": "append", "add-data-files": []any{dataFile}}
	body, err := json.Marshal(map[string]any{"requirements": []any{}, "updates": []any{update}})
	check(err)
	var answer struct {
		Produced []struct {
			ID int64 `json:"snapshot-id"`
		} `json:"produced-snapshots"`
	}
	call(http.Post(path, "application/json", bytes.NewReader(body)))(&answer)
	fmt.Println(answer.Produced[0].ID)
}

// call reads the answer to a request into a value.
func call(response *http.Response, err error) func(any) {
	check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode != http.StatusOK {
		log.Fatal(string(text))
	}
	return func(value any) { check(json.Unmarshal(text, value)) }
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
